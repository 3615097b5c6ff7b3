//! User stacks from the registers and the stack dump of a sample (`--call-graph dwarf`).

use crate::ingest::Input;
pub use crate::objects::unwind::{Arch, ProcessUnwinder, UnwindEnd, UserRegs};

use super::attr::Attr;
use super::bytes::Order;
use super::sample::{Sample, register};

/// A mapping that the unwinder of its process has not been told of: opened only when a stack of that process comes up.
#[derive(Debug, Clone)]
pub struct NewMap {
    pub start: u64,
    pub end: u64,
    pub offset: u64,
    pub build_id: Option<String>,
    pub path: String,
}

/// A process's unwinder, made at its first stack.
#[derive(Default, Clone)]
pub struct Unwinding {
    pub new_maps: Vec<NewMap>,
    unwinder: Option<ProcessUnwinder>,
}

impl std::fmt::Debug for Unwinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unwinding").field("new_maps", &self.new_maps.len()).finish_non_exhaustive()
    }
}

/// How the unwinding of a file's stacks ended.
#[derive(Debug, Default)]
pub struct Ends {
    pub root: i64,
    pub cut: i64,
    pub no_table: i64,
    pub failed: i64,
    /// Dumps of another width or architecture than the unwinder knows.
    pub foreign: i64,
}

impl Unwinding {
    /// Appends ip and return addresses, unmodified, innermost first.
    pub fn unwind(&mut self, arch: Arch, regs: &UserRegs, stack: &[u8], input: &Input<'_>, ends: &mut Ends, out: &mut Vec<u64>) {
        let unwinder = self.unwinder.get_or_insert_with(|| ProcessUnwinder::new(arch));
        for map in self.new_maps.drain(..) {
            unwinder.add_map(input.library, map.start, map.end, map.offset, map.build_id.as_deref(), &map.path);
        }
        match unwinder.unwind(regs, stack, out) {
            UnwindEnd::Root => ends.root += 1,
            UnwindEnd::CutAtDump => ends.cut += 1,
            UnwindEnd::NoTable => ends.no_table += 1,
            UnwindEnd::Failed => ends.failed += 1,
        }
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
