//! Numbers about recordings that a query cannot make: rhythms, phases, equal figures. The quality checks read them.

mod frames;
mod lives;
mod names;
mod numbers;
mod phases;
mod rhythm;

use rustc_hash::FxHashMap;

use super::nodes::Nodes;
use crate::tables::{Event, RecordingFact, Sample, StackCost, Tables, Text};

/// The facts of all recordings, those that the importers stated included, in order of artifact.
pub fn find(tables: &Tables, nodes: &Nodes<'_>) -> Vec<RecordingFact> {
    let mut rows = tables.recording_facts.clone();
    let of_stacks = || {
        let waits = waits(tables);
        rayon::join(|| names::find(tables, nodes, &waits), || numbers::find(tables, nodes, &waits))
    };
    let of_time =
        || rayon::join(|| (rhythm::find(tables), lives::find(tables), frames::find(tables, nodes)), || phases::find(tables, nodes));
    let ((names, numbers), ((rhythm, lives, frames), phases)) = rayon::join(of_stacks, of_time);
    for found in [rhythm, lives, frames, names, phases, numbers] {
        rows.extend(found);
    }
    rows.sort_by_cached_key(|row| (row.artifact_id, row.fact.clone(), row.subject.clone(), row.other_artifact_id));
    rows
}

/// How many and how much, by artifact and stack.
type ByStack = FxHashMap<(i32, Option<i32>), (i64, i64)>;

/// Waits by stack: there may be hundreds of thousands, in few stacks.
fn waits(tables: &Tables) -> ByStack {
    let mut out = ByStack::default();
    for wait in &tables.waits {
        add(&mut out, (wait.artifact_id, wait.stack_id.get()), wait.dur_ns);
    }
    out
}

fn add(sums: &mut ByStack, key: (i32, Option<i32>), weight: i64) {
    let sum = sums.entry(key).or_default();
    *sum = (sum.0.saturating_add(1), sum.1.saturating_add(weight));
}

fn fact(artifact_id: i32, fact: &str, part: i64, whole: i64) -> RecordingFact {
    RecordingFact { artifact_id, fact: Text::from(fact), part, whole, subject: None, other_artifact_id: None }
}

/// The event by which each recording samples the CPU: the first of its cpu events, as the view cpu_events has it.
fn cpu_events(tables: &Tables) -> Vec<&Event> {
    let mut out: Vec<&Event> = tables.events.iter().filter(|event| event.role.as_ref() == "cpu").collect();
    out.sort_by_key(|event| (event.artifact_id, event.event_id));
    out.dedup_by_key(|event| event.artifact_id);
    out
}

/// The samples of an event; they lie together.
fn samples_of(tables: &Tables, event: i32) -> &[Sample] {
    let start = tables.samples.partition_point(|sample| sample.event_id < event);
    let end = tables.samples.partition_point(|sample| sample.event_id <= event);
    tables.samples.get(start..end).unwrap_or(&[])
}

/// What the stacks of an event cost; they lie together.
fn costs_of(tables: &Tables, event: i32) -> &[StackCost] {
    let start = tables.stack_costs.partition_point(|cost| cost.event_id < event);
    let end = tables.stack_costs.partition_point(|cost| cost.event_id <= event);
    tables.stack_costs.get(start..end).unwrap_or(&[])
}

/// Whether a thread of the program was sampled.
pub(super) fn is_target(tables: &Tables, sample: &Sample) -> bool {
    sample.thread_id.get().and_then(|id| tables.threads.get(usize::try_from(id).ok()?)).is_some_and(|thread| thread.is_target)
}
