//! What every node of the stack forest knows of the path above it, in one pass: parents come before their children.
//!
//! Walking from each stack to its root touches the same nodes again and again, in rows that are ten times as wide as
//! what is asked of them.

use super::classes::Marks;
use super::kinds::{Kind, Kinds, Step};
use crate::tables::Tables;

/// No node.
const NONE: u32 = u32::MAX;

/// One entry per row of `stacks`.
#[derive(Debug)]
pub struct Nodes {
    kinds: Kinds,
    paths: Vec<Above>,
}

/// A node and its callers.
#[derive(Debug, Clone, Copy)]
struct Above {
    /// Union of the class bits on the path.
    bits: u64,
    /// The nearest node on the path (itself included) whose function adds a bit to those of its callers.
    adds: u32,
    /// The nearest named user function outside the runtime, -1 for none.
    site: i32,
    /// The innermost user frame lies in the runtime.
    in_runtime: bool,
}

const NOTHING: Above = Above { bits: 0, adds: NONE, site: -1, in_runtime: false };

/// One class on a stack: its outermost frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outermost {
    /// Number of the class's bit.
    pub class: u32,
    /// None where its file alone tells the class.
    pub function_id: Option<i32>,
    /// The nearest named user function above it outside the runtime.
    pub site: Option<i32>,
}

fn some(id: i32) -> Option<i32> {
    (id >= 0).then_some(id)
}

impl Nodes {
    pub fn read(tables: &Tables, marks: &Marks) -> Nodes {
        let kinds = Kinds::read(tables, marks);
        let mut paths: Vec<Above> = Vec::with_capacity(kinds.steps().len());
        for (at, step) in kinds.steps().iter().enumerate() {
            let mut own = paths.get(step.parent as usize).copied().unwrap_or(NOTHING);
            let kind = kinds.kind(*step);
            if kind.bits & !own.bits != 0 {
                (own.bits, own.adds) = (own.bits | kind.bits, at as u32);
            }
            if !kind.is_kernel {
                own.in_runtime = kind.is_runtime;
                own.site = if kind.function >= 0 && !kind.is_runtime { kind.function } else { own.site };
            }
            paths.push(own);
        }
        Nodes { kinds, paths }
    }

    /// What remains of use once the paths were summed.
    pub fn into_kinds(self) -> Kinds {
        self.kinds
    }

    /// The node's own frame; `None` where there is no such node.
    pub fn leaf(&self, stack: i32) -> Option<&Kind> {
        self.kinds.leaf(stack)
    }

    /// The function of the node's own frame.
    pub fn function(&self, stack: i32) -> Option<i32> {
        self.leaf(stack).and_then(|kind| some(kind.function))
    }

    /// From the node to its root, what each frame is.
    pub fn path(&self, stack: i32) -> impl Iterator<Item = &Kind> + '_ {
        let step = |at: u32| self.kinds.steps().get(at as usize).copied();
        std::iter::successors(step(stack as u32), move |at: &Step| step(at.parent)).map(|at| self.kinds.kind(at))
    }

    fn above(&self, stack: i32) -> Above {
        self.paths.get(stack as usize).copied().unwrap_or(NOTHING)
    }

    /// The nearest named user function outside the runtime.
    pub fn site(&self, stack: i32) -> Option<i32> {
        some(self.above(stack).site)
    }

    /// Whether the innermost user frame lies outside the runtime: frame pointers lose the caller of a libc leaf.
    pub fn caller_certain(&self, stack: i32) -> bool {
        !self.above(stack).in_runtime
    }

    /// Union of the bits of the classes on a stack.
    pub fn bits(&self, stack: i32) -> u64 {
        self.above(stack).bits
    }

    /// The classes on a stack, by number, into `out`.
    pub fn classes(&self, stack: i32, out: &mut Vec<Outermost>) {
        out.clear();
        let mut at = self.above(stack).adds;
        while let (Some(own), Some(step)) = (self.paths.get(at as usize), self.kinds.steps().get(at as usize)) {
            let caller = self.paths.get(step.parent as usize).copied().unwrap_or(NOTHING);
            let mut new = own.bits & !caller.bits;
            while new != 0 {
                let class = new.trailing_zeros();
                new &= new - 1;
                out.push(Outermost { class, function_id: some(self.kinds.kind(*step).function), site: some(caller.site) });
            }
            at = caller.adds;
        }
        out.sort_unstable_by_key(|found| found.class);
    }
}
