//! One table over many runs: what its files hold, and the rows of some runs as one frame.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use polars::prelude::{
    ChunkFull, Column, DataFrame, DataType, IntoSeries, PlSmallStr, PolarsError, Schema, SchemaExt, Series, StringChunked,
};
use polars_io::SerReader;
use polars_io::parquet::read::{ParallelStrategy, ParquetReader};
use rayon::prelude::*;

use super::split::RUN;
use super::statement::Names;
use super::{Dataset, Member};
use crate::error::{Error, Result};
use crate::tables::{ColumnType, Tables};

/// Tries to find a run in one piece while others replace it.
const ATTEMPTS: usize = 200;
/// Between two of them, where the name stands for nothing at the moment.
const PAUSE: Duration = Duration::from_millis(5);

/// A table of which a statement wants some columns.
pub struct Table {
    pub name: String,
    /// Those it wants of all that any run has, without the run.
    columns: Vec<(PlSmallStr, DataType)>,
    /// What the wanted columns of every run take in memory, about.
    pub bytes: Vec<u64>,
}

/// What a file says about itself.
struct Footer {
    rows: u64,
    schema: Vec<(PlSmallStr, DataType)>,
    /// Bytes of each column, uncompressed.
    sizes: Vec<(PlSmallStr, u64)>,
}

impl Table {
    /// Looks at the file of every run: one that cannot be read is an error before any work is done.
    pub fn find(dataset: &Dataset, name: &str, names: &Names) -> Result<Table> {
        let of_run = |run: &Member| {
            let file = with_files(run, &[name], |files| Ok(files.into_iter().next().flatten()))?;
            file.map(|file| footer(file).map_err(|error| unreadable(&path(run, name), &error.to_string()))).transpose()
        };
        let footers: Vec<Option<Footer>> = dataset.runs.par_iter().map(of_run).collect::<Result<_>>()?;
        let mut columns: Vec<(PlSmallStr, DataType)> = Vec::new();
        let known = Tables::descriptors().into_iter().find(|table| table.name == name);
        for column in known.iter().flat_map(|table| &table.columns) {
            columns.push((column.name.into(), data_type(column.column_type)));
        }
        for (footer, run) in footers.iter().zip(&dataset.runs) {
            for (column, kind) in footer.iter().flat_map(|footer| &footer.schema) {
                match columns.iter().find(|(known, _)| known == column) {
                    Some((_, known)) if known != kind => {
                        return Err(Error::Request(format!(
                            "{}: column {column} is {kind} here and {known} elsewhere; analyze the recordings of this run again",
                            path(run, name).display()
                        )));
                    }
                    Some(_) => {}
                    None => columns.push((column.clone(), kind.clone())),
                }
            }
        }
        columns.retain(|(column, _)| column != RUN && names.wants(column));
        let bytes = footers.iter().map(|footer| footer.as_ref().map_or(0, |footer| width(footer, &columns))).collect();
        Ok(Table { name: name.to_owned(), columns, bytes })
    }

    /// No rows of it.
    pub fn empty(&self) -> DataFrame {
        let fields = self.columns.iter().cloned().chain([(PlSmallStr::from_static(RUN), DataType::String)]);
        DataFrame::empty_with_schema(&fields.collect::<Schema>())
    }

    pub fn column_names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The rows of one run: the wanted columns, those that the file lacks as nulls, and the run.
    fn rows(&self, file: File, path: &Path, id: &str) -> Result<DataFrame> {
        let failed = |error: PolarsError| unreadable(path, &error.to_string());
        let mut reader = ParquetReader::new(file).read_parallel(ParallelStrategy::None);
        let height = reader.num_rows().map_err(failed)?;
        let schema = Schema::from_arrow_schema(reader.schema().map_err(failed)?.as_ref());
        let there: Vec<String> = self.column_names().filter(|name| schema.contains(name)).map(str::to_owned).collect();
        let frame = if there.is_empty() { None } else { Some(reader.with_columns(Some(there)).finish().map_err(failed)?) };
        let mut columns: Vec<Column> = Vec::with_capacity(self.columns.len() + 1);
        for (name, kind) in &self.columns {
            let column = frame.as_ref().and_then(|frame| frame.column(name).ok());
            columns.push(column.cloned().unwrap_or_else(|| Column::full_null(name.clone(), height, kind)));
        }
        columns.push(Column::from(run_column(id, height)));
        let frame = DataFrame::new(height, columns).map_err(failed)?;
        let wrong = frame.columns().iter().zip(&self.columns).find(|(column, (_, kind))| column.dtype() != kind);
        match wrong {
            Some((column, (name, kind))) => {
                Err(unreadable(path, &format!("column {name} is {} here and {kind} elsewhere", column.dtype())))
            }
            None => Ok(frame),
        }
    }
}

