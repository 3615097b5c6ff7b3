//! `hyperfine --export-json`: one row per timed repetition.
//!
//! hyperfine keeps every wall time but only the mean of user and system time over the runs, so those two are rows'
//! values only where a command ran exactly once.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Format, Input, Recorder, Severity, text};
use crate::error::{Error, Result};
use crate::tables::Benchmark;

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "hyperfine",
    tool: "hyperfine",
    doc: "timed repetitions of commands, with parameters",
    record: "hyperfine -N --runs 10 --export-json bench.json -L variant a,b 'PROGRAM {variant}'",
    sniff,
    read,
};

pub fn sniff(head: &[u8]) -> bool {
    let keys = text::top_level_keys(head);
    let has = |needle: &[u8]| head.windows(needle.len()).any(|window| window == needle);
    keys.iter().any(|key| key == "results") && has(b"\"command\"") && (has(b"\"mean\"") || has(b"\"times\""))
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let document: Value = serde_json::from_slice(text::decode(input.bytes).as_ref()).map_err(|error| Error::Malformed {
        path: input.name.into(),
        place: format!("L={}", error.line()),
        expected: "the JSON that hyperfine exports".into(),
        found: error.to_string(),
        advice: "export it again with --export-json".into(),
    })?;
    let results = document.get("results").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (n, result) in results.iter().enumerate() {
        one_command(n, result, recorder);
    }
    if recorder.tables.benchmarks.is_empty() {
        recorder.skip("no_times", Severity::Warn, "the file holds no timed repetition", "run hyperfine again", "ptr=/results");
    }
    Ok(())
}

fn one_command(n: usize, result: &Value, recorder: &mut Recorder) {
    let command = result.get("command").and_then(Value::as_str).unwrap_or_default();
    let parameters = parameters(result);
    let times = result.get("times").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let once = times.len() == 1;
    let mean = |key: &str| result.get(key).and_then(Value::as_f64).filter(|_| once).and_then(text::ns_from_f64);
    let listed: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let listed = recorder.text(&listed.join(","));
    let command = recorder.text(command);
    for (repetition, time) in times.iter().enumerate() {
        let pointer = format!("/results/{n}/times/{repetition}");
        recorder.artifact.records += 1;
        let Some(wall_ns) = time.as_f64().and_then(text::ns_from_f64) else {
            recorder.skip(
                "hyperfine_time",
                Severity::Warn,
                &format!("{time} is no time in seconds"),
                "the repetition is left out",
                &format!("ptr={pointer}"),
            );
            continue;
        };
        let exit_code = result.get("exit_codes").and_then(|codes| codes.get(repetition)).and_then(Value::as_i64);
        recorder.tables.benchmarks.push(Benchmark {
            artifact_id: 0,
            command: command.clone(),
            parameters: listed.clone(),
            variant: parameters.get("variant").map(|value| value.as_str().into()),
            threads: parameters.get("threads").and_then(|value| value.parse().ok()),
            work: parameters.get("work").or_else(|| parameters.get("n")).and_then(|value| value.parse().ok()),
            function: parameters.get("function").map(|value| value.as_str().into()),
            repetition: i32::try_from(repetition).unwrap_or(i32::MAX),
            wall_ns,
            user_ns: mean("user"),
            system_ns: mean("system"),
            exit_code: exit_code.and_then(|code| i32::try_from(code).ok()),
            pointer: pointer.into(),
        });
    }
}

/// `-L name value` and `-P name ...` of this command. Older versions export a single `parameter` as text.
fn parameters(result: &Value) -> BTreeMap<String, String> {
    let object = result.get("parameters").and_then(Value::as_object);
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    object.into_iter().flatten().map(|(name, value)| (name.clone(), shown(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::testing::read_text;

    /// hyperfine 1.15, `-N --runs 1 -L variant a,b` and a run with two repetitions, shortened.
    const EXPORT: &str = r#"{ "results": [
        {"command": "./p a 5", "mean": 0.5, "stddev": null, "median": 0.5, "user": 0.25, "system": 0.125, "min": 0.5, "max": 0.5,
         "times": [0.500000001], "exit_codes": [3], "parameters": {"variant": "a", "n": "5"}},
        {"command": "./p b 5", "mean": 1.0, "user": 0.5, "system": 0.5, "times": [0.75, 1.25], "exit_codes": [0, null]}
    ] }"#;

    #[test]
    fn repetitions_become_rows() {
        let recorder = read_text(read, EXPORT);
        let [a, b0, b1] = &recorder.tables.benchmarks[..] else { panic!() };
        assert_eq!((a.wall_ns, a.user_ns, a.system_ns, a.exit_code), (500_000_001, Some(250_000_000), Some(125_000_000), Some(3)));
        assert_eq!((a.parameters.as_ref(), a.variant.as_deref(), a.work), ("n=5,variant=a", Some("a"), Some(5)));
        assert_eq!(a.pointer.as_ref(), "/results/0/times/0");
        assert_eq!((b0.wall_ns, b1.wall_ns, b1.repetition), (750_000_000, 1_250_000_000, 1));
        assert_eq!((b0.user_ns, b0.exit_code, b1.exit_code), (None, Some(0), None));
    }

    #[test]
    fn only_its_export_is_claimed() {
        assert!(sniff(EXPORT.as_bytes()));
        assert!(!sniff(br#"{"results": []}"#));
        assert!(!sniff(br#"{"x": {"results": [], "command": 1, "mean": 2}}"#));
        assert!(crate::ingest::testing::try_read(read, b"{\"results\": [").is_err());
    }
}
