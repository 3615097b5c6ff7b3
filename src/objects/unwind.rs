//! Unwinding of the stack copies that `perf record --call-graph dwarf` makes: registers and the top of the stack in,
//! return addresses out. framehop does the work; here are the processes' maps and the tables that they share.
//!
//! A dso's table is parsed once and looked up by the address that its ELF states (svma), so that it serves every
//! process that maps the dso and its cached rules with it. Stack memory is read from the copy only.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use framehop::aarch64::{CacheAarch64, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64};
use framehop::x86_64::{CacheX86_64, Reg, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use gimli::{EndianSlice, LittleEndian, UnwindSection};
use object::{Object as _, ObjectSection as _};

use super::bytes::{Bytes, Slice};
use super::elf::Elf;
use super::library::{Found, Library};

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

/// The maps of one process at one moment. Cloning it is cheap: that is what fork does.
#[derive(Debug)]
pub struct ProcessUnwinder {
    arch: Arch,
    maps: Arc<BTreeMap<u64, Map>>,
    cache: Option<Box<Cache>>,
}

#[derive(Debug, Clone)]
struct Map {
    end: u64,
    file_offset: u64,
    /// `None` for what stands for no file.
    found: Option<Arc<Found>>,
}

/// framehop's rule caches; made at the first unwinding, since most processes of a system are never sampled.
enum Cache {
    X86_64(CacheX86_64<framehop::MayAllocateDuringUnwind>, UnwinderX86_64<Slice>),
    Aarch64(CacheAarch64<framehop::MayAllocateDuringUnwind>, UnwinderAarch64<Slice>),
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cache")
    }
}

impl Clone for ProcessUnwinder {
    fn clone(&self) -> Self {
        ProcessUnwinder { arch: self.arch, maps: self.maps.clone(), cache: None }
    }
}

impl ProcessUnwinder {
    /// A process without maps.
    pub fn new(arch: Arch) -> Self {
        ProcessUnwinder { arch, maps: Arc::default(), cache: None }
    }

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
    pub fn unwind(&mut self, regs: &UserRegs, stack: &[u8], out: &mut Vec<u64>) -> UnwindEnd {
        let cache = self.cache.get_or_insert_with(|| Box::new(Cache::new(self.arch)));
        let memory = Memory { base: regs.sp, stack };
        let walk = Walk { maps: &self.maps, memory, out };
        match &mut **cache {
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

impl Cache {
    fn new(arch: Arch) -> Cache {
        match arch {
            Arch::X86_64 => Cache::X86_64(CacheX86_64::new(), UnwinderX86_64::new()),
            Arch::Aarch64 => Cache::Aarch64(CacheAarch64::new(), UnwinderAarch64::new()),
        }
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

/// The copied stack.
#[derive(Clone, Copy)]
struct Memory<'a> {
    base: u64,
    stack: &'a [u8],
}

impl Memory<'_> {
    fn read(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let bytes = self.stack.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Whether an address lies behind the copy, where the rest of the stack would be.
    fn is_behind(&self, address: u64) -> bool {
        /// Larger than any stack that is in use.
        const STACK_MAX: u64 = 1 << 30;
        let end = self.base.saturating_add(self.stack.len() as u64).saturating_sub(7);
        address >= end && address - end < STACK_MAX
    }
}

struct Walk<'a> {
    maps: &'a BTreeMap<u64, Map>,
    memory: Memory<'a>,
    out: &'a mut Vec<u64>,
}

/// Where an address lies.
struct Located<'a> {
    found: Option<&'a Arc<Found>>,
    file_offset: u64,
    svma: Option<u64>,
}

impl Walk<'_> {
    fn locate(&self, address: u64) -> Option<Located<'_>> {
        let (start, map) = self.maps.range(..=address).next_back().filter(|(_, map)| address < map.end)?;
        let file_offset = (address - start).wrapping_add(map.file_offset);
        let svma = map.found.as_ref().and_then(|found| found.svma(file_offset, Some(map.file_offset)));
        Some(Located { found: map.found.as_ref(), file_offset, svma })
    }

