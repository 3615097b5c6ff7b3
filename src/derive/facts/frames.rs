//! Stacks whose innermost function had no frame of its own: a walk along frame pointers skips its direct caller.

use super::{cpu_events, fact};
use crate::tables::{Event, RecordingFact, StackCost, Tables};

/// `leaf_without_frame`: weight of the samples that end at such a place, of those of the program; for recordings along
/// frame pointers.
pub fn find(tables: &Tables) -> Vec<RecordingFact> {
    let walked = |event: &&Event| {
        let artifact = usize::try_from(event.artifact_id).ok().and_then(|at| tables.artifacts.get(at));
        artifact.is_some_and(|row| row.unwinding.as_deref() == Some("fp"))
    };
    let row = |event: &Event| {
        let start = tables.stack_costs.partition_point(|cost| cost.event_id < event.event_id);
        let costs = tables.stack_costs.get(start..).unwrap_or(&[]).iter().take_while(|cost| cost.event_id == event.event_id);
        let (mut skipped, mut whole) = (0_i64, 0_i64);
        for cost in costs {
            whole = whole.saturating_add(cost.self_weight);
            skipped = skipped.saturating_add(if is_without(tables, cost) { cost.self_weight } else { 0 });
        }
        fact(event.artifact_id, "leaf_without_frame", skipped, whole)
    };
    cpu_events(tables).into_iter().filter(walked).map(row).collect()
}

fn is_without(tables: &Tables, cost: &StackCost) -> bool {
    let node = usize::try_from(cost.stack_id).ok().and_then(|at| tables.stacks.get(at));
    let frame = node.and_then(|node| tables.frames.get(usize::try_from(node.frame_id).ok()?));
    frame.is_some_and(|frame| frame.has_frame == Some(false))
}
