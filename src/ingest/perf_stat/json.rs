//! `perf stat -j`: one JSON object per line, numbers inside strings.

use serde_json::Value as Json;

use super::{Run, Value, metric};
use crate::ingest::{Recorder, Severity, text};

pub fn is_value(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('{') && line.contains("\"counter-value\"") && line.contains("\"event\"")
}

pub fn read(bytes: &[u8], recorder: &mut Recorder) -> Run {
    let mut run = Run::default();
    for (line_no, line) in text::lines(bytes) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if !line.starts_with('{') {
            continue;
        }
        match serde_json::from_str::<Json>(line) {
            Ok(object) => {
                let value = value(&object, line_no);
                // A further metric of the event above has a line without a counter (`-M`).
                if object.get("counter-value").is_some() || value.metric.is_some() {
                    run.values.push(value);
                }
            }
            Err(error) => {
                recorder.skip(
                    "perf_stat_line",
                    Severity::Warn,
                    &format!("no JSON object: {error}"),
                    "the line is left out",
                    &text::place(line_no),
                );
            }
        }
    }
    run
}

/// Keys in front of the value that say whose it is.
const SCOPES: [&str; 9] = ["cpu", "thread", "core", "die", "socket", "node", "cluster", "cache", "cgroup"];

fn value(object: &Json, line_no: i64) -> Value {
    let shown = |key: &str| match object.get(key)? {
        Json::String(text) => Some(text.trim().to_owned()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let scope = SCOPES.iter().find_map(|key| Some(format!("{key} {}", shown(key).filter(|value| !value.is_empty())?)));
    Value {
        event: shown("event").unwrap_or_default(),
        number: shown("counter-value").unwrap_or_default(),
        unit: shown("unit").unwrap_or_default(),
        running: shown("pcnt-running"),
        scope,
        interval: shown("interval"),
        is_mean: object.get("variance").is_some(),
        metric: shown("metric-value").zip(shown("metric-unit")).and_then(|(number, unit)| metric(&number, &unit)),
        line_no,
    }
}
