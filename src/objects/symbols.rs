//! The symbol table of an ELF file: which function an address belongs to.
//!
//! Where several symbols begin at one address, the choice is the one perf makes (`symbols__fixup_duplicate` in its
//! util/symbol.c), so that the two agree: a symbol with a size, then one that is not weak, then a global one, then
//! the one with fewer leading underscores, then the longer name, then the first of the table.

use std::borrow::Cow;

use object::elf::{SHN_ABS, SHN_UNDEF, STB_GLOBAL, STB_WEAK, STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STV_HIDDEN, STV_INTERNAL};
use object::read::elf::{ElfFile, FileHeader, SectionHeader, Sym, SymbolTable as RawTable};
use object::{Endianness, SectionIndex};

use super::elf::Elf;
use super::plt;

/// One function of a symbol table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// First address, as the ELF states it (svma).
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Name as it stands in the table: not demangled.
    pub name: Cow<'a, str>,
    binding: u8,
}

/// The functions of one ELF file, by address; one per start address.
#[derive(Debug, Default)]
pub struct SymbolTable<'a> {
    symbols: Vec<Symbol<'a>>,
}

impl<'a> SymbolTable<'a> {
    /// From `.symtab`, or from `.dynsym` and `.gnu_debugdata` where there is no other; from the first of the files that
    /// has one. The slots of the procedure linkage table follow, from the file that has them.
    pub fn read(files: &[&'a Elf]) -> SymbolTable<'a> {
        let of = |elf: &'a Elf| match elf.file() {
            Some(object::File::Elf32(file)) => collect(&file),
            Some(object::File::Elf64(file)) => collect(&file),
            _ => Vec::new(),
        };
        let both = |elf: &&'a Elf| {
            let mut symbols = of(elf);
            symbols.extend(elf.mini().map(of).unwrap_or_default());
            symbols
        };
        let symbols = files.iter().map(both).find(|symbols| !symbols.is_empty()).unwrap_or_default();
        let mut table = SymbolTable { symbols: settle(symbols) };
        let slots = files.iter().map(|elf| plt::slots(elf)).find(|slots| !slots.is_empty()).unwrap_or_default();
        // `_init` has no size and would reach over the whole table; only what begins at a slot itself is kept instead.
        let is_named = |start: u64| table.symbols.binary_search_by_key(&start, |symbol| symbol.start).is_ok();
        let unnamed: Vec<_> = slots.into_iter().filter(|(start, ..)| !is_named(*start)).collect();
        let slot = |(start, end, name): (u64, u64, String)| Symbol { start, end, name: Cow::Owned(name), binding: STB_GLOBAL };
        table.symbols.extend(unnamed.into_iter().map(slot));
        table.symbols.sort_by_key(|symbol| symbol.start);
        table
    }

    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// The function that contains an address.
    pub fn lookup(&self, svma: u64) -> Option<&Symbol<'a>> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= svma);
        // A local label inside a function can hide it; a few steps back finds the one around it.
        self.symbols.get(..after)?.iter().rev().take(16).find(|symbol| svma < symbol.end)
    }
}

/// The address of a symbol by its name, among all of the file: `_text` lies where the kernel's first function does.
pub fn address_of(elf: &Elf, name: &str) -> Option<u64> {
    let symbols = match elf.file()? {
        object::File::Elf32(file) => collect(&file),
        object::File::Elf64(file) => collect(&file),
        _ => return None,
    };
    symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.start)
}

fn collect<'a, H: FileHeader<Endian = Endianness>>(file: &ElfFile<'a, H>) -> Vec<Symbol<'a>> {
    let full = from_table(file, file.elf_symbol_table());
    if full.is_empty() { from_table(file, file.elf_dynamic_symbol_table()) } else { full }
}

fn from_table<'a, H: FileHeader<Endian = Endianness>>(file: &ElfFile<'a, H>, table: &RawTable<'a, H>) -> Vec<Symbol<'a>> {
    let endian = file.endian();
    // Bit 0 of an ARM function's address says that it is Thumb code.
    let mask = if file.elf_header().e_machine(endian) == object::elf::EM_ARM { !1 } else { !0 };
    let mut out = Vec::new();
    for (index, symbol) in table.enumerate() {
        let section = symbol.st_shndx(endian);
        if section == SHN_UNDEF {
            continue;
        }
        let wanted = match symbol.st_type() {
            STT_FUNC | STT_GNU_IFUNC => true,
            STT_NOTYPE => section != SHN_ABS && is_code_label(file, table, symbol, index),
            _ => false,
        };
        let Some(name) = symbol.name(endian, table.strings()).ok().and_then(|name| std::str::from_utf8(name).ok()) else { continue };
        if !wanted || name.is_empty() || is_mapping_symbol(name) {
            continue;
        }
        let start = symbol.st_value(endian).into() & mask;
        let end = start.saturating_add(symbol.st_size(endian).into());
        out.push(Symbol { start, end, name: Cow::Borrowed(name), binding: symbol.st_bind() });
    }
    out
}

/// Mapping symbols of ARM and RISC-V (`$a`, `$d.12`, `$xrv64i...`) are no functions. Swift's names begin with `$s`.
fn is_mapping_symbol(name: &str) -> bool {
    let rest = ["$a", "$d", "$t", "$x"].iter().find_map(|prefix| name.strip_prefix(prefix));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || name.starts_with("$xrv"))
}

