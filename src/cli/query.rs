//! `tripod query`: SQL over a run.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use polars::prelude::DataFrame;

use super::frame::{self, Format};
use super::stored::Stored;
use super::{Outcome, columns, out, tables};
use crate::emit::escape;
use crate::error::{Error, Result};
use crate::rules;
use crate::rules::engine::Engine;
use crate::tables::{Reading, Tables};

const HELP: &str = "Examples:
  tripod query tripod-out/run                                             which tables there are, with their columns
  tripod query tripod-out/run \"SELECT name, n, total_weight FROM events\"
  tripod query tripod-out/run --file question.sql --format csv -o answer.csv
  tripod query tripod-out/run --file tripod-out/run/queries/hypotheses/R25_io_small_write.sql --slot A
                                                                          what slot A of a hypothesis reads

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
                Some(slot) => slot_select(&stored, &text, slot, &file.to_string_lossy())?,
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
        None if out::is_terminal() && args.format != Format::Table => out::print(&visible(&bytes))?,
        None => out::print(&bytes)?,
    }
    Ok(Outcome::Done)
}

/// What a terminal may be shown: CSV and JSON keep names as they are, and a name may hold anything.
fn visible(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let shown: Vec<String> = text.split('\n').map(|line| escape::plain(line).into_owned()).collect();
    shown.join("\n").into_bytes()
}

/// Runs one SELECT over the tables and views it names; the others are not even read.
fn ask(stored: &Stored, statement: &str) -> Result<DataFrame> {
    let statement = rules::strip_comments(statement);
    let statement = statement.trim().trim_end_matches(';');
    let mut words = words(statement);
    let views = needed_views(stored.views(), &mut words);
    let names = stored.table_names();
    let mut frames = Vec::new();
    for name in names.iter().filter(|name| words.contains(*name)) {
        frames.push((name.clone(), stored.frame(name)?));
    }
    let own = Tables {
        artifacts: stored.rows()?,
        executions: stored.rows()?,
        host: stored.rows()?,
        diagnostics: stored.rows()?,
        dsos: stored.rows()?,
        mappings: stored.rows()?,
        ..Tables::default()
    };
    let mut engine = Engine::stored(frames.clone(), &own)?;
    for (file, sql) in &views {
        engine.view(rules::view_name(file), &format!("views/{file}"), rules::strip_comments(sql).trim().trim_end_matches(';'));
    }
    engine.query("query", statement).map_err(|error| {
        let error = error.to_string();
        // What follows is the engine's plan, of no use to the one who mistyped a name.
        let short = error.split("\n\n").next().unwrap_or(&error);
        let hint = hint(short, &names, &frames);
        Error::Request(format!("{short}{hint}"))
    })
}

/// The words of a statement, in lower case.
fn words(statement: &str) -> BTreeSet<String> {
    statement.to_lowercase().split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
}

/// The views that `words` name, and those that these are built on; `words` grows by what they name.
fn needed_views(views: Vec<(String, String)>, words: &mut BTreeSet<String>) -> Vec<(String, String)> {
    let mut needed = Vec::new();
    // A view is built on earlier ones only.
    for (file, sql) in views.into_iter().rev() {
        if words.contains(rules::view_name(&file)) {
            words.extend(self::words(&rules::strip_comments(&sql)));
            needed.push((file, sql));
        }
    }
    needed.reverse();
    needed
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

/// The SELECT of a slot of a hypothesis file: of the alternate that filled it in this run, else of the first one.
fn slot_select(stored: &Stored, text: &str, slot: &str, file: &str) -> Result<String> {
    let hypothesis = rules::parse::hypothesis(file, text)?;
    let letters: Vec<String> = hypothesis.slots.iter().map(|own| own.letter.to_string()).collect();
    let found = hypothesis.slots.iter().find(|own| own.letter.to_string().eq_ignore_ascii_case(slot));
    let Some(found) = found else {
        return Err(Error::Request(format!("{file}: there is no slot {slot}; it has {}", letters.join(", "))));
    };
    let letter = found.letter.to_string();
    let filled = stored
        .rows::<Reading>()?
        .into_iter()
        .find(|row| *row.hypothesis == hypothesis.id && *row.slot == *letter && row.alternate.is_some());
    let filled = filled.and_then(|row| row.alternate);
    let alternate = found.alternates.iter().find(|own| filled.as_deref() == Some(&own.name)).or_else(|| found.alternates.first());
    alternate.map(|own| own.sql.clone()).ok_or_else(|| Error::Request(format!("{file}: slot {slot} has no SELECT")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{self, EmitOptions, Overwrite};

    fn stored(root: &tempfile::TempDir) -> Stored {
        let dir = root.path().join("run");
        let run = emit::sample();
        emit::write(&dir, &emit::render(&emit::View::new(&run), EmitOptions::default()).unwrap(), &run.tables, Overwrite::SameRun).unwrap();
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
    fn a_terminal_sees_names_and_nothing_else() {
        assert_eq!(visible("n\n\"a\u{1b}[2J\u{9b}1m\"\n".as_bytes()), b"n\n\"a\\u{1b}[2J\\u{9b}1m\"\n");
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
    fn views_and_slots_of_hypothesis_files_run_too() {
        let root = tempfile::tempdir().unwrap();
        let stored = stored(&root);
        // The sample has one cpu event of 1204 samples, and no bare run.
        let frame = ask(&stored, "SELECT n AS n FROM cpu_events;").unwrap();
        assert_eq!(frame.column("n").unwrap().i64().unwrap().to_vec(), [Some(1204)]);
        for (file, text) in rules::HYPOTHESES {
            let slot = slot_select(&stored, text, "b", file).unwrap();
            ask(&stored, &slot).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(slot_select(&stored, text, "X", file).unwrap_err().to_string().contains("it has A, B, C"), "{file}");
        }
    }
}
