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

use rustc_hash::FxHashMap;

use super::escape;
use crate::derive::Calls;
use crate::derive::calls::{Kind, NONE, Step};
use crate::tables::{Dso, Function, Tables};

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

/// A path of functions. All that growing the tree asks of it lies together: it jumps from one to the next.
#[derive(Clone, Copy)]
struct Node {
    /// Weight of the path and of all below it.
    total: i64,
    child: u32,
    sibling: u32,
    label: u32,
}

/// The paths that carry weight.
struct Forest {
    nodes: Vec<Node>,
    root: u32,
}

impl Forest {
    /// Weights that are not positive have no width and are passed over.
    fn new(calls: &Calls, labels: &Labels, weights: &[(i32, i64)]) -> Forest {
        let node = |step: &Step| {
            let label = labels.of.get(step.kind as usize).copied().unwrap_or(0);
            Node { total: 0, child: NONE, sibling: NONE, label }
        };
        let mut forest = Forest { nodes: calls.steps().iter().map(node).collect(), root: NONE };
        for (stack, weight) in weights.iter().filter(|(_, weight)| *weight > 0) {
            if let Some(node) = forest.nodes.get_mut(calls.path(*stack) as usize) {
                node.total = node.total.saturating_add(*weight);
            }
        }
        // What is called before its callers.
        for (at, step) in calls.steps().iter().enumerate().rev() {
            let total = forest.nodes.get(at).map_or(0, |node| node.total);
            if total == 0 {
                continue;
            }
            let sibling = match forest.nodes.get_mut(step.caller as usize) {
                Some(caller) => {
                    caller.total = caller.total.saturating_add(total);
                    std::mem::replace(&mut caller.child, at as u32)
                }
                None => std::mem::replace(&mut forest.root, at as u32),
            };
            if let Some(node) = forest.nodes.get_mut(at) {
                node.sibling = sibling;
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
struct Labels {
    texts: Vec<String>,
    /// By kind of frame.
    of: Vec<u32>,
}

impl Labels {
    fn read(tables: &Tables, calls: &Calls) -> Labels {
        let mut texts: Vec<String> = Vec::new();
        let mut known: FxHashMap<String, u32> = FxHashMap::default();
        let label = |kind: &Kind| {
            *known.entry(label(tables, kind)).or_insert_with_key(|text| {
                texts.push(text.clone());
                texts.len() as u32 - 1
            })
        };
        let of = calls.kinds().iter().map(label).collect();
        Labels { texts, of }
    }
}

/// Paths with one label under one parent: the first of each one's children, and their weight.
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
pub fn fold(tables: &Tables, calls: &Calls, weights: &[(i32, i64)], divisor: i128) -> Folded {
    let labels = Labels::read(tables, calls);
    let forest = Forest::new(calls, &labels, weights);
    let whole: i128 = forest.list(forest.root).map(|node| i128::from(node.total)).sum();
    let mut folded = Folded { lines: Vec::new(), cut: 0 };
    let mut open = vec![Open { path: String::new(), depth: 0, group: Group { children: vec![forest.root], total: whole } }];
    while let Some(frame) = open.pop() {
        let mut below: FxHashMap<u32, Group> = FxHashMap::default();
        for node in frame.group.children.iter().flat_map(|first| forest.list(*first)) {
            let group = below.entry(node.label).or_default();
            group.total += i128::from(node.total);
            if node.child != NONE {
                group.children.push(node.child);
            }
        }
        // What is not in a child that is shown is the frame's own.
        let mut own = frame.group.total;
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
fn label(tables: &Tables, kind: &Kind) -> String {
    let row = |id: i32| usize::try_from(id).ok();
    let function: Option<&Function> = kind.function_id().and_then(row).and_then(|id| tables.functions.get(id));
    let text = match function {
        Some(function) => function.name.to_string(),
        None => {
            let dso: Option<&Dso> = kind.dso_id().and_then(row).and_then(|id| tables.dsos.get(id));
            dso.map_or_else(|| "[unknown]".to_owned(), |dso| format!("[unknown in {}]", dso.name))
        }
    };
    escape::folded(&escape::shorten(&text, LABEL_CHARS_MAX))
}
