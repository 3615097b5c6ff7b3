//! A run directory read back: its tables as frames or rows, and what summary.json adds to them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::{AnyValue, Column, DataFrame, PolarsResult};
use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;
use serde_json::Value as Json;

use super::columns;
use crate::emit::{HypothesisDoc, Missing, Run};
use crate::error::{Error, Result};
use crate::rules;
use crate::tables::{TableRow, Tables, Value, bridge};

/// A run directory.
pub struct Stored {
    dir: PathBuf,
    summary: Json,
}

impl Stored {
    /// Opens a directory that `tripod analyze` wrote.
    pub fn open(dir: &Path) -> Result<Stored> {
        let path = dir.join("summary.json");
        let advice = "this is no run directory; `tripod analyze PATH` writes one";
        let bytes = fs::read(&path).map_err(|error| Error::Request(format!("{}: {error}; {advice}", path.display())))?;
        let summary: Json =
            serde_json::from_slice(&bytes).map_err(|error| Error::Request(format!("{}: {error}; {advice}", path.display())))?;
        if summary.get("tool").and_then(Json::as_str) != Some("tripod") {
            return Err(Error::Request(format!("{}: not written by tripod; {advice}", path.display())));
        }
        Ok(Stored { dir: dir.to_path_buf(), summary })
    }

    /// One table; without rows where the run has none. Columns that an older version did not write are null.
    pub fn frame(&self, name: &str) -> Result<DataFrame> {
        let path = self.dir.join("tables").join(format!("{name}.parquet"));
        let failed = |what: String| Error::Request(format!("{}: {what}", path.display()));
        if path.is_file() {
            let file = File::open(&path).map_err(|error| failed(error.to_string()))?;
            let frame = ParquetReader::new(file).finish().map_err(|error| failed(error.to_string()))?;
            return with_later_columns(frame, empty(name)).map_err(|error| failed(error.to_string()));
        }
        empty(name).ok_or_else(|| {
            let known: Vec<&str> = Tables::descriptors().iter().map(|table| table.name).collect();
            Error::Request(format!("there is no table {name}; did you mean {}?", columns::nearest(name, &known).join(", ")))
        })
    }

    /// The names of all tables: those of this version, and files that another version wrote.
    pub fn table_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Tables::descriptors().iter().map(|table| table.name.to_owned()).collect();
        for entry in fs::read_dir(self.dir.join("tables")).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(name) = name.strip_suffix(".parquet")
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        names
    }

    /// The rows of one table.
    pub fn rows<Row: TableRow>(&self) -> Result<Vec<Row>> {
        let frame = self.frame(Row::NAME)?;
        let columns: Vec<_> = frame.columns().iter().map(|column| (column.name().as_str(), column)).collect();
        let row = |index: usize| {
            Row::from_values(&mut |name| {
                let column = columns.iter().find(|(known, _)| *known == name);
                column.map_or(Value::Null, |(_, column)| column.get(index).map_or(Value::Null, |value| cell(&value)))
            })
        };
        let rows: Option<Vec<Row>> = (0..frame.height()).map(row).collect();
        rows.ok_or_else(|| {
            Error::Request(format!(
                "{}: table {} has other columns than this version of tripod writes; analyze again",
                self.dir.display(),
                Row::NAME
            ))
        })
    }

    /// The results of the run, as the emitters know them.
    pub fn results(&self) -> Result<Run> {
        let tables = Tables {
            artifacts: self.rows()?,
            hypotheses: self.rows()?,
            readings: self.rows()?,
            evidence: self.rows()?,
            hotspots: self.rows()?,
            quality: self.rows()?,
            thresholds: self.rows()?,
            charges: self.rows()?,
            diagnostics: self.rows()?,
            ..Tables::default()
        };
        let entries = self.summary.get("hypotheses").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        Ok(Run {
            tables,
            target: text(&self.summary, "target"),
            catalogue: entries.iter().map(doc).collect(),
            missing: entries.iter().flat_map(missing).collect(),
            ..Run::default()
        })
    }

    /// The views as they were when the run was made (file name, SQL), in order; those of this version where the run
    /// kept none.
    pub fn views(&self) -> Vec<(String, String)> {
        let mut views: Vec<(String, String)> = fs::read_dir(self.dir.join("queries/views"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Some((entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path()).ok()?)))
            .collect();
        if views.is_empty() {
            views = rules::VIEWS.iter().map(|(file, sql)| ((*file).to_owned(), (*sql).to_owned())).collect();
        }
        views.sort();
        views
    }
}

