//! BASELINE.md: how long it takes, as order statistics. Nothing is averaged.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{EmitOptions, OutputFile, View, anchor, escape, number};
use crate::derive::baseline::enough;
use crate::error::Result;
use crate::tables::{Baseline, Benchmark, BenchmarkStat};

/// hyperfine's own bound for an outlier, |x - median| / MAD (rules.md Q28).
const OUTLIER: f64 = 14.826;
/// Spans listed one by one; the table has them all.
const SPANS_MAX: usize = 100;
/// Commands with their parameters listed one by one.
const COMMANDS_MAX: usize = 100;
const OUTLIERS_MAX: usize = 5;

type Key<'a> = (&'a str, Option<&'a str>, Option<i32>, Option<i64>, Option<&'a str>);

fn key(row: &Baseline) -> Key<'_> {
    (&row.name, row.variant.as_deref(), row.threads, row.work, row.function.as_deref())
}

fn is_of(key: &Key<'_>, row: &BenchmarkStat) -> bool {
    *key == (&*row.command, row.variant.as_deref(), row.threads, row.work, row.function.as_deref())
}

pub fn emit(view: &View<'_>, _options: EmitOptions) -> Result<Vec<OutputFile>> {
    let rows = &view.run.tables.baselines;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut out = String::from(
        "# Baseline\n\nWall times as order statistics; nothing is averaged. A percentile p of n repetitions is the repetition of rank p × n, rounded up, the \
         shortest first (nearest rank), so it is always a value that was measured and stands where the evidence says. The 95 % interval holds for any \
         distribution: it is made of two repetitions too, chosen by the binomial distribution of n and p. Values marked conservative are p99.9 and \
         beyond from fewer than 1 000 repetitions: the largest value seen, where the percentile itself may be larger.\n",
    );
    benchmarks(&mut out, view);
    spans(&mut out, view);
    Ok(vec![("BASELINE.md".to_owned(), out.into_bytes())])
}

fn benchmarks(out: &mut String, view: &View<'_>) {
    let mut groups: BTreeMap<Key<'_>, Vec<&Baseline>> = BTreeMap::new();
    for row in view.run.tables.baselines.iter().filter(|row| &*row.source == "benchmark") {
        groups.entry(key(row)).or_default().push(row);
    }
    let left_out = groups.len().saturating_sub(COMMANDS_MAX);
    for (key, rows) in groups.into_iter().take(COMMANDS_MAX) {
        let _ = writeln!(out, "\n## {}\n", title(&key));
        out.push_str("| Statistic | Value | Which repetition | 95 % interval | Evidence |\n|---|---|---|---|---|\n");
        for row in &rows {
            out.push_str(&line(row));
        }
        out.push('\n');
        for note in notes(view, &key) {
            let _ = writeln!(out, "- {note}");
        }
    }
    if left_out > 0 {
        let _ = writeln!(out, "\n{left_out} more commands are in tables/baselines.parquet.");
    }
}

fn title(key: &Key<'_>) -> String {
    let (command, variant, threads, work, function) = key;
    let mut out = escape::markdown_code(&escape::shorten(command, 2 * escape::NAME_CHARS_MAX));
    let parts = [
        variant.map(|value| format!("variant {}", escape::markdown(value))),
        threads.map(|value| format!("{value} threads")),
        work.map(|value| format!("size {}", number::count(value))),
        function.map(|value| format!("function {}", escape::markdown(value))),
    ];
    for part in parts.into_iter().flatten() {
        let _ = write!(out, ", {part}");
    }
    out
}

fn shown(statistic: &str) -> &str {
    if statistic == "p999" { "p99.9" } else { statistic }
}

fn line(row: &Baseline) -> String {
    let n = row.n.unwrap_or(0);
    let rank = row.rank.unwrap_or(0);
    let which =
        if rank == n { format!("the longest of {}", number::count(n)) } else { format!("{} of {}", number::count(rank), number::count(n)) };
    let mark = if row.is_conservative { " (conservative)" } else { "" };
    format!(
        "| {}{mark} | {} | {which} | {} | {} |\n",
        shown(&row.statistic),
        number::duration(row.value_ns),
        interval(row),
        escape::markdown_code(&anchor::shown(&row.anchor)),
    )
}

fn interval(row: &Baseline) -> String {
    let thousandths = match &*row.statistic {
        "p50" => 500,
        "p95" => 950,
        "p99" => 990,
        "p999" => 999,
        _ => return "what was seen, no estimate".to_owned(),
    };
    let needed = number::count(enough(thousandths));
    match (row.lo_ns, row.hi_ns) {
        (Some(lo), Some(hi)) => format!("{} to {}", number::duration(lo), number::duration(hi)),
        (Some(lo), None) => format!("at least {}; no upper end (needs {needed} repetitions)", number::duration(lo)),
        _ => format!("none (needs {needed} repetitions)"),
    }
}

