//! Which executions may meet in one hypothesis (Q30).
//!
//! Every artifact records an execution of its own. They are comparable when the command lines agree after removing the
//! work, threads and variant that the manifest declares. The signature most executions have is the run's; the bare
//! execution decides a tie. An artifact whose command line is unknown is compared, and the report says so.
//!
//! The machine and the program must be the same too: kernel, CPUs, and the build-id of the program where recordings state
//! them. What a manifest says of a file is worth nothing where the file is not the one that it describes.

use std::collections::{BTreeMap, BTreeSet};

use super::file::Admits;
use crate::tables::{Artifact, Diagnostic, Execution, Tables, Text};

/// How an artifact's execution relates to the run's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// The same command.
    Same,
    /// Nothing says what it ran.
    Unknown,
    /// The same command in another variant (a repaired partner).
    Variant,
    /// The same command with another number of threads.
    Threads,
    /// Another command: it fills no slot.
    Refused,
    /// A copy, or nothing could be read.
    Unusable,
}

impl Standing {
    pub fn name(self) -> &'static str {
        match self {
            Standing::Same => "same",
            Standing::Unknown => "unknown",
            Standing::Variant => "variant",
            Standing::Threads => "threads",
            Standing::Refused => "refused",
            Standing::Unusable => "unusable",
        }
    }

    /// Whether an alternate with these demands may use the artifact.
    pub fn admitted(self, admits: Admits) -> bool {
        match self {
            Standing::Same | Standing::Unknown => true,
            Standing::Variant => admits == Admits::Variant,
            Standing::Threads => admits == Admits::Threads,
            Standing::Refused | Standing::Unusable => false,
        }
    }
}

/// The run's reference and every artifact's standing.
#[derive(Debug, Clone, Default)]
pub struct Comparability {
    pub signature: Option<Text>,
    pub variant: Option<Text>,
    pub threads: Option<i32>,
    pub work: Option<i64>,
    /// CPUs of the recorded machine.
    pub cpus: Option<i64>,
    pub of: BTreeMap<i32, Standing>,
    /// What sets refused artifacts apart from the run.
    pub differences: BTreeMap<i32, String>,
}

/// Facts of the machine that must agree (rules.md Q30).
const HOST_KEYS: [&str; 5] = ["kernel_release", "arch", "cpus", "cpu_model", "governor"];

/// Formats that say themselves what they recorded.
const SPEAKING_KINDS: [&str; 6] = ["perf.data", "heaptrack", "hyperfine", "time-v", "profile-log", "manifest"];

impl Comparability {
    pub fn find(tables: &Tables) -> Comparability {
        let signature = most(tables, |row| row.signature.clone());
        let like = |row: &&Execution| signature.is_none() || row.signature == signature;
        let reference = tables
            .executions
            .iter()
            .filter(like)
            .filter(|row| row.wrapper.as_ref() == "bare" && row.wall_ns.is_some())
            .min_by_key(|row| (row.user_ns.is_none(), row.minor_faults.is_none(), row.execution_id));
        let programs: BTreeSet<&str> = tables.executions.iter().filter(like).filter_map(|row| row.program.as_deref()).collect();
        let mut out = Comparability {
            variant: reference.and_then(|row| row.variant.clone()).or_else(|| most(tables, |row| row.variant.clone())),
            threads: reference.and_then(|row| row.threads).or_else(|| most(tables, |row| row.threads)),
            work: reference.and_then(|row| row.work).or_else(|| most(tables, |row| row.work)),
            cpus: cpus(tables),
            signature,
            ..Comparability::default()
        };
        let machines = machines(tables);
        let builds = builds(tables);
        for artifact in &tables.artifacts {
            let execution = execution_of(tables, artifact);
            let mut standing = out.standing(artifact, execution);
            let id = artifact.artifact_id;
            let difference = match standing {
                Standing::Unusable => None,
                Standing::Refused => Some(format!("it recorded another command than `{}`", out.signature.as_deref().unwrap_or("unknown"))),
                Standing::Same | Standing::Unknown => {
                    let timed = || timed_others(tables, artifact, &programs);
                    changed(tables, artifact).or_else(timed).or_else(|| machines.get(&id).cloned()).or_else(|| builds.get(&id).cloned())
                }
                // Another variant may well be another build.
                Standing::Variant | Standing::Threads => changed(tables, artifact).or_else(|| machines.get(&id).cloned()),
            };
            if let Some(difference) = difference {
                standing = Standing::Refused;
                out.differences.insert(id, difference);
            }
            out.of.insert(id, standing);
        }
        out
    }

    /// The same with the refused ones let in (`--allow Q30`): the user knows that they are comparable.
    pub fn lenient(mut self) -> Comparability {
        for standing in self.of.values_mut().filter(|standing| **standing == Standing::Refused) {
            *standing = Standing::Unknown;
        }
        self
    }

    fn standing(&self, artifact: &Artifact, execution: Option<&Execution>) -> Standing {
        if matches!(artifact.status.as_ref(), "duplicate" | "unreadable") {
            return Standing::Unusable;
        }
        let Some(execution) = execution else { return Standing::Unknown };
        if differ(&execution.signature, &self.signature) {
            return Standing::Refused;
        }
        if differ(&execution.variant, &self.variant) {
            return Standing::Variant;
        }
        if differ(&execution.threads, &self.threads) {
            return Standing::Threads;
        }
        if execution.signature.is_none() { Standing::Unknown } else { Standing::Same }
    }

    pub fn standing_of(&self, artifact: i32) -> Standing {
        self.of.get(&artifact).copied().unwrap_or(Standing::Unusable)
    }
}

