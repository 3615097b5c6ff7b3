//! `tripod query`: SQL over a run.

use std::fs;
use std::path::PathBuf;

use polars::prelude::DataFrame;

use super::frame::{self, Format};
use super::stored::Stored;
use super::{Outcome, columns, out, tables};
use crate::error::{Error, Result};
use crate::rules::engine::Engine;
use crate::tables::Tables;

const HELP: &str = "Examples:
  tripod query tripod-out/run                                             which tables there are, with their columns
  tripod query tripod-out/run \"SELECT name, n, total_weight FROM events\"
  tripod query tripod-out/run --file question.sql --format csv -o answer.csv
  tripod query tripod-out/run --file queries/hypotheses/R25.sql --slot A   what slot A of a hypothesis reads

The dialect is the SQL of polars; queries/README.md names the part of it that DuckDB and Spark answer alike.
The same tables can be opened elsewhere: duckdb -c \"SELECT * FROM 'tripod-out/run/tables/events.parquet'\"";

/// Ask a run directory questions in SQL
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Run directory that `tripod analyze` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// One SELECT; without it the tables are listed
    #[arg(value_name = "SQL", conflicts_with = "file")]
    sql: Option<String>,
    /// Read the SELECT from this file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Run this slot of a hypothesis file
    #[arg(long, value_name = "A|B|C|D", requires = "file")]
    slot: Option<String>,
    /// How to print the result
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write the result to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(args: Args) -> Result<Outcome> {
    let stored = Stored::open(&args.dir)?;
    let statement = match (&args.sql, &args.file) {
        (Some(sql), _) => sql.clone(),
        (None, Some(file)) => {
            let text = fs::read_to_string(file).map_err(|error| Error::Request(format!("{}: {error}", file.display())))?;
            match &args.slot {
                Some(slot) => slot_select(&text, slot, &file.to_string_lossy())?,
                None => text,
            }
        }
        (None, None) => {
            out::print(listing(&stored)?.as_bytes())?;
            return Ok(Outcome::Done);
        }
    };
    if args.format == Format::Parquet && args.output.is_none() && out::is_terminal() {
        return Err(Error::Request("Parquet on a terminal helps nobody; use -o FILE or a pipe".to_owned()));
    }
    let result = ask(&stored, &statement)?;
    let bytes = frame::format(&result, args.format, out::style())?;
    match &args.output {
        Some(path) => fs::write(path, bytes).map_err(|error| Error::Request(format!("{}: cannot write here: {error}", path.display())))?,
        None => out::print(&bytes)?,
    }
    Ok(Outcome::Done)
}

/// Runs one SELECT over the tables it names; the others are not even read.
fn ask(stored: &Stored, statement: &str) -> Result<DataFrame> {
    let lower = statement.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let names = stored.table_names();
    let mut frames = Vec::new();
    for name in names.iter().filter(|name| words.contains(&name.as_str())) {
        frames.push((name.clone(), stored.frame(name)?));
    }
    Engine::plain(frames.clone())
        .query("query", statement)
        .map_err(|error| Error::Request(format!("{error}{}", hint(&error.to_string(), &names, &frames))))
}

/// What an unknown column or table may have been meant to be.
fn hint(error: &str, tables: &[String], frames: &[(String, DataFrame)]) -> String {
    let Some(name) = quoted(error) else { return String::new() };
    let mut known: Vec<&str> = if error.contains("column") {
        frames.iter().flat_map(|(_, frame)| frame.columns().iter().map(|column| column.name().as_str())).collect()
    } else {
        tables.iter().map(String::as_str).collect()
    };
    known.sort_unstable();
    known.dedup();
    if known.contains(&name) || known.is_empty() {
        return String::new();
    }
    format!("\ndid you mean {}? (`tripod tables` lists every column)", columns::nearest(name, &known).join(", "))
}

