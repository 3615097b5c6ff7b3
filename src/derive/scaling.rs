//! How the time of a command grows with its input: repetitions at three or more sizes -> an exponent with an interval.
//!
//! ```text
//!   t = a + b n^k      a: what every run pays (start-up); it would mask the growth, so it is fitted too
//!
//!   for a given a: ln(t - a) over ln n is a line with slope k, its points weighted by ((t - a) / t)^2, so that the
//!   errors are relative ones of t; the a of the least squared error is searched in [0, least t)
//! ```
//!
//! The interval holds the 95 % of the slopes of resampled medians, and the slopes without any one size where four or
//! more are there: one size alone (a cache that is too small) must not make the law.

use std::collections::BTreeMap;

use super::bench::{Generator, median};
use crate::tables::{Benchmark, Scaling, Tables, Text};

/// Fewer sizes give no law: a line through two points fits anything.
const SIZES_MIN: usize = 3;
/// More sizes are thinned out (every k-th), since each resample fits them all.
const SIZES_MAX: usize = 64;
/// Resamples; their 2.5 % and 97.5 % quantiles are far enough from the ends.
const RESAMPLES: usize = 200;
/// Steps in which the constant is searched, then refined.
const STEPS: usize = 40;
/// Time is called linear in the size while the exponent is no further than this from 1: n log n over a factor of
/// eight reads 1.1 to 1.2.
const LINEAR: f64 = 0.2;

/// What one series is about: the command without the size, variant, threads, function.
type Key = (Text, Option<Text>, Option<i32>, Option<Text>);

/// The command with its size replaced, so that the runs of one series have one name: `./p 4000` -> `./p {n}`.
pub fn series_name(command: &str, work: i64) -> String {
    let size = work.to_string();
    let mut out = String::new();
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut String| {
        out.push_str(if *word == size { "{n}" } else { word });
        word.clear();
    };
    for c in command.chars() {
        if c.is_alphanumeric() {
            word.push(c);
        } else {
            flush(&mut word, &mut out);
            out.push(c);
        }
    }
    flush(&mut word, &mut out);
    out
}

/// Fills `scaling`.
pub fn fit(tables: &mut Tables) {
    let mut series: BTreeMap<Key, BTreeMap<i64, Vec<&Benchmark>>> = BTreeMap::new();
    for row in tables.benchmarks.iter().filter(|row| row.exit_code.unwrap_or(0) == 0 && row.wall_ns > 0) {
        let Some(work) = row.work.filter(|work| *work > 0) else { continue };
        let name = Text::from(series_name(&row.command, work));
        let key = (name, row.variant.clone(), row.threads, row.function.clone());
        series.entry(key).or_default().entry(work).or_default().push(row);
    }
    let rows = series.into_iter().filter_map(|(key, sizes)| law(key, &sizes));
    tables.scaling = rows.enumerate().map(|(at, row)| Scaling { series_id: at as i32, ..row }).collect();
}

/// Whether a repetition is one of the series.
pub fn is_of(series: &Scaling, row: &Benchmark) -> bool {
    let named = row.work.is_some_and(|work| work > 0 && series_name(&row.command, work) == *series.command);
    let counts = row.exit_code.unwrap_or(0) == 0 && row.wall_ns > 0;
    named && counts && (&row.variant, row.threads, &row.function) == (&series.variant, series.threads, &series.function)
}

fn law(key: Key, sizes: &BTreeMap<i64, Vec<&Benchmark>>) -> Option<Scaling> {
    let times: Vec<(f64, Vec<i64>)> = sizes.iter().map(|(size, rows)| (*size as f64, sorted(rows))).collect();
    let thin: Vec<&(f64, Vec<i64>)> = times.iter().step_by(times.len().div_ceil(SIZES_MAX).max(1)).collect();
    if thin.len() < SIZES_MIN {
        return None;
    }
    let points: Vec<(f64, f64)> = thin.iter().filter_map(|(size, times)| Some((*size, median(times)? as f64))).collect();
    let best = power_law(&points)?;
    let mut exponents = resampled(&thin);
    exponents.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| exponents.get((share * exponents.len().saturating_sub(1) as f64).round() as usize).copied();
    let (mut lo, mut hi) = (best.exponent.min(at(0.025)?), best.exponent.max(at(0.975)?));
    for exponent in without_one(&points) {
        (lo, hi) = (lo.min(exponent), hi.max(exponent));
    }
    Some(Scaling {
        series_id: 0,
        artifact_id: sizes.values().flatten().map(|row| row.artifact_id).min()?,
        command: key.0,
        variant: key.1,
        threads: key.2,
        function: key.3,
        sizes: sizes.len() as i64,
        smallest: *sizes.keys().next()?,
        largest: *sizes.keys().next_back()?,
        n: sizes.values().map(|rows| rows.len() as i64).sum(),
        n_least: sizes.values().map(|rows| rows.len() as i64).min()?,
        start_ns: best.start as i64,
        exponent: best.exponent,
        lo,
        hi,
        shape: shape(lo, hi).map(Text::from),
    })
}

