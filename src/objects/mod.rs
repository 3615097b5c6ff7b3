//! OBJECT FILES: found by build-id under the roots given, mapped, never written. The one door of `object`, `gimli`,
//! `addr2line` and `framehop`; a leaf that both ingest (unwinding) and symbolize (names) use.
//!
//! Nothing is ever taken from a file whose build-id differs from the one recorded, nor from the local kernel. A file
//! is known by what is in it, not by its name: ELF files, kallsyms texts and tarballs of them, plain or compressed with
//! zstd, gzip, xz or bzip2. Names of code that JIT compilers made lie in `perf-PID.map` and `jit-PID.dump` (`jit`).
//!
//! Where a dso's files are looked for, in this order; what was tried is kept for messages ([`Found::tried`]):
//! 1. the symbol directories, by build-id (any layout: flat, a sysroot, `perf archive` or its tarball, a debuginfod
//!    cache, `.build-id/ab/cdef.debug`);
//! 2. the path that was recorded: rewritten by the path maps, below the sysroots, then on this machine where the user
//!    allowed that; always with an equal build-id, and below the directories given only (see `below`);
//! 3. the debug roots: `.build-id/ab/cdef.debug`, then `.gnu_debuglink` (equal build-id, or equal CRC where the debug
//!    file has none); only where no full symbol table was found so far, so that a recording that brings its symbols
//!    is named alike on every machine;
//! 4. only where the recording states no build-id for the dso: the file at its path below a sysroot or path map, or
//!    one of the same base name in a symbol directory, and the doubt is reported.
//!
//! For one build-id two files matter and are kept apart: the *image* (it has the code, `.eh_frame` and true program
//! headers) and the *names* (the better of full DWARF > `.symtab` > `.gnu_debugdata` > `.dynsym`).

mod archive;
mod below;
mod build_id;
mod bytes;
mod declarations;
mod elf;
mod index;
pub mod jit;
mod kallsyms;
mod library;
mod lines;
mod plt;
mod symbols;
pub mod unwind;

use std::path::{Path, PathBuf};

pub use build_id::normalize as normalize_build_id;
pub use bytes::{Compression, compression, decoder};
pub use elf::{Elf, Quality};
pub use kallsyms::{Kallsyms, KernelId};
pub use library::{Found, Library};
pub use lines::{Chain, Lookup, Place, look_up};
pub use symbols::{Symbol, SymbolTable, address_of};

/// Where object files may be looked for.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// Directories the user gave, or the documented ones beside the recording (`symbols/` in the input directory and
    /// beside it), or tarballs of one: every file in them is looked at, compressed ones included.
    pub symbol_dirs: Vec<PathBuf>,
    /// Documented debug roots with `.build-id/ab/cdef.debug` below (`/usr/lib/debug`), used by build-id only.
    pub debug_dirs: Vec<PathBuf>,
    /// Whether the recorded path itself may be opened on this machine (then, too, only with an equal build-id).
    pub recorded_paths: bool,
    /// Root directories of other machines and containers: recorded paths are looked up below them.
    pub sysroots: Vec<PathBuf>,
    /// (FROM, TO): a recorded path that begins with FROM lies below TO on this machine. The first that fits and has the
    /// file is taken.
    pub path_maps: Vec<(String, PathBuf)>,
    /// Directories in which JIT compilers left `perf-PID.map` and `jit-PID.dump`; nothing else in them is looked at.
    pub jit_dirs: Vec<PathBuf>,
}

impl Roots {
    /// Where a path of the recorded machine may lie here: below the path maps, then below the sysroots.
    fn places(&self, path: &str) -> Vec<PathBuf> {
        let mapped = self.path_maps.iter().filter_map(|(from, to)| Some((to, below::rest(path, from)?)));
        let rooted = self.sysroots.iter().map(|root| (root, path));
        mapped.chain(rooted).filter_map(|(root, rest)| below::resolve(root, Path::new(rest))).collect()
    }

    /// Debug roots: those given, then those of the sysroots.
    fn all_debug_dirs(&self) -> Vec<PathBuf> {
        let of_sysroot = |root: &PathBuf| below::resolve(root, Path::new("/usr/lib/debug"));
        let mut dirs: Vec<PathBuf> = self.sysroots.iter().filter_map(of_sysroot).collect();
        dirs.extend(self.debug_dirs.iter().cloned());
        dirs
    }
}

/// Names that stand for no file: never opened, whatever lies at that path on this machine.
pub fn is_pseudo(path: &str) -> bool {
    path.is_empty()
        || path.starts_with('[')
        || ["//anon", "/anon_hugepage", "/memfd:", "anon_inode:", "/dev/zero", "/SYSV", "inode:", "socket:", "pipe:"]
            .iter()
            .any(|prefix| path.starts_with(prefix))
}

/// What compression adds to a file's name.
const SUFFIXES: [&str; 4] = [".zst", ".gz", ".xz", ".bz2"];

/// The last part of a path.
fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