/// Spread and outliers, as notes.
fn notes(view: &View<'_>, key: &Key<'_>) -> Vec<String> {
    let mut out = Vec::new();
    let Some(stat) = view.run.tables.benchmark_stats.iter().find(|row| is_of(key, row)) else { return out };
    out.push(format!("CV (standard deviation over mean): {} over {} repetitions", number::share(stat.cv), number::count(stat.n)));
    let own = |row: &&Benchmark| {
        row.exit_code.unwrap_or(0) == 0 && *key == (&*row.command, row.variant.as_deref(), row.threads, row.work, row.function.as_deref())
    };
    let rows: Vec<&Benchmark> = view.run.tables.benchmarks.iter().filter(own).collect();
    let Some((median, mad)) = deviation(&rows) else { return out };
    if mad <= 0.0 {
        out.push("Outliers: not decided, more than half of the repetitions took the same time".to_owned());
        return out;
    }
    let far = |row: &&&Benchmark| (row.wall_ns as f64 - median).abs() / mad > OUTLIER;
    let outliers: Vec<&&Benchmark> = rows.iter().filter(far).collect();
    let list: Vec<String> =
        outliers.iter().take(OUTLIERS_MAX).map(|row| format!("{} at {}", number::duration(row.wall_ns), place(view, row))).collect();
    let more = outliers.len().saturating_sub(OUTLIERS_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let found = if list.is_empty() { "none".to_owned() } else { format!("{}{more}", list.join(", ")) };
    out.push(format!("Outliers (distance from the median over {OUTLIER} times the median distance, hyperfine's bound): {found}"));
    out
}

fn place(view: &View<'_>, row: &Benchmark) -> String {
    let encode = crate::hotspots::encode;
    escape::markdown_code(&format!("{}#ptr={}", encode(view.path(Some(row.artifact_id))), encode(&row.pointer)))
}

/// Median, and median distance from it.
fn deviation(rows: &[&Benchmark]) -> Option<(f64, f64)> {
    let median = middle(rows.iter().map(|row| row.wall_ns as f64).collect())?;
    let mad = middle(rows.iter().map(|row| (row.wall_ns as f64 - median).abs()).collect())?;
    Some((median, mad))
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().saturating_sub(1) / 2)?;
    Some((lower + upper) / 2.0)
}

/// Percentiles as a log states them, one line per summary.
fn spans(out: &mut String, view: &View<'_>) {
    let mut groups: BTreeMap<(&str, &str, Option<&str>), Vec<&Baseline>> = BTreeMap::new();
    for row in view.run.tables.baselines.iter().filter(|row| &*row.source == "span") {
        groups.entry((&row.name, &row.anchor, row.variant.as_deref())).or_default().push(row);
    }
    if groups.is_empty() {
        return;
    }
    out.push_str(
        "\n## Spans\n\nPercentiles of single calls as the program that timed itself states them. How it computed them is not known, so they have no interval. \
         n is the number of calls.\n\n| Span | n | p50 | p95 | p99 | p99.9 | max | Evidence |\n|---|---:|---|---|---|---|---|---|\n",
    );
    let left_out = groups.len().saturating_sub(SPANS_MAX);
    for ((name, at, thread), rows) in groups.into_iter().take(SPANS_MAX) {
        let value = |statistic: &str| {
            let row = rows.iter().find(|row| &*row.statistic == statistic);
            row.map_or_else(
                || number::ABSENT.to_owned(),
                |row| format!("{}{}", number::duration(row.value_ns), if row.is_conservative { " (conservative)" } else { "" }),
            )
        };
        let n = rows.first().and_then(|row| row.n).map_or_else(|| number::ABSENT.to_owned(), number::count);
        let thread = thread
            .map_or_else(String::new, |thread| format!(", thread {}", escape::markdown(&escape::shorten(thread, escape::NAME_CHARS_MAX))));
        let _ = writeln!(
            out,
            "| {}{thread} | {n} | {} | {} | {} | {} | {} | {} |",
            escape::markdown_code(&escape::shorten(name, escape::NAME_CHARS_MAX)),
            value("p50"),
            value("p95"),
            value("p99"),
            value("p999"),
            value("max"),
            escape::markdown_code(&anchor::shown(at)),
        );
    }
    if left_out > 0 {
        let _ = writeln!(out, "\n{left_out} more are in tables/baselines.parquet.");
    }
}