/// The same text for every row, held once.
fn run_column(id: &str, height: usize) -> Series {
    StringChunked::full(PlSmallStr::from_static(RUN), id, height).into_series()
}

/// The rows of some runs, one frame per table.
pub fn load(runs: &[Member], tables: &[Table]) -> Result<Vec<DataFrame>> {
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    let of_run = |run: &Member| {
        let files = with_files(run, &names, Ok)?;
        let mut frames = Vec::with_capacity(tables.len());
        for (table, file) in tables.iter().zip(files) {
            frames.push(match file {
                Some(file) => Some(table.rows(file, &path(run, &table.name), &run.id)?),
                None => None,
            });
        }
        Ok(frames)
    };
    let by_run: Vec<Vec<Option<DataFrame>>> = runs.par_iter().map(of_run).collect::<Result<_>>()?;
    let mut out: Vec<DataFrame> = tables.iter().map(Table::empty).collect();
    for frames in by_run {
        for (all, frame) in out.iter_mut().zip(frames) {
            if let Some(frame) = frame {
                all.vstack_mut_owned(frame).map_err(|error| Error::Request(error.to_string()))?;
            }
        }
    }
    for frame in &mut out {
        frame.rechunk_mut_par();
    }
    Ok(out)
}

fn path(run: &Member, table: &str) -> PathBuf {
    run.dir.join("tables").join(format!("{table}.parquet"))
}

fn unreadable(path: &Path, what: &str) -> Error {
    let what = what.split("\n\n").next().unwrap_or(what);
    Error::Request(format!(
        "{}: cannot be read: {what}; nothing is answered without it. Analyze the recordings of this run again, or move it out of the dataset",
        path.display()
    ))
}

/// Opens the files of a run's tables, all of one and the same directory, and does something with them. No file where the
/// run has no such rows.
fn with_files<T>(run: &Member, tables: &[&str], work: impl Fn(Vec<Option<File>>) -> Result<T>) -> Result<T> {
    for _ in 0..ATTEMPTS {
        // Held open: its number is not given to another directory.
        let Ok(pinned) = File::open(&run.dir) else {
            std::thread::sleep(PAUSE);
            continue;
        };
        let files: std::io::Result<Vec<Option<File>>> = tables.iter().map(|table| open(&path(run, table))).collect();
        let is_same = match (pinned.metadata(), fs::metadata(&run.dir)) {
            (Ok(before), Ok(after)) => (before.dev(), before.ino()) == (after.dev(), after.ino()),
            _ => false,
        };
        match files {
            _ if !is_same => continue,
            Ok(files) => return work(files),
            Err(error) => return Err(unreadable(&run.dir.join("tables"), &error.to_string())),
        }
    }
    Err(Error::Request(format!("{}: the run is gone, or replaced faster than it can be opened; ask again", run.dir.display())))
}

fn open(path: &Path) -> std::io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn footer(file: File) -> std::result::Result<Footer, PolarsError> {
    let mut reader = ParquetReader::new(file);
    let schema = Schema::from_arrow_schema(reader.schema()?.as_ref());
    let metadata = reader.get_metadata()?;
    let mut sizes: Vec<(PlSmallStr, u64)> = Vec::new();
    for group in &metadata.row_groups {
        for column in group.parquet_columns() {
            let Some(name) = column.descriptor().path_in_schema.first() else { continue };
            let bytes = u64::try_from(column.uncompressed_size()).unwrap_or(0);
            match sizes.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum = sum.saturating_add(bytes),
                None => sizes.push((name.clone(), bytes)),
            }
        }
    }
    let schema = schema.iter().map(|(name, kind)| (name.clone(), kind.clone())).collect();
    Ok(Footer { rows: metadata.num_rows as u64, schema, sizes })
}

/// Bytes of the wanted columns in memory, and of the run's name: of a text 16 for each row, and the bytes it has in the file.
fn width(footer: &Footer, columns: &[(PlSmallStr, DataType)]) -> u64 {
    let of = |(name, kind): &(PlSmallStr, DataType)| match kind {
        DataType::Boolean => footer.rows,
        DataType::Int32 => footer.rows.saturating_mul(4),
        DataType::String => {
            let text = footer.sizes.iter().find(|(known, _)| known == name).map_or(0, |(_, bytes)| *bytes);
            footer.rows.saturating_mul(16).saturating_add(text)
        }
        _ => footer.rows.saturating_mul(8),
    };
    columns.iter().map(of).fold(footer.rows.saturating_mul(16), u64::saturating_add)
}

fn data_type(column: ColumnType) -> DataType {
    match column {
        ColumnType::Int32 => DataType::Int32,
        ColumnType::Int64 => DataType::Int64,
        ColumnType::Float64 => DataType::Float64,
        ColumnType::Utf8 => DataType::String,
        ColumnType::Bool => DataType::Boolean,
    }
}
