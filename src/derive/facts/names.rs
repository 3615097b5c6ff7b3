//! Q18: names that come from a file which may not be the recorded one, and files that were refused because they are not.

use std::collections::{BTreeMap, BTreeSet};

use super::{ByStack, costs_of, cpu_events, fact, innermost};
use crate::derive::nodes::Nodes;
use crate::tables::{Dso, RecordingFact, Tables};

/// Programs and libraries told per recording.
const TOLD_MAX: usize = 20;

/// `names_by_file_name`: weight in a dso that was named without a build-id on either side to compare.
/// `names_refused`: weight in a dso whose files on this machine have another build-id.
pub fn find(tables: &Tables, nodes: &Nodes, waits: &ByStack) -> Vec<RecordingFact> {
    let by_name: Vec<bool> = tables.dsos.iter().map(|dso| is_by_name(tables, dso)).collect();
    let refused: Vec<bool> = tables.dsos.iter().map(|dso| is_refused(tables, dso)).collect();
    let mut out = Vec::new();
    for (artifact, stacks) in weights(tables, waits) {
        // Other tools name their stacks themselves, on the recorded machine.
        if tables.artifacts.get(artifact as usize).is_none_or(|row| row.kind.as_ref() != "perf.data") {
            continue;
        }
        let whole = stacks.values().fold(0_i64, |sum, weight| sum.saturating_add(*weight));
        let mut of_dso: BTreeMap<usize, i64> = BTreeMap::new();
        for (stack, weight) in stacks {
            for dso in dsos(tables, nodes, stack) {
                let sum = of_dso.entry(dso).or_default();
                *sum = sum.saturating_add(weight);
            }
        }
        for (name, doubtful) in [("names_by_file_name", &by_name), ("names_refused", &refused)] {
            let mut found: Vec<(i64, usize)> =
                of_dso.iter().filter(|(dso, _)| doubtful.get(**dso) == Some(&true)).map(|(dso, weight)| (*weight, *dso)).collect();
            found.sort_by_key(|(weight, dso)| (std::cmp::Reverse(*weight), *dso));
            out.extend(found.iter().take(TOLD_MAX).map(|(weight, dso)| RecordingFact {
                subject: tables.dsos.get(*dso).map(|dso| dso.name.clone()),
                ..fact(artifact, name, *weight, whole)
            }));
            if found.is_empty() {
                out.push(fact(artifact, name, 0, whole));
            }
        }
    }
    out
}

/// Weight per stack: CPU samples of the program, waits, and traced calls.
fn weights(tables: &Tables, waits: &ByStack) -> BTreeMap<i32, BTreeMap<i32, i64>> {
    let mut out: BTreeMap<i32, BTreeMap<i32, i64>> = BTreeMap::new();
    let mut add = |artifact: i32, stack: i32, weight: i64| {
        let sum = out.entry(artifact).or_default().entry(stack).or_default();
        *sum = sum.saturating_add(weight);
    };
    for event in cpu_events(tables) {
        let costs = costs_of(tables, event.event_id);
        costs.iter().for_each(|cost| add(event.artifact_id, cost.stack_id, cost.self_weight));
    }
    for ((artifact, stack), (_, weight)) in waits {
        stack.iter().for_each(|stack| add(*artifact, *stack, *weight));
    }
    for call in &tables.syscall_events {
        call.stack_id.into_iter().for_each(|stack| add(call.artifact_id, stack, 1));
    }
    out
}

/// Where the stack ends, and where the program's own code on it lies: a place is named by either.
fn dsos(tables: &Tables, nodes: &Nodes, stack: i32) -> BTreeSet<usize> {
    let frame = innermost(tables, stack);
    let site = nodes.site(stack).and_then(|id| tables.functions.get(usize::try_from(id).ok()?));
    let ids = [frame.and_then(|frame| frame.dso_id), site.and_then(|site| site.dso_id)];
    ids.into_iter().flatten().filter_map(|id| usize::try_from(id).ok()).collect()
}

fn is_by_name(tables: &Tables, dso: &Dso) -> bool {
    let known = || tables.dsos.iter().any(|other| other.path == dso.path && other.build_id.is_some());
    dso.kind.as_ref() == "user" && dso.build_id.is_none() && dso.symbol_source.is_some() && !known()
}

/// Symbolization says so in its diagnostic about the path.
fn is_refused(tables: &Tables, dso: &Dso) -> bool {
    let about = |row: &&crate::tables::Diagnostic| row.kind.as_ref() == "symbols_missing" && row.places == dso.path;
    dso.symbol_source.is_none() && tables.diagnostics.iter().filter(about).any(|row| row.message.contains("is another build"))
}
