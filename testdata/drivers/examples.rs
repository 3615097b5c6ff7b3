//! The example rows of the table reference (queries/examples.json) are rows of recordings. `TRIPOD_BLESS=1` picks them anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Map, Value, json};

use crate::support::{self, Outcome};

/// Rows of a table among which the example is.
const ROWS: usize = 2000;
/// The recordings, below testdata, that have all tables between them; an earlier one is preferred.
const RECORDINGS: &[&str] = &[
    "scenarios/s1-unbuffered-writes",
    "scenarios/s12-oversubscription",
    "scenarios/s9-scan",
    "tracepoints",
    "perf-data/lost.perf.data.zst",
    "cases/k33-klockstat",
    "cases/span-log",
];

pub fn trials() -> Vec<Trial> {
    vec![Trial::ignorable_test("tables::examples_are_rows_of_recordings", examples)]
}

/// The tables with their columns, as the program lists them.
fn tables() -> Result<BTreeMap<String, Vec<String>>, Failed> {
    let text = String::from_utf8(support::tripod(&["tables"]).stdout)?;
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        if let Some(column) = line.strip_prefix("    ") {
            let name = column.split_whitespace().next().unwrap_or("").to_owned();
            tables.entry(current.clone()).or_default().push(name);
        } else if !line.starts_with(' ') && !line.is_empty() {
            current = line.to_owned();
        }
    }
    Ok(tables)
}

fn rows(run: &Path, table: &str) -> Result<Vec<Map<String, Value>>, Failed> {
    let sql = format!("SELECT * FROM {table} LIMIT {ROWS}");
    let output = support::tripod(&["query", &run.to_string_lossy(), &sql, "--format", "json"]);
    if !output.status.success() {
        return Err(format!("{table}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn examples() -> Outcome {
    let path = support::project().join("queries/examples.json");
    if std::env::var_os("TRIPOD_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, format!("{}\n", serde_json::to_string_pretty(&pick()?)?))?;
    }
    let stored: BTreeMap<String, Value> = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
    let tables = tables()?;
    let mut wrong = Vec::new();
    for (table, columns) in &tables {
        match stored.get(table).and_then(|example| example["row"].as_object()) {
            None => wrong.push(format!("{table} has no example")),
            Some(row) if row.keys().ne(columns) => wrong.push(format!("{table}: the example has other columns")),
            Some(_) => {}
        }
    }
    wrong.extend(stored.keys().filter(|name| !tables.contains_key(*name)).map(|name| format!("{name} is no table")));
    let recordings: BTreeSet<&str> = stored.values().filter_map(|example| example["recording"].as_str()).collect();
    for recording in recordings {
        let scratch = tempfile::tempdir()?;
        let run = support::analyze(&support::testdata().join(recording), scratch.path(), &[])?;
        for (table, example) in stored.iter().filter(|(_, example)| example["recording"] == recording) {
            if !rows(&run, table)?.iter().any(|row| is_equal(row, &example["row"])) {
                wrong.push(format!("{table}: {recording} has no such row; TRIPOD_BLESS=1 picks another"));
            }
        }
    }
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}

/// Numbers with fractions may differ in the last place: they have been text in between.
fn is_equal(row: &Map<String, Value>, example: &Value) -> bool {
    let same = |a: &Value, b: &Value| match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
        }
        (a, b) => a == b,
    };
    example.as_object().is_some_and(|example| {
        row.len() == example.len() && row.iter().all(|(key, value)| example.get(key).is_some_and(|own| same(own, value)))
    })
}

/// Of every table the row with most values, from the first recording that has rows of it.
fn pick() -> Result<BTreeMap<String, Value>, Failed> {
    let mut open: Vec<String> = tables()?.into_keys().collect();
    let mut picked = BTreeMap::new();
    for recording in RECORDINGS {
        let scratch = tempfile::tempdir()?;
        let run = support::analyze(&support::testdata().join(recording), scratch.path(), &[])?;
        let mut still = Vec::new();
        for table in open {
            let mut best: Option<Map<String, Value>> = None;
            let filled = |row: &Map<String, Value>| row.values().filter(|value| !value.is_null()).count();
            for row in rows(&run, &table)? {
                if best.as_ref().is_none_or(|best| filled(&row) > filled(best)) {
                    best = Some(row);
                }
            }
            match best {
                Some(row) => drop(picked.insert(table, json!({"recording": recording, "row": row}))),
                None => still.push(table),
            }
        }
        open = still;
    }
    Ok(picked)
}
