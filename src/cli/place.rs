//! Where `tripod analyze` writes: a run directory of its own, or a member of a dataset.

use std::path::{Path, PathBuf};

use crate::emit::{self, OutputFile, Overwrite, Published, RunId};
use crate::error::Result;
use crate::tables::Tables;

/// Where the run goes.
pub enum Place {
    /// `-o DIR`.
    Alone { dir: PathBuf, overwrite: Overwrite },
    /// `--dataset ROOT --run ID`.
    Member { root: PathBuf, id: RunId },
}

impl Place {
    /// Refuses early what can never be written.
    pub fn check(&self) -> Result<()> {
        match self {
            Place::Alone { dir, .. } => emit::check(dir),
            Place::Member { root, id } => emit::check_member(root, id),
        }
    }

    /// Writes the run; gives what its user ought to know about that.
    pub fn write(&self, files: &[OutputFile], tables: &Tables) -> Result<Option<String>> {
        match self {
            Place::Alone { dir, overwrite } => emit::write(dir, files, tables, *overwrite).map(|()| None),
            Place::Member { root, id } => Ok(match emit::write_member(root, id, files, tables)? {
                Published::New | Published::Repeated => None,
                Published::Replaced => Some(format!("{}: replaced the run of other recordings", id.dir(root).display())),
            }),
        }
    }

    /// The run directory.
    pub fn dir(&self) -> PathBuf {
        match self {
            Place::Alone { dir, .. } => dir.clone(),
            Place::Member { root, id } => id.dir(Path::new(root)),
        }
    }
}
