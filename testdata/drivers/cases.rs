//! What one slot of a hypothesis says of one input: the tables of testdata/cases/*.md.
//!
//! ```text
//! | rule | slot | input | verdict | where the number comes from |
//! | R29 | A | cases/kernel-half | supports | time -v: 5 s of 10 s are system time |
//! | R29 | A | scenarios/s0-clean - time-v.txt | absent | without the file |
//! ```
//!
//! `input` is a recording (scenarios/NAME) or a folder of short texts written by hand (cases/NAME), perhaps without some
//! of its files; every distinct input is analyzed once. `verdict` is supports, rejects, inconclusive (something was read
//! and decides nothing, or a quality check took it away) or absent (nothing fills the slot).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use libtest_mimic::{Completion, Failed, Trial};
use tripod::emit::view::{Slot, View};

use crate::support::{self, Outcome};

/// Hypotheses that still lack a case of one of the four kinds. Once a hypothesis has them its line must go.
const LACKING: &[&str] = &[];

const KINDS: [&str; 4] = ["supports", "rejects", "inconclusive", "absent"];

/// One row.
#[derive(Debug, Clone)]
struct Case {
    file: String,
    rule: String,
    slot: String,
    input: String,
    verdict: String,
    source: String,
}

pub fn trials() -> Vec<Trial> {
    let mut by_input: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for case in cases() {
        by_input.entry(case.input.clone()).or_default().push(case);
    }
    let one = |(input, cases): (String, Vec<Case>)| Trial::ignorable_test(format!("cases::{input}"), move || check(&input, &cases));
    let mut trials: Vec<Trial> = by_input.into_iter().map(one).collect();
    trials.push(Trial::ignorable_test("cases::rows_are_well_formed", well_formed));
    trials.push(Trial::ignorable_test("cases::every_hypothesis_has_all_four", all_four));
    trials
}

/// The rows of all tables.
fn cases() -> Vec<Case> {
    let files = support::list(&support::testdata().join("cases"));
    let tables = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    tables.flat_map(|path| rows(&path)).collect()
}

fn rows(path: &Path) -> Vec<Case> {
    let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let cells = |line: &str| line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let row = |line: &str| {
        let mut cells = cells(line).into_iter();
        let mut next = || cells.next().unwrap_or_default();
        Case { file: file.clone(), rule: next(), slot: next(), input: next(), verdict: next(), source: next() }
    };
    // A file may have other tables, of commands: a table is one of cases by its heading.
    let mut is_of_cases = false;
    let is_row = |line: &&str| {
        is_of_cases = line.starts_with('|') && (is_of_cases || line.starts_with("| rule "));
        is_of_cases && !line.starts_with("|-") && !line.starts_with("| rule ")
    };
    text.lines().filter(is_row).map(row).collect()
}

/// The folder of an input with the files that it keeps.
fn folder(input: &str) -> Result<tempfile::TempDir, Failed> {
    let mut parts = input.split(" - ").map(str::trim);
    let from = support::testdata().join(parts.next().unwrap_or_default());
    let removed: BTreeSet<&str> = parts.collect();
    if let Some(missing) = removed.iter().find(|name| !from.join(name).exists()) {
        return Err(format!("{input}: there is no {missing} that could be left out").into());
    }
    // A folder leaves with everything in it: ten files of one benchmark are one recording.
    let is_removed =
        |name: &str| removed.iter().any(|own| name == *own || name.strip_prefix(own).is_some_and(|rest| rest.starts_with('/')));
    support::linked(&from, &|name| !is_removed(name))
}

