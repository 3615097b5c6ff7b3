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
use crate::tables::{Dso, Frame, Function, Maybe32, Tables};

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

/// The weight of every stack with all below it, and the way down.
///
/// Most nodes come right after their parent: only the others are listed.
struct Forest<'a> {
    parents: &'a [Maybe32],
    totals: Vec<i64>,
    /// Per node the first of its other children that have weight, or [`NONE`]; the next of the same parent is beside the child.
    others: Vec<u32>,
    nexts: FxHashMap<u32, u32>,
    root: u32,
}

impl<'a> Forest<'a> {
    /// Weights that are not positive have no width and are passed over.
    fn new(tables: &'a Tables, weights: &[(i32, i64)]) -> Forest<'a> {
        let parents = tables.stacks.parents();
        let mut totals = vec![0_i64; parents.len()];
        for (stack, weight) in weights.iter().filter(|(_, weight)| *weight > 0) {
            if let Some(total) = totals.get_mut(*stack as usize) {
                *total = total.saturating_add(*weight);
            }
        }
        let mut forest = Forest { parents, totals, others: vec![NONE; parents.len()], nexts: FxHashMap::default(), root: NONE };
        // Children before their parents, and so each list in order.
        for at in (0..parents.len()).rev() {
            let total = forest.totals.get(at).copied().unwrap_or(0);
            if total == 0 {
                continue;
            }
            let parent = forest.parent(at);
            if let Some(above) = parent.and_then(|parent| forest.totals.get_mut(parent)) {
                *above = above.saturating_add(total);
            }
            if parent.is_none_or(|parent| parent + 1 != at) {
                let first = parent.map_or(Some(&mut forest.root), |parent| forest.others.get_mut(parent));
                let next = first.map_or(NONE, |first| std::mem::replace(first, at as u32));
                if next != NONE {
                    forest.nexts.insert(at as u32, next);
                }
            }
        }
        forest
    }

    fn parent(&self, at: usize) -> Option<usize> {
        let parent = self.parents.get(at).and_then(|parent| parent.get()).and_then(|id| usize::try_from(id).ok());
        parent.filter(|parent| *parent < at)
    }

    fn total(&self, at: u32) -> i64 {
        self.totals.get(at as usize).copied().unwrap_or(0)
    }

    /// A node of a list and those after it.
    fn list(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(first).filter(|at| *at != NONE), |at| self.nexts.get(at).copied())
    }

    /// The children that have weight.
    fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let after = node as usize + 1;
        let follows = self.parent(after) == Some(node as usize) && self.total(after as u32) > 0;
        let others = self.others.get(node as usize).copied().unwrap_or(NONE);
        follows.then_some(after as u32).into_iter().chain(self.list(others))
    }
}

/// Labels, each once.
struct Labels {
    texts: Vec<String>,
    /// By frame.
    of: Vec<u32>,
}

impl Labels {
    /// Stacks jump about in the frames: the number of a label each fits into a cache.
    fn read(tables: &Tables) -> Labels {
        let mut texts: Vec<String> = Vec::new();
        let mut by_text: FxHashMap<String, u32> = FxHashMap::default();
        let mut by_id: FxHashMap<(i32, i32), u32> = FxHashMap::default();
        let mut label_of = |frame: &Frame| {
            let dso = frame.dso_id.filter(|_| frame.function_id.is_none());
            *by_id.entry((frame.function_id.unwrap_or(-1), dso.unwrap_or(-1))).or_insert_with(|| {
                *by_text.entry(label(tables, Some(frame))).or_insert_with_key(|text| {
                    texts.push(text.clone());
                    texts.len() as u32 - 1
                })
            })
        };
        let of = tables.frames.iter().map(&mut label_of).collect();
        Labels { texts, of }
    }
}

/// Stacks with one label under one parent: their nodes and their weight.
#[derive(Default)]
struct Group {
    nodes: Vec<u32>,
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
    let labels = Labels::read(tables);
    let forest = Forest::new(tables, weights);
    let frames = tables.stacks.frames();
    let label_of = |node: u32| frames.get(node as usize).and_then(|frame| labels.of.get(*frame as usize)).copied().unwrap_or(NONE);
    let whole: i128 = forest.list(forest.root).map(|node| i128::from(forest.total(node))).sum();
    let mut folded = Folded { lines: Vec::new(), cut: 0 };
    // Per label its place in `below`, emptied after each frame.
    let mut slots = vec![NONE; labels.texts.len()];
    let mut below: Vec<(u32, Group)> = Vec::new();
    let mut open = vec![Open { path: String::new(), depth: 0, group: Group { nodes: Vec::new(), total: whole } }];
    while let Some(frame) = open.pop() {
        let roots = forest.list(if frame.depth == 0 { forest.root } else { NONE });
        for node in roots.chain(frame.group.nodes.iter().flat_map(|node| forest.children(*node))) {
            let label = label_of(node);
            let Some(slot) = slots.get_mut(label as usize) else { continue };
            if *slot == NONE {
                *slot = below.len() as u32;
                below.push((label, Group::default()));
            }
            if let Some((_, group)) = below.get_mut(*slot as usize) {
                group.total += i128::from(forest.total(node));
                group.nodes.push(node);
            }
        }
        // What is not in a child that is shown is the frame's own.
        let mut own = frame.group.total;
        for (label, group) in below.drain(..) {
            if let Some(slot) = slots.get_mut(label as usize) {
                *slot = NONE;
            }
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
