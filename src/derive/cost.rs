//! Self and total per stack and per function.
//!
//! Samples are first summed per stack, so the walk to the root happens once per distinct stack, not per sample.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::paths::path;
use crate::tables::{FunctionCost, StackCost, Tables, Text};

/// Fills `stack_costs` and `function_costs` from the samples of target threads.
pub fn sum(tables: &mut Tables) {
    let mut stacks: FxHashMap<(i32, i32), (i64, i64)> = FxHashMap::default();
    for sample in &tables.samples {
        let is_target = sample.thread_id.get().and_then(|id| tables.threads.get(id as usize)).is_some_and(|row| row.is_target);
        if let (Some(stack), true) = (sample.stack_id.get(), is_target) {
            let cost = stacks.entry((sample.event_id, stack)).or_default();
            cost.0 = cost.0.saturating_add(sample.weight);
            cost.1 += 1;
        }
    }
    let mut costs: Vec<StackCost> = stacks
        .into_iter()
        .map(|((event_id, stack_id), (self_weight, self_count))| StackCost { event_id, stack_id, self_weight, self_count })
        .collect();
    costs.sort_unstable_by_key(|cost| (cost.event_id, cost.stack_id));
    tables.stack_costs = costs;

    let tables_ref: &Tables = tables;
    let mut rows: Vec<FunctionCost> = tables_ref
        .stack_costs
        .chunk_by(|a, b| a.event_id == b.event_id)
        .collect::<Vec<_>>()
        .into_par_iter()
        .flat_map(|of_event| ["inlined", "physical"].into_par_iter().flat_map(move |view| functions(tables_ref, of_event, view)))
        .collect();
    rows.sort_by(|a, b| (a.event_id, &a.view, a.function_id).cmp(&(b.event_id, &b.view, b.function_id)));
    tables.function_costs = rows;
}

#[derive(Default, Clone)]
struct Cost {
    self_weight: i64,
    self_count: i64,
    total_weight: i64,
    total_count: i64,
    /// The stack that was counted last: a function counts once per stack, however often it recurs.
    last: Option<i32>,
}

fn functions(tables: &Tables, stacks: &[StackCost], view: &str) -> Vec<FunctionCost> {
    let physical = view == "physical";
    let mut costs: FxHashMap<i32, Cost> = FxHashMap::default();
    for stack in stacks {
        let mut frames = path(tables, stack.stack_id).filter(|frame| !physical || !frame.is_inlined);
        let mut is_leaf = true;
        for frame in &mut frames {
            if let Some(function) = frame.function_id {
                let cost = costs.entry(function).or_default();
                if is_leaf {
                    cost.self_weight = cost.self_weight.saturating_add(stack.self_weight);
                    cost.self_count += stack.self_count;
                }
                if cost.last != Some(stack.stack_id) {
                    cost.last = Some(stack.stack_id);
                    cost.total_weight = cost.total_weight.saturating_add(stack.self_weight);
                    cost.total_count += stack.self_count;
                }
            }
            is_leaf = false;
        }
    }
    let event_id = stacks.first().map_or(0, |stack| stack.event_id);
    let view: Text = Text::from(view);
    let row = |(function_id, cost): (i32, Cost)| FunctionCost {
        event_id,
        function_id,
        view: view.clone(),
        self_weight: cost.self_weight,
        self_count: cost.self_count,
        total_weight: cost.total_weight,
        total_count: cost.total_count,
    };
    costs.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Frame, Maybe32, Sample, Stack, Thread};

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
        }
    }

    /// main -> fib -> fib: by hand, fib has total 7 (not 14) and self 7; main total 7, self 0.
    #[test]
    fn recursion_counts_once() {
        let mut tables = Tables { frames: vec![frame(0, 0), frame(1, 1)], ..Tables::default() };
        for (id, (parent, frame_id)) in [(None, 0), (Some(0), 1), (Some(1), 1)].into_iter().enumerate() {
            tables.stacks.push(Stack { stack_id: id as i32, parent_stack_id: parent, frame_id, depth: id as i32, stack_key: 0 });
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
        sum(&mut tables);
        let of = |function: i32| {
            let row = tables.function_costs.iter().find(|row| row.function_id == function).unwrap();
            (row.self_weight, row.self_count, row.total_weight, row.total_count)
        };
        assert_eq!(of(1), (7, 2, 7, 2));
        assert_eq!(of(0), (0, 0, 7, 2));
    }
}
