//! Frames of generated code that meant different functions at different times: every observation gets the stack of its
//! own time.

use rustc_hash::FxHashMap;

use crate::tables::{Frame, Maybe32, Stacks, Tables};

/// By frame: from when on it is another one. Before the first of them it is the frame itself.
#[derive(Default)]
pub struct Variants(FxHashMap<i32, Vec<(i64, Frame)>>);

impl Variants {
    /// Times ascend for each frame.
    pub fn add(&mut self, frame_id: i32, from: i64, frame: Frame) {
        self.0.entry(frame_id).or_default().push((from, frame));
    }
}

/// Adds the variants as frames, and stacks through them, and moves the observations there.
pub fn split(tables: &mut Tables, variants: Variants) {
    if variants.0.is_empty() {
        return;
    }
    let mut by_frame: FxHashMap<i32, Vec<(i64, i32)>> = FxHashMap::default();
    let mut sorted: Vec<(i32, Vec<(i64, Frame)>)> = variants.0.into_iter().collect();
    sorted.sort_by_key(|(frame, _)| *frame);
    for (frame, list) in sorted {
        for (from, variant) in list {
            let Ok(id) = i32::try_from(tables.frames.len()) else { return };
            tables.frames.push(Frame { frame_id: id, ..variant });
            by_frame.entry(frame).or_default().push((from, id));
        }
    }
    let mut split = Split::new(&mut tables.stacks, by_frame);
    for row in &mut tables.samples {
        row.stack_id = Maybe32::from(split.at(row.stack_id.get(), row.ts_ns.get()));
    }
    for row in &mut tables.waits {
        let start = row.start_ns.get();
        row.stack_id = split.at(row.stack_id.get(), start).into();
        row.waker_stack_id = split.at(row.waker_stack_id.get(), start.map(|start| start.saturating_add(row.dur_ns))).into();
    }
    for row in &mut tables.syscall_events {
        row.stack_id = split.at(row.stack_id, row.start_ns);
    }
    for row in &mut tables.block_requests {
        row.stack_id = split.at(row.stack_id, Some(row.start_ns));
    }
    for row in &mut tables.lock_contentions {
        row.stack_id = split.at(row.stack_id, Some(row.start_ns));
    }
}

struct Split<'a> {
    stacks: &'a mut Stacks,
    by_frame: FxHashMap<i32, Vec<(i64, i32)>>,
    /// Whether a node or one of its callers changes with time.
    changes: Vec<bool>,
    /// (parent, frame) -> node, for the nodes added here.
    added: FxHashMap<(Option<i32>, i32), i32>,
    trail: Vec<i32>,
}

impl<'a> Split<'a> {
    fn new(stacks: &'a mut Stacks, by_frame: FxHashMap<i32, Vec<(i64, i32)>>) -> Split<'a> {
        let mut changes: Vec<bool> = Vec::with_capacity(stacks.len());
        for (parent, frame) in stacks.nodes() {
            let above = parent.and_then(|parent| changes.get(parent as usize).copied()).unwrap_or(false);
            changes.push(above || by_frame.contains_key(&frame));
        }
        Split { stacks, by_frame, changes, added: FxHashMap::default(), trail: Vec::new() }
    }

    /// The node that stands for `stack` at a time.
    fn at(&mut self, stack: Option<i32>, time: Option<i64>) -> Option<i32> {
        let stack = stack?;
        let Some(time) = time else { return Some(stack) };
        if !self.changes.get(stack as usize).copied().unwrap_or(false) {
            return Some(stack);
        }
        self.trail.clear();
        let mut node = Some(stack);
        while let Some(id) = node {
            self.trail.push(id);
            node = self.stacks.parent(id);
        }
        let mut parent = None;
        while let Some(id) = self.trail.pop() {
            let own = self.stacks.frame(id)?;
            let frame = self.frame(own, time);
            if frame == own && parent == self.stacks.parent(id) {
                parent = Some(id);
                continue;
            }
            let next = i32::try_from(self.stacks.len()).ok()?;
            let new = *self.added.entry((parent, frame)).or_insert(next);
            if new == next {
                self.stacks.push(parent, frame);
            }
            parent = Some(new);
        }
        parent
    }

    fn frame(&self, frame: i32, time: i64) -> i32 {
        let Some(list) = self.by_frame.get(&frame) else { return frame };
        let after = list.partition_point(|(from, _)| *from <= time);
        after.checked_sub(1).and_then(|at| list.get(at)).map_or(frame, |(_, id)| *id)
    }
}
