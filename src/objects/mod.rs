//! OBJECT FILES: found by build-id under the roots given, mapped once, never written. The one door of `object`, `gimli`,
//! `addr2line` and `framehop`; a leaf that both ingest (unwinding) and symbolize (names) use.
//!
//! Nothing is ever taken from a file whose build-id differs from the one recorded, nor from the local kernel.

use std::path::PathBuf;

/// Where object files may be looked for.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// Directories the user gave, or the documented ones beside the recording (`symbols/` in the input directory and
    /// beside it): every file in them is looked at, `.zst` and `.gz` included.
    pub symbol_dirs: Vec<PathBuf>,
    /// Documented debug roots with `.build-id/ab/cdef.debug` below (`/usr/lib/debug`), used by build-id only.
    pub debug_dirs: Vec<PathBuf>,
    /// Whether the recorded path itself may be opened on this machine (then, too, only with an equal build-id).
    pub recorded_paths: bool,
}

/// All object files that can be found.
#[derive(Debug, Default)]
pub struct Library {}

impl Library {
    pub fn open(_roots: &Roots) -> Library {
        Library {}
    }
}
