//! The artifacts of the run, by the run's own list, and the files that lie in their place now. Their SHA-256 comes first:
//! everything else is about these bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::report::Part;
use super::store::{Store, int, text};
use crate::ingest::Inputs;

/// An artifact as the run knows it.
#[derive(Debug, Clone)]
pub struct Artifact {
    pub id: i64,
    pub path: String,
    pub kind: String,
    pub sha256: String,
}

/// All of them, and where the files are.
pub struct Artifacts {
    pub rows: Vec<Artifact>,
    files: BTreeMap<String, PathBuf>,
}

impl Artifacts {
    pub fn find(store: &Store, inputs: &Inputs) -> Result<Artifacts, String> {
        let ids = store.ints("artifacts", "artifact_id")?;
        let (paths, kinds) = (store.texts("artifacts", "path")?, store.texts("artifacts", "kind")?);
        let hashes = store.texts("artifacts", "sha256")?;
        let rows = (0..ids.len()).filter_map(|row| {
            Some(Artifact {
                id: int(&ids, row)?,
                path: text(&paths, row)?.to_owned(),
                kind: text(&kinds, row)?.to_owned(),
                sha256: text(&hashes, row)?.to_owned(),
            })
        });
        let files = inputs.iter().map(|(name, path)| (name.to_owned(), path.to_path_buf())).collect();
        Ok(Artifacts { rows: rows.collect(), files })
    }

    pub fn get(&self, path: &str) -> Option<&Artifact> {
        self.rows.iter().find(|row| row.path == path)
    }

    pub fn file(&self, path: &str) -> Option<&Path> {
        self.files.get(path).map(PathBuf::as_path)
    }

    /// Compares every file with the list, by name.
    pub fn check(&self) -> Part {
        let mut part = Part::new("artifacts");
        let listed: BTreeSet<&str> = self.rows.iter().map(|row| row.path.as_str()).collect();
        let hashes: Vec<Option<Result<String, String>>> =
            self.rows.par_iter().map(|row| self.file(&row.path).map(|path| sha256(path).map_err(|error| error.to_string()))).collect();
        let mut same = 0;
        for (row, hash) in self.rows.iter().zip(hashes) {
            match hash {
                None => part.fail(&row.path, "missing: the run was made from it, and it is not among the inputs"),
                // Neither could be read then.
                Some(Err(_)) if row.sha256.is_empty() => same += 1,
                Some(Err(error)) => part.fail(&row.path, format!("cannot be read: {error}")),
                Some(Ok(hash)) if hash == row.sha256 => same += 1,
                Some(Ok(hash)) => part.fail(&row.path, format!("changed: its sha256 is {hash}, the run was made from {}", row.sha256)),
            }
        }
        for name in self.files.keys().filter(|name| !listed.contains(name.as_str())) {
            part.fail(name, "added: it was not there when the run was made");
        }
        if self.rows.is_empty() {
            part.fail("tables/artifacts.parquet", "names no artifact");
        }
        part.count("same", same);
        part.count("listed", self.rows.len());
        part.told.push(format!("{same} of {} as the run read them (sha256)", self.rows.len()));
        part
    }
}

fn sha256(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut block)?;
        let Some(read) = block.get(..n).filter(|read| !read.is_empty()) else { break };
        hash.update(read);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
