//! Q03: threads that wake in step with the sampling: what they do is seen too often or never.

use std::collections::BTreeMap;

use super::{cpu_events, fact};
use crate::tables::{Event, RecordingFact, Tables};

/// Waits of a thread that say whether it has a rhythm.
const WAITS_MIN: usize = 20;
/// A rhythm: half of the gaps lie within this part of their median.
const JITTER: f64 = 0.05;
/// Two rhythms are one below this relative distance from a whole multiple, or where they do not drift apart by half a
/// turn within the recording.
const SAME: f64 = 0.001;

/// `in_step` of every CPU recording, where a scheduler recording tells how threads wake: waits of threads that wake in
/// step with it, of all waits.
pub fn find(tables: &Tables) -> Vec<RecordingFact> {
    let rhythms = rhythms(tables);
    let all: i64 = rhythms.iter().map(|(_, waits)| *waits).sum();
    if all == 0 {
        return Vec::new();
    }
    let row = |event: &Event| {
        let period = period_ns(event)?;
        let window = tables.artifacts.get(usize::try_from(event.artifact_id).ok()?).and_then(|row| row.window_ns).unwrap_or(0);
        let hits = rhythms.iter().filter(|(rhythm, _)| rhythm.is_some_and(|gap| in_step(gap, period, window as f64)));
        Some(fact(event.artifact_id, "in_step", hits.map(|(_, waits)| *waits).sum(), all))
    };
    cpu_events(tables).into_iter().filter_map(row).collect()
}

/// Nanoseconds between two samples of a thread on a CPU.
fn period_ns(event: &Event) -> Option<f64> {
    let of_clock = event.period.filter(|period| *period > 0 && event.unit.as_ref() == "ns").map(|period| period as f64);
    event.frequency_hz.filter(|hz| *hz > 0).map(|hz| 1e9 / hz as f64).or(of_clock)
}

/// Per target thread its gap between two waits, if that is steady, and its waits.
fn rhythms(tables: &Tables) -> Vec<(Option<f64>, i64)> {
    let mut starts: BTreeMap<(i32, i32), Vec<i64>> = BTreeMap::new();
    for wait in tables.waits.iter().filter(|wait| !wait.is_aggregate && wait.reason.as_ref() != "preempted") {
        let Some((id, start)) = wait.thread_id.get().zip(wait.start_ns.get()) else { continue };
        if tables.threads.get(id as usize).is_some_and(|thread| thread.is_target) {
            starts.entry((wait.artifact_id, id)).or_default().push(start);
        }
    }
    starts.into_values().map(|starts| (steady(&starts), starts.len() as i64)).collect()
}

/// The median gap, where the gaps have a rhythm. `starts` is sorted.
fn steady(starts: &[i64]) -> Option<f64> {
    let mut gaps: Vec<i64> = starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    if starts.len() < WAITS_MIN {
        return None;
    }
    gaps.sort_unstable();
    let median = *gaps.get(gaps.len() / 2)? as f64;
    let near = gaps.iter().filter(|gap| (**gap as f64 - median).abs() <= median * JITTER).count();
    (median > 0.0 && near * 2 >= gaps.len()).then_some(median)
}

fn in_step(gap: f64, period: f64, window: f64) -> bool {
    let (long, short) = (gap.max(period), gap.min(period));
    let ratio = long / short;
    let off = (ratio - ratio.round()).abs();
    off <= SAME * ratio.round() || off * (window / long) < 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: 1 ms sampling meets a 10 ms timer in the same phase every time; 997 Hz drifts by 0.03 of a turn per 10 ms,
    // 30 turns in 10 s. A thread without a rhythm has none.
    #[test]
    fn drifting_rhythms_are_not_in_step() {
        assert!(in_step(10e6, 1e6, 10e9) && in_step(1e6, 10e6, 10e9) && in_step(1e6, 1e6, 10e9));
        assert!(!in_step(10e6, 1e9 / 997.0, 10e9));
        let steady_starts: Vec<i64> = (0..30).map(|n| n * 10_000_000 + n % 3 * 50_000).collect();
        assert!((steady(&steady_starts).unwrap() - 10e6).abs() < 2e5);
        let uneven: Vec<i64> = (0..30).map(|n| n * n * 1_000_000).collect();
        assert_eq!(steady(&uneven), None);
        assert_eq!(steady(&steady_starts[..10]), None);
    }
}
