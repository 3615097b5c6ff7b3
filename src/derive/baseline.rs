//! Repetitions -> order statistics, for BASELINE.md. Nothing is averaged.
//!
//! The percentile p of n repetitions is the one of rank p * n, rounded up (nearest rank): always a value that was
//! measured, so it can be shown where it stands. Its 95 % interval holds for any distribution: of the order statistics,
//! the l-th and the u-th enclose the percentile where the binomial distribution of n and p leaves at most 2.5 % below l
//! and 2.5 % from u on (David & Nagaraja, Order Statistics, section 7.1). Where no u does, there is no upper end.

use std::collections::BTreeMap;

use crate::tables::keys::encode;
use crate::tables::{Baseline, Benchmark, Evidence, Span, Tables, Text};

/// Statistic and percentile in thousandths.
pub const STATISTICS: [(&str, i64); 5] = [("p50", 500), ("p95", 950), ("p99", 990), ("p999", 999), ("max", 1000)];

/// What each end of a 95 % interval leaves outside.
const TAIL: f64 = 0.025;

/// Below this many values p99.9 is the largest of them.
const ENOUGH_FOR_P999: i64 = 1_000;

type Key = (Text, Option<Text>, Option<i32>, Option<i64>, Option<Text>);

/// Fills `baselines`.
pub fn fill(tables: &mut Tables) {
    let mut groups: BTreeMap<Key, Vec<&Benchmark>> = BTreeMap::new();
    for row in tables.benchmarks.iter().filter(|row| row.exit_code.unwrap_or(0) == 0) {
        groups.entry((row.command.clone(), row.variant.clone(), row.threads, row.work, row.function.clone())).or_default().push(row);
    }
    let mut out = Vec::new();
    for (key, mut rows) in groups {
        // Of equals, the first by place.
        rows.sort_by(|a, b| (a.wall_ns, a.artifact_id).cmp(&(b.wall_ns, b.artifact_id)).then_with(|| a.repetition.cmp(&b.repetition)));
        out.extend(STATISTICS.iter().filter_map(|statistic| of_benchmark(tables, &key, &rows, *statistic)));
    }
    for row in &tables.spans {
        out.extend(STATISTICS.iter().filter_map(|(statistic, _)| of_span(tables, row, statistic)));
    }
    let evidence = |row: &Baseline| Evidence {
        hypothesis: "baseline".into(),
        slot: row.statistic.clone(),
        metric: row.name.clone(),
        term: "value".into(),
        value: row.value_ns,
        anchor: row.anchor.clone(),
    };
    tables.evidence.extend(out.iter().map(evidence));
    tables.baselines = out;
}

fn of_benchmark(tables: &Tables, key: &Key, rows: &[&Benchmark], (statistic, thousandths): (&str, i64)) -> Option<Baseline> {
    let n = rows.len() as i64;
    let rank = rank(n, thousandths);
    let at = |rank: i64| usize::try_from(rank - 1).ok().and_then(|at| rows.get(at)).copied();
    let row = at(rank)?;
    let (lo, hi) = if thousandths < 1000 { bounds(n, thousandths as f64 / 1000.0) } else { (None, None) };
    let wall = |rank: Option<i64>| rank.and_then(at).map(|row| row.wall_ns);
    Some(Baseline {
        artifact_id: row.artifact_id,
        source: "benchmark".into(),
        name: key.0.clone(),
        variant: key.1.clone(),
        threads: key.2,
        work: key.3,
        function: key.4.clone(),
        statistic: statistic.into(),
        value_ns: row.wall_ns,
        n: Some(n),
        rank: Some(rank),
        lo_ns: wall(lo),
        hi_ns: wall(hi),
        is_conservative: thousandths >= 999 && n < ENOUGH_FOR_P999,
        anchor: format!("{}#ptr={}", path(tables, row.artifact_id), encode(&row.pointer)).into(),
    })
}

