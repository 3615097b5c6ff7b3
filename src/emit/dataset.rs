//! A run directory as a member of a dataset: `ROOT/run=ID`, written by any number of processes and hosts at once.
//!
//! A writer fills `ROOT/.tmp-ID-PID-N`, at which no reader looks, flushes it to the disk and gives it its name by one
//! rename. Where the name is taken, the two directories change places in one step, so that a reader sees the old run or
//! the new one and never half of either.
//!
//! What a killed writer leaves behind is removed by a later one once its writer is clearly dead: nobody holds the lock on
//! the directory (the kernel takes it from a dead process), and nothing was written there for an hour by the clock of the
//! file system (on some network file systems a lock is seen by its own host only). Where there are no locks at all the
//! name says so, and the directory stays until somebody removes it by hand.

use std::ffi::CString;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::write::{fill, stored_run_id};
use super::{OutputFile, fingerprint};
use crate::error::{Error, Result};
use crate::tables::Tables;

/// Longest ID.
const ID_LEN_MAX: usize = 64;
/// For how long nobody must have written before a directory without a lock counts as left behind.
const UNTOUCHED: Duration = Duration::from_secs(3600);
/// Tries to take a name that others take and give back at the same moment.
const ATTEMPTS: usize = 1000;
const PREFIX: &str = ".tmp-";

/// The name of a run in a dataset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(String);

impl RunId {
    /// `[A-Za-z][A-Za-z0-9_-]{0,63}`: what is a text to every engine, and needs no quoting in a path.
    pub fn parse(text: &str) -> std::result::Result<RunId, String> {
        let begins = text.starts_with(|first: char| first.is_ascii_alphabetic());
        let goes_on = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if begins && goes_on && text.len() <= ID_LEN_MAX {
            return Ok(RunId(text.to_owned()));
        }
        Err(format!(
            "a run ID is a letter followed by at most {} letters, digits, `_` or `-`, as in web-2024-05-01 (engines read run=007 as a number)",
            ID_LEN_MAX - 1
        ))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its directory.
    pub fn dir(&self, root: &Path) -> PathBuf {
        root.join(format!("run={}", self.0))
    }
}

/// What became of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    New,
    /// It was taken by a run of the same recordings.
    Repeated,
    /// It was taken by a run of other recordings.
    Replaced,
}

/// Refuses early, before long work, what can never become a member.
pub fn check_member(root: &Path, id: &RunId) -> Result<()> {
    if root.exists() && !root.is_dir() {
        return Err(Error::Request(format!("--dataset {}: there is something here that is not a directory", root.display())));
    }
    if stored_run_id(root).is_some() {
        return Err(Error::Request(format!(
            "--dataset {}: this is the directory of one run; a dataset is a folder of its own, to which every run is added",
            root.display()
        )));
    }
    let dir = id.dir(root);
    let is_empty = || fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_none());
    if dir.symlink_metadata().is_ok() && !is_empty() && stored_run_id(&dir).is_none() {
        return Err(foreign(&dir));
    }
    Ok(())
}

/// Writes the files as `ROOT/run=ID`, in the place of the run that has the name.
pub fn write_member(root: &Path, id: &RunId, files: &[OutputFile], tables: &Tables) -> Result<Published> {
    check_member(root, id)?;
    fs::create_dir_all(root).map_err(|error| failed(root, &error))?;
    let mut claim = Claim::new(root, id)?;
    sweep(root, &claim);
    fill(&claim.path, files)?;
    flush(&claim.path)?;
    let published = claim.publish(&id.dir(root), &fingerprint::run_id(tables))?;
    flush_entry(root, true)?;
    Ok(published)
}

/// A directory that is being filled. Without a name of its own it is removed in the end.
struct Claim {
    path: PathBuf,
    /// Held for as long as this process lives: others see by it that the directory has a writer.
    _lock: Option<File>,
    is_ours: bool,
}

