//! Repetitions of one command -> median with an interval.
//!
//! Ten files of one run each and one file of ten runs mean the same: they are grouped by command and parameters.
//! With 10 or more repetitions the interval is the bootstrap percentile interval of the median (rules.md 2.2), with a
//! fixed generator so that the same input gives the same bytes; with fewer it is the range.

use std::collections::BTreeMap;

use super::noise;
use crate::tables::{Benchmark, BenchmarkStat, Tables, Text};

/// Resamples: enough for the 2.5 % and 97.5 % quantiles to settle to a few per cent of their distance.
const RESAMPLES: usize = 2_000;
/// Below this many repetitions the range is given instead.
const BOOTSTRAP_MIN: usize = 10;

type Key = (Text, Option<Text>, Option<i32>, Option<i64>, Option<Text>);

/// Fills `benchmark_stats`.
pub fn summarize(tables: &mut Tables) {
    let mut groups: BTreeMap<Key, Vec<&Benchmark>> = BTreeMap::new();
    for row in tables.benchmarks.iter().filter(|row| row.exit_code.unwrap_or(0) == 0) {
        groups.entry((row.command.clone(), row.variant.clone(), row.threads, row.work, row.function.clone())).or_default().push(row);
    }
    tables.benchmark_stats = groups.into_iter().filter_map(|(key, rows)| stat(key, &rows)).collect();
}

fn stat(key: Key, rows: &[&Benchmark]) -> Option<BenchmarkStat> {
    let in_order = noise::in_order(rows);
    let mut wall: Vec<i64> = rows.iter().map(|row| row.wall_ns).collect();
    wall.sort_unstable();
    let (lo_ns, hi_ns) = if wall.len() >= BOOTSTRAP_MIN { bootstrap(&wall) } else { (*wall.first()?, *wall.last()?) };
    let n = wall.len() as f64;
    let mean = wall.iter().map(|value| *value as f64).sum::<f64>() / n;
    let variance = wall.iter().map(|value| (*value as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    Some(BenchmarkStat {
        artifact_id: rows.iter().map(|row| row.artifact_id).min()?,
        command: key.0,
        variant: key.1,
        threads: key.2,
        work: key.3,
        function: key.4,
        n: wall.len() as i64,
        median_ns: median(&wall)?,
        lo_ns,
        hi_ns,
        cv: if mean > 0.0 { variance.sqrt() / mean } else { 0.0 },
        user_ns: median_of(rows.iter().map(|row| row.user_ns)),
        system_ns: median_of(rows.iter().map(|row| row.system_ns)),
        outliers: noise::outliers(&in_order),
        drift_p: noise::drift(&in_order),
        first_ratio: noise::first(&in_order),
    })
}

/// The middle of sorted values; of an even number the mean of the two.
pub fn median(sorted: &[i64]) -> Option<i64> {
    let mid = sorted.len() / 2;
    let upper = *sorted.get(mid)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(mid.checked_sub(1)?)?;
    Some(lower / 2 + upper / 2 + (lower % 2 + upper % 2) / 2)
}

fn median_of(values: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    let mut known: Vec<i64> = values.collect::<Option<_>>()?;
    known.sort_unstable();
    median(&known)
}

/// SplitMix64 (Steele, Lea, Flood 2014) from a fixed seed: the same input gives the same bytes.
pub struct Generator(u64);

impl Generator {
    pub fn new() -> Generator {
        Generator(0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The median of as many values, drawn with replacement.
    pub fn resample(&mut self, values: &[i64]) -> Option<i64> {
        let draw = |_| values.get((self.next() % values.len() as u64) as usize).copied();
        let mut sample: Vec<i64> = (0..values.len()).filter_map(draw).collect();
        sample.sort_unstable();
        median(&sample)
    }
}

fn bootstrap(sorted: &[i64]) -> (i64, i64) {
    let mut generator = Generator::new();
    let mut medians: Vec<i64> = (0..RESAMPLES).filter_map(|_| generator.resample(sorted)).collect();
    medians.sort_unstable();
    let at = |share: f64| medians.get((share * (RESAMPLES - 1) as f64) as usize).copied().unwrap_or(0);
    (at(0.025), at(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_intervals() {
        assert_eq!(median(&[1, 2, 4]), Some(2));
        assert_eq!(median(&[1, 2, 4, 5]), Some(3));
        assert_eq!(median(&[]), None);
        let (lo, hi) = bootstrap(&[10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
        assert!(lo <= 14 && hi >= 15 && lo >= 10 && hi <= 19);
    }
}
