//! `-`: a recording that comes on standard input (`perf record -o - ... | tripod analyze -`).
//!
//! A stream cannot be mapped, and holding it in memory would bound its size by the machine's. It is copied into a
//! temporary file without a name, which is gone when the program ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The path that stands for standard input.
pub const STDIN: &str = "-";
/// The artifact's name.
pub const STDIN_NAME: &str = "stdin";

/// What was read.
#[derive(Debug)]
pub struct Spool {
    file: File,
}

impl Spool {
    /// Reads standard input to its end.
    pub fn of_stdin() -> Result<Spool> {
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            return Err(Error::Request("`-` reads a recording from standard input, which is a terminal here".to_owned()));
        }
        Spool::of(stdin.lock())
    }

    fn of(mut from: impl Read) -> Result<Spool> {
        let dir = std::env::temp_dir();
        let failed = |source| Error::Io { path: dir.clone(), source };
        let mut file = unnamed_file(&dir).map_err(failed)?;
        std::io::copy(&mut from, &mut file).map_err(failed)?;
        Ok(Spool { file })
    }

    /// Where this process can open it again.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

/// A file for this user alone, whose name is removed at once.
fn unnamed_file(dir: &Path) -> std::io::Result<File> {
    let mut last = None;
    for attempt in 0..100 {
        let path = dir.join(format!(".tripod-stdin-{}-{attempt}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| std::io::Error::other("no name is free")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_can_be_opened_again() {
        let spool = Spool::of(&b"PERFILE2"[..]).unwrap();
        assert_eq!(std::fs::read(spool.path()).unwrap(), b"PERFILE2");
    }
}