fn of_span(tables: &Tables, row: &Span, statistic: &str) -> Option<Baseline> {
    let value_ns = match statistic {
        "p50" => row.p50_ns,
        "p95" => row.p95_ns,
        "p99" => row.p99_ns,
        "p999" => row.p999_ns,
        _ => row.max_ns,
    }?;
    Some(Baseline {
        artifact_id: row.artifact_id,
        source: "span".into(),
        name: row.name.clone(),
        variant: row.thread_name.clone(),
        threads: None,
        work: None,
        function: None,
        statistic: statistic.into(),
        value_ns,
        n: row.calls,
        rank: None,
        lo_ns: None,
        hi_ns: None,
        is_conservative: matches!(statistic, "p999" | "max") && row.calls.is_none_or(|calls| calls < ENOUGH_FOR_P999),
        anchor: format!("{}#L={}", path(tables, row.artifact_id), row.line_no).into(),
    })
}

pub fn path(tables: &Tables, artifact: i32) -> String {
    tables.artifacts.iter().find(|row| row.artifact_id == artifact).map_or_else(String::new, |row| encode(&row.path))
}

/// p * n, rounded up; at least the first.
fn rank(n: i64, thousandths: i64) -> i64 {
    ((i128::from(n) * i128::from(thousandths) + 999) / 1000).max(1) as i64
}

/// Ranks of the two ends of the interval of the percentile `p` among `n` values.
fn bounds(n: i64, p: f64) -> (Option<i64>, Option<i64>) {
    let (mut lo, mut hi) = (None, None);
    // ln of the binomial probability of k, from k = 0 on; as it is, it leaves the range of f64.
    let mut log_pmf = n as f64 * (1.0 - p).ln();
    let odds = (p / (1.0 - p)).ln();
    let mut cdf = 0.0;
    for k in 0..n {
        cdf += log_pmf.exp();
        // k + 1 values or fewer lie below the percentile with probability 1 - cdf(k) or more.
        if cdf <= TAIL {
            lo = Some(k + 1);
        }
        if cdf >= 1.0 - TAIL {
            hi = Some(k + 1);
            break;
        }
        log_pmf += odds + ((n - k) as f64 / (k + 1) as f64).ln();
    }
    (lo, hi)
}

/// The fewest values with which the percentile has an upper end: p^n <= 2.5 %.
pub fn enough(thousandths: i64) -> i64 {
    (TAIL.ln() / (thousandths as f64 / 1000.0).ln()).ceil() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_ranks() {
        assert_eq!([500, 950, 990, 999, 1000].map(|p| rank(10, p)), [5, 10, 10, 10, 10]);
        assert_eq!([500, 950, 990, 999, 1000].map(|p| rank(1000, p)), [500, 950, 990, 999, 1000]);
        assert_eq!([500, 999].map(|p| rank(1, p)), [1, 1]);
    }

    /// For the median of 10 textbooks give the 2nd and the 9th; the others were counted with whole numbers in Python
    /// (math.comb), n = 1,000 and 4,000 without any rounding.
    #[test]
    fn intervals_hold_for_any_distribution() {
        assert_eq!(bounds(10, 0.5), (Some(2), Some(9)));
        assert_eq!(bounds(5, 0.5), (None, None));
        assert_eq!(bounds(6, 0.5), (Some(1), Some(6)));
        assert_eq!(bounds(10, 0.999).1, None);
        assert_eq!(bounds(71, 0.95).1, None);
        assert_eq!(bounds(72, 0.95).1, Some(72));
        assert_eq!(bounds(0, 0.5), (None, None));
        assert_eq!(bounds(1_000, 0.5), (Some(469), Some(532)));
        assert_eq!(bounds(4_000, 0.5), (Some(1_938), Some(2_063)));
    }

    /// 0.95^72 = 0.0249, 0.99^368 = 0.0248, 0.999^3688 = 0.02497.
    #[test]
    fn how_many_are_enough() {
        assert_eq!([500, 950, 990, 999].map(enough), [6, 72, 368, 3688]);
    }
}
