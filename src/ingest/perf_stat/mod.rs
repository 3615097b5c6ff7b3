//! `perf stat` in its three dresses: JSON lines (`-j`), separated fields (`-x`) and the table for people.
//!
//! All three become [`Value`]s; one place turns those into rows. A value that perf did not count is null, never 0. Where
//! a file is about one run of one command, the software counters also tell its execution (wall, user, system, faults).

mod fields;
mod json;
mod table;

use super::{Format, Input, Recorder, Severity, text};
use crate::error::Result;
use crate::tables::{Counter, Execution};

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "perf-stat",
    tool: "perf",
    doc: "counters of a whole run: JSON lines (-j), separated fields (-x) or the table for people",
    record: "perf stat -j -o perf-stat.json -e task-clock,context-switches,page-faults,major-faults,duration_time,user_time,system_time -- PROGRAM",
    sniff,
    read,
};

/// One printed counter.
#[derive(Debug, Clone, Default)]
struct Value {
    event: String,
    /// The number as printed, or `<not counted>`, `<not supported>`.
    number: String,
    /// `msec`, `ns`, empty for plain counts, or another unit.
    unit: String,
    /// Share of the time the counter ran, in percent as printed.
    running: Option<String>,
    /// CPU, core, thread, ... in front of the value.
    scope: Option<String>,
    interval: Option<String>,
    /// The value is a mean over several runs (`-r`).
    is_mean: bool,
    /// A metric that perf worked out beside it (`-M`): name and percent as printed.
    metric: Option<(String, String)>,
    line_no: i64,
}

/// `23.4` and `%  tma_backend_bound`: a metric in percent with a name of one word. `of all branches` is a remark.
fn metric(number: &str, unit: &str) -> Option<(String, String)> {
    let mut words = unit.strip_prefix('%')?.split_whitespace();
    let (name, rest) = (words.next()?, words.next());
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.is_none();
    (is_name && text::decimal(number, 4).is_some()).then(|| (name.to_owned(), number.to_owned()))
}

pub fn sniff(head: &[u8]) -> bool {
    let lines = || text::lines(head).map(|(_, line)| String::from_utf8_lossy(line));
    lines().any(|line| json::is_value(&line)) || lines().any(|line| table::is_title(&line)) || fields::separator(head).is_some()
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let bytes = input.bytes;
    let mut runs: Vec<Run> = Vec::new();
    if text::lines(bytes).any(|(_, line)| json::is_value(&String::from_utf8_lossy(line))) {
        runs.push(json::read(bytes, recorder));
    } else if text::lines(bytes).any(|(_, line)| table::is_title(&String::from_utf8_lossy(line))) {
        runs = table::read(bytes, recorder);
    } else if let Some(separator) = fields::separator(bytes) {
        runs.push(fields::read(bytes, separator, recorder));
    }
    for run in &runs {
        for value in &run.values {
            push(value, recorder);
        }
        if let Some(execution) = execution(run, recorder) {
            recorder.push_execution(execution);
        }
    }
    Ok(())
}

/// The counters of one run of perf stat.
#[derive(Debug, Default)]
struct Run {
    command: Option<String>,
    values: Vec<Value>,
}

/// Times in ns, counts as they are; `None` for units that are neither.
fn integer(value: &Value) -> Option<(i64, &'static str)> {
    let number = value.number.as_str();
    match value.unit.as_str() {
        "" => text::decimal(number, 0).map(|n| (n, "count")),
        "ns" => text::decimal(number, 0).map(|n| (n, "ns")),
        "usec" => text::decimal(number, 3).map(|n| (n, "ns")),
        "msec" => text::decimal(number, 6).map(|n| (n, "ns")),
        "seconds" => text::decimal(number, 9).map(|n| (n, "ns")),
        _ => None,
    }
}

