//! User stacks from the registers and the stack dump of a sample (`--call-graph dwarf`).

pub use crate::objects::unwind::{Arch, ProcessUnwinder, UnwindCache, UnwindEnd, UserRegs};

use super::attr::Attr;
use super::bytes::Order;
use super::sample::{Sample, register};
use crate::objects::Library;

/// A mapping that the unwinder of its process has not been told of: opened only when a stack of that process comes up.
#[derive(Debug, Clone)]
pub struct NewMap {
    pub start: u64,
    pub end: u64,
    pub offset: u64,
    pub build_id: Option<String>,
    pub path: String,
}

/// A process's maps as the unwinder needs them.
#[derive(Debug, Default, Clone)]
pub struct Unwinding {
    pub new_maps: Vec<NewMap>,
    unwinder: ProcessUnwinder,
}

impl Unwinding {
    /// The process as it is now.
    pub fn unwinder(&mut self, library: &Library) -> ProcessUnwinder {
        for map in self.new_maps.drain(..) {
            self.unwinder.add_map(library, map.start, map.end, map.offset, map.build_id.as_deref(), &map.path);
        }
        self.unwinder.clone()
    }
}

/// How the unwinding of a file's stacks ended.
#[derive(Debug, Default, Clone, Copy)]
pub struct Ends {
    pub root: i64,
    pub cut: i64,
    pub no_table: i64,
    pub failed: i64,
    /// Dumps of another width or architecture than the unwinder knows.
    pub foreign: i64,
}

impl Ends {
    pub fn count(&mut self, end: UnwindEnd) {
        match end {
            UnwindEnd::Root => self.root += 1,
            UnwindEnd::CutAtDump => self.cut += 1,
            UnwindEnd::NoTable => self.no_table += 1,
            UnwindEnd::Failed => self.failed += 1,
        }
    }

    pub fn add(&mut self, other: Ends) {
        self.root += other.root;
        self.cut += other.cut;
        self.no_table += other.no_table;
        self.failed += other.failed;
        self.foreign += other.foreign;
    }
}

/// The registers an unwinder starts from; `None` for 32-bit tasks and dumps without them.
/// Numbers: arch/{x86,arm64}/include/uapi/asm/perf_regs.h.
pub fn user_regs(arch: Arch, attr: &Attr, sample: &Sample<'_>, order: Order) -> Option<UserRegs> {
    const ABI_64: u64 = 2;
    let (abi, regs) = sample.regs?;
    if abi != ABI_64 || order == Order::Big {
        return None;
    }
    let get = |number| register(attr, regs, number, order);
    match arch {
        Arch::X86_64 => Some(UserRegs { bp: get(6)?, sp: get(7)?, ip: get(8)?, lr: None }),
        Arch::Aarch64 => Some(UserRegs { bp: get(29)?, lr: get(30), sp: get(31)?, ip: get(32)? }),
    }
}
