//! Tripod's own answers to every query over one run, as Parquet files: parity.py holds them against DuckDB's. The engine is
//! asked here and not through `tripod query`: starting the program takes longer than most of the queries.

use std::fs::{self, File};
use std::path::Path;

use polars::prelude::{DataFrame, IntoLazy};
use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;
use polars_io::parquet::write::ParquetWriter;
use tripod::rules;
use tripod::rules::engine::Engine;
use tripod::rules::file::Need;
use tripod::tables::{Tables, bridge};

use crate::support;

/// Tables that are in no file: the program makes them for its rules.
const MADE: [&str; 2] = ["admitted", "reference"];

/// One SELECT.
pub struct Question {
    /// Folder and name, as `hypotheses/R25_io_small_write-A1`.
    pub name: String,
    pub sql: String,
    /// What must have rows; without them the program does not ask it either.
    needs: Vec<Need>,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn plain(sql: &str) -> String {
    rules::strip_comments(sql).trim().trim_end_matches(';').to_owned()
}

fn stem(file: &str) -> &str {
    file.strip_suffix(".sql").unwrap_or(file)
}

/// Every SELECT of queries/hypotheses, quality and explore.
pub fn questions() -> Result<Vec<Question>, String> {
    let mut out = Vec::new();
    for own in rules::hypotheses(&[]).map_err(text)? {
        for slot in &own.slots {
            for (at, alternate) in slot.alternates.iter().enumerate() {
                let name = format!("hypotheses/{}-{}{}", stem(&own.file), slot.letter, at + 1);
                out.push(Question { name, sql: alternate.sql.clone(), needs: alternate.needs.clone() });
            }
        }
    }
    for check in rules::checks().map_err(text)? {
        for (at, measure) in check.measures.iter().enumerate() {
            let name = format!("quality/{}-{}", stem(&check.file), at + 1);
            out.push(Question { name, sql: measure.sql.clone(), needs: Vec::new() });
        }
    }
    for path in support::list(&support::project().join("queries/explore")) {
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let sql = plain(&fs::read_to_string(&path).map_err(text)?);
        out.push(Question { name: format!("explore/{}", stem(&file)), sql, needs: Vec::new() });
    }
    Ok(out)
}

fn read(path: &Path) -> Result<DataFrame, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    ParquetReader::new(file).finish().map_err(|error| format!("{}: {error}", path.display()))
}

/// The engine over a run, with the views. What is in no file is asked of the program and left in `out`.
fn engine(run: &Path, out: &Path) -> Result<Engine, String> {
    let mut frames = Vec::new();
    for (name, empty) in bridge::frames(&Tables::default(), &|_, _| true).map_err(text)? {
        let path = run.join("tables").join(format!("{name}.parquet"));
        let frame = if path.is_file() { read(&path)? } else { empty };
        frames.push((name.to_owned(), frame.lazy()));
    }
    for name in MADE {
        let path = out.join(format!("{name}.parquet"));
        let (sql, answer) = (format!("SELECT * FROM {name}"), path.to_string_lossy().into_owned());
        let output = support::tripod(&["query", &run.to_string_lossy(), &sql, "--format", "parquet", "-o", &answer]);
        if !output.status.success() {
            return Err(format!("{}: {name}: {}", run.display(), String::from_utf8_lossy(&output.stderr)));
        }
        frames.push((name.to_owned(), read(&path)?.lazy()));
    }
    let mut engine = Engine::lazy(frames);
    for (file, sql) in rules::VIEWS {
        engine.view(rules::view_name(file), &format!("views/{file}"), &plain(sql));
    }
    Ok(engine)
}

/// Asks all views, and every question whose recordings are there (`all`: the others, too); an answer is `out/NAME.parquet`,
/// what went wrong `out/NAME.error`.
pub fn write(run: &Path, out: &Path, questions: &[Question], all: bool) -> Result<(), String> {
    for folder in ["views", "hypotheses", "quality", "explore"] {
        fs::create_dir_all(out.join(folder)).map_err(text)?;
    }
    let engine = engine(run, out)?;
    let answer = |name: &str, sql: &str| match engine.query(name, sql) {
        Ok(mut frame) => {
            let file = File::create(out.join(format!("{name}.parquet"))).map_err(text)?;
            ParquetWriter::new(file).finish(&mut frame).map(drop).map_err(text)
        }
        Err(error) => fs::write(out.join(format!("{name}.error")), error.to_string()).map_err(text),
    };
    for (file, _) in rules::VIEWS {
        answer(&format!("views/{}", stem(file)), &format!("SELECT * FROM {}", rules::view_name(file)))?;
    }
    for own in questions {
        let mut has_rows = true;
        for need in &own.needs {
            has_rows &= !engine.artifacts_with(&need.table, need.predicate.as_deref()).map_err(text)?.is_empty();
        }
        if has_rows || all {
            answer(&own.name, &own.sql)?;
        }
    }
    Ok(())
}
