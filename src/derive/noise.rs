//! What a series of repetitions says against itself: outliers, drift, a slow start (rules.md Q28).

use crate::tables::Benchmark;

/// hyperfine calls a run an outlier that is further from the median than this many median absolute deviations.
const OUTLIER_MAD: f64 = 14.826;
/// Fewer repetitions than this have no spread worth the name.
const RUNS_MIN: usize = 5;

/// Wall times in the order in which they were measured: files come in the order of their names.
pub fn in_order(rows: &[&Benchmark]) -> Vec<i64> {
    let mut rows: Vec<&&Benchmark> = rows.iter().collect();
    rows.sort_by_key(|row| (row.artifact_id, row.repetition));
    rows.into_iter().map(|row| row.wall_ns).collect()
}

/// Repetitions far from the median.
pub fn outliers(walls: &[i64]) -> Option<i64> {
    let median = median(walls)?;
    let deviations: Vec<i64> = walls.iter().map(|wall| (*wall as f64 - median).abs() as i64).collect();
    let mad = self::median(&deviations)?;
    let far = |deviation: &&i64| **deviation as f64 > OUTLIER_MAD * mad && mad > 0.0;
    (walls.len() >= RUNS_MIN).then(|| deviations.iter().filter(far).count() as i64)
}

/// The first repetition over the median of the others.
pub fn first(walls: &[i64]) -> Option<f64> {
    let (first, others) = walls.split_first()?;
    let median = median(others).filter(|median| *median > 0.0)?;
    (walls.len() >= RUNS_MIN).then_some(*first as f64 / median)
}

/// Two-sided p of Spearman's correlation between wall time and order.
pub fn drift(walls: &[i64]) -> Option<f64> {
    if walls.len() < RUNS_MIN {
        return None;
    }
    let n = walls.len() as f64;
    let ranks = ranks(walls);
    let middle = (n + 1.0) / 2.0;
    let (mut product, mut own, mut order) = (0.0, 0.0, 0.0);
    for (at, rank) in ranks.iter().enumerate() {
        let (x, y) = (at as f64 + 1.0 - middle, rank - middle);
        product += x * y;
        own += y * y;
        order += x * x;
    }
    if own <= 0.0 {
        return Some(1.0);
    }
    let r = (product / (own * order).sqrt()).clamp(-1.0, 1.0);
    if r.abs() >= 1.0 {
        return Some(0.0);
    }
    Some(student(r.abs() * ((n - 2.0) / (1.0 - r * r)).sqrt(), walls.len() - 2))
}

/// Two-sided p of Student's t, in closed form (Abramowitz and Stegun 26.7.3 and 26.7.4).
fn student(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    let (mut term, mut sum) = if is_odd { (cos, if freedom > 1 { cos } else { 0.0 }) } else { (1.0, 1.0) };
    let mut at = if is_odd { 3 } else { 2 };
    while at < freedom {
        term *= cos * cos * (at - 1) as f64 / at as f64;
        sum += term;
        at += 2;
    }
    let inside = if is_odd { (angle + sin * sum) * 2.0 / std::f64::consts::PI } else { sin * sum };
    (1.0 - inside).clamp(0.0, 1.0)
}

/// Ranks from 1, equals sharing the mean of theirs.
fn ranks(values: &[i64]) -> Vec<f64> {
    let rank = |value: &i64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let same = values.iter().filter(|other| *other == value).count() as f64;
        below + (same + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

fn median(values: &[i64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let upper = *sorted.get(sorted.len() / 2)? as f64;
    match sorted.len() % 2 {
        1 => Some(upper),
        _ => Some((upper + *sorted.get(sorted.len() / 2 - 1)? as f64) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: median 100, deviations 1 1 1 0 900, MAD 1; 900 > 14.826. The first is 1000/100 of the others.
    #[test]
    fn one_slow_start() {
        let walls = [1000, 99, 101, 100, 99];
        assert_eq!((outliers(&walls), first(&walls)), (Some(1), Some(1000.0 / 99.5)));
        assert_eq!((outliers(&walls[1..]), drift(&walls[1..])), (None, None));
    }

    // Student's table: t = 2.306 at 8 degrees of freedom and 2.365 at 7 are p = 0.05 two-sided; 12.706 at 1.
    #[test]
    fn students_table() {
        for (t, freedom, p) in [(2.306, 8, 0.05), (2.365, 7, 0.05), (12.706, 1, 0.05), (4.303, 2, 0.05), (3.355, 8, 0.01)] {
            assert!((student(t, freedom) - p).abs() < 2e-4, "{t} {freedom}: {}", student(t, freedom));
        }
    }

    // By hand: every run slower than the one before: r = 1. Ranks 1 3 2 5 4 6 8 7 10 9: sum of d^2 = 8, r = 1 - 48/990 =
    // 0.9515, t = 8.75 at 8 degrees: p = 2.3e-5.
    #[test]
    fn a_drift_is_seen_and_noise_is_not() {
        let rising: Vec<i64> = (0..10).map(|n| 100 + n).collect();
        assert_eq!(drift(&rising), Some(0.0));
        assert!(drift(&[1, 3, 2, 5, 4, 6, 8, 7, 10, 9]).is_some_and(|p| p > 1e-5 && p < 5e-5));
        assert!(drift(&[5, 1, 9, 3, 7, 2, 8, 4, 6, 5]).is_some_and(|p| p > 0.5));
        assert_eq!(drift(&[7; 10]), Some(1.0));
    }
}
