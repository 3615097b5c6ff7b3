//! Q19: whether a recording is one phase or several: where its mix of functions changes.
//!
//! The recording is cut into 20 blocks of time. It is split where the mixes on both sides differ most (Jensen-Shannon
//! divergence), as long as they differ by much and by more than chance, and then each side again.

use rustc_hash::FxHashMap;

use super::{cpu_events, fact, is_target, samples_of};
use crate::derive::nodes::Nodes;
use crate::tables::{RecordingFact, Sample, Tables, Text};

/// Blocks of time (rules.md Q19).
const BLOCKS: usize = 20;
/// Fewer samples than this per block on average say nothing about blocks.
const PER_BLOCK_MIN: usize = 10;
/// Bits by which two mixes must differ; 0 for the same mix, 1 for mixes without a common function.
const DIVERGENCE_MIN: f64 = 0.1;
/// Splits of splits: at most eight phases.
const DEPTH_MAX: usize = 3;
/// A function counts if it has this share of the whole recording and this many samples in a block.
const SHARE_MIN: f64 = 0.05;
const HITS_MIN: i64 = 10;

/// Samples per function.
type Mix = FxHashMap<i32, i64>;

/// `phases`: how many there are. `phase_share`: the largest share of a function in a block over its share of the whole.
pub fn find(tables: &Tables, nodes: &Nodes<'_>) -> Vec<RecordingFact> {
    let mut out = Vec::new();
    for event in cpu_events(tables) {
        let Some(blocks) = blocks(tables, nodes, samples_of(tables, event.event_id)) else { continue };
        let mut cuts = Vec::new();
        split(&blocks, 0, DEPTH_MAX, &mut cuts);
        cuts.sort_unstable();
        let told = describe(tables, &blocks, &cuts);
        out.push(RecordingFact { subject: Some(told), ..fact(event.artifact_id, "phases", cuts.len() as i64 + 1, 1) });
        let (thousandths, function) = concentration(&blocks);
        let subject = function.map(|id| name_of(tables, id));
        out.push(RecordingFact { subject, ..fact(event.artifact_id, "phase_share", thousandths, 1000) });
    }
    out
}

/// The mix of each block; `None` where there are too few samples with times.
fn blocks(tables: &Tables, nodes: &Nodes<'_>, samples: &[Sample]) -> Option<Vec<Mix>> {
    let seen = || {
        samples.iter().filter(|sample| is_target(tables, sample)).filter_map(|sample| Some((sample.ts_ns.get()?, sample.stack_id.get())))
    };
    if seen().count() < BLOCKS * PER_BLOCK_MIN {
        return None;
    }
    let (first, last) = (seen().map(|(ts, _)| ts).min()?, seen().map(|(ts, _)| ts).max()?);
    let width = last.saturating_sub(first).max(1) as f64;
    // Counted in rows of all functions; those without a name come first.
    let functions = tables.functions.len() + 1;
    let mut counts = vec![0_i64; BLOCKS * functions];
    for (ts, stack) in seen() {
        let block = (ts.saturating_sub(first) as f64 / width * BLOCKS as f64) as usize;
        let function = stack.and_then(|stack| nodes.function(stack)).map_or(0, |function| function as usize + 1);
        if let Some(count) = counts.get_mut(block.min(BLOCKS - 1) * functions + function) {
            *count += 1;
        }
    }
    let mix =
        |counts: &[i64]| (-1_i32..).zip(counts).filter(|(_, count)| **count > 0).map(|(function, count)| (function, *count)).collect();
    Some(counts.chunks(functions).map(mix).collect())
}

fn sum(blocks: &[Mix]) -> Mix {
    let mut out = Mix::default();
    for (function, count) in blocks.iter().flatten() {
        *out.entry(*function).or_default() += count;
    }
    out
}

fn total(mix: &Mix) -> i64 {
    mix.values().sum()
}

/// Entropy in bits.
fn entropy(mix: &Mix) -> f64 {
    let whole = total(mix).max(1) as f64;
    let mut counts: Vec<i64> = mix.values().copied().filter(|count| *count > 0).collect();
    // In one order, so that the sum is the same every time.
    counts.sort_unstable();
    counts.iter().map(|count| *count as f64 / whole).map(|share| -share * share.log2()).sum()
}

/// Jensen-Shannon divergence of two mixes, weighted by their samples; `None` where chance can explain it. `both`: their sum.
fn divergence(left: &Mix, right: &Mix, both: &Mix) -> Option<f64> {
    let (a, b, n) = (total(left) as f64, total(right) as f64, total(both) as f64);
    if a < HITS_MIN as f64 || b < HITS_MIN as f64 {
        return None;
    }
    let bits = entropy(both) - a / n * entropy(left) - b / n * entropy(right);
    // 2 n ln2 times it is the G statistic: chi-squared with as many degrees of freedom; four standard deviations above.
    let freedom = (both.len() as f64 - 1.0).max(1.0);
    (2.0 * n * std::f64::consts::LN_2 * bits > freedom + 4.0 * (2.0 * freedom).sqrt()).then_some(bits)
}

