//! What was meant: one analysis, as the pipeline understands it. `cli` makes it from what was typed.

use std::path::{Path, PathBuf};

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

impl AnalyzeRequest {
    /// The words that ask for the same again, for fingerprint.json: options in a fixed order, then the paths, which are
    /// sorted since their order does not matter. Where the output goes and how many threads work is no part of it.
    pub fn arguments(&self) -> Vec<String> {
        // Every field by name: a new option that is not written here does not compile.
        let AnalyzeRequest {
            paths,
            symbol_dirs,
            debug_dirs,
            sysroots,
            path_maps,
            jit_dirs,
            kallsyms,
            comm,
            pid,
            rules,
            allow,
            thresholds,
            costs,
            lineage,
            keep_tracepoints,
            watch: _,
        } = self;
        let mut words = Vec::new();
        let mut add = |option: &str, value: &dyn std::fmt::Display| words.push(format!("--{option}={value}"));
        let lists =
            [("symbol-dir", symbol_dirs), ("debug-dir", debug_dirs), ("sysroot", sysroots), ("jit-dir", jit_dirs), ("rules", rules)];
        for (option, dirs) in lists {
            dirs.iter().for_each(|dir| add(option, &dir.display()));
        }
        path_maps.iter().for_each(|(from, to)| add("path-map", &format_args!("{from}={}", to.display())));
        kallsyms.iter().for_each(|file| add("kallsyms", &file.display()));
        allow.iter().for_each(|check| add("allow", check));
        thresholds.iter().for_each(|file| add("thresholds", &file.display()));
        costs.iter().for_each(|file| add("costs", &file.display()));
        comm.iter().for_each(|name| add("comm", name));
        pid.iter().for_each(|pid| add("pid", pid));
        if *lineage == Lineage::Probe {
            add("lineage", &"probe");
        }
        if *keep_tracepoints {
            words.push("--keep-tracepoints".to_owned());
        }
        let mut paths: Vec<&PathBuf> = paths.iter().collect();
        paths.sort();
        paths.dedup();
        words.push("--".to_owned());
        words.extend(paths.into_iter().map(|path| path.display().to_string()));
        words
    }

    /// Every path that is read, with the option it came with.
    pub fn places(&self) -> Vec<(&'static str, &Path)> {
        let lists = [
            ("--symbol-dir", &self.symbol_dirs),
            ("--debug-dir", &self.debug_dirs),
            ("--sysroot", &self.sysroots),
            ("--jit-dir", &self.jit_dirs),
            ("--rules", &self.rules),
        ];
        let mut places: Vec<(&'static str, &Path)> = Vec::new();
        for (option, dirs) in lists {
            places.extend(dirs.iter().map(|dir| (option, dir.as_path())));
        }
        places.extend(self.path_maps.iter().map(|(_, to)| ("--path-map", to.as_path())));
        let files = [("--kallsyms", &self.kallsyms), ("--thresholds", &self.thresholds), ("--costs", &self.costs)];
        places.extend(files.into_iter().flat_map(|(option, file)| Some((option, file.as_deref()?))));
        places
    }

    /// Puts `change` of every path in its place.
    pub fn change_paths(&mut self, change: &dyn Fn(&Path) -> PathBuf) {
        let lists = [&mut self.paths, &mut self.symbol_dirs, &mut self.debug_dirs, &mut self.sysroots, &mut self.jit_dirs, &mut self.rules];
        let maps = self.path_maps.iter_mut().map(|(_, to)| to);
        for path in lists.into_iter().flatten().chain(maps).chain(&mut self.kallsyms).chain(&mut self.thresholds).chain(&mut self.costs) {
            *path = change(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_paths_does_not_matter() {
        let request = |paths: [&str; 3]| AnalyzeRequest {
            paths: paths.map(PathBuf::from).to_vec(),
            symbol_dirs: vec!["z".into(), "a".into()],
            pid: Some(7),
            path_maps: vec![("/app".into(), "build".into())],
            ..AnalyzeRequest::default()
        };
        let words = ["--symbol-dir=z", "--symbol-dir=a", "--path-map=/app=build", "--pid=7", "--", "-x", "b"];
        assert_eq!(request(["b", "-x", "b"]).arguments(), words);
        assert_eq!(request(["-x", "b", "-x"]).arguments(), words);
    }

    #[test]
    fn every_path_can_have_moved() {
        let mut request = AnalyzeRequest {
            paths: vec!["in".into()],
            path_maps: vec![("/app".into(), "build".into())],
            kallsyms: Some("kallsyms".into()),
            rules: vec!["own".into()],
            ..AnalyzeRequest::default()
        };
        request.change_paths(&|path| Path::new("new").join(path));
        assert_eq!(request.arguments(), ["--rules=new/own", "--path-map=/app=new/build", "--kallsyms=new/kallsyms", "--", "new/in"]);
        let places: Vec<_> = request.places().into_iter().map(|(option, _)| option).collect();
        assert_eq!(places, ["--rules", "--path-map", "--kallsyms"]);
    }
}