/// The first name in quotes of an error message, without its qualifier.
fn quoted(error: &str) -> Option<&str> {
    let start = error.find(['"', '\''])?;
    let rest = error.get(start + 1..)?;
    let end = rest.find(['"', '\''])?;
    rest.get(..end)?.rsplit(['.', ':']).next().filter(|name| !name.is_empty())
}

/// The tables of the run with their rows, then every column.
fn listing(stored: &Stored) -> Result<String> {
    let mut text = String::from("Rows in this run:\n");
    for table in Tables::descriptors() {
        let rows = stored.frame(table.name)?.height();
        if rows > 0 {
            text.push_str(&format!("  {:<18} {rows:>12}\n", table.name));
        }
    }
    text.push('\n');
    text.push_str(&tables::list(&Tables::descriptors()));
    Ok(text)
}

/// The first SELECT of a slot of a hypothesis file: from its `-- slot: X` line on, header lines left out, up to the
/// next slot or alternate.
fn slot_select(text: &str, slot: &str, file: &str) -> Result<String> {
    let begins = |line: &str, key: &str| {
        line.trim_start().strip_prefix("--").and_then(|line| line.trim_start().strip_prefix(key)).map(str::trim).map(str::to_owned)
    };
    let letter = |line: &str| begins(line, "slot:").map(|value| value.split_whitespace().next().unwrap_or("").to_owned());
    let mut lines = text.lines().skip_while(|line| letter(line).is_none_or(|found| !found.eq_ignore_ascii_case(slot)));
    if lines.next().is_none() {
        let known: Vec<String> = text.lines().filter_map(letter).collect();
        return Err(Error::Request(format!(
            "{file}: there is no slot {slot}; it has {}",
            if known.is_empty() { "none".to_owned() } else { known.join(", ") }
        )));
    }
    let body: Vec<&str> = lines.take_while(|line| letter(line).is_none() && begins(line, "alternate:").is_none_or(|_| false)).collect();
    Ok(body.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{self, EmitOptions, Overwrite};

    fn stored(root: &tempfile::TempDir) -> Stored {
        let dir = root.path().join("run");
        let run = emit::sample();
        emit::write(&dir, &emit::render(&run, EmitOptions::default()).unwrap(), &run.tables, Overwrite::SameRun).unwrap();
        Stored::open(&dir).unwrap()
    }

    #[test]
    fn questions_are_answered_and_absent_tables_are_empty() {
        let root = tempfile::tempdir().unwrap();
        let stored = stored(&root);
        let frame = ask(&stored, "SELECT name, n FROM events").unwrap();
        assert_eq!((frame.height(), frame.column("n").unwrap().i64().unwrap().get(0)), (1, Some(1204)));
        assert_eq!(ask(&stored, "SELECT * FROM syscalls").unwrap().height(), 0);
        assert!(listing(&stored).unwrap().contains("stack_costs"));
    }

    #[test]
    fn wrong_names_are_answered_with_near_ones() {
        let root = tempfile::tempdir().unwrap();
        let stored = stored(&root);
        for (sql, near) in [
            ("SELECT nme FROM events", "name"),
            ("SELECT * FROM evnts", "events"),
            ("SELECT e.total_wieght FROM events AS e", "total_weight"),
        ] {
            let error = ask(&stored, sql).unwrap_err().to_string();
            assert!(error.contains("did you mean") && error.contains(near), "{error}");
        }
    }

    #[test]
    fn slots_are_cut_out_of_their_file() {
        let text = "-- id: R99\n\n-- slot: A\n-- metric: x\nSELECT 1 AS one\nFROM t\n-- slot: B\n-- metric: y\nSELECT 2 AS two\n";
        assert_eq!(slot_select(text, "a", "f").unwrap(), "-- metric: x\nSELECT 1 AS one\nFROM t");
        assert_eq!(slot_select(text, "B", "f").unwrap(), "-- metric: y\nSELECT 2 AS two");
        assert!(slot_select(text, "C", "f").unwrap_err().to_string().contains("it has A, B"));
    }
}