fn push(value: &Value, recorder: &mut Recorder) {
    recorder.artifact.records += 1;
    if let Some((name, percent)) = &value.metric {
        let row = counter(value, name, text::decimal(percent, 4), "millionths", "counted", recorder);
        recorder.tables.counters.push(row);
    }
    if value.event.is_empty() {
        return;
    }
    let (number, unit, status) = match value.number.as_str() {
        "<not counted>" => (None, time_unit(&value.unit), "not counted"),
        "<not supported>" => (None, time_unit(&value.unit), "not supported"),
        _ => match integer(value) {
            Some((number, unit)) => (Some(number), unit, "counted"),
            None => {
                let message = format!("{}: {:?} {} is neither a count nor a time", value.event, value.number, value.unit);
                recorder.skip("perf_stat_unit", Severity::Warn, &message, "the value is left out", &text::place(value.line_no));
                return;
            }
        },
    };
    let (event, modifiers) = plain_event(&value.event);
    let row = counter(value, event, number, unit, status, recorder);
    recorder.tables.counters.push(Counter { modifiers: modifiers.map(Into::into), ..row });
}

fn counter(value: &Value, event: &str, number: Option<i64>, unit: &str, status: &str, recorder: &mut Recorder) -> Counter {
    let running = value.running.as_deref().filter(|_| number.is_some()).and_then(|percent| text::decimal(percent, 4));
    Counter {
        artifact_id: 0,
        event: recorder.text(event),
        value: number,
        unit: unit.into(),
        status: status.into(),
        running_share: running.map(|millionths| millionths as f64 / 1e6),
        scope: recorder.text(value.scope.as_deref().unwrap_or("process")),
        interval_ns: value.interval.as_deref().and_then(text::seconds),
        line_no: value.line_no,
        modifiers: None,
    }
}

fn time_unit(unit: &str) -> &'static str {
    if matches!(unit, "ns" | "usec" | "msec" | "seconds") { "ns" } else { "count" }
}

/// The name and its modifiers (`cycles:u`).
fn plain_event(event: &str) -> (&str, Option<&str>) {
    match event.rsplit_once(':') {
        Some((name, modifiers)) if !modifiers.is_empty() && modifiers.chars().all(|c| "ukhGHpPSDWeI".contains(c)) => {
            (name, Some(modifiers))
        }
        _ => (event, None),
    }
}

/// The execution that whole-process counters tell. Not from means over several runs (`-r`), intervals (`-I`) or values
/// per CPU or thread; not from counters restricted to user or kernel mode.
fn execution(run: &Run, recorder: &mut Recorder) -> Option<Execution> {
    let whole = |value: &&Value| value.scope.is_none() && value.interval.is_none() && !value.is_mean;
    if run.values.iter().any(|value| value.is_mean) {
        recorder.skip("perf_stat_mean", Severity::Info, "the values are means over several runs (-r)", "no execution is made of them", "");
    }
    let get = |event: &str| run.values.iter().filter(whole).find(|value| value.event == event).and_then(integer).map(|(number, _)| number);
    let (faults, major) = (get("page-faults").or_else(|| get("faults")), get("major-faults"));
    let mut execution = Execution {
        argv: run.command.as_deref().map(Into::into),
        wall_ns: get("duration_time"),
        user_ns: get("user_time"),
        system_ns: get("system_time"),
        minor_faults: get("minor-faults").or_else(|| faults.zip(major).map(|(all, major)| all.saturating_sub(major))),
        major_faults: major,
        ..Execution::under("bare")
    };
    // Minor faults are a difference of two lines where perf prints all faults.
    let stated = [
        ("wall_ns", "duration_time"),
        ("user_ns", "user_time"),
        ("system_ns", "system_time"),
        ("minor_faults", "minor-faults"),
        ("major_faults", "major-faults"),
    ];
    for (field, event) in stated {
        if let Some(value) = run.values.iter().filter(whole).find(|value| value.event == event && integer(value).is_some()) {
            execution.note_place(field, &text::place(value.line_no));
        }
    }
    let told =
        [execution.wall_ns, execution.user_ns, execution.system_ns, execution.minor_faults, get("task-clock"), get("context-switches")];
    told.iter().any(Option::is_some).then_some(execution)
}

#[cfg(test)]
mod tests;
