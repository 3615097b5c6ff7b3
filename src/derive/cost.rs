//! Self and total per stack and per function.
//!
//! Samples are first summed per stack, so the walk to the root happens once per distinct stack, not per sample.

use rayon::prelude::*;

use super::nodes::Nodes;
use super::paths::path;
use crate::tables::{FunctionCost, Sample, StackCost, Tables, Text};

/// The rows of `stack_costs` and `function_costs`, from the samples of target threads.
pub fn sum(tables: &Tables, nodes: &Nodes) -> (Vec<StackCost>, Vec<FunctionCost>) {
    let stacks = stack_costs(tables, nodes);
    let count = tables.functions.len();
    let mut rows: Vec<FunctionCost> = stacks
        .chunk_by(|a, b| a.event_id == b.event_id)
        .collect::<Vec<_>>()
        .into_par_iter()
        .flat_map(|of_event| ["inlined", "physical"].into_par_iter().flat_map(move |view| functions(nodes, count, of_event, view)))
        .collect();
    rows.sort_by(|a, b| (a.event_id, &a.view, a.function_id).cmp(&(b.event_id, &b.view, b.function_id)));
    (stacks, rows)
}

/// Samples lie by event already: those of each event are sorted by stack and summed.
fn stack_costs(tables: &Tables, nodes: &Nodes) -> Vec<StackCost> {
    let is_target =
        |sample: &Sample| sample.thread_id.get().and_then(|id| tables.threads.get(id as usize)).is_some_and(|row| row.is_target);
    let mut costs: Vec<StackCost> = Vec::new();
    for of_event in tables.samples.chunk_by(|a, b| a.event_id == b.event_id) {
        let seen = of_event.iter().filter(|sample| is_target(sample));
        let mut seen: Vec<(i32, i64)> = seen.filter_map(|sample| Some((sample.stack_id.get()?, sample.weight))).collect();
        seen.sort_unstable_by_key(|(stack, _)| *stack);
        let event_id = of_event.first().map_or(0, |sample| sample.event_id);
        for same in seen.chunk_by(|a, b| a.0 == b.0) {
            let stack_id = same.first().map_or(0, |(stack, _)| *stack);
            costs.push(StackCost {
                event_id,
                stack_id,
                self_weight: same.iter().fold(0, |sum, (_, weight)| sum.saturating_add(*weight)),
                self_count: same.len() as i64,
                leaf_function_id: nodes.function(stack_id),
                leaf_is_kernel: nodes.is_kernel(stack_id),
                leaf_dso_id: path(tables, stack_id).next().and_then(|frame| frame.dso_id),
            });
        }
    }
    costs.sort_unstable_by_key(|cost| (cost.event_id, cost.stack_id));
    costs
}

#[derive(Default, Clone)]
struct Cost {
    self_weight: i64,
    self_count: i64,
    total_weight: i64,
    total_count: i64,
    /// The stack that was counted last (one more than its number): a function counts once per stack, however often it recurs.
    last: i64,
}

/// `count`: how many functions there are.
fn functions(nodes: &Nodes, count: usize, stacks: &[StackCost], view: &str) -> Vec<FunctionCost> {
    let physical = view == "physical";
    let mut costs: Vec<Cost> = vec![Cost::default(); count];
    for (number, stack) in stacks.iter().enumerate() {
        let mut is_leaf = true;
        for (function, _) in nodes.path(stack.stack_id).filter(|(_, is_inlined)| !physical || !is_inlined) {
            if let Some(cost) = function.and_then(|function| costs.get_mut(function as usize)) {
                if is_leaf {
                    cost.self_weight = cost.self_weight.saturating_add(stack.self_weight);
                    cost.self_count += stack.self_count;
                }
                let number = number as i64 + 1;
                if cost.last != number {
                    cost.last = number;
                    cost.total_weight = cost.total_weight.saturating_add(stack.self_weight);
                    cost.total_count += stack.self_count;
                }
            }
            is_leaf = false;
        }
    }
    let event_id = stacks.first().map_or(0, |stack| stack.event_id);
    let view: Text = Text::from(view);
    let row = |(function_id, cost): (usize, Cost)| FunctionCost {
        event_id,
        function_id: function_id as i32,
        view: view.clone(),
        self_weight: cost.self_weight,
        self_count: cost.self_count,
        total_weight: cost.total_weight,
        total_count: cost.total_count,
    };
    costs.into_iter().enumerate().filter(|(_, cost)| cost.total_count > 0).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::Classes;
    use crate::tables::{Frame, Function, Maybe32, Stack, Thread};

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
            tables.stacks.push(Stack { stack_id: id as i32, parent_stack_id: parent.into(), frame_id, depth: id as i32, stack_key: 0 });
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
        let nodes = Nodes::read(&tables, &marks);
        (tables.stack_costs, tables.function_costs) = sum(&tables, &nodes);
        let of = |function: i32| {
            let row = tables.function_costs.iter().find(|row| row.function_id == function).unwrap();
            (row.self_weight, row.self_count, row.total_weight, row.total_count)
        };
        assert_eq!(of(1), (7, 2, 7, 2));
        assert_eq!(of(0), (0, 0, 7, 2));
    }
}