/// As the first recording that states a number says.
fn cpus(tables: &Tables) -> Option<i64> {
    let stated = tables.host.iter().filter(|row| row.key.as_ref() == "cpus");
    stated.filter_map(|row| row.value.parse().ok()).find(|cpus| *cpus > 0)
}

/// Two known values that are not the same.
fn differ<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one != other)
}

/// The execution an artifact recorded: its own row, or the one that points back to it.
pub fn execution_of<'a>(tables: &'a Tables, artifact: &Artifact) -> Option<&'a Execution> {
    let by_id = artifact.execution_id.and_then(|id| tables.executions.iter().find(|row| row.execution_id == id));
    // A manifest tells runs of other work too, for the artifacts that were traced on less.
    let is_own = |row: &&Execution| row.artifact_id == artifact.artifact_id && artifact.kind.as_ref() != "manifest";
    by_id.or_else(|| tables.executions.iter().find(is_own))
}

/// A file that is not the one its manifest speaks of, and does not say itself what it recorded.
fn changed(tables: &Tables, artifact: &Artifact) -> Option<String> {
    let about = |row: &&Diagnostic| row.artifact_id == Some(artifact.artifact_id) && row.kind.as_ref() == "manifest_sha256_differs";
    let is_silent = !SPEAKING_KINDS.contains(&artifact.kind.as_ref());
    (is_silent && tables.diagnostics.iter().any(|row| about(&row))).then(|| {
        "the manifest describes another file of this name (its SHA-256 differs), and this one does not say what it recorded".to_owned()
    })
}

/// A benchmark none of whose commands runs the program.
fn timed_others(tables: &Tables, artifact: &Artifact, programs: &BTreeSet<&str>) -> Option<String> {
    let commands: BTreeSet<&str> = tables
        .benchmarks
        .iter()
        .filter(|row| row.artifact_id == artifact.artifact_id && row.function.is_none())
        .map(|row| &*row.command)
        .collect();
    let runs = |command: &str| {
        let mut words = command.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
        words.any(|word| programs.contains(word.rsplit('/').next().unwrap_or(word)))
    };
    let first = commands.first()?;
    (!programs.is_empty() && !commands.iter().any(|command| runs(command))).then(|| format!("it timed another program: `{first}`"))
}

/// Per artifact in which fact of the machine it differs from what most state.
fn machines(tables: &Tables) -> BTreeMap<i32, String> {
    let mut out = BTreeMap::new();
    for key in HOST_KEYS {
        let stated: Vec<(i32, &Text)> =
            tables.host.iter().filter(|row| row.key.as_ref() == key).map(|row| (row.artifact_id, &row.value)).collect();
        for (artifact, value, usual) in unusual(&stated) {
            out.entry(artifact).or_insert_with(|| format!("it was recorded on another machine: {key} is {value}, elsewhere {usual}"));
        }
    }
    out
}

/// Per artifact whether its program is another build than in most recordings.
fn builds(tables: &Tables) -> BTreeMap<i32, String> {
    let programs: BTreeSet<&Text> = tables.executions.iter().filter_map(|row| row.program.as_ref()).collect();
    let mut stated: BTreeMap<&Text, BTreeMap<i32, &Text>> = BTreeMap::new();
    for mapping in &tables.mappings {
        let dso = usize::try_from(mapping.dso_id).ok().and_then(|id| tables.dsos.get(id));
        let Some(dso) = dso.filter(|dso| programs.contains(&dso.name)) else { continue };
        if let Some(id) = &dso.build_id {
            stated.entry(&dso.name).or_default().insert(mapping.artifact_id, id);
        }
    }
    let mut out = BTreeMap::new();
    for (program, of) in stated {
        let stated: Vec<(i32, &Text)> = of.into_iter().collect();
        for (artifact, id, usual) in unusual(&stated) {
            out.insert(artifact, format!("it recorded another build of {program}: build-id {id}, elsewhere {usual}"));
        }
    }
    out
}

/// (artifact, its value, the usual one) of those that state something else than most; the first decides a tie.
fn unusual<'a>(stated: &[(i32, &'a Text)]) -> Vec<(i32, &'a Text, &'a Text)> {
    let mut votes: BTreeMap<&Text, (usize, std::cmp::Reverse<i32>)> = BTreeMap::new();
    for (artifact, value) in stated {
        let vote = votes.entry(value).or_insert((0, std::cmp::Reverse(*artifact)));
        vote.0 += 1;
        vote.1 = vote.1.max(std::cmp::Reverse(*artifact));
    }
    let Some(usual) = votes.into_iter().max_by_key(|(_, vote)| *vote).map(|(value, _)| value) else { return Vec::new() };
    let usual = stated.iter().map(|(_, value)| *value).find(|value| *value == usual);
    let Some(usual) = usual else { return Vec::new() };
    stated.iter().filter(|(_, value)| *value != usual).map(|(artifact, value)| (*artifact, *value, usual)).collect()
}

/// The value most artifacts share; bare executions, then the first, decide ties.
fn most<T: Ord + Clone>(tables: &Tables, get: impl Fn(&Execution) -> Option<T>) -> Option<T> {
    let mut votes: BTreeMap<T, (usize, usize, std::cmp::Reverse<i32>)> = BTreeMap::new();
    for artifact in tables.artifacts.iter().filter(|artifact| !matches!(artifact.status.as_ref(), "duplicate" | "unreadable")) {
        let Some(execution) = execution_of(tables, artifact) else { continue };
        let Some(value) = get(execution) else { continue };
        let first = std::cmp::Reverse(artifact.artifact_id);
        let vote = votes.entry(value).or_insert((0, 0, first));
        vote.0 += 1;
        vote.1 += usize::from(execution.wrapper.as_ref() == "bare");
        vote.2 = vote.2.max(first);
    }
    votes.into_iter().max_by_key(|(_, vote)| *vote).map(|(value, _)| value)
}