/// The law of single values by size, as a log states them: nothing can be resampled.
#[derive(Debug, Clone, Copy)]
pub struct PointsLaw {
    pub start_ns: i64,
    pub exponent: f64,
    /// Least and largest exponent without any one size, where there are four or more.
    pub without_one: Option<(f64, f64)>,
    pub shape: Option<&'static str>,
}

/// Fits (size, time) pairs of different sizes; those that are not above 0 say nothing.
pub fn of_points(pairs: &[(i64, i64)]) -> Option<PointsLaw> {
    let usable: Vec<(f64, f64)> =
        pairs.iter().filter(|(size, ns)| *size > 0 && *ns > 0).map(|(size, ns)| (*size as f64, *ns as f64)).collect();
    let points: Vec<(f64, f64)> = usable.iter().step_by(usable.len().div_ceil(SIZES_MAX).max(1)).copied().collect();
    if points.len() < SIZES_MIN {
        return None;
    }
    let best = power_law(&points)?;
    let exponents = without_one(&points);
    let ends = exponents.iter().fold((best.exponent, best.exponent), |(lo, hi), own| (lo.min(*own), hi.max(*own)));
    let without_one = Some(ends).filter(|_| !exponents.is_empty());
    Some(PointsLaw {
        start_ns: best.start as i64,
        exponent: best.exponent,
        without_one,
        shape: without_one.and_then(|(lo, hi)| shape(lo, hi)),
    })
}

/// The exponents without any one size, where enough are left.
fn without_one(points: &[(f64, f64)]) -> Vec<f64> {
    let without = |left: usize| {
        let rest: Vec<(f64, f64)> = points.iter().enumerate().filter(|(at, _)| *at != left).map(|(_, point)| *point).collect();
        power_law(&rest).map(|law| law.exponent)
    };
    (0..points.len()).filter(|_| points.len() > SIZES_MIN).filter_map(without).collect()
}

fn sorted(rows: &[&Benchmark]) -> Vec<i64> {
    let mut times: Vec<i64> = rows.iter().map(|row| row.wall_ns).collect();
    times.sort_unstable();
    times
}

/// `None` where the interval does not decide.
fn shape(lo: f64, hi: f64) -> Option<&'static str> {
    let (below, above) = (1.0 - LINEAR, 1.0 + LINEAR);
    if lo > above {
        Some("superlinear")
    } else if hi < below {
        Some("sublinear")
    } else if lo >= below && hi <= above {
        Some("linear")
    } else {
        None
    }
}

/// The exponents when each size's median is taken of repetitions drawn with replacement.
fn resampled(sizes: &[&(f64, Vec<i64>)]) -> Vec<f64> {
    let mut generator = Generator::new();
    let mut one = || {
        let mut points = Vec::with_capacity(sizes.len());
        for (size, times) in sizes {
            points.push((*size, generator.resample(times)? as f64));
        }
        power_law(&points).map(|law| law.exponent)
    };
    (0..RESAMPLES).filter_map(|_| one()).collect()
}

#[derive(Debug, Clone, Copy)]
struct Law {
    start: f64,
    exponent: f64,
    error: f64,
}

/// The law of least squared relative error.
fn power_law(points: &[(f64, f64)]) -> Option<Law> {
    let least = points.iter().map(|point| point.1).min_by(f64::total_cmp)?;
    let mut best = slope(points, 0.0)?;
    let (mut from, mut to) = (0.0, least);
    // Each round looks closer around the best of the one before.
    for _ in 0..4 {
        let step = (to - from) / STEPS as f64;
        for at in 0..STEPS {
            let start = from + step * at as f64;
            if let Some(law) = slope(points, start).filter(|law| law.error < best.error) {
                best = law;
            }
        }
        (from, to) = ((best.start - step).max(0.0), (best.start + step).min(least));
    }
    Some(best)
}

/// The weighted line through (ln n, ln(t - start)).
fn slope(points: &[(f64, f64)], start: f64) -> Option<Law> {
    let mut logs = Vec::with_capacity(points.len());
    for (size, time) in points {
        let rest = time - start;
        if rest <= 0.0 {
            return None;
        }
        logs.push((size.ln(), rest.ln(), (rest / time).powi(2)));
    }
    let weight: f64 = logs.iter().map(|log| log.2).sum();
    let mean = |value: &dyn Fn(&(f64, f64, f64)) -> f64| logs.iter().map(|log| log.2 * value(log)).sum::<f64>() / weight;
    let (x, y) = (mean(&|log| log.0), mean(&|log| log.1));
    let (sxx, sxy) = (mean(&|log| (log.0 - x).powi(2)), mean(&|log| (log.0 - x) * (log.1 - y)));
    if sxx <= 0.0 {
        return None;
    }
    let exponent = sxy / sxx;
    let error: f64 = logs.iter().map(|log| log.2 * (log.1 - y - exponent * (log.0 - x)).powi(2)).sum();
    (exponent.is_finite() && error.is_finite()).then_some(Law { start, exponent, error })
}

#[cfg(test)]
mod tests;
