//! A span summary -> a row of `spans`.

use super::value::{self, Quantity};
use super::{Fields, Recorder, Severity, text};
use crate::tables::Span;

/// What the lines before say about this one.
#[derive(Debug, Default)]
pub struct Defaults {
    pub run: i32,
    pub unit: Option<String>,
    pub clock: Option<String>,
}

const NAMES: [&str; 7] = ["span", "span_name", "name", "sub_bench", "stage", "operation", "label"];
const PARENTS: [&str; 4] = ["parent", "parent_span", "parent_name", "parent_span_name"];
const THREADS: [&str; 4] = ["thread", "thread_name", "threadname", "threadid"];
const CALLS: [&str; 5] = ["count", "calls", "n", "hits", "sample_count"];

pub fn read(fields: &Fields, defaults: &Defaults, line_no: i64, recorder: &mut Recorder) {
    let Some(name) = NAMES.iter().find_map(|key| fields.text(key)) else {
        let advice = "give it a span or span_name; the line is left out";
        recorder.skip("profile_log_no_name", Severity::Warn, "a span without a name", advice, &text::place(line_no));
        return;
    };
    let found = value::quantities(fields, defaults.unit.as_deref());
    found.report(recorder, line_no, true);
    let parent = PARENTS.iter().find_map(|key| fields.text(key));
    let names_parents = PARENTS.iter().any(|key| fields.has(key));
    let thread = THREADS.iter().find_map(|key| fields.shown(key));
    let clock = if defaults.clock.as_deref().is_some_and(|clock| clock.to_lowercase().contains("cpu")) { "cpu" } else { "wall" };
    let row = Span {
        artifact_id: 0,
        line_no,
        log_run: Some(defaults.run),
        name: recorder.text(&name),
        parent: parent.map(|parent| recorder.text(&parent)),
        thread_name: thread.map(|thread| recorder.text(&thread)),
        calls: calls(fields, line_no, recorder),
        // A summary of one call may state just how long it took.
        total_ns: found.get(Quantity::Total).or_else(|| found.get(Quantity::Duration)),
        self_ns: found.get(Quantity::Own),
        p50_ns: found.get(Quantity::P50),
        p95_ns: found.get(Quantity::P95),
        p99_ns: found.get(Quantity::P99),
        p999_ns: found.get(Quantity::P999),
        max_ns: found.get(Quantity::Max),
        // Whether somebody summarizes its parent is known at the end of the file (tree.rs).
        is_root: names_parents.then_some(false),
        category: fields.text("category").map(|category| recorder.text(&category)),
        clock: recorder.text(clock),
    };
    recorder.tables.spans.push(row);
}

fn calls(fields: &Fields, line_no: i64, recorder: &mut Recorder) -> Option<i64> {
    let (key, value) = CALLS.iter().find_map(|key| Some((key, fields.get(key)?)))?;
    let calls = value::whole(value);
    if calls.is_none() {
        let message = format!("{key} is no count (a whole number that is not negative)");
        recorder.skip("profile_log_value", Severity::Warn, &message, "the field is left empty", &text::place(line_no));
    }
    calls
}

/// A plain number is taken for microseconds.
pub fn unit_assumed(recorder: &mut Recorder, line_no: i64) {
    recorder.skip(
        "profile_log_unit",
        Severity::Info,
        "durations without a unit are taken for microseconds",
        "write the unit into the key (cumulative_us, p95_ns) or as \"unit\"",
        &text::place(line_no),
    );
}
