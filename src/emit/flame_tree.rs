//! Weighted stacks as a tree of names, cut to what can be seen.
//!
//! ```text
//! stacks table (addresses)          tree of labels                 folded lines
//! main 0x10 <- parse 0x20  w 3      all ─ main ─┬ parse   5        main;parse 5
//! main 0x11 <- parse 0x24  w 2                  └ (tiny)  1        main 1        <- a cut frame leaves its weight
//! main 0x10 <- tiny  0x30  w 1                                                      to its caller
//! ```

use std::collections::BTreeMap;

use super::escape;
use crate::tables::{Dso, Frame, Function, Tables};

/// A frame narrower than one 4000th of the picture is less than a third of a pixel wide.
const NARROWEST: i128 = 4000;
/// Deeper frames are cut; a picture of 400 levels is 6400 pixels high.
const DEPTH_MAX: usize = 400;
/// Longest name in a picture.
const LABEL_CHARS_MAX: usize = 300;

#[derive(Debug)]
struct Node {
    parent: usize,
    label: usize,
    depth: usize,
    weight: i128,
}

/// The tree. Node 0 is the root; parents come before their children.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    labels: Vec<String>,
}

/// Folded lines, sorted, with what was left out of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Folded {
    pub lines: Vec<String>,
    /// Frames too narrow to be seen, or too deep.
    pub cut: usize,
}

impl Tree {
    /// Builds the tree from weights per stack; weights that are not positive have no width and are passed over.
    pub fn new(tables: &Tables, weights: &BTreeMap<i32, i128>) -> Tree {
        let mut tree = Tree { nodes: vec![Node { parent: 0, label: 0, depth: 0, weight: 0 }], labels: vec![String::new()] };
        let mut label_ids: BTreeMap<String, usize> = BTreeMap::new();
        let mut label_of_frame: BTreeMap<i32, usize> = BTreeMap::new();
        let mut children: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let needed = needed(tables, weights);
        let mut node_of_stack: BTreeMap<i32, usize> = BTreeMap::new();
        // Parents come first in the table, so one pass places every stack.
        for stack in tables.stacks.iter().filter(|stack| needed.contains_key(&stack.stack_id)) {
            let parent = stack.parent_stack_id.and_then(|id| node_of_stack.get(&id)).copied().unwrap_or(0);
            let depth = tree.nodes.get(parent).map_or(0, |node| node.depth);
            let node = if depth >= DEPTH_MAX {
                parent
            } else {
                let label = *label_of_frame.entry(stack.frame_id).or_insert_with(|| {
                    let text = label(tables, stack.frame_id);
                    *label_ids.entry(text).or_insert_with_key(|text| {
                        tree.labels.push(text.clone());
                        tree.labels.len() - 1
                    })
                });
                *children.entry((parent, label)).or_insert_with(|| {
                    tree.nodes.push(Node { parent, label, depth: depth + 1, weight: 0 });
                    tree.nodes.len() - 1
                })
            };
            node_of_stack.insert(stack.stack_id, node);
        }
        for (stack, weight) in weights {
            if let Some(node) = node_of_stack.get(stack).and_then(|node| tree.nodes.get_mut(*node))
                && *weight > 0
            {
                node.weight = node.weight.saturating_add(*weight);
            }
        }
        tree
    }

    /// The lines inferno reads, `root;caller;leaf weight`, each weight divided by `divisor` and rounded.
    pub fn fold(&self, divisor: i128) -> Folded {
        let mut total: Vec<i128> = self.nodes.iter().map(|node| node.weight).collect();
        let mut own = total.clone();
        for (index, node) in self.nodes.iter().enumerate().skip(1).rev() {
            add(&mut total, node.parent, index);
        }
        let whole = total.first().copied().unwrap_or(0);
        let mut cut = 0;
        // Children first: what a cut frame had left itself goes on to its caller.
        for (index, node) in self.nodes.iter().enumerate().skip(1).rev() {
            let width = total.get(index).copied().unwrap_or(0);
            if width.saturating_mul(NARROWEST) < whole {
                cut += 1;
                add(&mut own, node.parent, index);
                if let Some(slot) = own.get_mut(index) {
                    *slot = 0;
                }
            }
        }
        let mut lines: Vec<String> = own
            .iter()
            .enumerate()
            .skip(1)
            .filter_map(|(index, weight)| {
                let weight = weight.saturating_add(divisor / 2) / divisor.max(1);
                (weight > 0).then(|| format!("{} {weight}", self.path(index)))
            })
            .collect();
        lines.sort_unstable();
        Folded { lines, cut }
    }

    fn path(&self, index: usize) -> String {
        let mut labels = Vec::new();
        let mut index = index;
        while index != 0
            && let Some(node) = self.nodes.get(index)
        {
            labels.push(self.labels.get(node.label).map_or("", String::as_str));
            index = node.parent;
        }
        labels.reverse();
        labels.join(";")
    }
}

/// Adds what stands at `from` to what stands at `to`.
fn add(values: &mut [i128], to: usize, from: usize) {
    let value = values.get(from).copied().unwrap_or(0);
    if let Some(slot) = values.get_mut(to) {
        *slot = slot.saturating_add(value);
    }
}

/// The stacks that carry weight and all their callers.
fn needed(tables: &Tables, weights: &BTreeMap<i32, i128>) -> BTreeMap<i32, ()> {
    let parent_of: BTreeMap<i32, Option<i32>> = tables.stacks.iter().map(|row| (row.stack_id, row.parent_stack_id)).collect();
    let mut needed = BTreeMap::new();
    for stack in weights.keys() {
        let mut at = Some(*stack);
        while let Some(id) = at
            && needed.insert(id, ()).is_none()
        {
            at = parent_of.get(&id).copied().flatten();
        }
    }
    needed
}

/// What a frame is called in a picture.
fn label(tables: &Tables, frame: i32) -> String {
    let row = |id: i32| usize::try_from(id).ok();
    let frame: Option<&Frame> = row(frame).and_then(|id| tables.frames.get(id));
    let function: Option<&Function> = frame.and_then(|frame| frame.function_id).and_then(row).and_then(|id| tables.functions.get(id));
    let text = match function {
        Some(function) => function.name.to_string(),
        None => {
            let dso: Option<&Dso> = frame.and_then(|frame| frame.dso_id).and_then(row).and_then(|id| tables.dsos.get(id));
            dso.map_or_else(|| "[unknown]".to_owned(), |dso| format!("[unknown in {}]", dso.name))
        }
    };
    escape::folded(&escape::shorten(&text, LABEL_CHARS_MAX))
}
