//! What was meant: one analysis, as the pipeline understands it. `cli` makes it from what was typed.

use std::path::PathBuf;

use crate::stages::Watch;

/// One analysis.
#[derive(Debug, Clone, Default)]
pub struct AnalyzeRequest {
    /// Files and directories with artifacts.
    pub paths: Vec<PathBuf>,
    /// Where object files with symbols may be looked for (`--symbol-dir`).
    pub symbol_dirs: Vec<PathBuf>,
    /// Where separate debug files may be looked for (`--debug-dir`).
    pub debug_dirs: Vec<PathBuf>,
    /// Root directories of the machines or containers that were recorded (`--sysroot`).
    pub sysroots: Vec<PathBuf>,
    /// Where recorded paths that begin with the first lie here (`--path-map`).
    pub path_maps: Vec<(String, PathBuf)>,
    /// Where JIT compilers left what they made (`--jit-dir`).
    pub jit_dirs: Vec<PathBuf>,
    /// Names of the recorded kernel (`--kallsyms`).
    pub kallsyms: Option<PathBuf>,
    /// Analyse processes with this command name.
    pub comm: Option<String>,
    /// Analyse this process.
    pub pid: Option<i32>,
    /// Folders with hypotheses of the user's own.
    pub rules: Vec<PathBuf>,
    /// Quality checks that are to have no effect.
    pub allow: Vec<String>,
    /// Bounds of the user's own for metrics of hypotheses.
    pub thresholds: Option<PathBuf>,
    /// What basic things cost on the recorded machine.
    pub costs: Option<PathBuf>,
    /// What makes two angles independent.
    pub lineage: Lineage,
    /// Keep scheduler, syscall, lock and block tracepoints among the samples too.
    pub keep_tracepoints: bool,
    /// Told which stage runs.
    pub watch: Watch,
}

/// What two slots must differ in besides mechanism, root artifact and probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lineage {
    /// The recording tool too: two perf recordings collude.
    #[default]
    Tool,
    /// Nothing more.
    Probe,
}
