//! `tripod query ROOT`: SQL over many runs.

use polars::prelude::DataFrame;

use super::{columns, tables};
use crate::dataset::{Ask, Dataset, Names, RUN, parse};
use crate::error::{Error, Result};
use crate::rules;
use crate::tables::Tables;

/// Runs one SELECT over the tables of all runs.
pub fn ask(dataset: &Dataset, statement: &str, memory: u64) -> Result<DataFrame> {
    let mut known: Vec<String> = Tables::descriptors().iter().map(|table| table.name.to_owned()).collect();
    // Those of another version.
    known.extend(dataset.tables().into_keys().filter(|name| !known.contains(name)).collect::<Vec<_>>());
    known.sort();
    let query = parse(statement).map_err(|error| columns::explained(&Error::Request(format!("query: {error}")), &[]))?;
    if let Some(name) = Names::of(statement, &query).unknown(&known).next() {
        return Err(unknown(dataset, name, &known));
    }
    let ask = Ask::new(dataset, statement, &known, memory)?;
    ask.check().map_err(|error| columns::explained(&error, &ask.columns()))?;
    ask.rows()
}

/// A view exists for every run by itself; other names are mistyped.
fn unknown(dataset: &Dataset, name: &str, tables: &[String]) -> Error {
    let view = rules::VIEWS.iter().find(|(file, _)| rules::view_name(file) == name);
    let of_rules = ["admitted", "reference"].contains(&name).then_some("is made for the rules of one run");
    match (view, of_rules) {
        (Some((file, _)), _) => Error::Request(format!(
            "{name} is a view of one run (queries/views/{file}); over many runs there are tables only. Ask one run with \
             `tripod query {}/run=ID`, or write what the view does as a CTE that keeps run",
            dataset.root().display()
        )),
        (None, Some(what)) => Error::Request(format!("{name} {what}; over many runs there are tables only")),
        (None, None) => columns::no_table(name, tables),
    }
}

/// Runs that the listing names.
const RUNS_LISTED: usize = 30;

/// Which runs there are, then the tables with their columns.
pub fn listing(dataset: &Dataset) -> String {
    let runs = dataset.runs();
    let count = runs.len();
    let mut text = format!("{count} {}:\n", if count == 1 { "run" } else { "runs, in the order of their names" });
    for run in runs.iter().take(RUNS_LISTED) {
        text.push_str(&format!("  {}\n", run.id));
    }
    if let (Some(last), true) = (runs.last(), count > RUNS_LISTED) {
        text.push_str(&format!("  ... and {} more, to {} (queries/fleet/runs.sql has all)\n", count - RUNS_LISTED, last.id));
    }
    text.push_str(&format!(
        "\nEvery table has one more column than below, the last one: {RUN} (utf8), the run a row is of. Ids mean something within\n\
         their run only; function_key and stack_key (functions, stacks) mean the same in all.\n\nTables that have rows, and in how many runs:\n"
    ));
    let there = dataset.tables();
    let descriptors = Tables::descriptors();
    for table in &descriptors {
        if let Some(runs) = there.get(table.name) {
            text.push_str(&format!("  {:<18} {runs:>8}\n", table.name));
        }
    }
    for (name, runs) in there.iter().filter(|(name, _)| !descriptors.iter().any(|table| table.name == *name)) {
        text.push_str(&format!("  {:<18} {runs:>8}   (written by another version of tripod)\n", crate::emit::escape::plain(name)));
    }
    text.push('\n');
    text.push_str(&tables::list(&descriptors));
    text
}
