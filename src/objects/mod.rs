//! OBJECT FILES: found by build-id under the roots given, mapped, never written. The one door of `object`, `gimli`,
//! `addr2line` and `framehop`; a leaf that both ingest (unwinding) and symbolize (names) use.
//!
//! Nothing is ever taken from a file whose build-id differs from the one recorded, nor from the local kernel. A file
//! is known by what is in it, not by its name: ELF files and kallsyms texts, plain or compressed with zstd or gzip.
//!
//! Where a dso's files are looked for, in this order; what was tried is kept for messages ([`Found::tried`]):
//! 1. the symbol directories, by build-id (any layout: flat, a sysroot, `perf archive`, `.build-id/ab/cdef.debug`);
//! 2. the path that was recorded, where the user allowed that;
//! 3. the debug roots: `.build-id/ab/cdef.debug`, then `.gnu_debuglink` (equal build-id, or equal CRC where the debug
//!    file has none); only where no full symbol table was found so far, so that a recording that brings its symbols
//!    is named alike on every machine;
//! 4. only where the recording states no build-id for the dso: a file of the same base name in a symbol directory,
//!    and the doubt is reported.
//!
//! For one build-id two files matter and are kept apart: the *image* (it has the code, `.eh_frame` and true program
//! headers) and the *names* (the better of full DWARF > `.symtab` > `.dynsym`).

mod build_id;
mod bytes;
mod declarations;
mod elf;
mod index;
mod kallsyms;
mod library;
mod lines;
mod plt;
mod symbols;
pub mod unwind;

use std::path::PathBuf;

pub use build_id::normalize as normalize_build_id;
pub use elf::{Elf, Quality};
pub use kallsyms::{Kallsyms, KernelId};
pub use library::{Found, Library};
pub use lines::{Chain, Place, chains};
pub use symbols::{Symbol, SymbolTable};

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

/// Names that stand for no file: never opened, whatever lies at that path on this machine.
pub fn is_pseudo(path: &str) -> bool {
    path.is_empty()
        || path.starts_with('[')
        || ["//anon", "/anon_hugepage", "/memfd:", "anon_inode:", "/dev/zero", "/SYSV", "inode:", "socket:", "pipe:"]
            .iter()
            .any(|prefix| path.starts_with(prefix))
}

/// The last part of a path.
fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