/// A table of this version without rows.
fn empty(name: &str) -> Option<DataFrame> {
    let frames = bridge::frames(&Tables::default(), &|_, _| true).ok()?;
    frames.into_iter().find(|(known, _)| *known == name).map(|(_, frame)| frame)
}

/// A stored table with the columns that this version has beyond it.
fn with_later_columns(mut frame: DataFrame, today: Option<DataFrame>) -> PolarsResult<DataFrame> {
    let rows = frame.height();
    for column in today.iter().flat_map(DataFrame::columns) {
        if frame.column(column.name()).is_err() {
            frame.with_column(Column::full_null(column.name().clone(), rows, column.dtype()))?;
        }
    }
    Ok(frame)
}

/// What polars holds in a cell.
fn cell(value: &AnyValue<'_>) -> Value {
    match value {
        AnyValue::Boolean(value) => Value::Bool(*value),
        AnyValue::Int32(value) => Value::Int(i64::from(*value)),
        AnyValue::Int64(value) => Value::Int(*value),
        AnyValue::Float64(value) => Value::Float(*value),
        AnyValue::String(value) => Value::Text(Arc::from(*value)),
        AnyValue::StringOwned(value) => Value::Text(Arc::from(value.as_str())),
        _ => Value::Null,
    }
}

fn text(json: &Json, key: &str) -> String {
    json.get(key).and_then(Json::as_str).unwrap_or("").to_owned()
}

fn doc(entry: &Json) -> HypothesisDoc {
    HypothesisDoc {
        id: text(entry, "id"),
        name: text(entry, "name"),
        claim: text(entry, "claim"),
        category: text(entry, "category"),
        advice: text(entry, "advice"),
        false_positives: text(entry, "false_positives"),
        status: text(entry, "status"),
        effort: entry.get("effort").and_then(Json::as_i64).and_then(|effort| i32::try_from(effort).ok()).unwrap_or(0),
        slots: Vec::new(),
    }
}

fn missing(entry: &Json) -> Vec<Missing> {
    let slots = entry.get("slots").and_then(Json::as_object);
    let one = |(slot, json): (&String, &Json)| {
        let command = json.get("record").and_then(Json::as_str)?;
        Some(Missing { hypothesis: text(entry, "id"), slot: slot.clone(), command: command.to_owned(), reason: text(json, "reason") })
    };
    slots.into_iter().flatten().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{self, EmitOptions, Overwrite};

    #[test]
    fn what_was_written_is_read_back() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("run");
        let run = emit::sample();
        emit::write(&dir, &emit::render(&emit::View::new(&run), EmitOptions::default()).unwrap(), &run.tables, Overwrite::SameRun).unwrap();
        let stored = Stored::open(&dir).unwrap();
        let back = stored.results().unwrap();
        assert_eq!(back.tables.readings, run.tables.readings);
        assert_eq!(back.tables.hypotheses, run.tables.hypotheses);
        assert_eq!(back.tables.artifacts, run.tables.artifacts);
        assert_eq!(back.tables.hotspots, run.tables.hotspots);
        assert_eq!(back.missing, run.missing);
        assert_eq!(stored.rows::<crate::tables::Sample>().unwrap(), []);
        assert_eq!(stored.frame("samples").unwrap().width(), 7);
        let error = stored.frame("sample").unwrap_err().to_string();
        assert!(error.contains("did you mean samples"), "{error}");
    }

    #[test]
    fn other_directories_are_named_as_such() {
        let root = tempfile::tempdir().unwrap();
        let error = Stored::open(root.path()).err().unwrap().to_string();
        assert!(error.contains("no run directory"), "{error}");
    }
}
