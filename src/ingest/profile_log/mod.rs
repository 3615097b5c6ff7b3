//! `perf.profile.*` logs: what a program that times itself writes, one JSON object per line.
//!
//! ```text
//! {"event":"perf.profile.run_start","scenario":"ingest","rust_version":"1.90"}
//! {"event":"perf.profile.span_summary","span":"encode","parent":"ingest","cumulative_us":81200,"count":400,"p50_us":190,"p95_us":260}
//! {"event":"perf.profile.hypothesis_evaluated","name":"encoding dominates","verdict":"supports","evidence":"flame.svg:0.41"}
//! {"event":"perf.profile.scaling_law","axis":"batch","sizes":[1,10,100],"p95s_us":[110,480,4100],"verdict":"sublinear"}
//! {"event":"perf.profile.run_complete","duration_sec":0.2}
//! ```
//!
//! There is no standard for them. Producers differ in the key of the event's name, in the prefix, in the names of the
//! fields and in where these stand; `line.rs` and `value.rs` say what is understood. A line that is not is counted.
//!
//! What a log concludes of itself (`hypothesis_evaluated`, the verdict of a `scaling_law`) goes into `stated_verdicts`
//! and nowhere else.

mod line;
mod span;
mod tree;
mod value;

#[cfg(test)]
mod tests;

use super::{Format, Input, Recorder, Severity, text};
use crate::error::{Error, Result};
use crate::tables::{Execution, HostFact, ScalingPoint, StatedVerdict};
use line::{Event, Fields, Line};
use value::Quantity;

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "profile-log",
    tool: "spans",
    doc: "perf.profile.* events of a program that times itself, one JSON object per line: spans, stated verdicts, series",
    record: "PROGRAM 2> profile.jsonl (a program that logs perf.profile.span_summary and its kin)",
    sniff,
    read,
};

/// Longer lines are counted, not read: no event is that long, and a line is held in memory several times over.
const LINE_BYTES_MAX: usize = 1 << 20;

pub fn sniff(head: &[u8]) -> bool {
    let head = text::decode(head);
    let distinct = |line: &[u8]| match line::parse(line) {
        Line::Event { event, has_prefix, .. } => has_prefix || !matches!(event, Event::RunStart | Event::RunComplete),
        _ => false,
    };
    text::lines(&head).any(|(_, line)| distinct(line)) || line::begins_as_event(&head)
}

/// What the reader remembers from line to line.
#[derive(Default)]
struct Reader {
    /// Which run the next line belongs to, and whether it has begun.
    run: i32,
    is_open: bool,
    /// `clock` of the last run_start.
    clock: Option<String>,
    /// The unit that plain numbers have, as the last run_start states it.
    unit: Option<String>,
    execution: Option<Execution>,
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let bytes = text::decode(input.bytes);
    let mut reader = Reader::default();
    let mut events = 0_i64;
    for (line_no, line) in text::lines(&bytes) {
        let place = text::place(line_no);
        if line.len() > LINE_BYTES_MAX {
            let message = format!("a line of {} bytes; lines over {LINE_BYTES_MAX} are not read", line.len());
            recorder.skip("profile_log_long_line", Severity::Warn, &message, "write one event per line", &place);
            continue;
        }
        match line::parse(line) {
            Line::Event { event, mut fields, .. } => {
                events += 1;
                recorder.artifact.records += 1;
                if let Some(key) = fields.twice.take() {
                    let message = format!("the key {key:?} stands twice in one object; its last value counts");
                    recorder.skip("profile_log_duplicate_key", Severity::Warn, &message, "make the writer give each key once", &place);
                }
                reader.event(event, &mut fields, line_no, recorder);
            }
            other => not_an_event(&other, recorder, &place),
        }
    }
    reader.end_run(recorder);
    if events == 0 {
        return Err(Error::Malformed {
            path: input.name.into(),
            place: text::place(1),
            expected: "events named perf.profile.*, one JSON object per line".into(),
            found: "none that could be read".into(),
            advice: "record the log again".into(),
        });
    }
    tree::finish(recorder);
    Ok(())
}

