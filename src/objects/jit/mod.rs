//! What JIT compilers leave behind for profilers: `perf-PID.map` (text, see tools/perf/Documentation/jit-interface.txt)
//! and `jit-PID.dump` (see jitdump-specification.txt there).
//!
//! Both are read through once for the addresses that were sampled, and only what covers one of them is kept. The files
//! are hostile like any other: lengths are bounded by the file, names are cut, and the work is limited.

mod dump;
mod perf_map;

use std::sync::Arc;

use super::bytes::{self, Bytes};

pub use dump::is_dump;

/// Longest name kept, in bytes.
const NAME_BYTES_MAX: usize = 4096;
/// Changes that are kept over all addresses: enough for 100,000 addresses that are compiled anew a hundred times.
const CHANGES_MAX: usize = 10_000_000;

/// A file that describes generated code, opened only when its process comes up.
#[derive(Debug, Clone)]
pub struct JitFile {
    pub path: std::path::PathBuf,
    /// Path below the root it was found in, as shown to people.
    pub label: String,
    pub(super) kept: Option<Bytes>,
}

/// One piece of generated code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub name: String,
    pub start: u64,
    /// (address, line, file), by address.
    pub lines: Vec<(u64, u32, Arc<str>)>,
}

impl Piece {
    /// File and line that an address executes.
    pub fn line(&self, address: u64) -> Option<(&Arc<str>, u32)> {
        let after = self.lines.partition_point(|(start, ..)| *start <= address);
        let (_, line, file) = self.lines.get(after.checked_sub(1)?)?;
        Some((file, *line))
    }
}

/// What lay at each of the addresses asked for, over time.
#[derive(Debug, Default)]
pub struct Timeline {
    pub pieces: Vec<Piece>,
    /// Beside the addresses: from when on which piece was there, in the order in which it was written.
    pub changes: Vec<Vec<(u64, Option<u32>)>>,
    /// Whether the times are those of CLOCK_MONOTONIC.
    pub timed: bool,
    /// What is wrong with the file; what came before is kept.
    pub damaged: Option<String>,
    count: usize,
}

impl Timeline {
    fn new(addresses: usize) -> Timeline {
        Timeline { changes: vec![Vec::new(); addresses], ..Timeline::default() }
    }

    /// Code appears at `start..end`; `piece` makes its description if an address lies there.
    fn load(&mut self, addresses: &[u64], start: u64, end: u64, time: u64, piece: impl FnOnce() -> Piece) -> bool {
        let range = hit(addresses, start, end);
        if range.is_empty() {
            return true;
        }
        let Ok(index) = u32::try_from(self.pieces.len()) else { return false };
        self.pieces.push(piece());
        self.change(range, time, Some(index))
    }

    fn change(&mut self, range: std::ops::Range<usize>, time: u64, piece: Option<u32>) -> bool {
        self.count = self.count.saturating_add(range.len());
        if self.count > CHANGES_MAX {
            self.damaged = Some(format!("more than {CHANGES_MAX} changes at the sampled addresses; the rest was not read"));
            return false;
        }
        for changes in self.changes.get_mut(range).into_iter().flatten() {
            changes.push((time, piece));
        }
        true
    }

    /// What the last change left at an address.
    pub fn last(&self, at: usize) -> Option<&Piece> {
        let found = self.changes.get(at)?.iter().rev().find_map(|(_, piece)| *piece)?;
        self.pieces.get(found as usize)
    }
}

/// The indices of the sorted addresses that lie in `start..end`.
fn hit(addresses: &[u64], start: u64, end: u64) -> std::ops::Range<usize> {
    let first = addresses.partition_point(|address| *address < start);
    let last = addresses.partition_point(|address| *address < end);
    first..last.max(first)
}

/// Reads a file for these addresses (sorted, each once). `None` where it cannot be opened.
pub fn read(file: &JitFile, addresses: &[u64]) -> Option<Timeline> {
    let bytes = file.kept.clone().or_else(|| bytes::map(&file.path))?;
    Some(if is_dump(&bytes) { dump::read(&bytes, addresses) } else { perf_map::read(&bytes, addresses) })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(..NAME_BYTES_MAX).unwrap_or(bytes)).into_owned()
}

/// Whose code a file describes, by its name: (`perf-` or `jit-`, pid).
pub fn pid_of(name: &str) -> Option<(&'static str, i32)> {
    let name = super::SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let (kind, rest) = match (name.strip_prefix("perf-"), name.strip_prefix("jit-")) {
        (Some(rest), _) => ("perf-", rest.strip_suffix(".map")?),
        (_, Some(rest)) => ("jit-", rest.strip_suffix(".dump")?),
        _ => return None,
    };
    let digits = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| rest.parse().ok()).flatten().map(|pid| (kind, pid))
}

#[cfg(test)]
mod tests;
