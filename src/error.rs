//! The reasons for which Tripod cannot go on. A skipped record is not an error but a diagnostic (`ingest::Recorder::skip`).

use std::path::PathBuf;

/// Why a whole file, or the whole run, was given up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened, mapped or read.
    #[error("{path}: {source}; check that the file exists and is readable", path = path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The bytes are not what their beginning promised.
    #[error("{path}: {place}: expected {expected}, found {found}; {advice}")]
    Malformed { path: String, place: String, expected: String, found: String, advice: String },
    /// The file is recognised but holds nothing that can be used.
    #[error("{path}: {what}; {advice}")]
    Unusable { path: String, what: String, advice: String },
    /// The request itself cannot be met.
    #[error("{0}")]
    Request(String),
}

pub type Result<T> = std::result::Result<T, Error>;