/// A label without a type counts where it is visible and lies in a text section: assembly routines are written so.
fn is_code_label<'a, H: FileHeader<Endian = Endianness>>(
    file: &ElfFile<'a, H>,
    table: &RawTable<'a, H>,
    symbol: &H::Sym,
    index: object::SymbolIndex,
) -> bool {
    let endian = file.endian();
    if matches!(symbol.st_visibility(), STV_HIDDEN | STV_INTERNAL) {
        return false;
    }
    let Ok(Some(SectionIndex(section))) = table.symbol_section(endian, symbol, index) else { return false };
    let sections = file.elf_section_table();
    sections.section(SectionIndex(section)).is_ok_and(|section| {
        let name = sections.section_name(endian, section).unwrap_or(b"");
        name.windows(4).any(|part| part == b"text") && section.sh_size(endian).into() > 0
    })
}

/// Sorts, gives symbols without a size the room up to the next one, and keeps one symbol per address.
fn settle(mut symbols: Vec<Symbol<'_>>) -> Vec<Symbol<'_>> {
    symbols.sort_by_key(|symbol| symbol.start);
    for at in 0..symbols.len() {
        let next = symbols.get(at + 1).map(|next| next.start);
        if let Some(symbol) = symbols.get_mut(at)
            && symbol.end == symbol.start
        {
            symbol.end = next.unwrap_or_else(|| (symbol.start | 4095).saturating_add(4097));
        }
    }
    let mut out: Vec<Symbol<'_>> = Vec::with_capacity(symbols.len());
    for symbol in symbols {
        match out.last_mut() {
            Some(last) if last.start == symbol.start => {
                if is_better(&symbol, last) {
                    *last = symbol;
                }
            }
            _ => out.push(symbol),
        }
    }
    out
}

/// Whether the later of two symbols at one address names it better.
fn is_better(later: &Symbol<'_>, earlier: &Symbol<'_>) -> bool {
    let rank = |symbol: &Symbol<'_>| {
        let underscores = symbol.name.bytes().take_while(|byte| *byte == b'_').count();
        (
            symbol.end > symbol.start,
            symbol.binding != STB_WEAK,
            symbol.binding == STB_GLOBAL,
            std::cmp::Reverse(underscores),
            symbol.name.len(),
        )
    };
    rank(later) > rank(earlier)
}

#[cfg(test)]
mod tests {
    use object::elf::STB_LOCAL;

    use super::*;

    fn symbol(name: &str, start: u64, size: u64, binding: u8) -> Symbol<'_> {
        Symbol { start, end: start + size, name: Cow::Borrowed(name), binding }
    }

    #[test]
    fn aliases_are_chosen_as_perf_does() {
        // The order of util/symbol.c: choose_best_symbol.
        let names = |symbols: Vec<Symbol<'static>>| settle(symbols).into_iter().map(|symbol| symbol.name).collect::<Vec<_>>();
        assert_eq!(names(vec![symbol("write", 16, 4, STB_WEAK), symbol("__write", 16, 4, STB_GLOBAL)]), ["__write"]);
        assert_eq!(names(vec![symbol("a", 16, 4, STB_LOCAL), symbol("__b", 16, 4, STB_GLOBAL)]), ["__b"]);
        assert_eq!(names(vec![symbol("__ab", 16, 4, STB_GLOBAL), symbol("_a", 16, 4, STB_GLOBAL)]), ["_a"]);
        assert_eq!(names(vec![symbol("ab", 16, 4, STB_GLOBAL), symbol("abc", 16, 4, STB_GLOBAL)]), ["abc"]);
        assert_eq!(names(vec![symbol("abc", 16, 4, STB_GLOBAL), symbol("abd", 16, 4, STB_GLOBAL)]), ["abc"]);
    }

    /// ELF for the Arm 64-bit Architecture, 5.5.5; RISC-V ELF psABI, "Mapping Symbol"; Swift's mangling.rst.
    #[test]
    fn mapping_symbols_are_told_from_swift_names() {
        assert!(["$a", "$d", "$t", "$x", "$x.42", "$d.realdata", "$xrv64i2p1_m2p0"].into_iter().all(is_mapping_symbol));
        assert!(!["$s4main3fooyyF", "$S4main3fooyyF", "$add", "$xor", "a$d", "$"].into_iter().any(is_mapping_symbol));
    }

    #[test]
    fn a_symbol_without_size_reaches_to_the_next() {
        let table = SymbolTable { symbols: settle(vec![symbol("b", 32, 8, STB_GLOBAL), symbol("a", 16, 0, STB_GLOBAL)]) };
        assert_eq!(table.lookup(31).map(|symbol| symbol.name.as_ref()), Some("a"));
        assert_eq!(table.lookup(39).map(|symbol| symbol.name.as_ref()), Some("b"));
        assert_eq!(table.lookup(40), None);
        assert_eq!(table.lookup(15), None);
    }

    #[test]
    fn a_label_inside_a_function_does_not_cut_it() {
        let table = SymbolTable { symbols: settle(vec![symbol("outer", 16, 64, STB_GLOBAL), symbol("label", 32, 4, STB_LOCAL)]) };
        assert_eq!(table.lookup(34).map(|symbol| symbol.name.as_ref()), Some("label"));
        assert_eq!(table.lookup(40).map(|symbol| symbol.name.as_ref()), Some("outer"));
    }
}
