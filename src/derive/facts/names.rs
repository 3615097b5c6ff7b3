//! Q18: names that come from a file which may not be the recorded one, and files that were refused because they are not.

use std::collections::BTreeMap;

use super::{ByStack, costs_of, cpu_events, fact};
use crate::derive::calls::Kind;
use crate::derive::nodes::Nodes;
use crate::tables::{Dso, RecordingFact, Tables};

/// Programs and libraries told per recording.
const TOLD_MAX: usize = 20;

/// `names_by_file_name`: weight in a dso that was named without a build-id on either side to compare.
/// `names_refused`: weight in a dso whose files on this machine have another build-id.
pub fn find(tables: &Tables, nodes: &Nodes<'_>, waits: &ByStack) -> Vec<RecordingFact> {
    let by_name: Vec<bool> = tables.dsos.iter().map(|dso| is_by_name(tables, dso)).collect();
    let refused: Vec<bool> = tables.dsos.iter().map(|dso| is_refused(tables, dso)).collect();
    let mut out = Vec::new();
    for (artifact, Weights { whole, of_dso }) in weights(tables, nodes, waits) {
        // Other tools name their stacks themselves, on the recorded machine.
        if tables.artifacts.get(artifact as usize).is_none_or(|row| row.kind.as_ref() != "perf.data") {
            continue;
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

/// What a recording weighs, and how much of that is in a place named by each dso.
#[derive(Default)]
struct Weights {
    whole: i64,
    of_dso: BTreeMap<usize, i64>,
}

impl Weights {
    fn add(&mut self, dsos: [Option<usize>; 2], weight: i64) {
        self.whole = self.whole.saturating_add(weight);
        let [first, second] = dsos;
        for dso in first.into_iter().chain(second.filter(|_| second != first)) {
            let sum = self.of_dso.entry(dso).or_default();
            *sum = sum.saturating_add(weight);
        }
    }
}

/// By artifact: CPU samples of the program, waits, and traced calls.
fn weights(tables: &Tables, nodes: &Nodes<'_>, waits: &ByStack) -> BTreeMap<i32, Weights> {
    let mut out: BTreeMap<i32, Weights> = BTreeMap::new();
    for event in cpu_events(tables) {
        let costs = costs_of(tables, event.event_id);
        if costs.is_empty() {
            continue;
        }
        let own = out.entry(event.artifact_id).or_default();
        costs.iter().for_each(|cost| own.add(dsos(tables, nodes, cost.stack_id), cost.self_weight));
    }
    for ((artifact, stack), (_, weight)) in waits {
        if let Some(stack) = stack {
            out.entry(*artifact).or_default().add(dsos(tables, nodes, *stack), *weight);
        }
    }
    for call in &tables.syscall_events {
        if let Some(stack) = call.stack_id {
            out.entry(call.artifact_id).or_default().add(dsos(tables, nodes, stack), 1);
        }
    }
    out
}

/// Where the stack ends, and where the program's own code on it lies: a place is named by either.
fn dsos(tables: &Tables, nodes: &Nodes<'_>, stack: i32) -> [Option<usize>; 2] {
    let site = nodes.site(stack).and_then(|id| tables.functions.get(usize::try_from(id).ok()?));
    let number = |id: Option<i32>| id.and_then(|id| usize::try_from(id).ok());
    [number(nodes.leaf(stack).and_then(Kind::dso_id)), number(site.and_then(|site| site.dso_id))]
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
