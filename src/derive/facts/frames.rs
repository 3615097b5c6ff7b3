//! Stacks whose innermost function had no frame of its own: a walk along frame pointers skips its direct caller.

use super::{costs_of, cpu_events, fact};
use crate::derive::nodes::Nodes;
use crate::tables::{Event, RecordingFact, Tables};

/// `leaf_without_frame`: weight of the samples that end at such a place, of those of the program; for recordings along
/// frame pointers.
pub fn find(tables: &Tables, nodes: &Nodes<'_>) -> Vec<RecordingFact> {
    let walked = |event: &&Event| {
        let artifact = usize::try_from(event.artifact_id).ok().and_then(|at| tables.artifacts.get(at));
        artifact.is_some_and(|row| row.unwinding.as_deref() == Some("fp"))
    };
    let row = |event: &Event| {
        let (mut skipped, mut whole) = (0_i64, 0_i64);
        for cost in costs_of(tables, event.event_id) {
            whole = whole.saturating_add(cost.self_weight);
            if nodes.leaf(cost.stack_id).is_some_and(|leaf| leaf.has_frame == Some(false)) {
                skipped = skipped.saturating_add(cost.self_weight);
            }
        }
        fact(event.artifact_id, "leaf_without_frame", skipped, whole)
    };
    cpu_events(tables).into_iter().filter(walked).map(row).collect()
}
