//! Where functions are declared, from their DIEs: file and line that are the same for all copies of a function, unlike
//! the line table's, which follows every inlined instruction.

use std::rc::Rc;
use std::sync::Arc;

use gimli::{AttributeValue, DebugInfoOffset, EndianSlice, RunTimeEndian, Unit, UnitOffset, UnitRef, UnitSectionOffset};
use rustc_hash::FxHashMap;

pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// File and line of a declaration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Declaration {
    pub file: Option<Arc<str>>,
    pub line: Option<i32>,
}

/// Remembers what was looked up; one per DWARF context.
pub(super) struct Declarations<'a> {
    main: gimli::Dwarf<Slice<'a>>,
    /// Skeletons of split units, by the id of their .dwo part: the file names are there.
    skeletons: Option<FxHashMap<u64, Rc<Unit<Slice<'a>>>>>,
    known: FxHashMap<(usize, usize), Declaration>,
    /// Units of other files that references led to, by their offset in `.debug_info`.
    units: FxHashMap<usize, Option<Rc<Unit<Slice<'a>>>>>,
}

/// `abstract_origin` -> `specification` is the longest chain compilers make; more is a loop.
const HOPS_MAX: usize = 8;

impl<'a> Declarations<'a> {
    /// `main` holds the sections of the program itself.
    pub fn new(main: gimli::Dwarf<Slice<'a>>) -> Declarations<'a> {
        Declarations { main, skeletons: None, known: FxHashMap::default(), units: FxHashMap::default() }
    }

    pub fn find(&mut self, unit: UnitRef<'_, Slice<'a>>, die: UnitOffset<usize>) -> Declaration {
        // A unit stays where it is for as long as the context lives.
        let key = (std::ptr::from_ref(unit.unit) as usize, die.0);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = self.follow(unit, die, 0).unwrap_or_default();
        self.known.insert(key, found.clone());
        found
    }

    fn follow(&mut self, unit: UnitRef<'_, Slice<'a>>, die: UnitOffset<usize>, hops: usize) -> Option<Declaration> {
        let entry = unit.entry(die).ok()?;
        if let Some(AttributeValue::FileIndex(index)) = entry.attr_value(gimli::DW_AT_decl_file) {
            let line = entry.attr_value(gimli::DW_AT_decl_line).and_then(|value| value.udata_value());
            let line = line.and_then(|line| i32::try_from(line).ok()).filter(|line| *line > 0);
            let file = match (&unit.line_program, unit.dwo_id) {
                (None, Some(id)) => self.skeleton(id.0).and_then(|unit| file_name(unit.unit_ref(&self.main), index)),
                _ => file_name(unit, index),
            };
            return Some(Declaration { file, line });
        }
        if hops >= HOPS_MAX {
            return None;
        }
        let origin = entry.attr_value(gimli::DW_AT_abstract_origin).or_else(|| entry.attr_value(gimli::DW_AT_specification))?;
        match origin {
            AttributeValue::UnitRef(offset) => self.follow(unit, offset, hops + 1),
            AttributeValue::DebugInfoRef(offset) => {
                let other = self.unit_at(unit.dwarf, offset)?;
                let die = UnitSectionOffset(offset.0).to_unit_offset(&*other)?;
                self.follow(other.unit_ref(unit.dwarf), die, hops + 1)
            }
            _ => None,
        }
    }

    fn skeleton(&mut self, id: u64) -> Option<Rc<Unit<Slice<'a>>>> {
        let main = &self.main;
        let read = || {
            let mut units = FxHashMap::default();
            let mut headers = main.units();
            while let Ok(Some(header)) = headers.next() {
                if let Ok(unit) = main.unit(header)
                    && let Some(id) = unit.dwo_id
                {
                    units.insert(id.0, Rc::new(unit));
                }
            }
            units
        };
        self.skeletons.get_or_insert_with(read).get(&id).cloned()
    }

    /// The unit that holds an offset of `.debug_info`: link-time optimization refers across units.
    fn unit_at(&mut self, dwarf: &gimli::Dwarf<Slice<'a>>, offset: DebugInfoOffset<usize>) -> Option<Rc<Unit<Slice<'a>>>> {
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            let start = header.debug_info_offset()?.0;
            if offset.0 >= start && offset.0 - start < header.length_including_self() {
                return self.units.entry(start).or_insert_with(|| dwarf.unit(header).ok().map(Rc::new)).clone();
            }
        }
        None
    }
}

fn file_name(unit: UnitRef<'_, Slice<'_>>, index: u64) -> Option<Arc<str>> {
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let text = |value| unit.attr_string(value).ok().map(|name| name.to_string_lossy().into_owned());
    let mut path = unit.comp_dir.map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(dir) = file.directory(header).and_then(text) {
        push(&mut path, &dir);
    }
    push(&mut path, &text(file.path_name())?);
    Some(Arc::from(path))
}

fn push(path: &mut String, part: &str) {
    if part.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(part);
}
