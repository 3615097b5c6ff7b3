//! Canonical ids: the same recordings give the same ids, whatever the number of threads or the order of the arguments.
//!
//! dsos by (path, build-id), functions by (name, dso, file), frames by (dso, rel, inline depth, function, line), stacks
//! by first use in (event, ts) order, parents first. Rows are then sorted as the tables' docs say.

use rayon::prelude::*;

use crate::symbolize::Inlined;
use crate::tables::*;

/// Old id -> new id.
struct Order(Vec<i32>);

impl Order {
    /// From the old ids in their new order.
    fn new(sorted: &[usize]) -> Order {
        let mut to = vec![0; sorted.len()];
        for (new, old) in sorted.iter().enumerate() {
            if let Some(slot) = to.get_mut(*old) {
                *slot = new as i32;
            }
        }
        Order(to)
    }

    fn map(&self, id: Option<i32>) -> Option<i32> {
        id.and_then(|id| self.0.get(id as usize).copied())
    }

    fn get(&self, id: i32) -> i32 {
        self.0.get(id as usize).copied().unwrap_or(0)
    }
}

fn sort_rows<R: Clone + Sync>(rows: &mut Vec<R>, compare: impl Fn(&R, &R) -> std::cmp::Ordering + Sync) -> Order {
    let mut sorted: Vec<usize> = (0..rows.len()).collect();
    sorted.par_sort_by(|a, b| compare(&rows[*a], &rows[*b]));
    *rows = sorted.iter().map(|old| rows[*old].clone()).collect();
    Order::new(&sorted)
}

/// Renumbers dsos, functions, frames and stacks and sorts the rows of all tables that hold observations. Puts the inlined
/// frames on the stacks.
pub fn renumber(tables: &mut Tables, inlined: &Inlined) {
    dsos(tables);
    functions(tables);
    // One recording comes in this order already.
    let order = |row: &Sample| (row.event_id, row.ts_ns, row.record_no);
    if !tables.samples.is_sorted_by_key(order) {
        tables.samples.sort_unstable_by_key(order);
    }
    let order = |row: &Wait| (row.artifact_id, row.start_ns, row.record_no);
    if !tables.waits.is_sorted_by_key(order) {
        tables.waits.sort_by_key(order);
    }
    tables.syscall_events.sort_by_key(|row| (row.artifact_id, row.start_ns, row.line_no));
    tables.block_requests.sort_by_key(|row| (row.artifact_id, row.start_ns, row.record_no));
    tables.lock_contentions.sort_by_key(|row| (row.artifact_id, row.start_ns, row.record_no));
    // The order of the frames says nothing about the order of the stacks.
    let rows = std::mem::take(&mut tables.frames);
    let ((rows, order), ()) = rayon::join(|| frames(rows), || stacks(tables, inlined));
    tables.frames = rows;
    tables.stacks.frames_mut().par_iter_mut().for_each(|frame| *frame = order.get(*frame));
}

fn dsos(tables: &mut Tables) {
    let order = sort_rows(&mut tables.dsos, |a, b| (&a.path, &a.build_id).cmp(&(&b.path, &b.build_id)));
    for (id, row) in tables.dsos.iter_mut().enumerate() {
        row.dso_id = id as i32;
    }
    tables.functions.iter_mut().for_each(|row| row.dso_id = order.map(row.dso_id));
    tables.frames.iter_mut().for_each(|row| row.dso_id = order.map(row.dso_id));
    tables.mappings.iter_mut().for_each(|row| row.dso_id = order.get(row.dso_id));
}

fn functions(tables: &mut Tables) {
    let order = sort_rows(&mut tables.functions, |a, b| (&a.name, a.dso_id, &a.file, a.line).cmp(&(&b.name, b.dso_id, &b.file, b.line)));
    for (id, row) in tables.functions.iter_mut().enumerate() {
        row.function_id = id as i32;
    }
    tables.frames.iter_mut().for_each(|row| row.function_id = order.map(row.function_id));
}

fn frames(old: Vec<Frame>) -> (Vec<Frame>, Order) {
    // Almost all frames differ in the first two, which are sorted without touching the rows. Frames of two recordings may
    // have become equal; they keep their order.
    let rest = |at: u32| old.get(at as usize).map(|row| (row.inline_depth, row.function_id, row.line, row.is_kernel, row.symbol_rel));
    // Absent comes first.
    let mut keys: Vec<(Option<i64>, i32, u32)> = (0..).zip(&old).map(|(at, row)| (row.rel, row.dso_id.unwrap_or(-1), at)).collect();
    keys.par_sort_unstable_by(|a, b| (a.1, a.0).cmp(&(b.1, b.0)).then_with(|| (rest(a.2), a.2).cmp(&(rest(b.2), b.2))));
    let mut to = vec![0; old.len()];
    let mut rows: Vec<Frame> = Vec::with_capacity(old.len());
    for (id, (_, _, at)) in (0..).zip(keys) {
        if let (Some(row), Some(to)) = (old.get(at as usize), to.get_mut(at as usize)) {
            *to = id;
            rows.push(Frame { frame_id: id, ..row.clone() });
        }
    }
    (rows, Order(to))
}

/// Numbers stacks by first use and drops nodes that nothing uses.
fn stacks(tables: &mut Tables, inlined: &Inlined) {
    let old = std::mem::take(&mut tables.stacks);
    let mut numbering =
        Numbering { old: &old, inlined, new_id: vec![-1; old.len()], new: Stacks::with_capacity(old.len()), trail: Vec::new() };
    tables.map_stacks(|stack| numbering.use_stack(stack));
    tables.stacks = numbering.new;
}

struct Numbering<'a> {
    old: &'a Stacks,
    inlined: &'a Inlined,
    /// Of the innermost node where frames were inlined.
    new_id: Vec<i32>,
    new: Stacks,
    trail: Vec<i32>,
}

impl Numbering<'_> {
    fn use_stack(&mut self, stack: Option<i32>) -> Option<i32> {
        let stack = stack?;
        let mut at = Some(stack);
        self.trail.clear();
        // Ends at a node that has its number, or above the root.
        let mut parent = None;
        while let Some(node) = at {
            match self.new_id.get(node as usize) {
                Some(-1) => self.trail.push(node),
                known => {
                    parent = known.copied();
                    break;
                }
            }
            at = self.old.parent(node);
        }
        while let Some(node) = self.trail.pop() {
            let id = self.inlined.push(&mut self.new, parent, self.old.frame(node)?);
            *self.new_id.get_mut(node as usize)? = id;
            parent = Some(id);
        }
        parent
    }
}

/// `stacks.stack_key` of every stack: hashes over the functions from the root.
pub fn stack_keys(tables: &Tables) -> Vec<i64> {
    // A frame without a name is told apart by its place.
    let own = |frame: &Frame| match frame.function_id.and_then(|id| tables.functions.get(id as usize)) {
        Some(function) => function.function_key,
        None => frame.rel.unwrap_or(0),
    };
    let own: Vec<i64> = tables.frames.iter().map(own).collect();
    let mut all: Vec<i64> = Vec::with_capacity(tables.stacks.len());
    for (parent, frame) in tables.stacks.nodes() {
        let parent = parent.and_then(|parent| all.get(parent as usize)).copied();
        all.push(keys::stack_key(parent, own.get(frame as usize).copied().unwrap_or(0)));
    }
    all
}
