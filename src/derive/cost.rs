//! Self and total per thread, per stack and per function.
//!
//! Samples are first summed per stack, and stacks per path of functions, so that the walk to the root happens once per
//! path, not per sample.

use rayon::prelude::*;

use super::calls::{Calls, Kind};
use super::facts::is_target;
use super::nodes::Nodes;
use crate::tables::{FunctionCost, StackCost, Tables, Text, ThreadWeight};

/// The rows of `stack_costs` and `function_costs`, from the samples of target threads. `start` is the bit of the class
/// ROOT, which is a column and no row of `stack_classes`.
pub fn sum(tables: &Tables, nodes: &Nodes<'_>, start: u64) -> (Vec<StackCost>, Vec<FunctionCost>) {
    let stacks = stack_costs(tables, nodes, start);
    let count = tables.functions.len();
    let by_event: Vec<&[StackCost]> = stacks.chunk_by(|a, b| a.event_id == b.event_id).collect();
    let mut rows: Vec<FunctionCost> = by_event.into_par_iter().flat_map(|of_event| functions(nodes.calls(), count, of_event)).collect();
    rows.sort_by(|a, b| (a.event_id, &a.view, a.function_id).cmp(&(b.event_id, &b.view, b.function_id)));
    (stacks, rows)
}

/// Weight and number by id, of which few are seen at a time.
struct Sums {
    /// Place in `seen`, one more; 0 for none.
    place: Vec<u32>,
    seen: Vec<(i32, i64, i64)>,
}

impl Sums {
    fn new(ids: usize) -> Sums {
        Sums { place: vec![0; ids], seen: Vec::new() }
    }

    fn add(&mut self, id: i32, weight: i64) {
        let Some(place) = self.place.get_mut(id as usize) else { return };
        if *place == 0 {
            self.seen.push((id, 0, 0));
            *place = self.seen.len() as u32;
        }
        if let Some((_, sum, count)) = self.seen.get_mut(*place as usize - 1) {
            (*sum, *count) = (sum.saturating_add(weight), *count + 1);
        }
    }

    /// What was added, by id; nothing is left of it.
    fn take(&mut self) -> Vec<(i32, i64, i64)> {
        let mut seen = std::mem::take(&mut self.seen);
        for (id, ..) in &seen {
            if let Some(place) = self.place.get_mut(*id as usize) {
                *place = 0;
            }
        }
        seen.sort_unstable_by_key(|(id, ..)| *id);
        seen
    }
}

/// The rows of `thread_weights`.
pub fn threads(tables: &Tables) -> Vec<ThreadWeight> {
    let mut costs = Vec::new();
    let mut sums = Sums::new(tables.threads.len());
    for of_event in tables.samples.chunk_by(|a, b| a.event_id == b.event_id) {
        for sample in of_event.iter().filter(|sample| is_target(tables, sample)) {
            sums.add(sample.thread_id.get().unwrap_or(-1), sample.weight);
        }
        let event_id = of_event.first().map_or(0, |sample| sample.event_id);
        let row = |(thread_id, self_weight, self_count)| ThreadWeight { event_id, thread_id, self_weight, self_count };
        costs.extend(sums.take().into_iter().map(row));
    }
    costs
}

/// Samples lie by event already.
fn stack_costs(tables: &Tables, nodes: &Nodes<'_>, start: u64) -> Vec<StackCost> {
    let mut costs: Vec<StackCost> = Vec::new();
    let mut sums = Sums::new(tables.stacks.len());
    for of_event in tables.samples.chunk_by(|a, b| a.event_id == b.event_id) {
        for sample in of_event.iter().filter(|sample| is_target(tables, sample)) {
            sums.add(sample.stack_id.get().unwrap_or(-1), sample.weight);
        }
        let event_id = of_event.first().map_or(0, |sample| sample.event_id);
        let row = |(stack_id, self_weight, self_count): (i32, i64, i64)| {
            let leaf = nodes.leaf(stack_id);
            let bits = nodes.bits(stack_id);
            StackCost {
                event_id,
                stack_id,
                self_weight,
                self_count,
                leaf_function_id: leaf.and_then(Kind::function_id),
                leaf_is_kernel: leaf.is_some_and(|leaf| leaf.is_kernel),
                leaf_dso_id: leaf.and_then(Kind::dso_id),
                site_function_id: nodes.site(stack_id),
                caller_certain: Some(nodes.caller_certain(stack_id)),
                reaches_start: Some(bits & start != 0),
                classes: Some((bits & !start).count_ones() as i32),
            }
        };
        costs.extend(sums.take().into_iter().map(row));
    }
    costs
}

/// What ends in one path.
#[derive(Clone, Copy)]
struct Own {
    weight: i64,
    count: i64,
}

