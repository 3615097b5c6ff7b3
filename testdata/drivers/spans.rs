//! Spans, stated verdicts, BASELINE.md and scaling_law.md of whole runs. Expected numbers are counted by hand from the
//! texts beside them, or added up anew in Python (spans.py, resolve.py).

use std::io::Write;
use std::path::Path;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("spans::recorded_log_adds_up", recorded_log_adds_up),
        Trial::ignorable_test("spans::anchors_of_every_log", anchors_of_every_log),
        Trial::ignorable_test("spans::stated_verdicts_change_nothing", stated_verdicts_change_nothing),
        Trial::ignorable_test("spans::both_names_are_hotspots", both_names_are_hotspots),
        Trial::ignorable_test("spans::broken_lines_are_counted", broken_lines_are_counted),
        Trial::ignorable_test("spans::a_line_of_100_mb_is_passed_over", long_line),
        Trial::ignorable_test("spans::baseline_of_ten_runs", baseline_of_ten_runs),
        Trial::ignorable_test("spans::scaling_of_four_sizes", scaling_of_four_sizes),
    ]
}

fn case(name: &str) -> std::path::PathBuf {
    support::testdata().join("cases").join(name)
}

fn read(run: &Path, name: &str) -> Result<String, Failed> {
    std::fs::read_to_string(run.join(name)).map_err(|error| format!("{name}: {error}").into())
}

fn has(text: &str, lines: &[&str]) -> Result<(), Failed> {
    match lines.iter().find(|line| !text.lines().any(|own| own == **line)) {
        Some(missing) => Err(format!("no line {missing:?} in\n{text}").into()),
        None => Ok(()),
    }
}

fn recorded_log_adds_up() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(&case("span-log"), scratch.path(), &[])?;
    support::python_script("spans.py", &[&run, &case("span-log").join("spanlog.jsonl")])
}

fn anchors_of_every_log() -> Outcome {
    for dir in support::list(&support::testdata().join("cases")) {
        let name = dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        if !name.starts_with("span-log") {
            continue;
        }
        let scratch = tempfile::tempdir()?;
        let run = support::analyze(&dir, scratch.path(), &[])?;
        let outcome = support::python_script("resolve.py", &[&run, &dir, &support::project().join("queries/symbol_classes.json")]);
        match outcome.map_err(|error| format!("{name}: {error:?}"))? {
            Completion::Completed => {}
            ignored => return Ok(ignored),
        }
    }
    Ok(Completion::Completed)
}

/// The labels with and without the author's verdicts are the same, and the verdicts stand in a section of their own.
fn stated_verdicts_change_nothing() -> Outcome {
    let text = std::fs::read_to_string(case("span-log").join("spanlog.jsonl"))?;
    let plain: String = text.lines().filter(|line| !line.contains("hypothesis_evaluated")).map(|line| format!("{line}\n")).collect();
    let bold = text.replace("formatting takes more than half of the run", "R13").replace("\"supports\"", "\"KERNEL\"");
    let mut labels = Vec::new();
    for (name, text) in [("plain", plain), ("bold", bold)] {
        let dir = tempfile::tempdir()?;
        std::fs::write(dir.path().join("log.jsonl"), text)?;
        let scratch = tempfile::tempdir()?;
        let run = support::analyze(dir.path(), scratch.path(), &[])?;
        let summary = support::summary(&run)?;
        let rows = summary["hypotheses"].as_array().into_iter().flatten();
        labels.push(rows.map(|row| format!("{} {} {}", row["id"], row["label"], row["supports"])).collect::<Vec<_>>());
        let ledger = read(&run, "hypothesis.md")?;
        let stated = summary["stated_verdicts"]["verdicts"].as_array().map_or(0, Vec::len);
        // The scaling law of the log has a verdict too.
        if stated != if name == "bold" { 2 } else { 1 } {
            return Err(format!("{name}: {}", summary["stated_verdicts"]).into());
        }
        if name == "bold" {
            let section = ledger.split("## Stated by the authors of logs").nth(1).unwrap_or_default();
            has(section, &["| R13 | KERNEL | format_record / run = 0.6715 | `log.jsonl:L8` |"])?;
        }
    }
    if labels.first() == labels.last() { Ok(Completion::Completed) } else { Err(format!("{labels:?}").into()) }
}

