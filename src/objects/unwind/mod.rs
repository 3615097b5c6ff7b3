//! Unwinding of the stack copies that `perf record --call-graph dwarf` makes: registers and the top of the stack in,
//! return addresses out. framehop does the work; here are the processes' maps and the tables that they share.
//!
//! A dso's table is parsed once and looked up by the address that its ELF states (svma), so that it serves every
//! process that maps the dso and its cached rules with it. Stack memory is read from the copy only.

mod frame;
mod table;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use framehop::aarch64::{CacheAarch64, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};

use super::bytes::Slice;
use super::library::{Found, Library};
use walk::{Memory, Walk, interrupted_x86_64};

pub use frame::is_set_up;
pub(super) use table::Table;

/// User registers of a sample; what unwinding starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserRegs {
    pub ip: u64,
    pub sp: u64,
    /// `rbp`, or `x29`.
    pub bp: u64,
    /// `x30` where the machine has it.
    pub lr: Option<u64>,
}

/// Machines whose stacks can be unwound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arch {
    X86_64,
    Aarch64,
}

/// How an unwinding ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnwindEnd {
    /// At the outermost function of the thread.
    Root,
    /// Where the copied part of the stack ends: the frames so far are good, the rest is not in the file.
    CutAtDump,
    /// In code for which no unwind table was found (no object file, vDSO, generated code), and the frame pointer did
    /// not lead on.
    NoTable,
    /// In code with a table that gave nothing plausible.
    Failed,
}

/// Deeper stacks than this do not fit into the 64 KiB that perf copies, unless something loops.
const FRAMES_MAX: usize = 8192;

/// The maps of one process at one moment. Cloning it is cheap: that is what fork does, and what a worker gets.
#[derive(Debug, Clone, Default)]
pub struct ProcessUnwinder {
    maps: Arc<BTreeMap<u64, Map>>,
}

#[derive(Debug, Clone)]
struct Map {
    end: u64,
    file_offset: u64,
    /// `None` for what stands for no file.
    found: Option<Arc<Found>>,
}

/// framehop's rule cache. It serves all processes, since rules are kept by the dso's own addresses; each thread that
/// unwinds has its own.
pub struct UnwindCache(Cache);

enum Cache {
    X86_64(CacheX86_64<framehop::MayAllocateDuringUnwind>, UnwinderX86_64<Slice>),
    Aarch64(CacheAarch64<framehop::MayAllocateDuringUnwind>, UnwinderAarch64<Slice>),
}

impl std::fmt::Debug for UnwindCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UnwindCache")
    }
}

impl ProcessUnwinder {
    /// Adds an executable mapping; it replaces what it overlaps. Addresses as executed, `file_offset` in bytes.
    pub fn add_map(&mut self, library: &Library, start: u64, end: u64, file_offset: u64, build_id: Option<&str>, path: &str) {
        if start >= end {
            return;
        }
        let known = build_id.is_some() || !super::is_pseudo(path);
        let found = known.then(|| library.find(path, build_id));
        let maps = Arc::make_mut(&mut self.maps);
        cut_out(maps, start..end);
        maps.insert(start, Map { end, file_offset, found });
    }

    /// Appends the instruction pointer, then the return addresses as they stand on the stack. After a signal handler
    /// comes the interrupted instruction itself: one is added to it, so that who subtracts one from every return
    /// address ends at that instruction. `stack` is the memory from `regs.sp` on.
    pub fn unwind(&self, cache: &mut UnwindCache, regs: &UserRegs, stack: &[u8], out: &mut Vec<u64>) -> UnwindEnd {
        let memory = Memory { base: regs.sp, stack };
        let walk = Walk { maps: &self.maps, memory, out };
        match &mut cache.0 {
            Cache::X86_64(cache, blind) => {
                let start = UnwindRegsX86_64::new(regs.ip, regs.sp, regs.bp);
                walk.run(regs.ip, start, cache, blind, |table, svma| table.x86_64(svma), interrupted_x86_64)
            }
            Cache::Aarch64(cache, blind) => {
                // User space has 48 bits of address at most; what lies above them is pointer authentication.
                let mask = PtrAuthMask(u64::MAX >> 16);
                let start = UnwindRegsAarch64::new_with_ptr_auth_mask(mask, regs.lr.unwrap_or(0), regs.sp, regs.bp);
                walk.run(regs.ip, start, cache, blind, |table, svma| table.aarch64(svma), |_, _, _| None)
            }
        }
    }
}

impl UnwindCache {
    /// An empty cache for stacks of this machine.
    pub fn new(arch: Arch) -> UnwindCache {
        UnwindCache(match arch {
            Arch::X86_64 => Cache::X86_64(CacheX86_64::new(), UnwinderX86_64::new()),
            Arch::Aarch64 => Cache::Aarch64(CacheAarch64::new(), UnwinderAarch64::new()),
        })
    }
}

/// Frees a range: maps inside go, maps that reach out of it keep their outer parts.
fn cut_out(maps: &mut BTreeMap<u64, Map>, range: Range<u64>) {
    let before = maps.range(..range.start).next_back().filter(|(_, map)| map.end > range.start).map(|(start, _)| *start);
    let overlapping: Vec<u64> = before.into_iter().chain(maps.range(range.clone()).map(|(start, _)| *start)).collect();
    for start in overlapping {
        let Some(map) = maps.remove(&start) else { continue };
        if map.end > range.end {
            let file_offset = map.file_offset.saturating_add(range.end - start);
            maps.insert(range.end, Map { file_offset, ..map.clone() });
        }
        if start < range.start {
            maps.insert(start, Map { end: range.start, ..map });
        }
    }
}