impl Claim {
    fn new(root: &Path, id: &RunId) -> Result<Claim> {
        for number in 0..ATTEMPTS {
            let path = root.join(format!("{PREFIX}{}-{}-{number}", id.as_str(), std::process::id()));
            match fs::create_dir(&path) {
                // Another host's process of the same number, or what it left.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(failed(&path, &error)),
                Ok(()) => {}
            }
            // Between the two steps somebody may have taken it for an old one.
            let Ok(dir) = File::open(&path) else { continue };
            match dir.try_lock() {
                Ok(()) if is_same(&dir, &path) => return Ok(Claim { path, _lock: Some(dir), is_ours: true }),
                Ok(()) | Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(_)) => {
                    let unlocked = root.join(format!("{PREFIX}{}-{}-{number}-unlocked", id.as_str(), std::process::id()));
                    fs::rename(&path, &unlocked).map_err(|error| failed(&unlocked, &error))?;
                    return Ok(Claim { path: unlocked, _lock: None, is_ours: true });
                }
            }
        }
        Err(Error::Request(format!("{}: no temporary directory can be made here: {ATTEMPTS} names are taken", root.display())))
    }

    /// Takes the name, from another run if need be.
    fn publish(&mut self, dir: &Path, run_id: &str) -> Result<Published> {
        let mut aside = None;
        for _ in 0..ATTEMPTS {
            match fs::rename(&self.path, dir) {
                Ok(()) => {
                    self.is_ours = false;
                    return aside.map_or(Ok(Published::New), |old: PathBuf| remove(&old, run_id));
                }
                Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {}
                Err(error) => return Err(failed(dir, &error)),
            }
            match exchange(&self.path, dir) {
                Ok(()) => return self.dispose(dir, run_id),
                // Its owner has just removed it.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL | libc::EOPNOTSUPP)) => {
                    aside = self.step_aside(dir)?.or(aside);
                }
                Err(error) => return Err(failed(dir, &error)),
            }
        }
        Err(Error::Request(format!("{}: the name is taken and given back all the time; try again", dir.display())))
    }

    /// Removes what had the name; if Tripod did not write it, it gets its place back.
    fn dispose(&mut self, dir: &Path, run_id: &str) -> Result<Published> {
        if stored_run_id(&self.path).is_none() {
            exchange(&self.path, dir).map_err(|error| failed(dir, &error))?;
            return Err(foreign(dir));
        }
        self.is_ours = false;
        remove(&self.path, run_id)
    }

    /// Where the file system cannot exchange: moves the old run away, and for a moment there is no run of that name.
    fn step_aside(&self, dir: &Path) -> Result<Option<PathBuf>> {
        if stored_run_id(dir).is_none() && dir.exists() {
            return Err(foreign(dir));
        }
        let mut old = self.path.clone().into_os_string();
        old.push("-0");
        let old = PathBuf::from(old);
        match fs::rename(dir, &old) {
            Ok(()) => Ok(Some(old)),
            // Its owner has just removed it.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(dir, &error)),
        }
    }
}

/// Removes the run that was replaced.
fn remove(old: &Path, run_id: &str) -> Result<Published> {
    let is_same = stored_run_id(old).is_some_and(|stored| stored == run_id);
    match fs::remove_dir_all(old) {
        // Nobody holds a lock on it: another writer may have removed it first.
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(old, &error)),
        _ if is_same => Ok(Published::Repeated),
        _ => Ok(Published::Replaced),
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.is_ours {
            // Nothing more can be done about it, and the error that led here is the one to report.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes what dead writers left. What cannot be removed stays: no reader looks at it.
fn sweep(root: &Path, own: &Claim) {
    let Some(now) = modified(&own.path) else { return };
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_left = entry.file_type().is_ok_and(|kind| kind.is_dir())
            && is_claim(&entry.file_name().to_string_lossy())
            && path != own.path
            && modified(&path).is_some_and(|then| now.duration_since(then).is_ok_and(|age| age >= UNTOUCHED));
        if is_left
            && let Ok(dir) = File::open(&path)
            && dir.try_lock().is_ok()
            && is_same(&dir, &path)
        {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    path.symlink_metadata().ok()?.modified().ok()
}

/// Whether the name is one that [`Claim::new`] makes under a lock.
fn is_claim(name: &str) -> bool {
    let is_number = |text: Option<&str>| text.is_some_and(|text| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()));
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let mut parts = rest.rsplitn(3, '-');
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_some_and(|id| RunId::parse(id).is_ok())
}

/// Whether the name still stands for the open directory.
fn is_same(dir: &File, path: &Path) -> bool {
    match (dir.metadata(), path.symlink_metadata()) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Makes two directories change places in one step.
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    let (from, to) = (CString::new(a.as_os_str().as_bytes())?, CString::new(b.as_os_str().as_bytes())?);
    // SAFETY: both are strings that end in a zero byte and live until the call returns; the call keeps neither.
    let done =
        unsafe { libc::syscall(libc::SYS_renameat2, libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::RENAME_EXCHANGE) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes sure that everything below a directory is on the disk, and the directory last.
fn flush(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir).map_err(|error| failed(dir, &error))? {
        let entry = entry.map_err(|error| failed(dir, &error))?;
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => flush(&entry.path())?,
            _ => flush_entry(&entry.path(), false)?,
        }
    }
    flush_entry(dir, true)
}

fn flush_entry(path: &Path, is_dir: bool) -> Result<()> {
    match File::open(path).and_then(|file| file.sync_all()) {
        // Some file systems have nothing to flush of a directory and say so.
        Err(error) if !(is_dir && matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))) => Err(failed(path, &error)),
        _ => Ok(()),
    }
}