/// 930 of 1,000 ms, 15 of 1,000 ms, and what they leave of serve: 55 ms.
fn both_names_are_hotspots() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(&case("span-log-other-names"), scratch.path(), &[])?;
    let table = read(&run, "hotspot_table.md")?;
    has(
        &table,
        &[
            "| 1 | `lookup` | span time without its children | 93.0 % (at least 93.0 %); 100 calls, 0.930 s of 1.000 s | Wall | `log.jsonl:L4` |",
            "| 2 | `serve` | span time without its children | 5.5 % (at least 5.5 %); 100 calls, 0.055 s of 1.000 s | Wall | `log.jsonl#sum=spans.self_ns&name=serve` |",
            "| 3 | `fmt_reply` | span time without its children | 1.5 % (at least 1.5 %); 100 calls, 0.015 s of 1.000 s | Wall | `log.jsonl:L5` |",
        ],
    )?;
    // 15 ms is the largest of 100 calls.
    has(
        &read(&run, "BASELINE.md")?,
        &[
            "| `serve`, thread main | 100 | 9.00 ms | 14.0 ms | - | - | - | `log.jsonl:L3` |",
            "| `lookup`, thread main | 100 | 9.10 ms | 13.2 ms | - | 15.0 ms (conservative) | 15.0 ms (conservative) | `log.jsonl:L4` |",
            "| `fmt_reply`, thread main | 100 | 150 us | - | - | - | - | `log.jsonl:L5` |",
        ],
    )?;
    Ok(Completion::Completed)
}

fn kinds(summary: &Value) -> Vec<(String, i64, String)> {
    let rows = summary["diagnostics"]["kinds"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rows.map(|row| (text(&row["kind"]), row["count"].as_i64().unwrap_or(0), text(&row["places"]))).collect()
}

/// Counted by hand in the file's lines.
fn broken_lines_are_counted() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(&case("span-log-broken"), scratch.path(), &[])?;
    let found = kinds(&support::summary(&run)?);
    for (kind, count, places) in [
        ("profile_log_line", 3, "L=6, L=7, L=17"),
        // Line 3: total, count, p50, p95; line 4: total, count; line 5 likewise.
        ("profile_log_value", 8, "L=3, L=3, L=3"),
        ("profile_log_duplicate_key", 1, "L=8"),
        ("profile_log_no_name", 1, "L=10"),
        ("profile_log_verdict", 1, "L=11"),
        ("profile_log_series", 1, "L=13"),
        ("profile_log_event", 1, "L=14"),
        ("profile_log_text", 1, "L=15"),
    ] {
        if !found.iter().any(|row| *row == (kind.to_owned(), count, places.to_owned())) {
            return Err(format!("{kind} {count} {places} is not among {found:?}").into());
        }
    }
    Ok(Completion::Completed)
}

fn long_line() -> Outcome {
    let dir = tempfile::tempdir()?;
    let mut file = std::io::BufWriter::new(std::fs::File::create(dir.path().join("log.jsonl"))?);
    let span = |name: &str| format!("{{\"event\":\"perf.profile.span_summary\",\"span\":\"{name}\",\"cumulative_us\":1,\"count\":1}}\n");
    file.write_all(span("before").as_bytes())?;
    file.write_all(b"{\"event\":\"perf.profile.span_summary\",\"span\":\"")?;
    for _ in 0..100 {
        file.write_all(&[b'x'; 1 << 20])?;
    }
    file.write_all(b"\"}\n")?;
    file.write_all(span("after").as_bytes())?;
    file.flush()?;
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(dir.path(), scratch.path(), &["--timings"])?;
    let summary = support::summary(&run)?;
    if !kinds(&summary).contains(&("profile_log_long_line".to_owned(), 1, "L=2".to_owned())) {
        return Err(format!("{}", summary["diagnostics"]).into());
    }
    let answer = support::tripod(&[
        "query",
        &run.to_string_lossy(),
        "SELECT name AS name FROM spans ORDER BY line_no NULLS LAST",
        "--format",
        "csv",
    ]);
    let names = String::from_utf8_lossy(&answer.stdout).into_owned();
    if names != "name\nbefore\nafter\n" {
        return Err(names.into());
    }
    // The mapped file counts; a second copy of the line would not fit.
    let peak = summary["timings"].as_array().into_iter().flatten().filter_map(|stage| stage["peak_bytes"].as_i64()).max().unwrap_or(0);
    if peak < 400 << 20 { Ok(Completion::Completed) } else { Err(format!("{peak} bytes at most").into()) }
}

