//! Histograms that kernel-side tools print: biolatency, runqlat, cpudist, ext4dist, funclatency of bcc and libbpf-tools
//! (`table.rs`) and the `hist()` and `lhist()` maps of bpftrace (`maps.rs`).
//!
//! Times become nanoseconds; a bucket is [lo, hi). What the histogram is of comes from the tool's first line
//! (`Tracing block device I/O...`) and, with bpftrace, from the name of the map: `@block_latency_us` is `block_latency`.

mod maps;
mod table;
mod window;

use super::{Format, Input, NewEvent, Recorder, Severity, text};
use crate::error::Result;
use crate::tables::{HistogramBucket, Tables};

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "histogram",
    tool: "bpf",
    doc: "distributions of latencies: biolatency, runqlat and their kin, bpftrace hist() and lhist() maps",
    record: "biolatency -D -F 5 1 > biolatency.txt; runqlat -p PID 5 1 > runqlat.txt",
    sniff,
    read,
};

/// Buckets of one file that are kept. The tools print at most 64 per histogram; what is beyond is counted.
const BUCKETS_MAX: usize = 200_000;

/// Longest name of a map, key or section that is kept; longer ones are cut.
const NAME_MAX: usize = 256;

pub fn sniff(head: &[u8]) -> bool {
    let text = text::decode(head);
    table::is_table(&text) || maps::is_map(&text)
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let text = text::decode(input.bytes);
    let mut buckets = Buckets { recorder, total: 0 };
    let stamps = if table::is_table(&text) { table::read(&text, &mut buckets) } else { maps::read(&text, &mut buckets) };
    let total = buckets.total;
    recorder.artifact.window_ns = window::of_stamps(&stamps);
    push_event(total, recorder);
    Ok(())
}

fn push_event(total: i64, recorder: &mut Recorder) {
    let event = recorder.push_event(&NewEvent {
        name: "histogram".into(),
        mechanism: "M8",
        probe: "bpf_map",
        role: "other",
        frequency_hz: None,
        period: Some(1),
        unit: "count",
    });
    if let Some(row) = recorder.tables.events.get_mut(event as usize) {
        row.n = total;
        row.total_weight = total;
    }
}

/// What one histogram is of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Of {
    metric: String,
    key: Option<String>,
    operation: Option<&'static str>,
    section: i64,
    unit: Unit,
}

/// What the bounds are printed in.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Unit {
    /// So many nanoseconds.
    Time(i64),
    Other(String),
}

impl Default for Unit {
    fn default() -> Unit {
        Unit::Other("value".into())
    }
}

impl Unit {
    fn named(word: &str) -> Unit {
        match word.to_ascii_lowercase().as_str() {
            "ns" | "nsecs" | "nsec" | "nanoseconds" => Unit::Time(1),
            "us" | "usecs" | "usec" | "microseconds" => Unit::Time(1_000),
            "ms" | "msecs" | "msec" | "milliseconds" => Unit::Time(1_000_000),
            "s" | "secs" | "sec" | "seconds" => Unit::Time(1_000_000_000),
            "" => Unit::default(),
            other => Unit::Other(cut(other)),
        }
    }

    fn scale(&self) -> i64 {
        match self {
            Unit::Time(ns) => *ns,
            Unit::Other(_) => 1,
        }
    }

    fn name(&self) -> &str {
        match self {
            Unit::Time(_) => "ns",
            Unit::Other(name) => name,
        }
    }
}

fn cut(name: &str) -> String {
    name.chars().take(NAME_MAX).collect()
}

/// The rows as they are read.
struct Buckets<'a> {
    recorder: &'a mut Recorder,
    total: i64,
}