    /// Steps from frame to frame. `blind` knows no module: it follows frame pointers.
    fn run<U: Unwinder>(
        self,
        ip: u64,
        mut regs: U::UnwindRegs,
        cache: &mut U::Cache,
        blind: &U,
        pick: impl for<'t> Fn(&'t Table, u64) -> Option<&'t U>,
        interrupted: impl Fn(&Located<'_>, Memory<'_>, &U::UnwindRegs) -> Option<(U::UnwindRegs, u64)>,
    ) -> UnwindEnd {
        let memory = self.memory;
        let mut read = |address: u64| memory.read(address).ok_or(());
        let mut at = FrameAddress::from_instruction_pointer(ip);
        self.out.push(ip);
        for _ in 0..FRAMES_MAX {
            let located = self.locate(at.address_for_lookup());
            if let Some((before, ip)) = self.locate(at.address()).and_then(|place| interrupted(&place, memory, &regs)) {
                regs = before;
                at = FrameAddress::from_instruction_pointer(ip);
                self.out.push(ip.saturating_add(1));
                continue;
            }
            let table = located.as_ref().and_then(|located| located.found?.unwind_table());
            let picked = table.as_deref().zip(located.as_ref().and_then(|located| located.svma));
            let with_table = picked.and_then(|(table, svma)| pick(table, svma).zip(Some(svma)));
            let step = match with_table {
                Some((unwinder, svma)) => unwinder.unwind_frame(restated(at, svma), &mut regs, cache, &mut read),
                None => blind.unwind_frame(at, &mut regs, cache, &mut read),
            };
            let lost = if with_table.is_some() { UnwindEnd::Failed } else { UnwindEnd::NoTable };
            match step {
                Ok(None) => return if with_table.is_some() { UnwindEnd::Root } else { lost },
                Ok(Some(next)) => match FrameAddress::from_return_address(next) {
                    // Whatever is no code that was mapped is no return address.
                    Some(frame) if self.locate(frame.address_for_lookup()).is_some() => {
                        self.out.push(next);
                        at = frame;
                    }
                    _ => return lost,
                },
                Err(framehop::Error::CouldNotReadStack(address)) if with_table.is_some() && memory.is_behind(address) => {
                    return UnwindEnd::CutAtDump;
                }
                Err(_) => return lost,
            }
        }
        UnwindEnd::Failed
    }
}

/// The same frame at the address that its ELF states.
fn restated(frame: FrameAddress, lookup_svma: u64) -> FrameAddress {
    match frame {
        FrameAddress::InstructionPointer(_) => FrameAddress::from_instruction_pointer(lookup_svma),
        FrameAddress::ReturnAddress(_) => {
            FrameAddress::from_return_address(lookup_svma.wrapping_add(1)).unwrap_or(FrameAddress::InstructionPointer(lookup_svma))
        }
    }
}

/// A signal handler returns into `mov $15, %rax; syscall` (libc's __restore_rt); the interrupted registers lie in the
/// ucontext at the stack pointer. framehop does not evaluate the expressions that describe this.
fn interrupted_x86_64(place: &Located<'_>, memory: Memory<'_>, regs: &UnwindRegsX86_64) -> Option<(UnwindRegsX86_64, u64)> {
    const TRAMPOLINE: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
    // Offsets of rbp, rsp and rip in struct ucontext (asm/sigcontext.h).
    const RBP: u64 = 120;
    const RSP: u64 = 160;
    const RIP: u64 = 168;
    let image = place.found?.image.as_ref()?;
    let at = usize::try_from(place.file_offset).ok()?;
    if image.bytes().get(at..at.checked_add(TRAMPOLINE.len())?)? != TRAMPOLINE {
        return None;
    }
    let context = regs.get(Reg::RSP);
    let read = |offset: u64| memory.read(context.checked_add(offset)?);
    let (bp, sp, ip) = (read(RBP)?, read(RSP)?, read(RIP)?);
    // An alternate signal stack would lead out of the copy; then the frames end here.
    Some((UnwindRegsX86_64::new(ip, sp, bp), ip))
}

/// The unwind tables of one dso.
pub struct Table {
    main: Machine,
    /// `.debug_frame`, where there is an `.eh_frame` too and it covers other functions.
    extra: Option<(Machine, Vec<Range<u64>>)>,
}

enum Machine {
    X86_64(UnwinderX86_64<Slice>),
    Aarch64(UnwinderAarch64<Slice>),
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Table")
    }
}

impl Table {
    /// `None` where the files of the dso have no table, or are of a machine that is not unwound.
    pub(super) fn read(found: &Found) -> Option<Table> {
        let image = found.image.as_ref();
        let main = image.and_then(|image| eh_frame(image));
        let frame = [image, found.names.as_ref()].into_iter().flatten().find_map(|elf| debug_frame(elf));
        match (main, frame) {
            (Some(main), Some((extra, ranges))) => Some(Table { main, extra: Some((extra, ranges)) }),
            (Some(main), None) => Some(Table { main, extra: None }),
            (None, Some((main, _))) => Some(Table { main, extra: None }),
            (None, None) => None,
        }
    }

