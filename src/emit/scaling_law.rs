//! scaling_law.md: how the time grows with the size, step by step, and the shape of the growth.

use std::fmt::Write;

use super::{EmitOptions, OutputFile, View, anchor, escape, number};
use crate::error::Result;
use crate::tables::{Scaling, ScalingStep, StatedScaling};

const SERIES_MAX: usize = 50;
const SIZES_MAX: usize = 100;

pub fn emit(view: &View<'_>, _options: EmitOptions) -> Result<Vec<OutputFile>> {
    let tables = &view.run.tables;
    if tables.scaling_steps.is_empty() {
        return Ok(Vec::new());
    }
    let mut out = String::from(
        "# Scaling law\n\nHow long each size of a series takes, how much longer than the size before, and the exponent of that step (1 is linear: twice the \
         size, twice the time). The law t = a + b n^k is fitted to the medians of all sizes; a is what every run takes, whatever its size. The shape is \
         named only where the whole interval of k lies on one side: sublinear below 0.8, linear from 0.8 to 1.2, superlinear above 1.2 (house bounds).\n",
    );
    for series in tables.scaling.iter().take(SERIES_MAX) {
        let _ = writeln!(out, "\n## {}\n\n{}\n", title(series), law(series));
        let steps: Vec<&ScalingStep> = tables.scaling_steps.iter().filter(|step| step.series_id == Some(series.series_id)).collect();
        table(&mut out, &steps);
    }
    for series in tables.stated_scaling.iter().take(SERIES_MAX) {
        let _ = writeln!(
            out,
            "\n## {} ({}, as a log states it)\n\n{}\n",
            code(&series.series),
            escape::markdown(&series.metric),
            stated_law(series)
        );
        let is_own = |step: &&ScalingStep| {
            (step.artifact_id, step.line_no, &step.series, &step.metric)
                == (series.artifact_id, Some(series.line_no), &series.series, &series.metric)
        };
        table(&mut out, &tables.scaling_steps.iter().filter(is_own).collect::<Vec<_>>());
        said(&mut out, view, series);
    }
    let left_out = tables.scaling.len().saturating_sub(SERIES_MAX) + tables.stated_scaling.len().saturating_sub(SERIES_MAX);
    if left_out > 0 {
        let _ = writeln!(out, "\n{left_out} more series are in tables/scaling.parquet and tables/stated_scaling.parquet.");
    }
    Ok(vec![("scaling_law.md".to_owned(), out.into_bytes())])
}

fn code(name: &str) -> String {
    escape::markdown_code(&escape::shorten(name, 2 * escape::NAME_CHARS_MAX))
}

fn title(series: &Scaling) -> String {
    let mut out = code(&series.command);
    let parts = [
        series.variant.as_deref().map(|value| format!("variant {}", escape::markdown(value))),
        series.threads.map(|value| format!("{value} threads")),
        series.function.as_deref().map(|value| format!("function {}", escape::markdown(value))),
    ];
    for part in parts.into_iter().flatten() {
        let _ = write!(out, ", {part}");
    }
    out
}

fn law(series: &Scaling) -> String {
    let shape = series.shape.as_deref().map_or_else(|| "Shape not decided".to_owned(), capital);
    format!(
        "{shape}: exponent {:.2}, interval {:.2} to {:.2}, beside a constant of {}; {} sizes from {} to {}, {} repetitions (at least {} of each size).",
        series.exponent,
        series.lo,
        series.hi,
        number::duration(series.start_ns),
        series.sizes,
        number::count(series.smallest),
        number::count(series.largest),
        number::count(series.n),
        number::count(series.n_least),
    )
}

fn stated_law(series: &StatedScaling) -> String {
    let shape = series.shape.as_deref().map_or_else(|| "Shape not decided".to_owned(), capital);
    let interval = match (series.lo, series.hi) {
        (Some(lo), Some(hi)) => format!("{lo:.2} to {hi:.2} without any one size"),
        _ => "no interval (needs four sizes, since each has one value)".to_owned(),
    };
    let constant = number::duration(series.start_ns);
    format!(
        "{shape}: exponent {:.2}, {interval}, beside a constant of {constant}; {} sizes, one stated value each.",
        series.exponent, series.sizes
    )
}

/// What the author of the log made of it.
fn said(out: &mut String, view: &View<'_>, series: &StatedScaling) {
    let rows = &view.run.tables.stated_verdicts;
    for row in rows.iter().filter(|row| (row.artifact_id, row.line_no) == (series.artifact_id, series.line_no)) {
        let verdict = escape::markdown(&escape::shorten(&row.verdict, escape::NAME_CHARS_MAX));
        let _ = writeln!(out, "\nIts author calls it: {verdict}. This is stated, not tested.");
    }
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    let word: String = chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect());
    escape::markdown(&word)
}

fn table(out: &mut String, steps: &[&ScalingStep]) {
    out.push_str("| Size | n | Time | Times the size before | Times its time | Exponent of the step | Evidence |\n|---:|---:|---|---:|---:|---:|---|\n");
    let ratio = |value: Option<f64>| value.map_or_else(|| number::ABSENT.to_owned(), |value| format!("{value:.2}"));
    for step in steps.iter().take(SIZES_MAX) {
        let _ = writeln!(
            out,
            "| {} | {} | {} {} | {} | {} | {} | {} |",
            number::count(step.size),
            step.n.map_or_else(|| number::ABSENT.to_owned(), number::count),
            escape::markdown(&step.metric),
            number::duration(step.value_ns),
            ratio(step.size_ratio),
            ratio(step.ratio),
            ratio(step.exponent),
            escape::markdown_code(&anchor::shown(&step.anchor)),
        );
    }
    if steps.len() > SIZES_MAX {
        let _ = writeln!(out, "\n{} more sizes are in tables/scaling_steps.parquet.", steps.len() - SIZES_MAX);
    }
}
