//! Names for the procedure linkage table: its slots are code without symbols, called `write@plt` by all tools.

use object::elf::{EM_AARCH64, EM_X86_64, SHT_RELA};
use object::read::elf::{ElfFile, FileHeader, Rela as _, SectionHeader, Sym as _};
use object::{Endianness, Object as _, ObjectSection as _};

use super::elf::Elf;

/// (first address, end, name) of each slot. Empty for other machines than x86-64 and AArch64.
pub fn slots(image: &Elf) -> Vec<(u64, u64, String)> {
    match image.file() {
        Some(object::File::Elf64(file)) => read(&file).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn read<'data, H: FileHeader<Endian = Endianness>>(file: &ElfFile<'data, H>) -> Option<Vec<(u64, u64, String)>> {
    const SLOT: u64 = 16;
    let endian = file.endian();
    let span = |name: &str| file.section_by_name(name).map(|section| (section.address(), section.size()));
    // Where indirect branches are tracked, calls go to .plt.sec, which has no header.
    let (start, size, header) = match (file.elf_header().e_machine(endian), span(".plt.sec"), span(".plt")) {
        (EM_X86_64, Some((start, size)), _) => (start, size, 0),
        (EM_X86_64, None, Some((start, size))) => (start, size, 16),
        (EM_AARCH64, _, Some((start, size))) => (start, size, 32),
        _ => return None,
    };
    let sections = file.elf_section_table();
    let relocations = sections.iter().find(|section| {
        section.sh_type(endian) == SHT_RELA && sections.section_name(endian, section).is_ok_and(|name| name == b".rela.plt")
    })?;
    let (relocations, _) = relocations.rela(endian, file.data()).ok()??;
    let symbols = file.elf_dynamic_symbol_table();
    let first = start.checked_add(header)?;
    let last = start.checked_add(size)?;
    let mut out = Vec::new();
    for (at, relocation) in relocations.iter().enumerate() {
        let slot = first.checked_add(SLOT.checked_mul(at as u64)?)?;
        let end = slot.checked_add(SLOT).filter(|end| *end <= last)?;
        let index = relocation.r_sym(endian, false);
        let symbol = symbols.symbol(object::SymbolIndex(index as usize)).ok();
        let name = symbol.and_then(|symbol| symbol.name(endian, symbols.strings()).ok()).unwrap_or(b"");
        let name = match String::from_utf8_lossy(name) {
            // The target is chosen at start (IFUNC): objdump writes it so.
            name if name.is_empty() => format!("*ABS*+{:#x}@plt", relocation.r_addend(endian).into()),
            name => format!("{name}@plt"),
        };
        out.push((slot, end, name));
    }
    Some(out)
}
