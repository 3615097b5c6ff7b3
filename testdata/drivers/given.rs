//! What users bring of their own: hypotheses, thresholds, costs, another lineage. Mistakes are placed by file, line and
//! key before any recording is read; what they change is told and written down.

use std::path::Path;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("given::mistakes_are_placed", mistakes),
        Trial::ignorable_test("given::thresholds_flip_a_verdict", thresholds),
        Trial::ignorable_test("given::costs_move_the_rates", costs),
        Trial::ignorable_test("given::lineage_is_told", lineage),
    ]
}

/// R13 as it is, under another id: a correct file.
fn correct() -> Result<String, Failed> {
    let text = std::fs::read_to_string(support::project().join("queries/hypotheses/R13_tax_formatting.sql"))?;
    Ok(text.replacen("-- id: R13", "-- id: X1", 1))
}

/// The line on which `text` first stands, counted as an editor does.
fn line_of(file: &str, text: &str) -> usize {
    file.lines().position(|line| line.contains(text)).map_or(0, |index| index + 1)
}

fn mistakes() -> Outcome {
    let good = correct()?;
    let mut wrong = Vec::new();
    // (what is written, what instead, the line where it now stands is that of, key, message)
    let cases = [
        ("-- effort: 2", "-- effort: nine", "-- effort: nine", "effort", "expected 1 to 5, found nine"),
        ("-- advice:", "-- advise:", "-- id:", "advice", "expected the key, found none"),
        ("-- status: stable", "-- status: stable\n-- color: red", "-- color: red", "color", "expected a known key"),
        ("-- slot: B", "-- slot: D", "-- slot: D", "slot", "expected slot B, found D"),
        ("-- mechanism: M1", "-- mechanism: M11", "-- mechanism: M11", "mechanism", "expected M1 to M10, found M11"),
        ("reject=0.02", "reject=0.5", "reject=0.5", "metric", "expected reject < support < saturate"),
        ("source=house:", "source=hearsay:", "source=hearsay:", "metric", "a source of kind tool, paper, doc, measured or house"),
        ("interval=wilson", "interval=wilsen", "interval=wilsen", "metric", "expected wilson, complete"),
        ("-- explains: R01", "-- explains: R99", "-- explains: R99", "explains", "expected the id of a hypothesis, found R99"),
        ("-- needs: cpu_events", "-- needs: cpu_evens", "-- needs: cpu_evens", "needs", "expected a condition on a table"),
        ("FROM cpu_events AS c", "FROM cpu_evens AS c", "WITH formatting AS", "SELECT", "expected a query over the tables and views"),
        ("c.weight AS whole", "c.wait AS whole", "WITH formatting AS", "SELECT", "expected a query over the tables and views"),
        ("c.weight AS whole, ", "", "WITH formatting AS", "SELECT", "expected a query over the tables and views"),
        ("SELECT DISTINCT stack_id AS stack_id", "SELECT DISTINCT *", "WITH formatting AS", "SELECT", "the dialect of queries/README.md"),
        ("-- evidence: {percent}", "-- evidence: {share}", "-- evidence: {share}", "evidence", "expected one of part, whole"),
    ];
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("own.sql");
    let folder = dir.path().to_string_lossy().into_owned();
    std::fs::write(&path, &good)?;
    let output = support::tripod(&["hypotheses", "--rules", &folder]);
    if !output.status.success() || !String::from_utf8_lossy(&output.stdout).contains("X1 tax.logging_formatting") {
        wrong.push(format!("the correct file: {}", String::from_utf8_lossy(&output.stderr)));
    }
    for (from, to, place, key, message) in cases {
        if !good.contains(from) {
            wrong.push(format!("R13 no longer has `{from}`; this test must follow it"));
            continue;
        }
        let text = good.replacen(from, to, 1);
        std::fs::write(&path, &text)?;
        let output = support::tripod(&["hypotheses", "--rules", &folder]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let start = format!("tripod: own.sql: line {}, key {key}: ", line_of(&text, place));
        if output.status.code() != Some(2) || !said.starts_with(&start) || !said.contains(message) {
            wrong.push(format!("{from} -> {to}: expected `{start}..{message}`, got {}: {said}", output.status));
        }
    }
    // Two files with one id: neither silently wins.
    std::fs::write(&path, &good)?;
    std::fs::write(dir.path().join("zweite.sql"), &good)?;
    let said = String::from_utf8_lossy(&support::tripod(&["hypotheses", "--rules", &folder]).stderr).into_owned();
    if !said.starts_with("tripod: zweite.sql: line 1, key id: ") || !said.contains("also in own.sql") {
        wrong.push(said);
    }
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}

fn query(run: &Path, sql: &str) -> Result<Value, Failed> {
    let output = support::tripod(&["query", &run.to_string_lossy(), sql, "--format", "json"]);
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// S1 writes 300 000 records under strace, a twentieth of the work that takes 6.74 s alone (time-v.txt, line 5):
/// 300 000 * 20 / 6.74 s = 890 208 writes per second.
fn thresholds() -> Outcome {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("ours.txt");
    let file_text = file.to_string_lossy().into_owned();
    std::fs::write(
        &file,
        "# a machine for logs\nR25 A calls_per_second reject=1000000 support=2000000 saturate=3000000 reason=\"we log a lot\"\n",
    )?;
    let input = support::scenario("s1-unbuffered-writes");
    let (input_text, out) = (input.to_string_lossy().into_owned(), dir.path().join("dry").to_string_lossy().into_owned());
    let output = support::tripod(&["analyze", &input_text, "-o", &out, "--thresholds", &file_text, "--dry-run"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in [
        "R25 io.small_write",
        "A calls_per_second = 890 208 per s: supports -> rejects; supports from 10 000 per s -> 2 000 000 per s",
        "label: 3/3 -> KERNEL (handed off) becomes 2/3 -> DISPUTED",
        "Nothing was written",
    ] {
        if !said.contains(part) {
            return Err(format!("{part} is not in\n{said}{}", String::from_utf8_lossy(&output.stderr)).into());
        }
    }
    if Path::new(&out).exists() {
        return Err("a dry run wrote a run directory".into());
    }
    let run = support::analyze(&input, dir.path(), &["--thresholds", &file_text])?;
    let rows = query(
        &run,
        "SELECT support AS support, source_kind AS kind, source AS source FROM thresholds WHERE hypothesis = 'R25' AND metric = 'calls_per_second' AND slot = 'A'",
    )?;
    for row in rows.as_array().ok_or("no thresholds")? {
        let source = row["source"].as_str().unwrap_or_default();
        if row["support"] != 2e6 || row["kind"] != "user" || !source.starts_with("we log a lot (ours.txt, line 2; instead of ") {
            return Err(row.to_string().into());
        }
    }
    let ledger = std::fs::read_to_string(run.join("hypothesis.md"))?;
    if !ledger.contains("threshold of the user: we log a lot") || !run.join("queries/thresholds.txt").is_file() {
        return Err("the ledger does not say whose threshold it was".into());
    }
    // A mistake costs no analysis: it is found before the recordings are looked for.
    std::fs::write(&file, "R25 A calls_per_second support=5\n")?;
    let output = support::tripod(&["analyze", "/nowhere/at/all", "--thresholds", &file_text]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() != Some(2) || !said.contains("ours.txt: line 1, key reason") {
        return Err(said.into());
    }
    Ok(Completion::Completed)
}

/// rules.md R22 A: 50 000 faults per second at 1.9 us. At twice the cost, half as many.
fn costs() -> Outcome {
    let dir = tempfile::tempdir()?;
    let ask = |run: &Path| {
        query(
            run,
            "SELECT support AS support, cost_ns AS ns, cost_source AS source FROM thresholds WHERE hypothesis = 'R22' AND slot = 'A' ORDER BY alternate NULLS LAST",
        )
    };
    let time_v = |name: &str| name == "time-v.txt";
    let linked = support::linked(&support::scenario("s1-unbuffered-writes"), &time_v)?;
    let run = support::analyze(linked.path(), &dir.path().join("a"), &[])?;
    let rows = ask(&run)?;
    if rows[0]["support"] != 50_000.0 || rows[0]["ns"] != 1900.0 || rows[0]["source"] != "default" {
        return Err(format!("without measured costs: {rows}").into());
    }
    // As the program of the capture kit prints it, beside the recordings.
    std::fs::write(linked.path().join("costs.json"), "{\"schema\": 1, \"costs\": {\"page_fault_ns\": 3800.0}}\n")?;
    let run = support::analyze(linked.path(), &dir.path().join("b"), &[])?;
    let rows = ask(&run)?;
    if rows[0]["support"] != 25_000.0 || rows[0]["source"] != "measured: costs.json#ptr=/costs/page_fault_ns" {
        return Err(format!("with measured costs: {rows}").into());
    }
    let given = dir.path().join("ours.json");
    std::fs::write(&given, "{\"costs\": {\"page_fault_ns\": 950}}")?;
    let run = support::analyze(linked.path(), &dir.path().join("c"), &["--costs", &given.to_string_lossy()])?;
    let rows = ask(&run)?;
    if rows[0]["support"] != 100_000.0 || rows[0]["source"] != "given: ours.json" {
        return Err(format!("with given costs: {rows}").into());
    }
    Ok(Completion::Completed)
}

/// perf stat and perf record are one tool: by default only one of them fills an angle of R22.
fn lineage() -> Outcome {
    let dir = tempfile::tempdir()?;
    let perf = |name: &str| matches!(name, "perf-stat.json" | "cpu-fp.perf.data.zst");
    let linked = support::linked(&support::scenario("s1-unbuffered-writes"), &perf)?;
    let note = |more: &[&str], name: &str| -> Result<String, Failed> {
        let run = support::analyze(linked.path(), &dir.path().join(name), more)?;
        let rows = query(&run, "SELECT note AS note FROM hypotheses WHERE hypothesis = 'R22'")?;
        Ok(rows[0]["note"].as_str().unwrap_or_default().to_owned())
    };
    let (by_tool, by_probe) = (note(&[], "tool")?, note(&["--lineage", "probe"], "probe")?);
    if by_tool.contains("recorded by perf")
        || !by_probe.contains("A and B were both recorded by perf: they count as two angles with --lineage probe only")
    {
        return Err(format!("by tool: {by_tool}; by probe: {by_probe}").into());
    }
    Ok(Completion::Completed)
}
