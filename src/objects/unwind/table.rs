//! The unwind tables of a dso: `.eh_frame` of its image, `.debug_frame` of the image or of its debug file.

use std::ops::Range;

use framehop::aarch64::UnwinderAarch64;
use framehop::x86_64::UnwinderX86_64;
use framehop::{ExplicitModuleSectionInfo, Module, Unwinder};
use gimli::{EndianSlice, LittleEndian, UnwindSection};
use object::{Object as _, ObjectSection as _};

use super::super::bytes::{Bytes, Slice};
use super::super::elf::Elf;
use super::super::library::Found;

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
    pub fn read(found: &Found) -> Option<Table> {
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

    pub fn x86_64(&self, svma: u64) -> Option<&UnwinderX86_64<Slice>> {
        match self.machine(svma) {
            Machine::X86_64(unwinder) => Some(unwinder),
            Machine::Aarch64(_) => None,
        }
    }

    pub fn aarch64(&self, svma: u64) -> Option<&UnwinderAarch64<Slice>> {
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
