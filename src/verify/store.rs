//! The tables of a run directory, column by column, as they lie there.

use std::collections::BTreeMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use polars::prelude::{DataFrame, DataType};
use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;

/// A column of whole numbers (and of yes and no, as 1 and 0), and one of texts. Empty where the table or column is absent.
pub type Ints = Arc<Vec<Option<i64>>>;
pub type Texts = Arc<Vec<Option<Arc<str>>>>;

/// Tables that were asked for stay open.
pub struct Store {
    dir: PathBuf,
    frames: Mutex<BTreeMap<String, Option<DataFrame>>>,
    ints: Mutex<BTreeMap<(String, String), Ints>>,
    texts: Mutex<BTreeMap<(String, String), Texts>>,
}

/// Reads a Parquet file. The reader of polars is not made for damaged files: where it panics, that is said instead.
pub fn frame(path: &Path) -> Result<DataFrame, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let read = catch_unwind(AssertUnwindSafe(|| ParquetReader::new(file).finish()));
    read.map_err(|_| "no Parquet file that can be read".to_owned())?.map_err(|error| error.to_string())
}

impl Store {
    pub fn new(dir: &Path) -> Store {
        Store { dir: dir.to_path_buf(), frames: Mutex::default(), ints: Mutex::default(), texts: Mutex::default() }
    }

    /// `None` where the run has no such table.
    pub fn table(&self, name: &str) -> Result<Option<DataFrame>, String> {
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(frame) = frames.get(name) {
            return Ok(frame.clone());
        }
        let path = self.dir.join("tables").join(format!("{name}.parquet"));
        let frame = if path.is_file() { Some(frame(&path).map_err(|error| format!("tables/{name}.parquet: {error}"))?) } else { None };
        frames.insert(name.to_owned(), frame.clone());
        Ok(frame)
    }

    /// The names of a table's columns.
    pub fn columns(&self, table: &str) -> Result<Vec<String>, String> {
        let frame = self.table(table)?;
        Ok(frame.iter().flat_map(|frame| frame.columns()).map(|column| column.name().to_string()).collect())
    }

    pub fn ints(&self, table: &str, column: &str) -> Result<Ints, String> {
        let key = (table.to_owned(), column.to_owned());
        if let Some(found) = self.ints.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(found.clone());
        }
        let failed = |error: String| format!("tables/{table}.parquet: column {column}: {error}");
        let values = match self.table(table)?.as_ref().and_then(|frame| frame.column(column).ok()) {
            Some(series) => {
                if !matches!(series.dtype(), DataType::Int32 | DataType::Int64 | DataType::Boolean | DataType::Null) {
                    return Err(failed(format!("holds {} and no whole numbers", series.dtype())));
                }
                let cast = series.cast(&DataType::Int64).map_err(|error| failed(error.to_string()))?;
                cast.i64().map_err(|error| failed(error.to_string()))?.iter().collect()
            }
            None => Vec::new(),
        };
        let values = Arc::new(values);
        self.ints.lock().unwrap_or_else(PoisonError::into_inner).insert(key, values.clone());
        Ok(values)
    }

    pub fn texts(&self, table: &str, column: &str) -> Result<Texts, String> {
        let key = (table.to_owned(), column.to_owned());
        if let Some(found) = self.texts.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(found.clone());
        }
        let failed = |error: String| format!("tables/{table}.parquet: column {column}: {error}");
        let values = match self.table(table)?.as_ref().and_then(|frame| frame.column(column).ok()) {
            Some(series) => {
                let cast = series.cast(&DataType::String).map_err(|error| failed(error.to_string()))?;
                cast.str().map_err(|error| failed(error.to_string()))?.iter().map(|text| text.map(Arc::from)).collect()
            }
            None => Vec::new(),
        };
        let values = Arc::new(values);
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).insert(key, values.clone());
        Ok(values)
    }
}

/// One cell; `None` for null and past the end.
pub fn int(column: &Ints, row: usize) -> Option<i64> {
    column.get(row).copied().flatten()
}

pub fn text(column: &Texts, row: usize) -> Option<&str> {
    column.get(row)?.as_deref()
}

/// The row of a table with dense ids.
pub fn row_of(id: i64) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX)
}