fn check(input: &str, cases: &[Case]) -> Outcome {
    let from = support::testdata().join(input.split(" - ").next().unwrap_or_default().trim());
    if !from.is_dir() {
        let message = format!("{input} is not there");
        return if input.starts_with("scenarios/") { Ok(Completion::ignored_with(message)) } else { Err(message.into()) };
    }
    let dir = folder(input)?;
    let request = tripod::AnalyzeRequest {
        paths: vec![dir.path().to_path_buf()],
        symbol_dirs: vec![support::symbols()],
        ..tripod::AnalyzeRequest::default()
    };
    let run = tripod::analyze(&request)?;
    let view = View::new(&run);
    let ledger = view.ledger();
    let mut wrong = Vec::new();
    for case in cases {
        let entry = ledger.iter().find(|entry| *entry.row.hypothesis == *case.rule);
        let slot = entry.and_then(|entry| entry.slots.iter().find(|slot| slot.name == case.slot));
        let found = slot.map_or_else(|| "no such slot".to_owned(), said);
        if found.split(' ').next() != Some(case.verdict.as_str()) {
            wrong.push(format!("| {} | {} | {input} | expected {}, found {found} |", case.rule, case.slot, case.verdict));
        }
    }
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}

/// The kind, then the reason.
fn said(slot: &Slot<'_>) -> String {
    let reason = slot.reason.unwrap_or_default();
    let is_absent = slot.metrics.is_empty() && (reason.starts_with("absent") || reason.starts_with("no artifact"));
    match slot.verdict {
        "supports" | "rejects" => format!("{} {reason}", slot.verdict),
        _ if is_absent => format!("absent ({reason})"),
        _ if reason.contains("it applies only if") => format!("not-applicable ({reason})"),
        _ => format!("inconclusive ({reason})"),
    }
}

fn well_formed() -> Outcome {
    let known: BTreeSet<String> = tripod::catalogue(&[])?.into_iter().map(|doc| doc.id).collect();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for case in cases() {
        let place = format!("{}: {} {} {}", case.file, case.rule, case.slot, case.input);
        if !known.contains(&case.rule) {
            wrong.push(format!("{place}: no such hypothesis"));
        }
        if !["A", "B", "C", "D"].contains(&case.slot.as_str())
            || !KINDS.contains(&case.verdict.as_str()) && case.verdict != "not-applicable"
        {
            wrong.push(format!("{place}: slots are A to D, verdicts {KINDS:?} or not-applicable"));
        }
        if case.source.is_empty() {
            wrong.push(format!("{place}: where does the number come from?"));
        }
        if !case.input.starts_with("scenarios/") && !case.input.starts_with("cases/") {
            wrong.push(format!("{place}: an input is scenarios/NAME or cases/NAME"));
        }
        if !seen.insert((case.rule, case.slot, case.input)) {
            wrong.push(format!("{place}: twice"));
        }
    }
    let used: BTreeSet<String> = cases().iter().map(|case| case.input.split(" - ").next().unwrap_or_default().to_owned()).collect();
    for path in support::list(&support::testdata().join("cases")).into_iter().filter(|path| path.is_dir()) {
        let name = format!("cases/{}", path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()));
        if !used.contains(&name) {
            wrong.push(format!("{name}: no row is about it"));
        }
    }
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}

/// Each hypothesis, in some slot: supports, rejects, inconclusive and absent.
fn all_four() -> Outcome {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for case in cases() {
        found.entry(case.rule).or_default().insert(case.verdict);
    }
    let mut lacking: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for doc in tripod::catalogue(&[])? {
        let has = |kind: &str| found.get(&doc.id).is_some_and(|kinds| kinds.contains(kind));
        let missing: Vec<&str> = KINDS.into_iter().filter(|kind| !has(kind)).collect();
        if !missing.is_empty() {
            lacking.insert(doc.id, missing);
        }
    }
    let new =
        lacking.iter().filter(|(id, _)| !LACKING.contains(&id.as_str())).map(|(id, kinds)| format!("{id} lacks {}", kinds.join(", ")));
    let old =
        LACKING.iter().filter(|id| !lacking.contains_key(**id)).map(|id| format!("{id} lacks nothing any more: take it out of LACKING"));
    let wrong: Vec<String> = new.chain(old).collect();
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}
