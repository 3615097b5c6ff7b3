//! EVERY NUMBER AGAIN: is what a run directory says still what its artifacts say?
//!
//! Three parts, each of which fails by itself:
//!
//! * *artifacts*: the SHA-256 of every file the run was made from, and no file more or less;
//! * *re-read*: a small reader that shares no code with the importers opens every anchor ([`anchor`], [`open`], [`text`],
//!   [`perf`]) and finds the number there. Sums that need places on stacks or reasons of waits are made again over the
//!   run's tables ([`sums`], [`places`]), whose rows are compared with the records and totals of the artifact. So each
//!   number is confirmed on one of two bases, and the report says on which: `file` or `tables`;
//! * *replay*: the analysis runs again with the recorded options, and everything that it would write is compared with
//!   what is there ([`replay`], [`differ`]).
//!
//! An anchor that no reader here can open is not passed over: it is counted, printed with the reason, and fails.

mod anchor;
mod artifacts;
mod claims;
mod content;
mod differ;
mod number;
mod of_file;
mod open;
mod perf;
mod places;
mod printed;
mod replay;
mod report;
mod reread;
mod store;
mod sums;
#[cfg(test)]
mod tests;
mod text;

use std::path::PathBuf;

pub use report::Report;

use crate::error::{Error, Result};
use crate::ingest::Inputs;
use crate::request::AnalyzeRequest;

/// Which levels are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Both,
    ReRead,
    Replay,
}

/// One verification.
#[derive(Debug, Clone)]
pub struct Request {
    /// The run directory.
    pub dir: PathBuf,
    /// What was analyzed, with the paths at which it lies now.
    pub analyze: AnalyzeRequest,
    /// The same as it was asked for then.
    pub arguments: Vec<String>,
    pub level: Level,
}

/// Checks the run directory. `Err` only where there is nothing to check it against.
pub fn run(request: &Request) -> Result<Report> {
    let store = store::Store::new(&request.dir);
    let inputs = Inputs::find(&request.analyze.paths)?;
    if inputs.is_empty() {
        let path = request.analyze.paths.first().map_or_else(String::new, |path| path.display().to_string());
        let what = "there is no recording".to_owned();
        return Err(Error::Unusable { path, what, advice: "--input ROOT says where the recordings lie now".to_owned() });
    }
    let mut report = Report::default();
    let found = artifacts::Artifacts::find(&store, &inputs).map_err(Error::Request)?;
    report.parts.push(found.check());
    if request.level != Level::Replay {
        report.parts.push(reread::check(&request.dir, &store, &found, &mut report.anchors));
    }
    if request.level != Level::ReRead {
        report.parts.push(replay::check(request));
    }
    Ok(report)
}
