//! The one place that writes: a run directory appears whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::{OutputFile, fingerprint};
use crate::error::{Error, Result};
use crate::tables::Tables;

/// What to do with a run directory that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// Replace it only where it was made from the same artifacts.
    SameRun,
    /// Replace any run directory (`--force`). What is no run directory is never replaced.
    AnyRun,
}

/// Writes the files into `dir`: first into a directory beside it, which then takes its name.
pub fn write(dir: &Path, files: &[OutputFile], tables: &Tables, overwrite: Overwrite) -> Result<()> {
    let (parent, name) = split(dir)?;
    may_replace(dir, &fingerprint::run_id(tables), overwrite)?;
    fs::create_dir_all(&parent).map_err(|error| failed(&parent, &error))?;
    let fresh = Scratch::new(parent.join(format!(".{name}.tmp-{}", std::process::id())))?;
    fill(&fresh.0, files)?;
    swap(&fresh.0, dir, &parent.join(format!(".{name}.old-{}", std::process::id())))
}

/// Writes the files below a directory.
pub(super) fn fill(dir: &Path, files: &[OutputFile]) -> Result<()> {
    let write = |(path, bytes): &OutputFile| {
        let path = dir.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        }
        fs::write(&path, bytes).map_err(|error| failed(&path, &error))
    };
    // The last one marks a directory as a whole run.
    let Some((last, others)) = files.split_last() else { return Ok(()) };
    others.par_iter().try_for_each(write)?;
    write(last)
}

/// Refuses early, before long work, what can never become a run directory.
pub fn check(dir: &Path) -> Result<()> {
    split(dir)?;
    may_replace(dir, "", Overwrite::AnyRun)
}

/// A directory that is removed unless it was renamed away.
struct Scratch(PathBuf);

impl Scratch {
    fn new(path: PathBuf) -> Result<Scratch> {
        if path.exists() {
            // Left behind by a process that had the same id and was killed.
            fs::remove_dir_all(&path).map_err(|error| failed(&path, &error))?;
        }
        fs::create_dir(&path).map_err(|error| failed(&path, &error))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.0.exists() {
            // Nothing more can be done about it, and the error that led here is the one to report.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Puts `fresh` in the place of `dir`; on failure what was there is put back.
fn swap(fresh: &Path, dir: &Path, old: &Path) -> Result<()> {
    if dir.symlink_metadata().is_err() {
        return fs::rename(fresh, dir).map_err(|error| failed(dir, &error));
    }
    fs::rename(dir, old).map_err(|error| failed(dir, &error))?;
    if let Err(error) = fs::rename(fresh, dir) {
        let _ = fs::rename(old, dir);
        return Err(failed(dir, &error));
    }
    fs::remove_dir_all(old).map_err(|error| failed(old, &error))
}

/// Refuses what would destroy something that is not this run's.
fn may_replace(dir: &Path, run_id: &str, overwrite: Overwrite) -> Result<()> {
    let Ok(meta) = dir.symlink_metadata() else { return Ok(()) };
    let shown = dir.display();
    if !meta.is_dir() {
        return Err(Error::Request(format!("{shown}: there is something here that is not a directory; choose another place with -o DIR")));
    }
    if fs::read_dir(dir).map_err(|error| failed(dir, &error))?.next().is_none() {
        return Ok(());
    }
    match stored_run_id(dir) {
        None => Err(Error::Request(format!(
            "{shown}: this directory was not written by tripod and is left alone; choose another one with -o DIR"
        ))),
        Some(stored) if overwrite == Overwrite::AnyRun || stored == run_id => Ok(()),
        Some(_) => Err(Error::Request(format!(
            "{shown}: holds the run of other recordings; use --force to replace it or -o DIR to choose another place"
        ))),
    }
}

/// The id of the run in a directory; `None` where it is no run directory.
pub(super) fn stored_run_id(dir: &Path) -> Option<String> {
    let bytes = fs::read(dir.join("fingerprint.json")).ok()?;
    let value: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    if value.get("tool")?.as_str()? != "tripod" {
        return None;
    }
    Some(value.get("run_id")?.as_str()?.to_owned())
}

/// Folder and last part of a path that may end in `.` or `..`.
fn split(dir: &Path) -> Result<(PathBuf, String)> {
    let absolute = std::path::absolute(dir).map_err(|error| failed(dir, &error))?;
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => Ok((parent.to_path_buf(), name.to_string_lossy().into_owned())),
        _ => Err(Error::Request(format!("{}: cannot be a run directory; name one with -o DIR", dir.display()))),
    }
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Request(format!("{}: cannot write here: {error}; choose another place with -o DIR", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{EmitOptions, View, render, sample_run};

    fn files(names: &[&str]) -> Vec<OutputFile> {
        names.iter().map(|name| ((*name).to_owned(), b"x".to_vec())).collect()
    }

    fn listing(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_run_may_be_repeated_but_not_another_one_replaced() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("out/run");
        let run = sample_run::hostile();
        let rendered = render(&View::new(&run), EmitOptions::default()).unwrap();
        write(&dir, &rendered, &run.tables, Overwrite::SameRun).unwrap();
        fs::write(dir.join("stale"), "x").unwrap();
        write(&dir, &rendered, &run.tables, Overwrite::SameRun).unwrap();
        assert!(!dir.join("stale").exists(), "the directory is replaced, not merged");

        let mut other = run.clone();
        other.tables.artifacts[0].sha256 = "other".into();
        let error = write(&dir, &files(&["summary.json"]), &other.tables, Overwrite::SameRun).unwrap_err().to_string();
        assert!(error.contains("--force"), "{error}");
        assert!(dir.join("hotspot_table.md").is_file());
        write(&dir, &files(&["summary.json"]), &other.tables, Overwrite::AnyRun).unwrap();
        assert_eq!(listing(&dir), ["summary.json"]);
        assert_eq!(listing(root.path().join("out").as_path()), ["run"], "nothing is left beside it");
    }

    #[test]
    fn foreign_directories_and_files_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("precious"), "x").unwrap();
        let tables = Tables::default();
        for place in [root.path().to_path_buf(), root.path().join("precious")] {
            let error = write(&place, &files(&["a"]), &tables, Overwrite::AnyRun).unwrap_err();
            assert!(matches!(error, Error::Request(_)));
        }
        assert_eq!(listing(root.path()), ["precious"]);
        let empty = root.path().join("empty");
        fs::create_dir(&empty).unwrap();
        write(&empty, &files(&["a"]), &tables, Overwrite::SameRun).unwrap();
        assert_eq!(listing(&empty), ["a"]);
    }

    #[test]
    fn a_failure_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("run");
        // The second file needs a folder where the first one is a file.
        let error = write(&dir, &files(&["a", "a/b"]), &Tables::default(), Overwrite::SameRun).unwrap_err().to_string();
        assert!(error.contains("cannot write"), "{error}");
        assert!(listing(root.path()).is_empty());
    }
}