fn not_an_event(line: &Line, recorder: &mut Recorder, place: &str) {
    let (kind, severity, message, advice) = match line {
        Line::Blank | Line::Event { .. } => return,
        Line::Broken(why) => ("profile_log_line", Severity::Warn, why.as_str(), "the line is left out; record the log again"),
        Line::Unknown(name) => ("profile_log_event", Severity::Warn, name.as_str(), "the line is left out; no such event is known"),
        Line::OtherObject => ("profile_log_other", Severity::Info, "an object that is no perf.profile event", "it is passed over"),
        Line::Text => ("profile_log_text", Severity::Info, "a line that is no JSON object", "it is passed over"),
    };
    recorder.skip(kind, severity, message, advice, place);
}

impl Reader {
    fn event(&mut self, event: Event, fields: &mut Fields, line_no: i64, recorder: &mut Recorder) {
        match event {
            Event::RunStart => self.run_start(fields, recorder),
            // It says how long was measured, not what: it is read, counted and put nowhere.
            Event::SampleCollected => {}
            Event::SpanSummary => span::read(fields, &self.defaults(fields), line_no, recorder),
            Event::HypothesisEvaluated => stated(fields, line_no, recorder),
            Event::ScalingLaw => scaling(fields, &self.defaults(fields), line_no, recorder),
            Event::RunComplete => self.run_complete(fields, line_no, recorder),
        }
        self.is_open |= !matches!(event, Event::RunComplete);
    }

    fn defaults(&self, fields: &Fields) -> span::Defaults {
        let own = |keys: &[&str]| keys.iter().find_map(|key| fields.text(key));
        span::Defaults {
            run: self.run,
            unit: own(&["unit", "units", "time_unit"]).or_else(|| self.unit.clone()),
            clock: own(&["clock"]).or_else(|| self.clock.clone()),
        }
    }

    fn run_start(&mut self, fields: &Fields, recorder: &mut Recorder) {
        // A run that never ended.
        if self.is_open || self.execution.is_some() {
            self.end_run(recorder);
        }
        self.clock = fields.text("clock");
        self.unit = ["unit", "units", "time_unit"].iter().find_map(|key| fields.text(key));
        let command = ["argv", "command", "cmd", "command_line"].iter().find_map(|key| fields.words(key));
        let mut execution = Execution { argv: command.map(|argv| recorder.text(&argv)), ..Execution::under("spans") };
        execution.work = ["work", "n"].iter().find_map(|key| fields.whole(key));
        execution.threads = fields.whole("threads").and_then(|value| i32::try_from(value).ok());
        execution.variant = fields.text("variant").map(|variant| recorder.text(&variant));
        execution.sign();
        self.execution = Some(execution);
        for (key, names) in [
            ("toolchain", &["rust_version", "rustc_version", "toolchain_version", "toolchain"][..]),
            ("hardware", &["hardware", "hardware_json"]),
            ("cpus", &["cpus", "cpu_count"]),
            ("cpu_model", &["cpu_model", "cpu"]),
            ("hostname", &["hostname", "host"]),
        ] {
            if let Some(value) = names.iter().find_map(|name| fields.shown(name)) {
                recorder.tables.host.push(HostFact::new(key, &value));
            }
        }
    }

    fn run_complete(&mut self, fields: &mut Fields, line_no: i64, recorder: &mut Recorder) {
        let mut execution = self.execution.take().unwrap_or_else(|| Execution::under("spans"));
        // A run's duration is given in seconds where its key has no unit: `duration_sec` is what producers write.
        let found = value::quantities(fields, Some("s"));
        execution.wall_ns = found.get(Quantity::Duration);
        found.report(recorder, line_no, false);
        if execution.wall_ns.is_some() {
            execution.note_place("wall_ns", &text::place(line_no));
        }
        self.execution = Some(execution);
        self.end_run(recorder);
    }

