//! `tripod query`: SQL over a run, or over a folder of runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use polars::prelude::DataFrame;

use super::frame::{self, Format};
use super::stored::Stored;
use super::{Outcome, columns, fleet, out, tables};
use crate::dataset::{Dataset, NO_SELECT, Names, parse, refuse_traps};
use crate::emit::escape;
use crate::error::{Error, Result};
use crate::rules;
use crate::rules::engine::{Engine, all_words};
use crate::tables::{Reading, Tables};

const HELP: &str = "Examples:
  tripod query tripod-out/run                                             which tables there are, with their columns
  tripod query tripod-out/run \"SELECT name, n, total_weight FROM events\"
  tripod query tripod-out/run --file question.sql -o answer.csv
  tripod query tripod-out/run --file tripod-out/run/queries/hypotheses/R25_io_small_write.sql --slot A
                                                                          what slot A of a hypothesis reads
  tripod query runs/                                                      many runs: which ones, and their tables
  tripod query runs/ \"SELECT run, label FROM hypotheses WHERE hypothesis = 'R25' ORDER BY run\"
  tripod query runs/ --file queries/fleet/hypotheses_by_frequency.sql

Over a dataset (`tripod analyze --dataset runs/ --run ID` adds a run) every table has one more column, `run`, the last one. Ids
mean something within their run only, so join on run too: ON a.run = b.run AND a.thread_id = b.thread_id.

The dialect is the SQL of polars; queries/README.md names the part of it that DuckDB and Spark answer alike.
The same tables can be opened elsewhere: duckdb -c \"SELECT * FROM 'tripod-out/run/tables/events.parquet'\", and of many
runs: FROM read_parquet('runs/run=*/tables/events.parquet', hive_partitioning = true, union_by_name = true)\"";

/// Ask a run directory, or a folder of many, questions in SQL
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Run directory that `tripod analyze` wrote, or a dataset: a folder of runs named run=ID
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
    /// How to print the result [default: what FILE ends in (.csv, .json, .parquet), else table]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write the result to this file instead of standard output; it appears whole or stays as it was
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Over many runs: what tables and rows may take of the memory, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    memory: u32,
}

pub fn run(args: Args) -> Result<Outcome> {
    let format = args.format.unwrap_or_else(|| Format::of(args.output.as_deref()));
    if format == Format::Parquet && args.output.is_none() && out::is_terminal() {
        return Err(Error::Request("Parquet on a terminal helps nobody; use -o FILE or a pipe".to_owned()));
    }
    let text = match (&args.sql, &args.file) {
        (Some(sql), _) => Some(sql.clone()),
        (None, Some(file)) => {
            let text = fs::read_to_string(file).map_err(|error| Error::Request(format!("{}: {error}", file.display())))?;
            Some(text)
        }
        (None, None) => None,
    };
    let is_run = args.dir.join("summary.json").is_file();
    let result = if !is_run && args.dir.is_dir() {
        if args.slot.is_some() {
            return Err(Error::Request(format!("--slot asks one run: name one of {}/run=*", args.dir.display())));
        }
        let dataset = Dataset::open(&args.dir)?;
        match text {
            Some(text) => fleet::ask(&dataset, &bare(&text), u64::from(args.memory) << 20)?,
            None => return listed(&fleet::listing(&dataset)),
        }
    } else {
        let stored = Stored::open(&args.dir)?;
        match (text, &args.slot, &args.file) {
            (Some(text), Some(slot), Some(file)) => ask(&stored, &slot_select(&stored, &text, slot, &file.to_string_lossy())?)?,
            (Some(text), None, Some(_)) if text.contains("\n-- slot: ") => {
                return Err(Error::Request("this file is a hypothesis with a SELECT per slot: say which with --slot A, B or C".to_owned()));
            }
            (Some(text), ..) => ask(&stored, &text)?,
            (None, ..) => return listed(&listing(&stored)?),
        }
    };
    let bytes = frame::format(&frame::documented_types(result)?, format, out::style_of_rows(args.output.is_some()))?;
    match &args.output {
        Some(path) => out::replace(path, &bytes)?,
        None if out::is_terminal() && format != Format::Table => out::print(&visible(&bytes))?,
        None => out::print(&bytes)?,
    }
    Ok(Outcome::Done)
}

fn listed(text: &str) -> Result<Outcome> {
    out::print(text.as_bytes())?;
    Ok(Outcome::Done)
}

/// What a terminal may be shown: CSV and JSON keep names as they are, and a name may hold anything.
fn visible(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let shown: Vec<String> = text.split('\n').map(|line| escape::plain(line).into_owned()).collect();
    shown.join("\n").into_bytes()
}

/// A statement without comments and the sign that ends it.
fn bare(text: &str) -> String {
    rules::strip_comments(text).trim().trim_end_matches(';').trim_end().to_owned()
}

/// Runs one SELECT over the tables and views it names; the others are not even read.
fn ask(stored: &Stored, statement: &str) -> Result<DataFrame> {
    let statement = bare(statement);
    let mut words = all_words(&statement);
    let views = needed_views(stored.views(), &mut words);
    let names = stored.table_names();
    refuse(stored, &statement, &names)?;
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
    let columns: Vec<&str> = frames.iter().flat_map(|(_, frame)| frame.columns()).map(|column| column.name().as_str()).collect();
    engine.query("query", &statement).map_err(|error| columns::explained(&error, &columns))
}

/// What no engine needs to be asked: a table that does not exist, a join that polars gets wrong.
fn refuse(stored: &Stored, statement: &str, tables: &[String]) -> Result<()> {
    let query = match parse(statement) {
        Ok(query) => query,
        Err(why) if why == NO_SELECT => return Err(Error::Request(format!("query: {why}"))),
        // What the parser does not understand, the engine says better.
        Err(_) => return Ok(()),
    };
    refuse_traps(&query).map_err(Error::Request)?;
    let views = stored.views();
    let mut known: Vec<String> = tables.to_vec();
    known.extend(views.iter().map(|(file, _)| rules::view_name(file).to_owned()));
    known.extend(["admitted", "reference"].map(str::to_owned));
    match Names::of(statement, &query).unknown(&known).next() {
        Some(name) => Err(columns::no_table(name, &known)),
        None => Ok(()),
    }
}

/// The views that `words` name, and those that these are built on; `words` grows by what they name.
fn needed_views(views: Vec<(String, String)>, words: &mut BTreeSet<String>) -> Vec<(String, String)> {
    let mut needed = Vec::new();
    // A view is built on earlier ones only.
    for (file, sql) in views.into_iter().rev() {
        if words.contains(rules::view_name(&file)) {
            words.extend(all_words(&rules::strip_comments(&sql)));
            needed.push((file, sql));
        }
    }
    needed.reverse();
    needed
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
    text.push_str("\nViews over them, which the rules read (queries/views says what a row of each is): ");
    let views = stored.views();
    text.push_str(&views.iter().map(|(file, _)| escape::plain(rules::view_name(file))).collect::<Vec<_>>().join(", "));
    text.push_str("\n\n");
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
