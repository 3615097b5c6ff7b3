//! The label of every hypothesis on every recorded scenario, against the table in testdata/labels.md.
//!
//! The table is rules.md section 5.1 for the hypotheses there are. `K` KERNEL, `D` DISPUTED, `e` explained by another,
//! `-` neither KERNEL nor DISPUTED, `!K` anything but KERNEL, `.` not asserted; alternatives are joined with `/`.

use std::fmt::Write as _;

use libtest_mimic::{Completion, Trial};
use serde_json::Value;

use crate::support::{self, Outcome};

/// A scenario, what it expects per hypothesis.
struct Column {
    scenario: String,
    cells: Vec<(String, String)>,
}

/// The columns of all tables of the page. A row that begins with `rule` heads a table; a rule that a table leaves out is
/// not asserted there.
fn table() -> Vec<Column> {
    let text = std::fs::read_to_string(support::testdata().join("labels.md")).unwrap_or_default();
    let rows = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    let mut columns: Vec<Column> = Vec::new();
    let mut first = 0;
    for row in rows {
        let Some((name, cells)) = row.split_first() else { continue };
        if name == "rule" {
            first = columns.len();
            columns.extend(cells.iter().map(|scenario| Column { scenario: scenario.clone(), cells: Vec::new() }));
        } else if name.starts_with('R') {
            for (column, cell) in columns[first..].iter_mut().zip(cells) {
                column.cells.push((name.clone(), cell.clone()));
            }
        }
    }
    columns
}

pub fn trials() -> Vec<Trial> {
    table().into_iter().map(|column| Trial::ignorable_test(format!("labels::{}", column.scenario), move || check(&column))).collect()
}

fn fits(cell: &str, label: &str, explained: bool) -> bool {
    let rated = matches!(label, "KERNEL" | "DISPUTED");
    cell.split('/').any(|one| match one {
        "K" => label == "KERNEL" && !explained,
        "D" => label == "DISPUTED",
        "e" => explained,
        "-" => !rated,
        "!K" => label != "KERNEL",
        _ => true,
    })
}

fn check(column: &Column) -> Outcome {
    // Another set of recordings (made by record.sh) can be judged by the same table.
    let root = std::env::var_os("TRIPOD_SCENARIOS").map_or_else(|| support::testdata().join("scenarios"), Into::into);
    let input = root.join(&column.scenario);
    if !input.is_dir() {
        return Ok(Completion::ignored_with(format!("{} was not recorded", column.scenario)));
    }
    let scratch = tempfile::tempdir()?;
    let symbols = root.join("symbols");
    let run = support::analyze(&input, scratch.path(), &["--symbol-dir", &symbols.to_string_lossy()])?;
    let summary = support::summary(&run)?;
    let empty = Vec::new();
    let hypotheses = summary["hypotheses"].as_array().unwrap_or(&empty);
    let mut wrong = String::new();
    for (id, cell) in &column.cells {
        let found = hypotheses.iter().find(|row| row["id"] == id.as_str());
        let label = found.and_then(|row| row["label"].as_str()).unwrap_or("absent");
        let explained = found.is_some_and(|row| row["explained_by"].is_string());
        if label == "absent" || !fits(cell, label, explained) {
            let _ = writeln!(wrong, "| {id} | {cell} | {label}{} |", if explained { " (explained)" } else { "" });
        }
    }
    if column.scenario.starts_with("s0-") {
        wrong += &clean(hypotheses);
    }
    if wrong.is_empty() {
        return Ok(Completion::Completed);
    }
    Err(format!("| {} | expected | found |\n{wrong}", column.scenario).into())
}

/// The clean program: at least six of ten refuted by measured rejects, none not evaluated.
fn clean(hypotheses: &[Value]) -> String {
    // Previews need recordings that this machine cannot make.
    let count = |label: &str| hypotheses.iter().filter(|row| row["label"] == label && row["status"] != "preview").count();
    let mut wrong = String::new();
    if count("refuted") < 6 {
        let _ = writeln!(wrong, "| refuted | at least 6 | {} |", count("refuted"));
    }
    if count("not evaluated") > 0 {
        let _ = writeln!(wrong, "| not evaluated | 0 | {} |", count("not evaluated"));
    }
    wrong
}
