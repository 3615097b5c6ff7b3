//! Many runs as one: a folder of run directories, asked in SQL.
//!
//! `ROOT/run=ID/tables/<table>.parquet` of all runs are one table `<table>` with a column `run`, the last one, where DuckDB
//! puts it too. A column that a run does not have (an older Tripod wrote it) is null there; a table without rows is not in
//! the folder.
//!
//! A statement is asked of batches of runs, as many at a time as fit into an eighth of the memory it may use (`split`); what
//! cannot be asked so needs its tables whole, and is refused where they are too large.
//!
//! A run is read at one moment. Its directory may be replaced by another at any time, as a whole: all its files are opened
//! before the first is read, and again from the beginning if the name then stands for another directory.

mod ask;
mod split;
mod statement;
mod sums;
mod table;
mod traps;

pub use ask::Ask;
pub use split::RUN;
pub use statement::{NO_SELECT, Names, parse};
pub use traps::refuse_traps;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::emit::RunId;
use crate::error::{Error, Result};

/// A folder of runs.
pub struct Dataset {
    root: PathBuf,
    /// By ID.
    runs: Vec<Member>,
}

/// One run of it.
#[derive(Debug, Clone)]
pub struct Member {
    pub id: String,
    dir: PathBuf,
}

impl Dataset {
    /// The runs of a folder. What is named like a run and is none is an error, not a run less.
    pub fn open(root: &Path) -> Result<Dataset> {
        let failed = |error: std::io::Error| Error::Request(format!("{}: {error}", root.display()));
        let mut runs = Vec::new();
        for entry in fs::read_dir(root).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            let Some(id) = name.strip_prefix("run=") else { continue };
            let dir = root.join(&name);
            if RunId::parse(id).is_err() {
                return Err(Error::Request(format!(
                    "{}: `{id}` is no run ID (a letter, then letters, digits, `_` or `-`); rename it, or move it out of the dataset",
                    dir.display()
                )));
            }
            if dir.join("summary.json").is_file() {
                runs.push(Member { id: id.to_owned(), dir });
            } else if dir.exists() {
                return Err(Error::Request(format!(
                    "{}: this is no run directory (it has no summary.json); move it out of the dataset, or write the run again with \
                     `tripod analyze PATH --dataset {} --run {id}`",
                    dir.display(),
                    root.display()
                )));
            }
        }
        if runs.is_empty() {
            return Err(no_runs(root));
        }
        runs.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Dataset { root: root.to_path_buf(), runs })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn runs(&self) -> &[Member] {
        &self.runs
    }

    /// In how many runs each table has rows.
    pub fn tables(&self) -> BTreeMap<String, usize> {
        let mut tables = BTreeMap::new();
        for run in &self.runs {
            for entry in fs::read_dir(run.dir.join("tables")).into_iter().flatten().flatten() {
                if let Some(name) = entry.file_name().to_string_lossy().strip_suffix(".parquet") {
                    *tables.entry(name.to_owned()).or_insert(0) += 1;
                }
            }
        }
        tables
    }
}

/// A folder without `run=ID`: it may hold runs that were written one by one.
fn no_runs(root: &Path) -> Error {
    let shown = root.display();
    let entries = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let what = match entries.filter(|path| path.join("summary.json").is_file()).min() {
        None => "this is no run directory, and there is no run=ID in it".to_owned(),
        Some(first) => format!(
            "it holds single runs and is no dataset (folders named run=ID); ask one of them (`tripod query {}`), or write them into a dataset",
            first.display()
        ),
    };
    Error::Request(format!(
        "{shown}: {what}; `tripod analyze PATH -o DIR` writes one run, `tripod analyze PATH --dataset {shown} --run ID` adds one of many"
    ))
}

#[cfg(test)]
mod tests;