/// hyperfine's JSON as far as it is read.
fn bench(commands: &[(&str, &str, &[f64])]) -> String {
    let one = |(command, parameters, times): &(&str, &str, &[f64])| {
        format!(r#"{{"command": "{command}", "mean": 1.0, "times": {times:?}, "parameters": {{{parameters}}}}}"#)
    };
    format!(r#"{{"results": [{}]}}"#, commands.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// Ten times: 100, 110, ... 180 ms and 1.9 s, not in order. p50 is the 5th, 140 ms, between the 2nd and the 9th; 95 % of 10
/// is 9.5, so p95 and beyond are the 10th. The binomial distribution of n = 10 leaves 1.2 % below the 8th for p = 0.95
/// (8.6 % below the 9th), 0.4 % below the 9th for 0.99, 1.0 % below the 10th for 0.999. Median 145 ms, median distance
/// 25 ms: (1900 - 145) / 25 = 70.
fn baseline_of_ten_runs() -> Outcome {
    let dir = tempfile::tempdir()?;
    let times = [0.14, 0.1, 1.9, 0.11, 0.12, 0.13, 0.15, 0.16, 0.17, 0.18];
    std::fs::write(dir.path().join("bench.json"), bench(&[("./p a", r#""variant": "a""#, &times)]))?;
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(dir.path(), scratch.path(), &[])?;
    let text = read(&run, "BASELINE.md")?;
    has(
        &text,
        &[
            "## `./p a`, variant a",
            "| p50 | 140 ms | 5 of 10 | 110 ms to 180 ms | `bench.json#ptr=/results/0/times/0` |",
            "| p95 | 1.90 s | the longest of 10 | at least 170 ms; no upper end (needs 72 repetitions) | `bench.json#ptr=/results/0/times/2` |",
            "| p99 | 1.90 s | the longest of 10 | at least 180 ms; no upper end (needs 368 repetitions) | `bench.json#ptr=/results/0/times/2` |",
            "| p99.9 (conservative) | 1.90 s | the longest of 10 | at least 1.90 s; no upper end (needs 3 688 repetitions) | `bench.json#ptr=/results/0/times/2` |",
            "| max (conservative) | 1.90 s | the longest of 10 | what was seen, no estimate | `bench.json#ptr=/results/0/times/2` |",
            "- Outliers (distance from the median over 14.826 times the median distance, hyperfine's bound): 1.90 s at `bench.json#ptr=/results/0/times/2`",
        ],
    )?;
    if run.join("scaling_law.md").exists() { Err("one size is no series".into()) } else { Ok(Completion::Completed) }
}

/// 1, 4, 16 and 64 ms at 1000, 2000, 4000 and 8000: four times the time for twice the size, beside nothing.
fn scaling_of_four_sizes() -> Outcome {
    let dir = tempfile::tempdir()?;
    let times: Vec<[f64; 5]> = [0.001, 0.004, 0.016, 0.064].iter().map(|time| [*time; 5]).collect();
    let sizes = ["1000", "2000", "4000", "8000"];
    let (commands, parameters): (Vec<String>, Vec<String>) =
        sizes.iter().map(|size| (format!("./p {size}"), format!(r#""n": "{size}""#))).unzip();
    let rows: Vec<(&str, &str, &[f64])> = commands
        .iter()
        .zip(&parameters)
        .zip(&times)
        .map(|((command, parameter), times)| (command.as_str(), parameter.as_str(), &times[..]))
        .collect();
    std::fs::write(dir.path().join("bench.json"), bench(&rows))?;
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(dir.path(), scratch.path(), &[])?;
    let text = read(&run, "scaling_law.md")?;
    has(
        &text,
        &[
            "| 1 000 | 5 | p50 1.00 ms | - | - | - | `bench.json#ptr=/results/0/times/0` |",
            "| 2 000 | 5 | p50 4.00 ms | 2.00 | 4.00 | 2.00 | `bench.json#ptr=/results/1/times/0` |",
            "| 8 000 | 5 | p50 64.0 ms | 2.00 | 4.00 | 2.00 | `bench.json#ptr=/results/3/times/0` |",
        ],
    )?;
    let law = text.lines().find(|line| line.starts_with("Superlinear: exponent 2.0"));
    if law.is_some_and(|law| law.ends_with("4 sizes from 1 000 to 8 000, 20 repetitions (at least 5 of each size).")) {
        Ok(Completion::Completed)
    } else {
        Err(text.into())
    }
}
