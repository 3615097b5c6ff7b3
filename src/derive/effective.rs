//! How many independent samples a recording is worth (rules.md 2.2).
//!
//! Kish's effective size (sum w)^2 / sum w^2 accounts for unequal weights. Samples of one phase are not independent
//! either: the recording is cut into 20 blocks of time, and the variance of the leading function's share between the
//! blocks is compared with the binomial variance; that ratio, at least 1, divides the size.

use rustc_hash::FxHashMap;

use super::nodes::Nodes;
use crate::tables::Tables;

/// Blocks of time (rules.md 2.2, a house figure).
const BLOCKS: usize = 20;

/// Time, weight and leaf function of a target sample.
type Seen = (Option<i64>, i64, Option<i32>);

/// `n_eff` and `design_effect` of every event; `None` where nothing was sampled.
pub fn sizes(tables: &Tables, nodes: &Nodes) -> Vec<(Option<f64>, Option<f64>)> {
    let mut per_event: Vec<Vec<Seen>> = vec![Vec::new(); tables.events.len()];
    for sample in &tables.samples {
        let is_target = sample.thread_id.get().and_then(|id| tables.threads.get(id as usize)).is_some_and(|row| row.is_target);
        if !is_target {
            continue;
        }
        let leaf = sample.stack_id.get().and_then(|stack| nodes.function(stack));
        if let Some(list) = per_event.get_mut(sample.event_id as usize) {
            list.push((sample.ts_ns.get(), sample.weight, leaf));
        }
    }
    per_event.iter().map(|samples| size(samples)).collect()
}

fn size(samples: &[Seen]) -> (Option<f64>, Option<f64>) {
    let sum: f64 = samples.iter().map(|sample| sample.1 as f64).sum();
    let squares: f64 = samples.iter().map(|sample| (sample.1 as f64) * (sample.1 as f64)).sum();
    if squares <= 0.0 {
        return (None, None);
    }
    let effect = design_effect(samples);
    (Some(sum * sum / squares / effect), Some(effect))
}

fn design_effect(samples: &[Seen]) -> f64 {
    let times = || samples.iter().filter_map(|sample| sample.0);
    let (Some(first), Some(last)) = (times().min(), times().max()) else { return 1.0 };
    let mut count: FxHashMap<i32, i64> = FxHashMap::default();
    for function in samples.iter().filter_map(|sample| sample.2) {
        *count.entry(function).or_default() += 1;
    }
    let Some((leader, hits)) = count.into_iter().max_by_key(|(function, hits)| (*hits, -*function)) else { return 1.0 };
    let n = samples.len() as f64;
    let share = hits as f64 / n;
    let width = (last - first).max(1) as f64;
    if share >= 1.0 || n < 2.0 * BLOCKS as f64 {
        return 1.0;
    }
    let mut blocks = [(0.0_f64, 0.0_f64); BLOCKS];
    for (ts, _, leaf) in samples {
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
