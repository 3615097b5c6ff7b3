//! Writing the names into the tables.

use rustc_hash::FxHashMap;

use super::{Named, Outcome, Work, demangle, producer};
use crate::tables::{Frame, Function, Stack, Tables, Text, keys};

type FunctionKey = (Text, Option<i32>, Option<Text>);

/// Functions by name, dso and file.
pub(super) struct Functions<'a> {
    rows: &'a mut Vec<Function>,
    known: FxHashMap<FunctionKey, i32>,
}

impl<'a> Functions<'a> {
    pub fn new(rows: &'a mut Vec<Function>) -> Functions<'a> {
        let known = rows.iter().map(|row| ((row.name.clone(), row.dso_id, row.file.clone()), row.function_id)).collect();
        Functions { rows, known }
    }

    pub fn intern(&mut self, named: &Named, dso: i32, dso_name: &Text) -> Option<i32> {
        let key = (named.name.clone()?, Some(dso), named.file.clone());
        if let Some(id) = self.known.get(&key) {
            return Some(*id);
        }
        let id = i32::try_from(self.rows.len()).ok()?;
        self.rows.push(Function {
            function_id: id,
            name: key.0.clone(),
            dso_id: Some(dso),
            dso: Some(dso_name.clone()),
            file: key.2.clone(),
            line: named.declared,
            function_key: keys::function_key(&key.0, Some(dso_name)),
        });
        self.known.insert(key, id);
        Some(id)
    }
}

/// Gives every frame of `work` its function, adds the inlined ones, and rewrites the stacks that go through them.
pub fn write(tables: &mut Tables, work: &[Work], outcomes: Vec<Outcome>) {
    let mut by_dso: Vec<Option<(&Work, Outcome)>> = tables.dsos.iter().map(|_| None).collect();
    for (work, outcome) in work.iter().zip(outcomes) {
        if let Some(dso) = tables.dsos.get_mut(work.dso) {
            dso.symbol_source = outcome.source.as_deref().map(Text::from).or_else(|| dso.symbol_source.take());
            producer::note(dso, &outcome.producers);
        }
        if let Some(slot) = by_dso.get_mut(work.dso) {
            *slot = Some((work, outcome));
        }
    }
    let mut functions = Functions::new(&mut tables.functions);
    let mut inlined: FxHashMap<i32, Vec<i32>> = FxHashMap::default();
    let mut added: Vec<Frame> = Vec::new();
    let first_new = tables.frames.len();
    for frame in &mut tables.frames {
        let (Some(dso), Some(rel), None) = (frame.dso_id, frame.rel, frame.function_id) else { continue };
        let Some((work, outcome)) = by_dso.get(dso as usize).and_then(Option::as_ref) else { continue };
        let Some(place) = work.rels.binary_search(&rel).ok().and_then(|at| outcome.places.get(at)) else { continue };
        let Some(dso_name) = tables.dsos.get(dso as usize).map(|dso| dso.name.clone()) else { continue };
        frame.rel = place.rel.or(frame.rel);
        frame.symbol_rel = place.symbol_rel.or(frame.symbol_rel);
        frame.has_frame = place.has_frame;
        let Some((physical, inner)) = place.functions.split_first() else { continue };
        frame.function_id = functions.intern(physical, dso, &dso_name);
        frame.line = physical.line;
        for (depth, named) in inner.iter().enumerate() {
            let Ok(id) = i32::try_from(first_new + added.len()) else { break };
            added.push(Frame {
                frame_id: id,
                inline_depth: depth as i32 + 1,
                is_inlined: true,
                function_id: functions.intern(named, dso, &dso_name),
                line: named.line,
                ..frame.clone()
            });
            inlined.entry(frame.frame_id).or_default().push(id);
        }
    }
    tables.frames.append(&mut added);
    if !inlined.is_empty() {
        expand(tables, &inlined);
    }
}

/// Puts the inlined frames below their physical one, on every stack. Parents stay in front of their children.
fn expand(tables: &mut Tables, inlined: &FxHashMap<i32, Vec<i32>>) {
    let mut stacks: Vec<Stack> = Vec::with_capacity(tables.stacks.len());
    // Old node -> the innermost of the nodes that replace it.
    let mut leaves: Vec<i32> = Vec::with_capacity(tables.stacks.len());
    for node in &tables.stacks {
        let mut parent = node.parent_stack_id.get().and_then(|parent| leaves.get(parent as usize).copied());
        let inner = inlined.get(&node.frame_id).map_or(&[][..], Vec::as_slice);
        for frame in std::iter::once(&node.frame_id).chain(inner) {
            let id = stacks.len() as i32;
            let depth = parent.and_then(|parent| stacks.get(parent as usize)).map_or(0, |row| row.depth + 1);
            stacks.push(Stack { stack_id: id, parent_stack_id: parent.into(), frame_id: *frame, depth, stack_key: 0 });
            parent = Some(id);
        }
        leaves.push(parent.unwrap_or(0));
    }
    tables.stacks = stacks;
    tables.map_stacks(|id| id.and_then(|id| leaves.get(id as usize).copied()));
}

/// Demangles names that text formats carried over raw. Two rows that become one name are joined.
pub fn demangle_given_names(tables: &mut Tables) {
    if !tables.functions.iter().any(|row| demangle::is_mangled(&row.name)) {
        return;
    }
    let mut known: FxHashMap<FunctionKey, i32> = FxHashMap::default();
    let mut ids: Vec<i32> = Vec::with_capacity(tables.functions.len());
    let mut kept: Vec<Function> = Vec::with_capacity(tables.functions.len());
    for mut row in std::mem::take(&mut tables.functions) {
        if demangle::is_mangled(&row.name) {
            row.name = Text::from(demangle::demangle(&row.name));
            row.function_key = keys::function_key(&row.name, row.dso.as_deref());
        }
        let next = kept.len() as i32;
        let id = *known.entry((row.name.clone(), row.dso_id, row.file.clone())).or_insert(next);
        if id == next {
            row.function_id = id;
            kept.push(row);
        }
        ids.push(id);
    }
    tables.functions = kept;
    for frame in &mut tables.frames {
        frame.function_id = frame.function_id.and_then(|id| ids.get(id as usize).copied());
    }
}
