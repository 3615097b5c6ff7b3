//! The kernel and its modules: a kallsyms file or a vmlinux of the recorded kernel, never the one that runs here.

use std::collections::{BTreeMap, BTreeSet};

use super::user::named;
use super::{Named, Note, Outcome, Resolved, Work};
use crate::objects::{Kallsyms, KernelId, Library, address_of};
use crate::tables::{Dso, Tables};

/// What the artifacts say about kernels.
pub struct Facts {
    /// By artifact: the release, where it states exactly one.
    releases: BTreeMap<i32, Option<String>>,
    /// By artifact: its kernel's mapping.
    kernels: BTreeMap<i32, Mapped>,
    /// By dso: the artifacts that map it and where.
    mapped: BTreeMap<usize, Vec<(i32, i64)>>,
}

#[derive(Clone)]
struct Mapped {
    dso: usize,
    /// Where the recording saw the reference symbol (perf puts it into the offset), and where the mapping begins.
    addresses: [i64; 2],
}

impl Facts {
    pub fn read(tables: &Tables) -> Facts {
        let mut releases: BTreeMap<i32, BTreeSet<&str>> = BTreeMap::new();
        for fact in tables.host.iter().filter(|fact| fact.key.as_ref() == "kernel_release") {
            releases.entry(fact.artifact_id).or_default().insert(&fact.value);
        }
        let only = |set: BTreeSet<&str>| set.first().filter(|_| set.len() == 1).map(|text| (*text).to_owned());
        let mut facts = Facts {
            releases: releases.into_iter().map(|(artifact, set)| (artifact, only(set))).collect(),
            kernels: BTreeMap::new(),
            mapped: BTreeMap::new(),
        };
        for mapping in &tables.mappings {
            let dso = mapping.dso_id as usize;
            match tables.dsos.get(dso).map(|dso| dso.kind.as_ref()) {
                Some("kernel") => {
                    let addresses = [mapping.file_offset, mapping.start_avma];
                    facts.kernels.entry(mapping.artifact_id).or_insert(Mapped { dso, addresses });
                }
                Some("module") => {}
                _ => continue,
            }
            facts.mapped.entry(dso).or_default().push((mapping.artifact_id, mapping.start_avma));
        }
        facts
    }

    /// The artifacts that a dso belongs to; all of them where no mapping tells.
    fn artifacts(&self, dso: usize) -> BTreeSet<i32> {
        match self.mapped.get(&dso) {
            Some(mapped) => mapped.iter().map(|(artifact, _)| *artifact).collect(),
            None => self.releases.keys().copied().collect(),
        }
    }

    /// The address that a kernel's frames are relative to, as it was when it was recorded.
    fn reference(&self, dso: usize) -> Option<u64> {
        let kernel = self.kernels.values().find(|kernel| kernel.dso == dso)?;
        kernel.addresses.iter().find(|address| **address != 0).map(|address| *address as u64)
    }

    /// The kernel of these artifacts, as far as they agree.
    fn kernel(&self, artifacts: &BTreeSet<i32>, tables: &Tables) -> KernelId {
        let release: BTreeSet<Option<&String>> =
            artifacts.iter().map(|artifact| self.releases.get(artifact).and_then(Option::as_ref)).collect();
        let build: BTreeSet<Option<&str>> = artifacts
            .iter()
            .map(|artifact| {
                self.kernels.get(artifact).and_then(|kernel| tables.dsos.get(kernel.dso)).and_then(|dso| dso.build_id.as_deref())
            })
            .collect();
        KernelId {
            release: release.first().filter(|_| release.len() == 1).and_then(|release| release.cloned()),
            build_id: build.first().filter(|_| build.len() == 1).and_then(|id| *id).and_then(crate::objects::normalize_build_id),
        }
    }
}

/// Names the addresses of the kernel or of one module.
pub fn resolve(work: &Work, tables: &Tables, facts: &Facts, library: &Library) -> Outcome {
    let Some(dso) = tables.dsos.get(work.dso) else { return Outcome::default() };
    let artifacts = facts.artifacts(work.dso);
    let mut id = facts.kernel(&artifacts, tables);
    let is_module = dso.kind.as_ref() == "module";
    if !is_module && let Some(own) = dso.build_id.as_deref().and_then(crate::objects::normalize_build_id) {
        id.build_id = Some(own);
    }
    let mut outcome = Outcome::default();
    if !is_module && let Some(done) = from_vmlinux(work, dso, facts, library, &mut outcome.notes) {
        return Outcome { notes: outcome.notes, ..done };
    }
    let kallsyms = library.kallsyms(&id);
    let named = match &kallsyms {
        Some(kallsyms) if is_module => module(work, dso, facts, kallsyms),
        Some(kallsyms) => kernel(work, facts, kallsyms),
        None => Err(format!("no kallsyms of it was found ({})", files(library))),
    };
    match named {
        Ok(places) => {
            outcome.source = kallsyms.map(|kallsyms| kallsyms.label.clone());
            outcome.places = places;
        }
        Err(why) => {
            outcome.places = vec![Resolved::default(); work.rels.len()];
            outcome.notes.push(Note {
                kind: "kernel_symbols_missing",
                severity: "warn",
                count: work.rels.len() as i64,
                message: format!("{} ({}): {why}; {} addresses stay unnamed", dso.name, id.describe(), work.rels.len()),
                advice: "record a copy of /proc/kallsyms (as root, with kernel.kptr_restrict=0) beside the artifacts in symbols/, with \
                         kallsyms.json naming kernel_release and kernel_build_id; a kernel that has booted again needs its own"
                    .to_owned(),
            });
        }
    }
    outcome
}

