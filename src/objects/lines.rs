//! DWARF: for an address the chain of functions that were inlined there, with the line executing in each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{DwarfPackageSections, DwarfSections, RunTimeEndian, UnitRef};
use object::Object as _;

use super::declarations::{Declarations, Slice};
use super::elf::{Elf, Quality};
use super::library::Library;

/// The functions at one address, the physical one first, then what was inlined into it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain(pub Vec<Place>);

/// One function of a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Linkage name, or the plain name where there is none: not demangled.
    pub name: Option<String>,
    /// File and line of the function's declaration.
    pub file: Option<Arc<str>>,
    pub declared: Option<i32>,
    /// Line executing in this function.
    pub line: Option<i32>,
}

/// What was found for addresses.
#[derive(Debug, Default)]
pub struct Lookup {
    /// Beside the addresses; empty ones where nothing is known.
    pub chains: Vec<Chain>,
    /// What made the code (DW_AT_producer), and at how many of the addresses.
    pub producers: BTreeMap<Arc<str>, i64>,
}

impl Lookup {
    /// Nothing known of any of them.
    pub fn nothing(addresses: usize) -> Lookup {
        Lookup { chains: vec![Chain::default(); addresses], producers: BTreeMap::new() }
    }
}

/// More than any compiler inlines; a deeper chain is a damaged file.
const DEPTH_MAX: usize = 256;
/// GCC writes its options there: a few hundred characters.
const PRODUCER_CHARS_MAX: usize = 4096;

type Sections<'a> = DwarfSections<Cow<'a, [u8]>>;
type PackageSections<'a> = DwarfPackageSections<Cow<'a, [u8]>>;

/// The chains of addresses (svma), in their order; empty ones where the file has no DWARF or knows nothing. `Err` says
/// what is wrong with the debug information.
pub fn look_up(elf: &Elf, library: &Library, addresses: &[u64]) -> Result<Lookup, String> {
    if elf.summary.quality < Quality::Dwarf {
        return Ok(Lookup::nothing(addresses.len()));
    }
    let Some((sections, endian)) = load(elf, "") else { return Err(format!("{}: headers are broken", elf.label)) };
    let supplement = library.supplement(elf);
    let supplement = supplement.as_ref().and_then(|elf| load(elf, "")).map(|(sections, _)| sections);
    let mut wanted = BTreeMap::new();
    let describe = |error: gimli::Error| format!("{}: DWARF cannot be read: {error}", elf.label);
    let none = Parts::default();
    let first = Pass::new(endian, &none, &mut wanted).run(&sections, supplement.as_ref(), addresses).map_err(describe)?;
    if wanted.is_empty() {
        return Ok(first);
    }
    // Split DWARF: which .dwo files are needed shows only while looking up; then everything is looked up again.
    let elfs: Vec<Arc<Elf>> = wanted.values().flat_map(|(dir, name)| library.dwo(elf, dir, name)).collect();
    let packages = library.packages(elf);
    let parts = Parts {
        dwos: elfs.iter().filter_map(|elf| load_dwo(elf)).collect(),
        packages: packages.iter().filter_map(|elf| load_package(elf)).collect(),
    };
    if parts.dwos.is_empty() && parts.packages.is_empty() {
        return Ok(first);
    }
    Pass::new(endian, &parts, &mut wanted).run(&sections, supplement.as_ref(), addresses).map_err(describe)
}

/// What split DWARF moved out of the program.
#[derive(Default)]
struct Parts<'a> {
    /// By the id that the skeleton knows it by.
    dwos: Vec<(u64, Sections<'a>)>,
    /// .dwp files.
    packages: Vec<PackageSections<'a>>,
}

fn load<'a>(elf: &'a Elf, suffix: &str) -> Option<(Sections<'a>, RunTimeEndian)> {
    let file = elf.file()?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: gimli::SectionId| -> Result<Cow<'a, [u8]>, ()> {
        let name = if suffix.is_empty() { Some(id.name()) } else { id.dwo_name() };
        Ok(name.map_or(Cow::Borrowed(&[][..]), |name| Elf::section(&file, name)))
    };
    DwarfSections::load(section).ok().map(|sections| (sections, endian))
}

/// The sections of a .dwo file and the id by which its skeleton knows it.
fn load_dwo(elf: &Elf) -> Option<(u64, Sections<'_>)> {
    let (sections, endian) = load(elf, ".dwo")?;
    let id = {
        let mut dwarf = sections.borrow(|section| Slice::new(section, endian));
        dwarf.file_type = gimli::DwarfFileType::Dwo;
        let mut units = dwarf.units();
        // Type units may come first.
        loop {
            let header = units.next().ok()??;
            if let Some(id) = dwarf.unit(header).ok().and_then(|unit| unit.dwo_id) {
                break id.0;
            }
        }
    };
    Some((id, sections))
}

