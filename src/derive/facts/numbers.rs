//! Q36: two recordings with the same figures are one recording in two forms.
//!
//! A converted copy (folded stacks made from perf.data, say) has another hash, other units and other names for unnamed
//! code, but the same totals. Two runs of one program never agree in the sums of their twenty largest functions.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{ByStack, fact};
use crate::derive::calls::Kind;
use crate::derive::nodes::Nodes;
use crate::tables::{RecordingFact, Sample, Tables};

/// Largest functions that are compared (rules.md 2.4).
const TOP: usize = 20;
/// Fewer figures or observations than this agree by chance.
const FIGURES_MIN: usize = 3;
const TOTAL_MIN: i64 = 100;
/// Steps between the units that tools write: ns, us, ms, s.
const UNITS: [f64; 4] = [1.0, 1e3, 1e6, 1e9];
/// Rounding to another unit moves a figure by this much at most.
const ROUNDING: f64 = 1e-3;

/// How many and how much, by artifact and function at the leaf.
type ByFunction = FxHashMap<(i32, Option<i32>), (i64, i64)>;

/// What one recording adds up to by function at the leaf: once as numbers of observations, once as their weights.
#[derive(Debug, Default)]
struct Figures {
    counts: BTreeMap<String, i64>,
    weights: BTreeMap<String, i64>,
}

/// A row for each recording: whether it has the figures of an earlier one.
pub fn find(tables: &Tables, nodes: &Nodes<'_>, waits: &ByStack) -> Vec<RecordingFact> {
    let figures = figures(tables, nodes, waits);
    let mut tops: Vec<(i32, Vec<Vec<i64>>)> =
        figures.into_iter().map(|(artifact, own)| (artifact, vec![top(&own.counts), top(&own.weights)])).collect();
    // Of two, the one of unknown meaning is the copy.
    let is_folded = |artifact: i32| tables.artifacts.get(artifact as usize).is_some_and(|row| row.kind.as_ref() == "folded-stacks");
    tops.sort_by_key(|(artifact, _)| (is_folded(*artifact), *artifact));
    let mut out = Vec::new();
    for (at, (artifact, own)) in tops.iter().enumerate() {
        let known = tops.get(..at).unwrap_or(&[]);
        let same = known.iter().find(|(_, other)| own.iter().any(|one| other.iter().any(|two| are_same(one, two))));
        let total = own.first().and_then(|top| top.first()).copied().unwrap_or(0).max(1);
        let row = match same {
            Some((other, _)) => RecordingFact { other_artifact_id: Some(*other), ..fact(*artifact, "same_numbers", total, total) },
            None => fact(*artifact, "same_numbers", 0, total),
        };
        out.push(row);
    }
    out
}

fn figures(tables: &Tables, nodes: &Nodes<'_>, waits: &ByStack) -> BTreeMap<i32, Figures> {
    let usable = |artifact: i32| {
        tables.artifacts.get(artifact as usize).is_some_and(|row| !matches!(row.status.as_ref(), "duplicate" | "unreadable"))
    };
    // By the function's number first: names are long, and many stacks end in few functions.
    let function = |stack: Option<i32>| stack.and_then(|stack| nodes.function(stack));
    let mut by_function = ByFunction::default();
    let mut add = |artifact: i32, function: Option<i32>, count: i64, weight: i64| {
        let sum = by_function.entry((artifact, function)).or_default();
        *sum = (sum.0.saturating_add(count), sum.1.saturating_add(weight));
    };
    for ((artifact, stack), (count, weight)) in waits {
        add(*artifact, function(*stack), *count, *weight);
    }
    for samples in tables.samples.chunk_by(|a, b| a.event_id == b.event_id) {
        let Some(event) = samples.first().and_then(|first| tables.events.get(first.event_id as usize)) else { continue };
        // By path first: there are hundreds of thousands of samples.
        let calls = nodes.calls();
        let without_stack = |sample: &&Sample| sample.stack_id.get().is_none();
        for sample in samples.iter().filter(without_stack) {
            add(event.artifact_id, None, 1, sample.weight);
        }
        let stacks = samples.iter().filter_map(|sample| Some((sample.stack_id.get()?, sample.weight, 1)));
        for (path, weight, count) in calls.sum(samples.len(), stacks) {
            add(event.artifact_id, calls.leaf(path).and_then(Kind::function_id), count, weight);
        }
    }
    let name = |function: Option<i32>| -> String {
        let row = function.and_then(|id| tables.functions.get(usize::try_from(id).ok()?));
        row.map_or_else(String::new, |row| row.name.to_string())
    };
    let mut out: BTreeMap<i32, Figures> = BTreeMap::new();
    for ((artifact, function), (count, weight)) in by_function.into_iter().filter(|((artifact, _), _)| usable(*artifact)) {
        let name = name(function);
        let own = out.entry(artifact).or_default();
        for (sums, by) in [(&mut own.counts, count), (&mut own.weights, weight)] {
            let sum = sums.entry(name.clone()).or_default();
            *sum = sum.saturating_add(by);
        }
    }
    out
}

/// The total, then the largest in order.
fn top(sums: &BTreeMap<String, i64>) -> Vec<i64> {
    let mut values: Vec<i64> = sums.values().copied().collect();
    values.sort_unstable_by_key(|value| std::cmp::Reverse(*value));
    let total = values.iter().fold(0_i64, |sum, value| sum.saturating_add(*value));
    values.truncate(TOP);
    values.insert(0, total);
    values
}

/// Whether two lists are the same numbers, perhaps in another unit.
fn are_same(one: &[i64], other: &[i64]) -> bool {
    let (Some(a), Some(b)) = (one.first().copied(), other.first().copied()) else { return false };
    if one.len() != other.len() || one.len() <= FIGURES_MIN || a.min(b) < TOTAL_MIN {
        return false;
    }
    let ratio = a.max(b) as f64 / a.min(b) as f64;
    let Some(unit) = UNITS.into_iter().find(|unit| (ratio / unit - 1.0).abs() <= ROUNDING) else { return false };
    let near = |(x, y): (&i64, &i64)| {
        let (coarse, fine) = if a <= b { (*x as f64, *y as f64) } else { (*y as f64, *x as f64) };
        (coarse * unit - fine).abs() <= (unit - 1.0).max(fine * ROUNDING)
    };
    if unit == 1.0 { one == other } else { one.iter().zip(other).all(near) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: 1000 samples as 600, 300, 100; the same in another unit; another run of the program.
    #[test]
    fn the_same_numbers_in_another_unit_are_the_same() {
        assert!(are_same(&[1000, 600, 300, 100], &[1000, 600, 300, 100]));
        assert!(are_same(&[1000, 600, 300, 100], &[1_000_400, 600_200, 300_100, 100_100]));
        assert!(!are_same(&[1000, 600, 300, 100], &[1000, 600, 299, 101]));
        assert!(!are_same(&[1000, 600, 300, 100], &[2000, 1200, 600, 200]));
        assert!(!are_same(&[1000, 700, 300], &[1000, 700, 300]), "two figures agree by chance");
        assert!(!are_same(&[6, 3, 2, 1], &[6, 3, 2, 1]), "so do small ones");
        assert_eq!(top(&[("a".to_owned(), 3), ("b".to_owned(), 5)].into_iter().collect()), [8, 5, 3]);
    }
}