fn files(library: &Library) -> String {
    let files = library.kallsyms_files();
    if files.is_empty() { "there is none in the symbol directories".to_owned() } else { format!("there are: {}", files.join(", ")) }
}

/// Boot-time randomization moves kernels by multiples of this (x86-64, arm64).
const KASLR_STEP: u64 = 2 << 20;

/// Where the symbol that the frames are relative to lies in this kallsyms: `_text`, or `_stext` on machines where perf
/// took that one. perf's record has the address that it had then; at another boot it differs by a multiple of the step.
fn reference(address: impl Fn(&str) -> Option<u64>, label: &str, recorded: Option<u64>) -> Result<u64, String> {
    let hidden = || format!("{label} has no address of _text: it was read with kernel.kptr_restrict, and cannot be repaired now");
    let text = address("_text").ok_or_else(hidden)?;
    let stext = address("_stext").unwrap_or(text);
    let Some(recorded) = recorded.filter(|_| stext != text) else { return Ok(text) };
    let fits = |address: &&u64| recorded.abs_diff(**address) % KASLR_STEP == 0;
    let misfit = || format!("neither _text nor _stext of {label} fits the recorded address {recorded:#x}");
    [text, stext].iter().find(fits).copied().ok_or_else(misfit)
}

fn kernel(work: &Work, facts: &Facts, kallsyms: &Kallsyms) -> Result<Vec<Resolved>, String> {
    let base = reference(|name| kallsyms.reference(name), &kallsyms.label, facts.reference(work.dso))?;
    Ok(work.rels.iter().map(|rel| lookup(kallsyms, base, *rel, "")).collect())
}

/// Modules move on every boot, so their symbols serve only where the file is from the recorded boot: there the kernel
/// lies at the same address.
fn module(work: &Work, dso: &Dso, facts: &Facts, kallsyms: &Kallsyms) -> Result<Vec<Resolved>, String> {
    let mapped = facts.mapped.get(&work.dso).map_or(&[][..], Vec::as_slice);
    let bases: BTreeSet<i64> = mapped
        .iter()
        .filter(|(artifact, _)| {
            let known = [kallsyms.reference("_text"), kallsyms.reference("_stext")];
            let seen = facts.kernels.get(artifact).map(|kernel| kernel.addresses);
            seen.is_some_and(|seen| seen.iter().any(|address| *address != 0 && known.contains(&Some(*address as u64))))
        })
        .map(|(_, start)| *start)
        .collect();
    let base = match bases.first() {
        Some(base) if bases.len() == 1 => *base as u64,
        _ => return Err(format!("{} is not of the boot that was recorded", kallsyms.label)),
    };
    let name = module_name(&dso.name);
    Ok(work.rels.iter().map(|rel| lookup(kallsyms, base, *rel, &name)).collect())
}

/// `[nf_tables]`, `nf_tables.ko.xz` and `nf-tables.ko` are one module.
fn module_name(name: &str) -> String {
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.split(".ko").next().unwrap_or(name).replace('-', "_")
}

fn lookup(kallsyms: &Kallsyms, base: u64, rel: i64, module: &str) -> Resolved {
    let Some((name, start, of)) = kallsyms.lookup(base.wrapping_add(rel as u64)) else { return Resolved::default() };
    if of.replace('-', "_") != module {
        return Resolved::default();
    }
    let named = Named { name: Some(super::demangle(name).into()), ..Named::default() };
    Resolved { symbol_rel: Some(start.wrapping_sub(base) as i64), functions: vec![named], ..Resolved::default() }
}

/// A vmlinux with the recorded build-id knows more than kallsyms: lines and inlined functions.
fn from_vmlinux(work: &Work, dso: &Dso, facts: &Facts, library: &Library, notes: &mut Vec<Note>) -> Option<Outcome> {
    let found = library.find(&dso.path, Some(dso.build_id.as_deref()?));
    let names = found.names.as_deref()?;
    let base = reference(|name| address_of(names, name), &names.label, facts.reference(work.dso)).ok()?;
    let addresses: Vec<u64> = work.rels.iter().map(|rel| base.wrapping_add(*rel as u64)).collect();
    let (mut places, producers) = named(names, found.image.as_deref(), library, &addresses, notes);
    for place in &mut places {
        place.symbol_rel = place.symbol_rel.map(|start| start.wrapping_sub(base as i64));
    }
    Some(Outcome { places, source: Some(names.label.clone()), producers, notes: Vec::new() })
}
