//! Which executions may meet in one hypothesis (Q30).
//!
//! Every artifact records an execution of its own. They are comparable when the command lines agree after removing the
//! work, threads and variant that the manifest declares. The signature most executions have is the run's; the bare
//! execution decides a tie. An artifact whose command line is unknown is compared, and the report says so.

use std::collections::BTreeMap;

use super::file::Admits;
use crate::tables::{Artifact, Execution, Tables, Text};

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
}

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
        let mut out = Comparability {
            variant: reference.and_then(|row| row.variant.clone()).or_else(|| most(tables, |row| row.variant.clone())),
            threads: reference.and_then(|row| row.threads).or_else(|| most(tables, |row| row.threads)),
            work: reference.and_then(|row| row.work).or_else(|| most(tables, |row| row.work)),
            cpus: cpus(tables),
            signature,
            of: BTreeMap::new(),
        };
        for artifact in &tables.artifacts {
            let standing = out.standing(artifact, execution_of(tables, artifact));
            out.of.insert(artifact.artifact_id, standing);
        }
        out
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
