//! Trends of memory series: Theil-Sen slope with its interval, Mann-Kendall's test.
//!
//! Only the last two thirds of the run count (rules.md R19): programs grow while they start.
//! Theil-Sen: the median of the slopes of all pairs of points; its 95 % interval after Sen (1968) from the variance of
//! Kendall's S. A series is thinned to at most 500 points first (every k-th), since the pairs grow with the square.

use crate::tables::{MemoryPoint, SeriesTrend, Tables};

/// Points used at most.
const POINTS_MAX: usize = 500;
/// Two-sided 95 % of the normal distribution.
const Z95: f64 = 1.959_963_984_540_054;

/// Fills `series_trends` for every artifact with memory readings.
pub fn fit(tables: &mut Tables) {
    let mut rows = Vec::new();
    for points in tables.memory.chunk_by(|a, b| a.artifact_id == b.artifact_id) {
        rows.extend(trend(points));
    }
    tables.series_trends = rows;
}

fn trend(points: &[MemoryPoint]) -> Option<SeriesTrend> {
    let (first, last) = (points.first()?, points.last()?);
    let from = first.ts_ns.saturating_add(last.ts_ns.saturating_sub(first.ts_ns) / 3);
    let used: Vec<(f64, f64)> =
        points.iter().filter(|point| point.ts_ns >= from).map(|point| (point.ts_ns as f64 / 1e9, point.rss_bytes as f64)).collect();
    let step = used.len().div_ceil(POINTS_MAX).max(1);
    let thin: Vec<(f64, f64)> = used.iter().copied().step_by(step).collect();
    let n = thin.len();
    if n < 3 {
        return None;
    }
    let (mut slopes, mut s) = (Vec::with_capacity(n * n / 2), 0_i64);
    for (i, a) in thin.iter().enumerate() {
        for b in thin.get(i + 1..).unwrap_or_default() {
            if b.0 > a.0 {
                slopes.push((b.1 - a.1) / (b.0 - a.0));
            }
            s += i64::from(b.1 > a.1) - i64::from(b.1 < a.1);
        }
    }
    slopes.sort_unstable_by(f64::total_cmp);
    let variance = kendall_variance(&thin);
    let half = Z95 * variance.sqrt();
    let pairs = slopes.len() as f64;
    let at = |rank: f64| slopes.get((rank.max(0.0) as usize).min(slopes.len().saturating_sub(1))).copied();
    let z = if variance > 0.0 { (s.abs() - 1).max(0) as f64 / variance.sqrt() } else { 0.0 };
    let tenth = (used.len() / 10).max(1);
    let growth = median(used.get(used.len() - tenth..)?) - median(used.get(..tenth)?);
    Some(SeriesTrend {
        artifact_id: first.artifact_id,
        metric: "rss_bytes".into(),
        n: used.len() as i64,
        slope_per_s: at(pairs / 2.0)?,
        slope_lo: at((pairs - half) / 2.0)?,
        slope_hi: at((pairs + half) / 2.0 + 1.0)?,
        mann_kendall_p: two_sided_p(z),
        growth_bytes: growth as i64,
        max_bytes: points.iter().map(|point| point.rss_bytes).max()?,
        min_bytes: used.iter().map(|point| point.1 as i64).min(),
        cycles: Some(cycles(&used)),
    })
}

/// How often a series falls by half of its range and rises again by as much: the teeth of a saw.
fn cycles(points: &[(f64, f64)]) -> i64 {
    let values = || points.iter().map(|point| point.1);
    let (Some(least), Some(most)) = (values().min_by(f64::total_cmp), values().max_by(f64::total_cmp)) else { return 0 };
    let half = (most - least) / 2.0;
    if half <= 0.0 {
        return 0;
    }
    let (mut cycles, mut has_fallen) = (0, false);
    // The last turning point that counts: the top while it rises, the bottom while it falls.
    let mut turn = values().next().unwrap_or(0.0);
    for value in values() {
        if has_fallen {
            turn = turn.min(value);
            if value - turn >= half {
                (cycles, has_fallen, turn) = (cycles + 1, false, value);
            }
        } else {
            turn = turn.max(value);
            if turn - value >= half {
                (has_fallen, turn) = (true, value);
            }
        }
    }
    cycles
}

/// Variance of Kendall's S with the correction for ties (Kendall 1975).
fn kendall_variance(points: &[(f64, f64)]) -> f64 {
    let mut values: Vec<f64> = points.iter().map(|point| point.1).collect();
    values.sort_unstable_by(f64::total_cmp);
    let term = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let ties: f64 = values.chunk_by(|a, b| a == b).map(|tie| term(tie.len() as f64)).sum();
    (term(points.len() as f64) - ties) / 18.0
}

fn median(points: &[(f64, f64)]) -> f64 {
    let mut values: Vec<f64> = points.iter().map(|point| point.1).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// 2 (1 - Phi(z)) by Abramowitz and Stegun 7.1.26 (absolute error below 1.5e-7).
fn two_sided_p(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let poly = t * (0.254_829_592 + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    (poly * (-x * x).exp()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(value: impl Fn(i64) -> i64) -> Vec<MemoryPoint> {
        let point = |i: i64| MemoryPoint {
            artifact_id: 0,
            ts_ns: i * 1_000_000_000,
            rss_bytes: value(i),
            pss_bytes: None,
            anon_bytes: None,
            swap_bytes: None,
            source: "test".into(),
            line_no: i,
        };
        (0..31).map(point).collect()
    }

    /// By hand: 100 bytes a second, 21 points from 10 s to 30 s, growth from the median of two to the median of two.
    #[test]
    fn a_line_has_its_slope() {
        let row = trend(&series(|i| 100 * i)).unwrap();
        assert_eq!((row.n, row.slope_per_s, row.max_bytes), (21, 100.0, 3_000));
        assert_eq!((row.slope_lo, row.slope_hi), (100.0, 100.0));
        assert!(row.mann_kendall_p < 1e-6);
        assert_eq!(row.growth_bytes, 1_900);
    }

    /// Counted by hand: teeth of five points (0, 1, 2, 3, 4, 0, ...) from point 10 to point 30 fall at 15, 20, 25 and 30;
    /// the last one does not rise again.
    #[test]
    fn the_teeth_of_a_saw_are_counted() {
        let row = trend(&series(|i| 1000 + 100 * (i % 5))).unwrap();
        assert_eq!((row.min_bytes, row.max_bytes, row.cycles), (Some(1000), 1400, Some(3)));
        assert_eq!(trend(&series(|i| 100 * i)).unwrap().cycles, Some(0));
        assert_eq!(trend(&series(|_| 7)).unwrap().cycles, Some(0));
    }

    #[test]
    fn a_flat_series_has_none() {
        let row = trend(&series(|_| 4096)).unwrap();
        assert_eq!((row.slope_per_s, row.growth_bytes), (0.0, 0));
        assert!(row.mann_kendall_p > 0.99);
    }
}
