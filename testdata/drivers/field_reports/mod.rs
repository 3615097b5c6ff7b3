//! What users of other tools reported about perf.data (../shared/field-reports.md, A001 to A092), one row each: a check
//! that makes the input, or the test that covers it, or why it is not made here.

mod container;
mod events;
mod symbols;

use std::collections::BTreeSet;

use libtest_mimic::{Completion, Trial};

use crate::support::{self, Outcome};

/// How a row is settled.
enum Proof {
    /// Makes the input and looks at what comes out.
    Check(fn() -> Outcome),
    /// Tests of these names do.
    Covered(&'static [&'static str]),
    /// It is no matter of perf.data: where it belongs.
    Elsewhere(&'static str),
    /// Why the input cannot be made here.
    Impossible(&'static str),
}

/// One report.
struct Row {
    id: &'static str,
    /// The right behavior, in a few words.
    what: &'static str,
    proof: Proof,
}

const fn row(id: &'static str, what: &'static str, proof: Proof) -> Row {
    Row { id, what, proof }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    [container::ROWS, events::ROWS, symbols::ROWS].into_iter().flatten()
}

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::ignorable_test("field_reports::every_report_has_one_row", every_report_has_one_row)];
    trials.extend(rows().map(|row| {
        let name = format!("field_reports::{} {}", row.id, row.what);
        Trial::ignorable_test(name, || settle(row))
    }));
    trials
}

fn settle(row: &Row) -> Outcome {
    match row.proof {
        Proof::Check(check) => check(),
        Proof::Covered(tests) => {
            let known = tests_of_the_project();
            match tests.iter().find(|test| !known.contains(**test)) {
                Some(test) => Err(format!("there is no test of the name {test}").into()),
                None => Ok(Completion::Completed),
            }
        }
        Proof::Elsewhere(place) => Ok(Completion::ignored_with(format!("not about perf.data: {place}"))),
        Proof::Impossible(reason) => Ok(Completion::ignored_with(format!("cannot be made here: {reason}"))),
    }
}

fn every_report_has_one_row() -> Outcome {
    let found: Vec<String> = rows().map(|row| row.id.to_owned()).collect();
    let expected: Vec<String> = (1..=92).map(|number| format!("A{number:03}")).collect();
    crate::perf::same("rows", found, expected)?;
    Ok(Completion::Completed)
}

/// Names of test functions and of the drivers' trials.
fn tests_of_the_project() -> BTreeSet<String> {
    let project = support::project();
    let files = ["src", "testdata/drivers"].iter().flat_map(|dir| support::walk(&project.join(dir)));
    let mut names = BTreeSet::new();
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            let function = line.strip_prefix("fn ").and_then(|line| line.split('(').next());
            names.extend(function.filter(|_| is_test).map(str::to_owned));
            is_test = line == "#[test]" || is_test && line.starts_with("#[");
            // A family of trials goes by the pattern of their names.
            for begin in ["ignorable_test(\"", "ignorable_test(format!(\""] {
                names.extend(line.split(begin).nth(1).and_then(|line| line.split('"').next()).map(str::to_owned));
            }
        }
    }
    names
}