fn load_package(elf: &Elf) -> Option<PackageSections<'_>> {
    let file = elf.file()?;
    let section = |id: gimli::SectionId| -> Result<Cow<'_, [u8]>, gimli::Error> {
        Ok(id.dwo_name().map_or(Cow::Borrowed(&[][..]), |name| Elf::section(&file, name)))
    };
    PackageSections::load(section).ok()
}

/// What the unit says made it.
fn producer(unit: UnitRef<'_, Slice<'_>>) -> Option<Arc<str>> {
    let mut entries = unit.entries();
    let entry = entries.next_dfs().ok()??;
    let value = entry.attr_value(gimli::DW_AT_producer)?;
    let name = unit.attr_string(value).ok()?.to_string_lossy().chars().take(PRODUCER_CHARS_MAX).collect::<String>();
    Some(Arc::from(name))
}

/// One run over all addresses.
struct Pass<'d, 'a> {
    endian: RunTimeEndian,
    parts: &'d Parts<'a>,
    /// Directory of the compiler and file name of the .dwo files that were missing, by id.
    wanted: &'d mut BTreeMap<u64, (String, String)>,
    /// By where the unit lies in memory, where it stays for as long as the context lives.
    known_producers: BTreeMap<usize, Option<Arc<str>>>,
    producers: BTreeMap<Arc<str>, i64>,
}

impl<'d, 'a> Pass<'d, 'a> {
    fn new(endian: RunTimeEndian, parts: &'d Parts<'a>, wanted: &'d mut BTreeMap<u64, (String, String)>) -> Pass<'d, 'a> {
        Pass { endian, parts, wanted, known_producers: BTreeMap::new(), producers: BTreeMap::new() }
    }

    fn run(mut self, sections: &'d Sections<'a>, sup: Option<&'d Sections<'a>>, addresses: &[u64]) -> Result<Lookup, gimli::Error> {
        let endian = self.endian;
        let borrow = || sections.borrow_with_sup(sup, |section| Slice::new(section, endian));
        let context = Context::from_dwarf(borrow())?;
        let mut declarations = Declarations::new(borrow());
        let chains = addresses.iter().map(|address| self.chain(&context, &mut declarations, *address)).collect();
        Ok(Lookup { chains, producers: self.producers })
    }

    fn count_producer(&mut self, unit: UnitRef<'_, Slice<'d>>) {
        let known = self.known_producers.entry(std::ptr::from_ref(unit.unit) as usize).or_insert_with(|| producer(unit));
        if let Some(name) = known {
            let count = self.producers.entry(name.clone()).or_insert(0);
            *count = count.saturating_add(1);
        }
    }

    /// A damaged unit leaves its own addresses without a chain, and no others.
    fn chain(&mut self, context: &Context<Slice<'d>>, declarations: &mut Declarations<'d>, address: u64) -> Chain {
        let Ok(mut frames) = self.finish(context.find_frames(address)) else { return Chain::default() };
        let unit = self.finish(context.find_dwarf_and_unit(address));
        if let Some(unit) = unit {
            self.count_producer(unit);
        }
        let mut places = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let line = frame.location.as_ref().and_then(|location| location.line);
            let declaration = match (unit, frame.dw_die_offset) {
                (Some(unit), Some(die)) => declarations.find(unit, die),
                _ => Default::default(),
            };
            places.push(Place {
                name: frame.function.as_ref().and_then(|function| function.raw_name().ok()).map(Cow::into_owned),
                file: declaration.file,
                declared: declaration.line,
                line: line.and_then(|line| i32::try_from(line).ok()).filter(|line| *line > 0),
            });
            if places.len() >= DEPTH_MAX {
                return Chain::default();
            }
        }
        places.reverse();
        Chain(places)
    }

    /// Answers what a lookup asks for until it is done.
    fn finish<C: LookupContinuation<Buf = Slice<'d>>>(&mut self, mut lookup: LookupResult<C>) -> C::Output {
        loop {
            match lookup {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => lookup = continuation.resume(self.load(&load)),
            }
        }
    }

    fn load(&mut self, load: &SplitDwarfLoad<Slice<'d>>) -> Option<Arc<gimli::Dwarf<Slice<'d>>>> {
        let endian = self.endian;
        if let Some((_, sections)) = self.parts.dwos.iter().find(|(id, _)| *id == load.dwo_id.0) {
            let mut dwarf = sections.borrow(|section| Slice::new(section, endian));
            dwarf.make_dwo(&load.parent);
            return Some(Arc::new(dwarf));
        }
        for sections in &self.parts.packages {
            let package = sections.borrow(|section| Slice::new(section, endian), Slice::new(&[], endian));
            if let Ok(Some(dwarf)) = package.and_then(|package| package.find_cu(load.dwo_id, &load.parent)) {
                return Some(Arc::new(dwarf));
            }
        }
        let text = |slice: Option<Slice<'d>>| slice.map(|slice| slice.to_string_lossy().into_owned()).unwrap_or_default();
        self.wanted.insert(load.dwo_id.0, (text(load.comp_dir), text(load.path)));
        None
    }
}
