//! Programs and libraries: ELF symbols, then DWARF.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::{Named, Note, Outcome, Producers, Resolved, Work, demangle};
use crate::objects::{Chain, Elf, Found, Library, Lookup, SymbolTable, is_pseudo, look_up, unwind};
use crate::tables::{Dso, Tables, Text};

/// Names the addresses (file offsets) of one dso.
pub fn resolve(work: &Work, tables: &Tables, library: &Library) -> Outcome {
    let Some(dso) = tables.dsos.get(work.dso) else { return Outcome::default() };
    // What `perf inject --jit` writes (jitted-PID-N.so) is an ELF file like any other.
    if matches!(dso.kind.as_ref(), "anon" | "bpf" | "none") || super::jit::pid_of(dso).is_some() {
        return Outcome::default();
    }
    let (build_id, inherited) = build_id(dso, tables);
    let found = library.find(&dso.path, build_id.as_deref());
    let mut outcome = Outcome::default();
    doubts(dso, &found, inherited.then_some(build_id.as_deref()).flatten(), work.rels.len(), &mut outcome);
    let offsets = offsets(work.dso, tables);
    let svmas: Vec<Option<u64>> = work.rels.iter().map(|rel| svma(&found, *rel, &offsets)).collect();
    outcome.source = found.label().map(str::to_owned);
    outcome.places = match &found.names {
        Some(names) => {
            let addresses: Vec<u64> = svmas.iter().map(|svma| svma.unwrap_or(u64::MAX)).collect();
            let (places, producers) = named(names, found.image.as_deref(), library, &addresses, &mut outcome.notes);
            outcome.producers = producers;
            places
        }
        None => vec![Resolved::default(); work.rels.len()],
    };
    for (place, svma) in outcome.places.iter_mut().zip(&svmas) {
        place.rel = svma.and_then(|svma| i64::try_from(svma).ok());
    }
    if let Some(image) = &found.image {
        let asked: Vec<Option<u64>> = svmas.iter().zip(&work.is_innermost).map(|(svma, is_asked)| svma.filter(|_| *is_asked)).collect();
        for (place, has_frame) in outcome.places.iter_mut().zip(unwind::is_set_up(image, &asked)) {
            place.has_frame = has_frame;
        }
    }
    let unnamed = outcome.places.iter().filter(|place| place.functions.is_empty()).count();
    if found.names.is_none() {
        outcome.notes.push(missing(dso, build_id.as_deref(), &found, work.rels.len()));
    } else if unnamed > 0 {
        outcome.notes.push(Note {
            kind: "symbols_incomplete",
            severity: "info",
            count: unnamed as i64,
            message: format!(
                "{}: {unnamed} of {} addresses lie in no symbol of {}",
                dso.name,
                work.rels.len(),
                found.label().unwrap_or("its file")
            ),
            advice: "a stripped file names exported functions only: give its debug file by --symbol-dir".to_owned(),
        });
    }
    outcome
}

/// The dso's build-id; where the recording has none for it, that of the same path in another artifact of the run.
fn build_id(dso: &Dso, tables: &Tables) -> (Option<String>, bool) {
    if let Some(id) = &dso.build_id {
        return (Some(id.to_string()), false);
    }
    if is_pseudo(&dso.path) || !dso.path.starts_with('/') {
        return (None, false);
    }
    let same: BTreeSet<&Text> =
        tables.dsos.iter().filter(|other| other.path == dso.path).filter_map(|other| other.build_id.as_ref()).collect();
    match same.first() {
        Some(id) if same.len() == 1 => (Some(id.to_string()), true),
        _ => (None, false),
    }
}

/// (file offset, length) of the dso's mappings.
fn offsets(dso: usize, tables: &Tables) -> Vec<(i64, i64)> {
    let of_dso = tables.mappings.iter().filter(|mapping| mapping.dso_id as usize == dso);
    let all: BTreeSet<(i64, i64)> =
        of_dso.map(|mapping| (mapping.file_offset, mapping.end_avma.saturating_sub(mapping.start_avma))).collect();
    all.into_iter().collect()
}

fn svma(found: &Found, rel: i64, offsets: &[(i64, i64)]) -> Option<u64> {
    let offset = u64::try_from(rel).ok()?;
    let inside = |(start, len): &&(i64, i64)| rel >= *start && rel.saturating_sub(*start) < *len;
    let map_offset = offsets.iter().rev().find(inside).and_then(|(start, _)| u64::try_from(*start).ok());
    found.svma(offset, map_offset)
}

