//! Q06b and Q29: how long processes live, and what others do on the CPUs meanwhile.

use std::collections::BTreeMap;

use super::{cpu_events, fact, is_target, samples_of};
use crate::tables::{RecordingFact, Sample, Tables};

/// `process_life` of scheduler recordings and `foreign_cpu` of those of the whole machine.
pub fn find(tables: &Tables) -> Vec<RecordingFact> {
    let mut out = process_lives(tables);
    for event in cpu_events(tables) {
        let of_all = tables.artifacts.get(event.artifact_id as usize).is_some_and(|row| row.system_wide == Some(true));
        if of_all {
            out.push(foreign(tables, event.artifact_id, samples_of(tables, event.event_id)));
        }
    }
    out
}

/// The median life of the target's processes, in ns: a process lives as long as that of its threads which is seen longest.
fn process_lives(tables: &Tables) -> Vec<RecordingFact> {
    let mut lives: BTreeMap<i32, BTreeMap<i32, i64>> = BTreeMap::new();
    for state in &tables.thread_states {
        let Some(thread) = tables.threads.get(state.thread_id as usize).filter(|thread| thread.is_target) else { continue };
        let life = lives.entry(state.artifact_id).or_default().entry(thread.process_id).or_default();
        *life = (*life).max(state.window_ns);
    }
    let median = |(artifact, of_process): (i32, BTreeMap<i32, i64>)| {
        let mut lives: Vec<i64> = of_process.into_values().collect();
        lives.sort_unstable();
        Some(fact(artifact, "process_life", *lives.get(lives.len() / 2)?, 1))
    };
    lives.into_iter().filter_map(median).collect()
}

/// Weight of other programs, of all weight: idle CPUs are neither the program's nor another's.
fn foreign(tables: &Tables, artifact: i32, samples: &[Sample]) -> RecordingFact {
    let (mut part, mut whole) = (0_i64, 0_i64);
    for sample in samples {
        whole = whole.saturating_add(sample.weight);
        let tid = sample.thread_id.get().and_then(|id| tables.threads.get(usize::try_from(id).ok()?)).map_or(0, |thread| thread.tid);
        if tid != 0 && !is_target(tables, sample) {
            part = part.saturating_add(sample.weight);
        }
    }
    fact(artifact, "foreign_cpu", part, whole)
}