/// Adds the cuts of these blocks (numbers of the blocks that begin a phase), `offset` being the number of the first.
fn split(blocks: &[Mix], offset: usize, depth: usize, cuts: &mut Vec<usize>) {
    if depth == 0 {
        return;
    }
    let mut best: Option<(f64, usize)> = None;
    let both = sum(blocks);
    let (mut left, mut right) = (Mix::default(), both.clone());
    for (before, block) in blocks.iter().take(blocks.len().saturating_sub(1)).enumerate() {
        for (function, count) in block {
            *left.entry(*function).or_default() += count;
            *right.entry(*function).or_default() -= count;
        }
        let bits = divergence(&left, &right, &both).filter(|bits| *bits >= DIVERGENCE_MIN);
        if let Some(bits) = bits.filter(|bits| best.is_none_or(|best| *bits > best.0)) {
            best = Some((bits, before + 1));
        }
    }
    let Some((_, at)) = best else { return };
    cuts.push(offset + at);
    let (left, right) = blocks.split_at(at);
    split(left, offset, depth - 1, cuts);
    split(right, offset + at, depth - 1, cuts);
}

/// The function that one block has most of, compared with the whole: thousandths, and which.
fn concentration(blocks: &[Mix]) -> (i64, Option<i32>) {
    let whole = sum(blocks);
    let n = total(&whole).max(1) as f64;
    let mut best = (1000, None);
    let mut functions: Vec<(i32, f64)> = whole.iter().map(|(function, count)| (*function, *count as f64 / n)).collect();
    functions.sort_by_key(|(function, _)| *function);
    for (function, share) in functions.into_iter().filter(|(_, share)| *share >= SHARE_MIN) {
        for block in blocks {
            let hits = block.get(&function).copied().unwrap_or(0);
            let ratio = (hits as f64 / total(block).max(1) as f64 / share * 1000.0) as i64;
            if hits >= HITS_MIN && ratio > best.0 {
                best = (ratio, Some(function));
            }
        }
    }
    best
}

fn name_of(tables: &Tables, function: i32) -> Text {
    let known = usize::try_from(function).ok().and_then(|at| tables.functions.get(at));
    known.map_or_else(|| Text::from("[unknown]"), |row| row.name.clone())
}

/// `0-35 %: parse 91 %; 35-100 %: write_out 88 %`.
fn describe(tables: &Tables, blocks: &[Mix], cuts: &[usize]) -> Text {
    let mut bounds = vec![0];
    bounds.extend(cuts);
    bounds.push(blocks.len());
    let phase = |pair: &[usize]| {
        let mix = sum(blocks.get(pair[0]..pair[1]).unwrap_or(&[]));
        let leader = mix.iter().max_by_key(|(function, count)| (**count, std::cmp::Reverse(**function)));
        let (function, count) = leader.map_or((-1, 0), |(function, count)| (*function, *count));
        let percent = |part: i64, whole: i64| part.saturating_mul(100) / whole.max(1);
        let place = |block: usize| percent(block as i64, blocks.len() as i64);
        format!("{}-{} %: {} {} %", place(pair[0]), place(pair[1]), name_of(tables, function), percent(count, total(&mix)))
    };
    Text::from(bounds.windows(2).map(phase).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(counts: &[(i32, i64)]) -> Mix {
        counts.iter().copied().collect()
    }

    // By hand: ten blocks of function 1 alone, ten of function 2 alone: no common function, so 1 bit, one cut in the middle.
    // The share of 1 is 0.5 of the whole and 1 of a block: 2.
    #[test]
    fn two_phases() {
        let blocks: Vec<Mix> = (0..20).map(|at| block(&[(if at < 10 { 1 } else { 2 }, 50)])).collect();
        assert!((divergence(&sum(&blocks[..10]), &sum(&blocks[10..]), &sum(&blocks)).unwrap() - 1.0).abs() < 1e-9);
        let mut cuts = Vec::new();
        split(&blocks, 0, DEPTH_MAX, &mut cuts);
        assert_eq!(cuts, [10]);
        assert_eq!(concentration(&blocks), (2000, Some(1)));
        let told = describe(&Tables::default(), &blocks, &cuts);
        assert_eq!(&*told, "0-50 %: [unknown] 100 %; 50-100 %: [unknown] 100 %");
    }

    // By hand: the same mix everywhere has no divergence; one block of twenty with all of a function that has 1 of 20 in
    // all: 20 times.
    #[test]
    fn one_phase_and_a_burst() {
        let even: Vec<Mix> = (0..20).map(|at| block(&[(1, 25 + at % 2), (2, 25 - at % 2)])).collect();
        let mut cuts = Vec::new();
        split(&even, 0, DEPTH_MAX, &mut cuts);
        assert!(cuts.is_empty());
        let burst: Vec<Mix> = (0..20).map(|at| block(&[(if at == 7 { 2 } else { 1 }, 50)])).collect();
        assert_eq!(concentration(&burst), (20_000, Some(2)));
    }
}
