//! Weighted stacks as a tree of names, cut to what can be seen.
//!
//! ```text
//! stacks table (addresses)          tree of labels                 folded lines
//! main 0x10 <- parse 0x20  w 3      all ─ main ─┬ parse   5        main;parse 5
//! main 0x11 <- parse 0x24  w 2                  └ (tiny)  1        main 1        <- a cut frame leaves its weight
//! main 0x10 <- tiny  0x30  w 1                                                      to its caller
//! ```
//!
//! Most of a large recording's stacks are too narrow to be seen. So the tree is grown from the root, a name at a time,
//! and what lies below a frame that is too narrow is never looked at.

use std::collections::BTreeMap;

use super::escape;
use crate::tables::{Dso, Frame, Function, Tables};

/// A frame narrower than one 4000th of the picture is less than a third of a pixel wide.
const NARROWEST: i128 = 4000;
/// Deeper frames are cut; a picture of 400 levels is 6400 pixels high.
const DEPTH_MAX: usize = 400;
/// Longest name in a picture.
const LABEL_CHARS_MAX: usize = 300;

/// Folded lines, sorted, with what was left out of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Folded {
    pub lines: Vec<String>,
    /// Branches too narrow to be seen, or too deep.
    pub cut: usize,
}

/// No node.
const NONE: u32 = u32::MAX;

/// A row of `stacks`. All that growing the tree asks of a stack lies together: it jumps from one to the next.
#[derive(Clone, Copy)]
struct Node {
    /// Weight of the stack and of all below it.
    total: i64,
    child: u32,
    sibling: u32,
    frame: i32,
}

/// The stacks that carry weight.
struct Forest {
    nodes: Vec<Node>,
    root: u32,
}

impl Forest {
    /// Weights that are not positive have no width and are passed over.
    fn new(tables: &Tables, weights: &[(i32, i64)]) -> Forest {
        let nodes = vec![Node { total: 0, child: NONE, sibling: NONE, frame: -1 }; tables.stacks.len()];
        let mut forest = Forest { nodes, root: NONE };
        for (stack, weight) in weights.iter().filter(|(_, weight)| *weight > 0) {
            if let Some(node) = forest.nodes.get_mut(*stack as usize) {
                node.total = node.total.saturating_add(*weight);
            }
        }
        // Children before their parents, and so each list in order.
        for (at, row) in tables.stacks.iter().enumerate().rev() {
            let total = forest.nodes.get(at).map_or(0, |node| node.total);
            if total == 0 {
                continue;
            }
            let parent = row.parent_stack_id.get().and_then(|id| usize::try_from(id).ok()).filter(|parent| *parent < at);
            let sibling = match parent.and_then(|parent| forest.nodes.get_mut(parent)) {
                Some(parent) => {
                    parent.total = parent.total.saturating_add(total);
                    std::mem::replace(&mut parent.child, at as u32)
                }
                None => std::mem::replace(&mut forest.root, at as u32),
            };
            if let Some(node) = forest.nodes.get_mut(at) {
                (node.sibling, node.frame) = (sibling, row.frame_id);
            }
        }
        forest
    }

    /// The node and its siblings.
    fn list(&self, first: u32) -> impl Iterator<Item = Node> + '_ {
        let get = |at: u32| self.nodes.get(at as usize).copied();
        std::iter::successors(get(first), move |node| get(node.sibling))
    }
}

/// Labels, each once.
struct Labels<'a> {
    tables: &'a Tables,
    texts: Vec<String>,
    ids: BTreeMap<String, u32>,
    /// By function, and by dso for what has none; [`NONE`] where it was not needed yet.
    of_function: Vec<u32>,
    of_dso: Vec<u32>,
    of_nothing: u32,
}

impl<'a> Labels<'a> {
    fn new(tables: &'a Tables) -> Labels<'a> {
        Labels {
            tables,
            texts: Vec::new(),
            ids: BTreeMap::new(),
            of_function: vec![NONE; tables.functions.len()],
            of_dso: vec![NONE; tables.dsos.len()],
            of_nothing: NONE,
        }
    }

    fn of(&mut self, frame: i32) -> u32 {
        let frame = self.tables.frames.get(frame as usize);
        let at = |id: Option<i32>| id.and_then(|id| usize::try_from(id).ok());
        let (function, dso) = (at(frame.and_then(|frame| frame.function_id)), at(frame.and_then(|frame| frame.dso_id)));
        let known = match (function, dso) {
            (Some(function), _) => self.of_function.get(function),
            (None, Some(dso)) => self.of_dso.get(dso),
            (None, None) => Some(&self.of_nothing),
        };
        if let Some(label) = known.filter(|label| **label != NONE) {
            return *label;
        }
        let text = label(self.tables, frame);
        let next = self.texts.len() as u32;
        let label = *self.ids.entry(text.clone()).or_insert(next);
        if label == next {
            self.texts.push(text);
        }
        let slot = match (function, dso) {
            (Some(function), _) => self.of_function.get_mut(function),
            (None, Some(dso)) => self.of_dso.get_mut(dso),
            (None, None) => Some(&mut self.of_nothing),
        };
        if let Some(slot) = slot {
            *slot = label;
        }
        label
    }
}

/// Stacks with one label under one parent: the first of each one's children, and their weight.
#[derive(Default)]
struct Group {
    children: Vec<u32>,
    total: i128,
}

/// A frame of the picture that is still to be opened.
struct Open {
    path: String,
    depth: usize,
    group: Group,
}

/// The lines inferno reads, `root;caller;leaf weight`, each weight divided by `divisor` and rounded.
pub fn fold(tables: &Tables, weights: &[(i32, i64)], divisor: i128) -> Folded {
    let mut labels = Labels::new(tables);
    let forest = Forest::new(tables, weights);
    let whole: i128 = forest.list(forest.root).map(|node| i128::from(node.total)).sum();
    let mut folded = Folded { lines: Vec::new(), cut: 0 };
    let mut open = vec![Open { path: String::new(), depth: 0, group: Group { children: vec![forest.root], total: whole } }];
    while let Some(frame) = open.pop() {
        // What is not in a child that is shown is the frame's own.
        let mut own = frame.group.total;
        let mut below: BTreeMap<u32, Group> = BTreeMap::new();
        for node in frame.group.children.iter().flat_map(|first| forest.list(*first)) {
            let group = below.entry(labels.of(node.frame)).or_default();
            group.total += i128::from(node.total);
            if node.child != NONE {
                group.children.push(node.child);
            }
        }
        for (label, group) in below {
            if group.total.saturating_mul(NARROWEST) < whole || frame.depth >= DEPTH_MAX {
                folded.cut += 1;
                continue;
            }
            own -= group.total;
            let name = labels.texts.get(label as usize).map_or("", String::as_str);
            let path = if frame.depth == 0 { name.to_owned() } else { format!("{};{name}", frame.path) };
            open.push(Open { path, depth: frame.depth + 1, group });
        }
        let shown = own.saturating_add(divisor / 2) / divisor.max(1);
        if shown > 0 && frame.depth > 0 {
            folded.lines.push(format!("{} {shown}", frame.path));
        }
    }
    folded.lines.sort_unstable();
    folded
}

/// What a frame is called in a picture.
fn label(tables: &Tables, frame: Option<&Frame>) -> String {
    let row = |id: i32| usize::try_from(id).ok();
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
