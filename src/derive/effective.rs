//! How many independent samples a recording is worth (rules.md 2.2).
//!
//! Kish's effective size (sum w)^2 / sum w^2 accounts for unequal weights. Samples of one phase are not independent
//! either: the recording is cut into 20 blocks of time, and the variance of the leading function's share between the
//! blocks is compared with the binomial variance; that ratio, at least 1, divides the size.

use rustc_hash::FxHashMap;

use super::facts::is_target;
use super::nodes::Nodes;
use crate::tables::{Sample, Tables};

/// Blocks of time (rules.md 2.2, a house figure).
const BLOCKS: usize = 20;

/// `n_eff` and `design_effect` of every event; `None` where nothing was sampled.
pub fn sizes(tables: &Tables, nodes: &Nodes<'_>) -> Vec<(Option<f64>, Option<f64>)> {
    let mut out = vec![(None, None); tables.events.len()];
    // Samples lie by event.
    for samples in tables.samples.chunk_by(|a, b| a.event_id == b.event_id) {
        if let Some(slot) = samples.first().and_then(|sample| out.get_mut(sample.event_id as usize)) {
            *slot = size(tables, nodes, samples);
        }
    }
    out
}

fn size(tables: &Tables, nodes: &Nodes<'_>, samples: &[Sample]) -> (Option<f64>, Option<f64>) {
    let seen = || samples.iter().filter(|sample| is_target(tables, sample));
    let (mut sum, mut squares) = (0.0, 0.0);
    for weight in seen().map(|sample| sample.weight as f64) {
        sum += weight;
        squares += weight * weight;
    }
    if squares <= 0.0 {
        return (None, None);
    }
    let leaf = |sample: &Sample| sample.stack_id.get().and_then(|stack| nodes.function(stack));
    let seen: Vec<(Option<i64>, Option<i32>)> = seen().map(|sample| (sample.ts_ns.get(), leaf(sample))).collect();
    let effect = design_effect(&seen, tables.functions.len());
    (Some(sum * sum / squares / effect), Some(effect))
}

/// The function that comes most often, the first of several, and how often; `samples` and `functions`: how many there are.
fn leader(seen: impl Iterator<Item = i32>, samples: usize, functions: usize) -> Option<(i32, i64)> {
    let by_most = |(function, hits): &(i32, i64)| (*hits, -*function);
    if samples < functions / 16 {
        let mut counts: FxHashMap<i32, i64> = FxHashMap::default();
        seen.for_each(|function| *counts.entry(function).or_default() += 1);
        return counts.into_iter().max_by_key(by_most);
    }
    let mut counts = vec![0_i64; functions];
    for function in seen {
        if let Some(count) = counts.get_mut(function as usize) {
            *count += 1;
        }
    }
    (0..).zip(counts).filter(|(_, hits)| *hits > 0).max_by_key(by_most)
}

/// `samples`: time and function at the leaf, of so many functions.
fn design_effect(samples: &[(Option<i64>, Option<i32>)], functions: usize) -> f64 {
    let times = || samples.iter().filter_map(|sample| sample.0);
    let (Some(first), Some(last)) = (times().min(), times().max()) else { return 1.0 };
    let Some((leader, hits)) = leader(samples.iter().filter_map(|sample| sample.1), samples.len(), functions) else { return 1.0 };
    let n = samples.len() as f64;
    let share = hits as f64 / n;
    let width = (last - first).max(1) as f64;
    if share >= 1.0 || n < 2.0 * BLOCKS as f64 {
        return 1.0;
    }
    let mut blocks = [(0.0_f64, 0.0_f64); BLOCKS];
    for (ts, leaf) in samples {
        let at = ts.map_or(0.0, |ts| (ts - first) as f64 / width * BLOCKS as f64) as usize;
        let block = &mut blocks[at.min(BLOCKS - 1)];
        block.0 += 1.0;
        block.1 += f64::from(u8::from(*leaf == Some(leader)));
    }
    let filled: Vec<_> = blocks.iter().filter(|block| block.0 > 0.0).collect();
    if filled.len() < 2 {
        return 1.0;
    }
    let between: f64 = filled.iter().map(|(n, hits)| n * (hits / n - share) * (hits / n - share)).sum();
    (between / (filled.len() - 1) as f64 / (share * (1.0 - share))).max(1.0)
}