#[derive(Default, Clone)]
struct Cost {
    self_weight: i64,
    self_count: i64,
    total_weight: i64,
    total_count: i64,
    /// The path that was counted last (one more than its number): a function counts once per path, however often it recurs.
    last: u64,
}

impl Cost {
    fn add(&mut self, own: Own, path: u64, is_leaf: bool) {
        if is_leaf {
            self.self_weight = self.self_weight.saturating_add(own.weight);
            self.self_count += own.count;
        }
        if self.last != path + 1 {
            self.last = path + 1;
            self.total_weight = self.total_weight.saturating_add(own.weight);
            self.total_count += own.count;
        }
    }
}

/// A function in the two views: with what was inlined as functions of their own, and as part of their callers.
#[derive(Default, Clone)]
struct Costs {
    inlined: Cost,
    physical: Cost,
}

/// `count`: how many functions there are.
fn functions(calls: &Calls, count: usize, stacks: &[StackCost]) -> Vec<FunctionCost> {
    let by_path = calls.sum(stacks.len(), stacks.iter().map(|stack| (stack.stack_id, stack.self_weight, stack.self_count)));
    let mut costs: Vec<Costs> = vec![Costs::default(); count];
    for (path, weight, count) in by_path {
        let own = Own { weight, count };
        let (mut is_leaf, mut is_physical_leaf) = (true, true);
        for kind in calls.frames(path) {
            if let Some(cost) = costs.get_mut(kind.function as usize) {
                cost.inlined.add(own, path.into(), is_leaf);
                if !kind.is_inlined {
                    cost.physical.add(own, path.into(), is_physical_leaf);
                }
            }
            is_leaf = false;
            is_physical_leaf &= kind.is_inlined;
        }
    }
    let event_id = stacks.first().map_or(0, |stack| stack.event_id);
    let rows = |name: &str, of: fn(&Costs) -> &Cost| {
        let view: Text = Text::from(name);
        let row = move |(function_id, costs): (usize, &Costs)| {
            let cost = of(costs);
            (cost.total_count > 0).then(|| FunctionCost {
                event_id,
                function_id: function_id as i32,
                view: view.clone(),
                self_weight: cost.self_weight,
                self_count: cost.self_count,
                total_weight: cost.total_weight,
                total_count: cost.total_count,
            })
        };
        costs.iter().enumerate().filter_map(row).collect::<Vec<_>>()
    };
    [rows("inlined", |costs| &costs.inlined), rows("physical", |costs| &costs.physical)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::Classes;
    use crate::tables::{Frame, Function, Maybe32, Sample, Thread};

    fn frame(id: i32, function: i32) -> Frame {
        Frame {
            frame_id: id,
            dso_id: None,
            rel: Some(i64::from(id)),
            inline_depth: 0,
            is_inlined: false,
            is_kernel: false,
            function_id: Some(function),
            line: None,
            symbol_rel: None,
            has_frame: None,
        }
    }

    fn function(id: i32) -> Function {
        Function { function_id: id, name: "f".into(), dso_id: None, dso: None, file: None, line: None, function_key: 0 }
    }

    /// main -> fib -> fib: by hand, fib has total 7 (not 14) and self 7; main total 7, self 0.
    #[test]
    fn recursion_counts_once() {
        let mut tables = Tables { frames: vec![frame(0, 0), frame(1, 1)], functions: vec![function(0), function(1)], ..Tables::default() };
        for (id, (parent, frame_id)) in [(None, 0), (Some(0), 1), (Some(1), 1)].into_iter().enumerate() {
            assert_eq!(tables.stacks.push(parent, frame_id), id as i32);
        }
        tables.threads.push(Thread { thread_id: 0, process_id: 0, artifact_id: 0, tid: 1, name: None, is_target: true });
        for weight in [3, 4] {
            tables.samples.push(Sample {
                event_id: 0,
                ts_ns: Some(weight).into(),
                thread_id: Some(0).into(),
                cpu: Maybe32::NONE,
                stack_id: Some(2).into(),
                weight,
                record_no: weight,
            });
        }
        let marks = Classes::embedded().unwrap().mark(&tables);
        let calls = Calls::read(&tables);
        let nodes = Nodes::read(&calls, &marks);
        (tables.stack_costs, tables.function_costs) = sum(&tables, &nodes, 0);
        let of = |function: i32| {
            let row = tables.function_costs.iter().find(|row| row.function_id == function).unwrap();
            (row.self_weight, row.self_count, row.total_weight, row.total_count)
        };
        assert_eq!(of(1), (7, 2, 7, 2));
        assert_eq!(of(0), (0, 0, 7, 2));
    }
}