fn foreign(dir: &Path) -> Error {
    Error::Request(format!("{}: this was not written by tripod and is left alone; choose another --run ID", dir.display()))
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Request(format!("{}: cannot write here: {error}; choose another place with --dataset ROOT", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{EmitOptions, Run, View, render, sample_run};

    fn rendered(run: &Run) -> Vec<OutputFile> {
        render(&View::new(run), EmitOptions::default()).unwrap()
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn ids() {
        for good in ["a", "Z9", "web-2024_05-01", &"x".repeat(64)] {
            assert_eq!(RunId::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "007", "-a", "_a", "a b", "a/b", "a=b", "..", "é", "aé", "a\n", &"x".repeat(65)] {
            assert!(RunId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_is_taken_and_taken_over() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().join("new/dataset");
        let id = RunId::parse("a").unwrap();
        let run = sample_run::hostile();
        assert_eq!(write_member(&root, &id, &rendered(&run), &run.tables).unwrap(), Published::New);
        fs::write(root.join("run=a/stale"), "x").unwrap();
        assert_eq!(write_member(&root, &id, &rendered(&run), &run.tables).unwrap(), Published::Repeated);
        assert!(!root.join("run=a/stale").exists(), "the directory is replaced, not merged");
        let mut other = run.clone();
        other.tables.artifacts[0].sha256 = "other".into();
        assert_eq!(write_member(&root, &id, &rendered(&other), &other.tables).unwrap(), Published::Replaced);
        assert_eq!(names(&root), ["run=a"], "nothing is left beside it");
    }

    #[test]
    fn what_tripod_did_not_write_stays() {
        let root = tempfile::tempdir().unwrap();
        let run = sample_run::hostile();
        let id = RunId::parse("thesis").unwrap();
        fs::create_dir(root.path().join("run=thesis")).unwrap();
        fs::write(root.path().join("run=thesis/text"), "x").unwrap();
        let error = write_member(root.path(), &id, &rendered(&run), &run.tables).unwrap_err().to_string();
        assert!(error.contains("left alone"), "{error}");
        // The same where it appears only after the check.
        let mut claim = Claim::new(root.path(), &id).unwrap();
        fill(&claim.path, &rendered(&run)).unwrap();
        let error = claim.publish(&id.dir(root.path()), "").unwrap_err().to_string();
        drop(claim);
        assert!(error.contains("left alone"), "{error}");
        assert_eq!((names(root.path()), names(&root.path().join("run=thesis"))), (vec!["run=thesis".to_owned()], vec!["text".to_owned()]));
        // A run directory is no dataset.
        let inside = root.path().join("one");
        write_member(&inside, &id, &rendered(&run), &run.tables).unwrap();
        let error = check_member(&id.dir(&inside), &id).unwrap_err().to_string();
        assert!(error.contains("directory of one run"), "{error}");
    }

    #[test]
    fn only_what_is_dead_and_old_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let id = RunId::parse("a-1").unwrap();
        let living = Claim::new(root.path(), &id).unwrap();
        let age = |path: &Path| {
            let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
            File::open(path).unwrap().set_modified(long_ago).unwrap();
        };
        let make = |name: &str| {
            fs::create_dir(root.path().join(name)).unwrap();
            fs::write(root.path().join(name).join("file"), "x").unwrap();
        };
        for name in [".tmp-a-1-77-0", ".tmp-b-77-0", ".tmp-a-77-0-unlocked", ".tmp-scratch"] {
            make(name);
            age(&root.path().join(name));
        }
        make(".tmp-young-77-0");
        age(&living.path);
        let own = Claim::new(root.path(), &id).unwrap();
        sweep(root.path(), &own);
        assert!(living.path.is_dir(), "its writer lives");
        let left: Vec<String> = names(root.path()).into_iter().filter(|name| !root.path().join(name).join("file").exists()).collect();
        assert_eq!(left.len(), 2, "the two claims have no file yet");
        for (name, stays) in [
            (".tmp-a-1-77-0", false),
            (".tmp-b-77-0", false),
            (".tmp-young-77-0", true),
            (".tmp-a-77-0-unlocked", true),
            (".tmp-scratch", true),
        ] {
            assert_eq!(root.path().join(name).exists(), stays, "{name}");
        }
    }

    #[test]
    fn names_of_claims() {
        for (name, is) in
            [(".tmp-a-1-0", true), (".tmp-a-b-1-12", true), (".tmp-a-1", false), (".tmp-1-2-3", false), (".tmp-a-1-0-unlocked", false)]
        {
            assert_eq!(is_claim(name), is, "{name}");
        }
    }
}