/// Names addresses (svma) of an ELF file; also used for a vmlinux.
pub fn named(names: &Elf, image: Option<&Elf>, library: &Library, addresses: &[u64], notes: &mut Vec<Note>) -> (Vec<Resolved>, Producers) {
    let files: Vec<&Elf> = std::iter::once(names).chain(image).collect();
    let table = SymbolTable::read(&files);
    let found = look_up(names, library, addresses).unwrap_or_else(|problem| {
        notes.push(Note {
            kind: "debug_info_damaged",
            severity: "warn",
            count: addresses.len() as i64,
            message: problem,
            advice: "functions are named from the symbol table; lines and inlined functions are missing".to_owned(),
        });
        Lookup::nothing(addresses.len())
    });
    let mut names = Names::default();
    let mut declared: BTreeMap<u64, (Text, Option<i32>)> = BTreeMap::new();
    let mut out: Vec<(Option<u64>, Resolved)> = Vec::with_capacity(addresses.len());
    for (address, chain) in addresses.iter().zip(found.chains) {
        let symbol = table.lookup(*address);
        if let (Some(symbol), Some(file)) = (symbol, chain.0.first().and_then(|place| place.file.clone())) {
            declared.entry(symbol.start).or_insert((file, chain.0.first().and_then(|place| place.declared)));
        }
        out.push((symbol.map(|symbol| symbol.start), one(symbol.map(|symbol| (symbol.name.as_ref(), symbol.start)), chain, &mut names)));
    }
    // One function, one file: cold parts and padding of a function have no DWARF of their own.
    let one_file = |(start, mut place): (Option<u64>, Resolved)| {
        if let Some((file, line)) = start.and_then(|start| declared.get(&start))
            && let Some(physical) = place.functions.first_mut()
        {
            physical.file = Some(file.clone());
            physical.declared = *line;
        }
        place
    };
    (out.into_iter().map(one_file).collect(), found.producers)
}

/// Demangled names by mangled ones: a function has many addresses.
#[derive(Default)]
struct Names {
    known: FxHashMap<String, Text>,
    /// The symbol that was asked last, by its start: addresses come in order.
    last: Option<(u64, Text)>,
}

impl Names {
    fn of(&mut self, mangled: &str) -> Text {
        if let Some(name) = self.known.get(mangled) {
            return name.clone();
        }
        let name: Text = demangle(mangled).into();
        self.known.insert(mangled.to_owned(), name.clone());
        name
    }

    fn of_symbol(&mut self, mangled: &str, start: u64) -> Text {
        match &self.last {
            Some((last, name)) if *last == start => name.clone(),
            _ => {
                let name = self.of(mangled);
                self.last = Some((start, name.clone()));
                name
            }
        }
    }
}

fn one(symbol: Option<(&str, u64)>, chain: Chain, names: &mut Names) -> Resolved {
    let mut functions: Vec<Named> = chain
        .0
        .into_iter()
        .map(|place| Named { name: place.name.map(|name| names.of(&name)), file: place.file, declared: place.declared, line: place.line })
        .collect();
    if let Some((name, start)) = symbol {
        if functions.is_empty() {
            functions.push(Named::default());
        }
        if let Some(physical) = functions.first_mut() {
            physical.name = Some(names.of_symbol(name, start));
        }
    }
    // A line without a function names nothing.
    if functions.first().is_some_and(|physical| physical.name.is_none()) {
        functions.clear();
    }
    functions.retain(|function| function.name.is_some());
    Resolved { symbol_rel: symbol.and_then(|(_, start)| i64::try_from(start).ok()), functions, ..Resolved::default() }
}

fn doubts(dso: &Dso, found: &Found, inherited: Option<&str>, count: usize, outcome: &mut Outcome) {
    let text = match (inherited, &found.doubt) {
        (Some(id), _) if found.names.is_some() => {
            format!("{}: one artifact has no build-id for it; that of the same path in another artifact ({id}) was used", dso.name)
        }
        (None, Some(doubt)) if found.names.is_some() => format!("{}: {doubt}", dso.name),
        _ => return,
    };
    outcome.notes.push(Note {
        kind: "build_id_unknown",
        severity: "warn",
        count: count as i64,
        message: text,
        advice: "names may be wrong if it was built anew in between; record with build-ids".to_owned(),
    });
}

fn missing(dso: &Dso, build_id: Option<&str>, found: &Found, count: usize) -> Note {
    let id = build_id.map_or_else(|| "no build-id recorded".to_owned(), |id| format!("build-id {id}"));
    if dso.kind.as_ref() == "vdso" || is_pseudo(&dso.path) {
        return Note {
            kind: "symbols_no_file",
            severity: "info",
            count: count as i64,
            message: format!("{} ({id}) is part of no file: {count} addresses stay unnamed", dso.name),
            advice: "only a copy taken on the recorded machine could name them".to_owned(),
        };
    }
    let (what, advice) = match &found.image {
        Some(image) => (
            format!("{} has no symbols", image.label),
            "give the debug file with this build-id by --symbol-dir, or a file that is not stripped",
        ),
        None => ("no file of it was found".to_owned(), "give the file with this build-id by --symbol-dir"),
    };
    let tried = if found.tried.is_empty() { String::new() } else { format!(" ({})", found.tried.join("; ")) };
    Note {
        kind: "symbols_missing",
        severity: "warn",
        count: count as i64,
        message: format!("{} ({id}): {what}, {count} addresses stay unnamed{tried}", dso.path),
        advice: advice.to_owned(),
    }
}
