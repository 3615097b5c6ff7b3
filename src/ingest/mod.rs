//! BYTES -> ROWS. The registry of formats and what an importer gets to see.
//!
//! One format, one file or folder, one line in [`FORMATS`]. An importer never touches the tables: it calls the
//! [`Recorder`], the only door. It is chosen by content, never by file name. It returns `Err` only where nothing of
//! the file can be used; whatever is smaller is a counted skip (`Recorder::skip`).

mod accounting;
mod call_shapes;
mod command;
mod execution;
mod files;
mod heaptrack;
mod histogram;
mod hyperfine;
mod locks;
pub mod manifest;
mod memory_series;
mod merge;
mod offcpu_stacks;
pub mod perf_data;
mod perf_stat;
mod profile_log;
mod recorder;
mod stdin;
mod strace_log;
mod strace_summary;
mod syscount;
mod sysstat;
#[cfg(test)]
mod testing;
mod text;
mod time_v;

use std::path::Path;

use crate::error::Result;
use crate::objects::Library;

pub use files::{Inputs, read_all};
pub use manifest::{Manifest, Placed, apply as apply_manifests, manifests};
pub use merge::merge;
pub use recorder::{FrameAt, NewEvent, Recorder, Severity};
pub use stdin::{STDIN, STDIN_NAME};

/// The words of a command line as a shell would split it; nothing is expanded. Of several commands the first.
pub fn command_words(line: &str) -> Vec<String> {
    command::simple_commands(line).into_iter().next().unwrap_or_default()
}

/// One input file, decompressed.
pub struct Input<'a> {
    /// Path relative to the input root, as shown to people and used in anchors.
    pub name: &'a str,
    /// Where it lies on this machine (for neighbours such as jitdump files; never for writing).
    pub path: &'a Path,
    /// The whole content, decompressed where the file was zstd, gzip or xz.
    pub bytes: &'a [u8],
    /// Object files that may be opened: symbol directories and debug roots.
    pub library: &'a Library,
    /// What the user asked for.
    pub options: &'a ImportOptions,
}

/// Options that change what importers keep.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Keep scheduler, syscall, lock and block tracepoints in `samples` too.
    pub keep_tracepoints: bool,
    /// perf.data: stacks that are made at once; `None` for a good number. The rows do not depend on it.
    pub stacks_at_once: Option<usize>,
}

/// A file format: how to recognise it and how to read it.
pub struct Format {
    /// `artifacts.kind`.
    pub name: &'static str,
    /// `artifacts.tool`.
    pub tool: &'static str,
    /// One sentence for `tripod formats`.
    pub doc: &'static str,
    /// The command that records it, for `tripod formats`.
    pub record: &'static str,
    /// Decides from the first 64 KiB of the decompressed file.
    pub sniff: fn(&[u8]) -> bool,
    pub read: fn(&Input<'_>, &mut Recorder) -> Result<()>,
}

/// Every format. Order matters where two could claim a file: formats with a magic number first, then JSON (each with
/// its own key), then text, the most distinctive first; folded stacks last, since any line that ends in a number fits.
pub static FORMATS: &[Format] = &[
    perf_data::FORMAT,
    heaptrack::FORMAT,
    // each line names its event; a run_start may have the keys of a manifest
    profile_log::FORMAT,
    hyperfine::FORMAT,
    manifest::FORMAT,
    // JSON lines, so after the formats that are one object
    perf_stat::FORMAT,
    time_v::FORMAT,
    memory_series::FORMAT,
    // before the summary: `-C` puts a summary below a log
    strace_log::FORMAT,
    strace_summary::FORMAT,
    // tables with headings of their own; bpftrace output with stacks in it is left to the off-CPU stacks
    locks::PERF_LOCK,
    locks::KLOCKSTAT,
    histogram::FORMAT,
    syscount::FORMAT,
    // single lines tell these two, so after the tables: someone may have put both into one file
    locks::FUTEX,
    sysstat::FORMAT,
    accounting::FORMAT,
    offcpu_stacks::FORMAT,
];

/// The format that claims these bytes.
pub fn sniff(bytes: &[u8]) -> Option<&'static Format> {
    let head = bytes.get(..65_536).unwrap_or(bytes);
    FORMATS.iter().find(|format| (format.sniff)(head))
}