    fn end_run(&mut self, recorder: &mut Recorder) {
        if let Some(execution) = self.execution.take()
            && (execution.wall_ns.is_some() || execution.argv.is_some())
        {
            recorder.push_execution(execution);
        }
        if self.is_open {
            self.run = self.run.saturating_add(1);
        }
        self.is_open = false;
    }
}

/// A verdict, as its author wrote it.
fn stated(fields: &Fields, line_no: i64, recorder: &mut Recorder) {
    let name = ["name", "hypothesis", "hypothesis_name", "hypothesis_id", "id", "claim"].iter().find_map(|key| fields.text(key));
    let verdict = ["verdict", "supports_or_rejects", "outcome", "result", "status"].iter().find_map(|key| fields.text(key));
    let flag = |key: &&str| fields.flag(key).map(|value| format!("{key}: {value}"));
    let verdict = verdict.or_else(|| ["accepted", "supported", "supports", "confirmed"].iter().find_map(flag));
    let (Some(name), Some(verdict)) = (name, verdict) else {
        let advice = "give it a name and a verdict; the line is left out";
        recorder.skip("profile_log_verdict", Severity::Warn, "a verdict without a name or a word", advice, &text::place(line_no));
        return;
    };
    let evidence = ["evidence", "detail", "details", "reason", "rationale", "note"].iter().find_map(|key| fields.shown(key));
    push_stated(&name, &verdict, evidence.as_deref(), line_no, recorder);
}

fn push_stated(name: &str, verdict: &str, evidence: Option<&str>, line_no: i64, recorder: &mut Recorder) {
    let row = StatedVerdict {
        artifact_id: 0,
        line_no,
        hypothesis: recorder.text(name),
        verdict: recorder.text(verdict),
        evidence: evidence.map(|evidence| recorder.text(evidence)),
    };
    recorder.tables.stated_verdicts.push(row);
}

/// `sizes` beside one or more lists of values of the same length.
fn scaling(fields: &Fields, defaults: &span::Defaults, line_no: i64, recorder: &mut Recorder) {
    let series = ["axis", "series", "name", "scenario", "span"].iter().find_map(|key| fields.text(key)).unwrap_or_else(|| "size".into());
    if let Some(verdict) = ["verdict", "shape", "law"].iter().find_map(|key| fields.text(key)) {
        let name = format!("scaling over {series}");
        push_stated(&name, &verdict, fields.shown("evidence").as_deref(), line_no, recorder);
    }
    let lists = value::lists(fields, defaults.unit.as_deref());
    let sizes: Vec<Option<i64>> = ["sizes", "n", "work"].iter().find_map(|key| fields.list(key, value::whole)).unwrap_or_default();
    for (metric, values) in &lists.values {
        if values.len() != sizes.len() {
            let message = format!("{} sizes, {} values of {metric}", sizes.len(), values.len());
            recorder.skip("profile_log_series", Severity::Warn, &message, "the series is left out", &text::place(line_no));
            continue;
        }
        for (size, value) in sizes.iter().zip(values) {
            let (Some(size), Some(value_ns)) = (*size, *value) else {
                let message = "a size or a value that is no number of its kind";
                recorder.skip("profile_log_series", Severity::Warn, message, "the point is left out", &text::place(line_no));
                continue;
            };
            let (series, metric) = (recorder.text(&series), recorder.text(metric));
            recorder.tables.scaling_points.push(ScalingPoint { artifact_id: 0, line_no, series, metric, size, value_ns });
        }
    }
    if lists.values.is_empty() {
        let message = "a scaling law without a list of values";
        recorder.skip("profile_log_series", Severity::Warn, message, "give sizes and p95s of the same length", &text::place(line_no));
    }
    if lists.assumed {
        span::unit_assumed(recorder, line_no);
    }
}
