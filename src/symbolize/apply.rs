//! Writing the names into the tables.

use rustc_hash::FxHashMap;

use super::{Inlined, Named, Outcome, Work, demangle, producer};
use crate::tables::{Frame, Function, Tables, Text, keys};

type FunctionKey = (Text, Option<i32>, Option<Text>);

/// Functions by name, dso and file.
pub(super) struct Functions<'a> {
    rows: &'a mut Vec<Function>,
    known: FxHashMap<FunctionKey, i32>,
    /// The same by where the texts lie, which are kept for that: most names are shared, and long.
    by_place: FxHashMap<(usize, i32, usize), (i32, Named)>,
}

impl<'a> Functions<'a> {
    pub fn new(rows: &'a mut Vec<Function>) -> Functions<'a> {
        let known = rows.iter().map(|row| ((row.name.clone(), row.dso_id, row.file.clone()), row.function_id)).collect();
        Functions { rows, known, by_place: FxHashMap::default() }
    }

    pub fn intern(&mut self, named: &Named, dso: i32, dso_name: &Text) -> Option<i32> {
        let at = |text: &Option<Text>| text.as_ref().map_or(0, |text| text.as_ptr().addr());
        let place = (at(&named.name), dso, at(&named.file));
        if let Some(id) = self.by_place.get(&place).map(|(id, _)| *id) {
            self.note_line(id, named.declared);
            return Some(id);
        }
        let id = self.intern_text(named, dso, dso_name)?;
        self.by_place.insert(place, (id, named.clone()));
        Some(id)
    }

    /// For texts that nobody else shares.
    pub fn intern_text(&mut self, named: &Named, dso: i32, dso_name: &Text) -> Option<i32> {
        let key = (named.name.clone()?, Some(dso), named.file.clone());
        if let Some(id) = self.known.get(&key).copied() {
            self.note_line(id, named.declared);
            return Some(id);
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

    /// Several functions may have one name in one file: the first line counts, whoever came first.
    fn note_line(&mut self, id: i32, declared: Option<i32>) {
        if let (Some(line), Some(row)) = (declared, self.rows.get_mut(id as usize)) {
            row.line = Some(row.line.map_or(line, |own| own.min(line)));
        }
    }
}

/// Gives every frame of `work` its function and adds the inlined ones.
pub fn write(tables: &mut Tables, work: &[Work], outcomes: Vec<Outcome>) -> Inlined {
    let mut by_dso: Vec<Option<Outcome>> = tables.dsos.iter().map(|_| None).collect();
    let mut place_of = vec![u32::MAX; tables.frames.len()];
    for (work, outcome) in work.iter().zip(outcomes) {
        for (frame, place) in &work.frames {
            if let Some(slot) = place_of.get_mut(*frame as usize) {
                *slot = *place;
            }
        }
        if let Some(dso) = tables.dsos.get_mut(work.dso) {
            dso.symbol_source = outcome.source.as_deref().map(Text::from).or_else(|| dso.symbol_source.take());
            producer::note(dso, &outcome.producers);
        }
        if let Some(slot) = by_dso.get_mut(work.dso) {
            *slot = Some(outcome);
        }
    }
    let mut functions = Functions::new(&mut tables.functions);
    let mut inlined: Vec<(i32, i32)> = Vec::new();
    let mut added: Vec<Frame> = Vec::new();
    let first_new = tables.frames.len();
    for (frame, place) in tables.frames.iter_mut().zip(place_of).filter(|(_, place)| *place != u32::MAX) {
        let Some(dso) = frame.dso_id else { continue };
        let Some(outcome) = by_dso.get(dso as usize).and_then(Option::as_ref) else { continue };
        let Some(place) = outcome.places.get(place as usize) else { continue };
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
            inlined.push((frame.frame_id, id));
        }
    }
    tables.frames.append(&mut added);
    Inlined::new(tables.frames.len(), &inlined)
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