impl Buckets<'_> {
    /// A bucket [lo, hi) in the unit printed. Bounds that leave the range of 64 bits are open.
    fn push(&mut self, of: &Of, lo: Option<i64>, hi: Option<i64>, count: i64, line_no: i64) {
        self.recorder.artifact.records += 1;
        if self.recorder.tables.histograms.len() >= BUCKETS_MAX {
            let message = format!("the file has more than {BUCKETS_MAX} buckets");
            self.skip("histogram_too_long", &message, line_no);
            return;
        }
        let scale = of.unit.scale();
        let scaled = |bound: Option<i64>| bound.and_then(|bound| bound.checked_mul(scale));
        let (lo, hi) = (scaled(lo), scaled(hi));
        let sum = |bound: Option<i64>| if count == 0 { Some(0) } else { bound.and_then(|bound| bound.checked_mul(count)) };
        self.total = self.total.saturating_add(count);
        let row = HistogramBucket {
            artifact_id: 0,
            metric: self.recorder.text(&of.metric),
            key: of.key.as_deref().map(|key| self.recorder.text(key)),
            operation: of.operation.map(Into::into),
            section: of.section,
            lo,
            hi,
            unit: self.recorder.text(of.unit.name()),
            count,
            least: sum(lo),
            most: sum(hi),
            line_no,
        };
        self.recorder.tables.histograms.push(row);
    }

    fn skip(&mut self, kind: &str, message: &str, line_no: i64) {
        self.recorder.skip(kind, Severity::Warn, message, "the line is left out", &text::place(line_no));
    }

    fn unreadable(&mut self, line: &str, line_no: i64) {
        let message = format!("no bucket of a histogram: {:?}", line.chars().take(80).collect::<String>());
        self.skip("histogram_line", &message, line_no);
    }

    fn other(&mut self, line_no: i64) {
        self.recorder.skip("other_text", Severity::Info, "lines that belong to no histogram", "nothing to do", &text::place(line_no));
    }
}

/// Numbers the histograms of one metric and key.
#[derive(Debug, Default)]
struct Sections(std::collections::BTreeMap<(String, String), i64>);

impl Sections {
    /// `of`: all that tells histograms of this metric apart.
    fn next(&mut self, metric: &str, of: &str) -> i64 {
        let next = self.0.entry((metric.to_owned(), of.to_owned())).or_insert(-1);
        *next += 1;
        *next
    }
}

/// What a tool's first line says the histogram is of.
fn metric_of_title(line: &str) -> Option<&'static str> {
    let is = |words: &[&str]| words.iter().all(|word| line.contains(word));
    if !(line.starts_with("Tracing ") || line.starts_with("Sampling ") || line.starts_with("Summarize ")) {
        return None;
    }
    [
        (is(&["block device I/O"]), "block_latency"),
        (is(&["run queue latency"]), "runq_latency"),
        (is(&["CPU scheduler"]), "runq_latency"),
        (is(&["run queue length"]), "runq_length"),
        (is(&["on-CPU time"]), "on_cpu_time"),
        (is(&["off-CPU time"]), "off_cpu_time"),
        (is(&["operation latency"]), "fs_latency"),
        (is(&["functions for"]), "function_latency"),
    ]
    .into_iter()
    .find_map(|(fits, metric)| fits.then_some(metric))
}

/// Tools whose command line says what a text without its first line is of.
const TOOLS: [(&str, &str); 6] = [
    ("biolatency", "block_latency"),
    ("runqlat", "runq_latency"),
    ("runqlen", "runq_length"),
    ("cpudist", "on_cpu_time"),
    ("ext4dist", "fs_latency"),
    ("funclatency", "function_latency"),
];

/// The command of a manifest says what a text without a title is of, and how long the tool watched. Called after the merge.
pub fn adopt_commands(tables: &mut Tables) {
    for n in 0..tables.artifacts.len() {
        let Some(artifact) = tables.artifacts.get_mut(n).filter(|artifact| artifact.kind.as_ref() == FORMAT.name) else { continue };
        let Some(command) = artifact.command.clone() else { continue };
        let names = TOOLS.map(|(tool, _)| tool);
        if let Some(window) = window::of_command(&command, &names) {
            artifact.window_ns = Some(artifact.wall_ns.map_or(window, |wall| wall.min(window)));
        }
        let found = TOOLS.iter().find(|(tool, _)| super::command::words_of(&command, &[tool]).is_some());
        let Some((_, metric)) = found else { continue };
        for row in tables.histograms.iter_mut().filter(|row| row.artifact_id == n as i32 && row.metric.as_ref() == table::UNTITLED) {
            row.metric = (*metric).into();
        }
    }
}

pub(super) use window::{of_command as watched, of_duration_option as watched_for, of_stamps, stamp};

#[cfg(test)]
mod tests;
