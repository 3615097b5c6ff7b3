//! ADDRESS -> FUNCTION. Names, lines and inlined functions for every frame that an importer left as (dso, address).
//!
//! Each dso is worked on by itself, all of them in parallel, each of its addresses once; the rows are written one after
//! the other in the order of the ids, so that the result does not depend on the number of threads.
//!
//! What a frame becomes:
//! * `rel` is turned from the offset in the dso's file into the address its ELF states (svma); the offset stays where
//!   no file of the dso was found. Kernel frames stay relative to `_text`, module frames to the module's start.
//! * inline depth 0 is the physical function. It carries the name of the ELF symbol, so that the physical view agrees
//!   with `perf report --no-inline`; what the compiler inlined there follows as depth 1, 2, ... towards the leaf, each
//!   as a stack node of its own.
//!
//! Frames that a tool named itself keep its name; a mangled one is demangled.

mod apply;
mod demangle;
mod inlined;
mod jit;
mod jit_time;
mod kernel;
mod producer;
mod report;
mod user;

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::objects::Library;
use crate::tables::{Tables, Text};

pub use demangle::demangle;
pub use inlined::Inlined;

/// The addresses of one dso that nothing names yet.
struct Work {
    dso: usize,
    /// Sorted, each once.
    rels: Vec<i64>,
    /// Beside `rels`: whether a walk along frame pointers began there.
    is_innermost: Vec<bool>,
    /// Rows of `frames` that lie there, each with its place in `rels`.
    frames: Vec<(u32, u32)>,
}

/// What was learned of one dso.
#[derive(Default)]
struct Outcome {
    /// Beside `Work::rels`.
    places: Vec<Resolved>,
    /// `dsos.symbol_source`.
    source: Option<String>,
    producers: Producers,
    notes: Vec<Note>,
}

/// What made the code at how many addresses, as the debug information says.
type Producers = BTreeMap<Arc<str>, i64>;

/// What one address is.
#[derive(Default, Clone)]
struct Resolved {
    /// The address to store from now on, where it changes.
    rel: Option<i64>,
    symbol_rel: Option<i64>,
    /// Whether its frame pointer is set up there; asked of innermost frames only.
    has_frame: Option<bool>,
    /// The physical function, then what was inlined into it.
    functions: Vec<Named>,
}

/// One function at an address.
#[derive(Default, Clone)]
struct Named {
    name: Option<Text>,
    file: Option<Text>,
    declared: Option<i32>,
    line: Option<i32>,
}

/// A loss or doubt about one dso; becomes a diagnostic.
struct Note {
    kind: &'static str,
    severity: &'static str,
    count: i64,
    message: String,
    advice: String,
}

/// Names every frame that can be named from the object files of `library` and nothing else.
pub fn symbolize(tables: &mut Tables, library: &Library) {
    name(tables, library).expand(tables);
}

/// The same, but leaves it to the caller to put the inlined frames on the stacks: who numbers the stacks anew can do both
/// at once.
pub fn name(tables: &mut Tables, library: &Library) -> Inlined {
    apply::demangle_given_names(tables);
    let generated = jit::name(tables, library);
    let work = collect(tables);
    let facts = kernel::Facts::read(tables);
    let outcomes: Vec<Outcome> = {
        let tables = &*tables;
        work.par_iter()
            .map(|work| match tables.dsos.get(work.dso).map(|dso| dso.kind.as_ref()) {
                Some("kernel" | "module") => kernel::resolve(work, tables, &facts, library),
                _ => user::resolve(work, tables, library),
            })
            .collect()
    };
    let named = work.iter().zip(&outcomes).flat_map(|(work, outcome)| outcome.notes.iter().map(|note| (work.dso, note)));
    let notes: Vec<(usize, &Note)> = generated.iter().map(|(dso, note)| (*dso, note)).chain(named).collect();
    report::write(tables, library, &notes);
    apply::write(tables, &work, outcomes)
}

fn collect(tables: &Tables) -> Vec<Work> {
    let innermost = innermost(tables);
    // Per dso: address, whether it is not innermost, frame.
    let mut asked: Vec<Vec<(i64, bool, u32)>> = vec![Vec::new(); tables.dsos.len()];
    for (at, (frame, is_innermost)) in tables.frames.iter().zip(innermost).enumerate() {
        if let (Some(dso), Some(rel), None) = (frame.dso_id, frame.rel, frame.function_id)
            && let Some(asked) = asked.get_mut(dso as usize)
        {
            asked.push((rel, !is_innermost, at as u32));
        }
    }
    let work = asked.into_par_iter().enumerate().filter(|(_, asked)| !asked.is_empty());
    let sorted = |(dso, mut asked): (usize, Vec<(i64, bool, u32)>)| {
        asked.sort_unstable();
        let mut work = Work { dso, rels: Vec::new(), is_innermost: Vec::new(), frames: Vec::with_capacity(asked.len()) };
        for (rel, is_caller, frame) in asked {
            // Of equal addresses the one that is innermost comes first and stays.
            if work.rels.last() != Some(&rel) {
                work.rels.push(rel);
                work.is_innermost.push(!is_caller);
            }
            work.frames.push((frame, (work.rels.len() - 1) as u32));
        }
        work
    };
    work.map(sorted).collect()
}

/// Per frame, whether a sample's walk along frame pointers began there.
fn innermost(tables: &Tables) -> Vec<bool> {
    let by_pointers = |row: &crate::tables::Artifact| row.unwinding.as_deref() == Some("fp");
    let is_walked = |row: &crate::tables::Event| tables.artifacts.get(row.artifact_id as usize).is_some_and(by_pointers);
    let walked: Vec<bool> = tables.events.iter().map(is_walked).collect();
    // Samples jump about in the stacks: a flag each fits into a cache, and the nodes are then read in order.
    let mut is_leaf = vec![false; tables.stacks.len()];
    for sample in tables.samples.iter().filter(|sample| walked.get(sample.event_id as usize) == Some(&true)) {
        if let Some(flag) = sample.stack_id.get().and_then(|stack| is_leaf.get_mut(stack as usize)) {
            *flag = true;
        }
    }
    let mut out = vec![false; tables.frames.len()];
    for (frame, _) in tables.stacks.frames().iter().zip(&is_leaf).filter(|(_, is_leaf)| **is_leaf) {
        if let Some(slot) = out.get_mut(*frame as usize) {
            *slot = true;
        }
    }
    out
}

#[cfg(test)]
mod tests;
