//! From frame to frame of one stack.

use std::collections::BTreeMap;
use std::sync::Arc;

use framehop::x86_64::{Reg, UnwindRegsX86_64};
use framehop::{FrameAddress, Unwinder};

use super::super::library::Found;
use super::table::Table;
use super::{FRAMES_MAX, Map, UnwindEnd};

/// The copied stack.
#[derive(Clone, Copy)]
pub(super) struct Memory<'a> {
    pub base: u64,
    pub stack: &'a [u8],
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

/// One stack of one process.
pub(super) struct Walk<'a> {
    pub maps: &'a BTreeMap<u64, Map>,
    pub memory: Memory<'a>,
    pub out: &'a mut Vec<u64>,
}

/// Where an address lies.
pub(super) struct Located<'a> {
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
    pub fn run<U: Unwinder>(
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
            let picked = table.zip(located.as_ref().and_then(|located| located.svma));
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
pub(super) fn interrupted_x86_64(place: &Located<'_>, memory: Memory<'_>, regs: &UnwindRegsX86_64) -> Option<(UnwindRegsX86_64, u64)> {
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
