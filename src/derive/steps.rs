//! The sizes of a series one by one, and the growth of series that a log states, for scaling_law.md.

use std::collections::BTreeMap;

use super::{baseline, scaling};
use crate::tables::keys::encode;
use crate::tables::{Benchmark, Evidence, ScalingPoint, ScalingStep, StatedScaling, Tables, Text};

/// A line through fewer sizes fits anything.
const SIZES_MIN: usize = 3;

/// Fills `scaling_steps` and `stated_scaling`. `scaling` must be there.
pub fn fill(tables: &mut Tables) {
    let mut steps = Vec::new();
    for series in &tables.scaling {
        let mut sizes: BTreeMap<i64, Vec<&Benchmark>> = BTreeMap::new();
        for row in tables.benchmarks.iter().filter(|row| scaling::is_of(series, row)) {
            sizes.entry(row.work.unwrap_or(0)).or_default().push(row);
        }
        let own = sizes.into_iter().filter_map(|(size, rows)| of_size(tables, series.series_id, &series.command, size, rows));
        steps.extend(grown(own.collect()));
    }
    let mut stated: BTreeMap<(i32, i64, Text, Text), Vec<&ScalingPoint>> = BTreeMap::new();
    for row in &tables.scaling_points {
        stated.entry((row.artifact_id, row.line_no, row.series.clone(), row.metric.clone())).or_default().push(row);
    }
    let mut laws = Vec::new();
    for ((artifact_id, line_no, series, metric), mut points) in stated {
        points.sort_by_key(|point| (point.size, point.value_ns));
        // A size that stands twice has two times: the series says nothing of it.
        points.dedup_by_key(|point| point.size);
        if points.len() < SIZES_MIN {
            continue;
        }
        let anchor = Text::from(format!("{}#L={line_no}", baseline::path(tables, artifact_id)));
        let step = |point: &&ScalingPoint| ScalingStep {
            artifact_id,
            series_id: None,
            line_no: Some(line_no),
            series: series.clone(),
            metric: metric.clone(),
            size: point.size,
            n: None,
            value_ns: point.value_ns,
            ratio: None,
            size_ratio: None,
            exponent: None,
            anchor: anchor.clone(),
        };
        steps.extend(grown(points.iter().map(step).collect()));
        let pairs: Vec<(i64, i64)> = points.iter().map(|point| (point.size, point.value_ns)).collect();
        if let Some(law) = scaling::of_points(&pairs) {
            let (lo, hi) = law.without_one.unzip();
            let sizes = pairs.len() as i64;
            let shape = law.shape.map(Text::from);
            laws.push(StatedScaling {
                artifact_id,
                line_no,
                series,
                metric,
                sizes,
                start_ns: law.start_ns,
                exponent: law.exponent,
                lo,
                hi,
                shape,
            });
        }
    }
    let evidence = |row: &ScalingStep| Evidence {
        hypothesis: "scaling".into(),
        slot: row.size.to_string().into(),
        metric: row.series.clone(),
        term: "value".into(),
        value: row.value_ns,
        anchor: row.anchor.clone(),
    };
    tables.evidence.extend(steps.iter().map(evidence));
    (tables.scaling_steps, tables.stated_scaling) = (steps, laws);
}

/// The repetition of the middle rank, as in BASELINE.md: it stands in a file.
fn of_size(tables: &Tables, series_id: i32, series: &Text, size: i64, mut rows: Vec<&Benchmark>) -> Option<ScalingStep> {
    rows.sort_by(|a, b| (a.wall_ns, a.artifact_id, a.repetition, &a.pointer).cmp(&(b.wall_ns, b.artifact_id, b.repetition, &b.pointer)));
    let middle = rows.get(rows.len().div_ceil(2).checked_sub(1)?)?;
    Some(ScalingStep {
        artifact_id: middle.artifact_id,
        series_id: Some(series_id),
        line_no: None,
        series: series.clone(),
        metric: "p50".into(),
        size,
        n: Some(rows.len() as i64),
        value_ns: middle.wall_ns,
        ratio: None,
        size_ratio: None,
        exponent: None,
        anchor: format!("{}#ptr={}", baseline::path(tables, middle.artifact_id), encode(&middle.pointer)).into(),
    })
}

/// Each step against the one before.
fn grown(mut steps: Vec<ScalingStep>) -> Vec<ScalingStep> {
    let before: Vec<(i64, i64)> = steps.iter().map(|step| (step.size, step.value_ns)).collect();
    for (step, (size, value)) in steps.iter_mut().skip(1).zip(before) {
        if size > 0 && value > 0 {
            let (ratio, size_ratio) = (step.value_ns as f64 / value as f64, step.size as f64 / size as f64);
            let exponent = ratio.ln() / size_ratio.ln();
            (step.ratio, step.size_ratio) = (Some(ratio), Some(size_ratio));
            step.exponent = Some(exponent).filter(|exponent| exponent.is_finite());
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(points: &[(i64, i64)]) -> Tables {
        let point = |(size, value_ns): &(i64, i64)| ScalingPoint {
            artifact_id: 0,
            line_no: 7,
            series: "batch".into(),
            metric: "p95".into(),
            size: *size,
            value_ns: *value_ns,
        };
        let mut tables = Tables { scaling_points: points.iter().map(point).collect(), ..Tables::default() };
        fill(&mut tables);
        tables
    }

    /// By hand: 100, 400, 1600, 6400 at 1, 2, 4, 8: four times per doubling, exponent 2.
    #[test]
    fn a_square_is_a_square() {
        let tables = stated(&[(8, 6_400), (1, 100), (2, 400), (4, 1_600)]);
        let steps: Vec<_> = tables.scaling_steps.iter().map(|step| (step.size, step.ratio, step.exponent)).collect();
        assert_eq!(steps, [(1, None, None), (2, Some(4.0), Some(2.0)), (4, Some(4.0), Some(2.0)), (8, Some(4.0), Some(2.0))]);
        let law = &tables.stated_scaling[0];
        assert!((law.exponent - 2.0).abs() < 1e-6, "{law:?}");
        assert_eq!(law.shape.as_deref(), Some("superlinear"));
    }

    #[test]
    fn three_sizes_have_no_interval_and_two_no_law() {
        let three = stated(&[(1, 10), (2, 20), (4, 40)]);
        assert_eq!((three.stated_scaling[0].lo, three.stated_scaling[0].shape.clone()), (None, None));
        assert!(stated(&[(1, 10), (2, 20)]).scaling_steps.is_empty());
        let odd = stated(&[(0, 0), (1, i64::MAX), (1, 5), (i64::MAX, 1), (7, 0)]);
        assert!(odd.scaling_steps.iter().all(|step| step.exponent.is_none_or(f64::is_finite)));
    }
}