    fn machine(&self, svma: u64) -> &Machine {
        match &self.extra {
            Some((extra, ranges)) => {
                let after = ranges.partition_point(|range| range.start <= svma);
                let covered = after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|range| svma < range.end);
                if covered { extra } else { &self.main }
            }
            None => &self.main,
        }
    }

    fn x86_64(&self, svma: u64) -> Option<&UnwinderX86_64<Slice>> {
        match self.machine(svma) {
            Machine::X86_64(unwinder) => Some(unwinder),
            Machine::Aarch64(_) => None,
        }
    }

    fn aarch64(&self, svma: u64) -> Option<&UnwinderAarch64<Slice>> {
        match self.machine(svma) {
            Machine::Aarch64(unwinder) => Some(unwinder),
            Machine::X86_64(_) => None,
        }
    }
}

impl Machine {
    fn new(elf: &Elf, sections: ExplicitModuleSectionInfo<Slice>) -> Option<Machine> {
        let range = elf.svma_range()?;
        let module = Module::new(elf.label.clone(), range, sections.base_svma, sections);
        match elf.summary.machine {
            object::elf::EM_X86_64 => {
                let mut unwinder = UnwinderX86_64::new();
                unwinder.add_module(module);
                Some(Machine::X86_64(unwinder))
            }
            object::elf::EM_AARCH64 => {
                let mut unwinder = UnwinderAarch64::new();
                unwinder.add_module(module);
                Some(Machine::Aarch64(unwinder))
            }
            _ => None,
        }
    }
}

/// framehop keeps addresses relative to a base in 32 bits; 0 serves all but programs linked high up, and keeps entries
/// of functions that the linker dropped (address 0) from being an error.
fn base_svma(elf: &Elf) -> Option<u64> {
    let range = elf.svma_range()?;
    Some(if range.end <= u64::from(u32::MAX) { 0 } else { range.start })
}

fn eh_frame(elf: &Elf) -> Option<Machine> {
    let file = elf.file()?;
    if !file.is_64() || !file.is_little_endian() {
        return None;
    }
    let section = |name: &str| elf.stored_section(&file, name);
    let span = |(start, data): &(u64, Slice)| *start..start.saturating_add(data.len() as u64);
    let address =
        |name: &str| file.section_by_name(name).map(|section| section.address()..section.address().saturating_add(section.size()));
    let eh_frame = section(".eh_frame")?;
    let header = section(".eh_frame_hdr");
    let sections = ExplicitModuleSectionInfo {
        base_svma: base_svma(elf)?,
        text_svma: address(".text"),
        got_svma: address(".got"),
        eh_frame_svma: Some(span(&eh_frame)),
        eh_frame: Some(eh_frame.1),
        eh_frame_hdr_svma: header.as_ref().map(span),
        eh_frame_hdr: header.map(|header| header.1),
        ..ExplicitModuleSectionInfo::default()
    };
    Machine::new(elf, sections)
}

/// `.debug_frame` and the ranges that it covers.
fn debug_frame(elf: &Elf) -> Option<(Machine, Vec<Range<u64>>)> {
    let file = elf.file()?;
    if !file.is_64() || !file.is_little_endian() {
        return None;
    }
    let data = Bytes::from(Elf::section(&file, ".debug_frame").into_owned());
    if data.is_empty() {
        return None;
    }
    let ranges = covered(&data);
    let len = data.len();
    let sections = ExplicitModuleSectionInfo {
        base_svma: base_svma(elf)?,
        debug_frame: Some(Slice::new(&data, 0..len)?),
        ..ExplicitModuleSectionInfo::default()
    };
    Some((Machine::new(elf, sections)?, ranges))
}

fn covered(data: &[u8]) -> Vec<Range<u64>> {
    let mut section = gimli::DebugFrame::from(EndianSlice::new(data, LittleEndian));
    section.set_address_size(8);
    let bases = gimli::BaseAddresses::default();
    let mut entries = section.entries(&bases);
    let mut ranges = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        let gimli::CieOrFde::Fde(partial) = entry else { continue };
        let Ok(fde) = partial.parse(|section, bases, offset| section.cie_from_offset(bases, offset)) else { continue };
        if fde.initial_address() != 0 && fde.len() > 0 {
            ranges.push(fde.initial_address()..fde.initial_address().saturating_add(fde.len()));
        }
    }
    ranges.sort_by_key(|range| range.start);
    ranges
}
