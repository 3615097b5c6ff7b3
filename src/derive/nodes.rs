//! What every node of the stack forest knows of the path above it, in one pass: parents come before their children.
//!
//! Walking from each stack to its root touches the same nodes again and again, in rows that are ten times as wide as
//! what is asked of them.

use super::classes::Marks;
use crate::tables::{Frame, Tables};

/// No node.
const NONE: u32 = u32::MAX;

/// One entry per row of `stacks`.
#[derive(Debug)]
pub struct Nodes {
    parent: Vec<u32>,
    function: Vec<i32>,
    /// Union of the class bits on the path.
    bits: Vec<u64>,
    /// The nearest node on the path (itself included) whose function adds a bit to those of its callers.
    adds: Vec<u32>,
    /// The nearest named user function outside the runtime, -1 for none.
    site: Vec<i32>,
    /// The innermost user frame lies in the runtime.
    in_runtime: Vec<bool>,
    is_inlined: Vec<bool>,
    is_kernel: Vec<bool>,
}

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

/// A frame, as far as its nodes need it.
#[derive(Debug, Clone, Copy)]
struct Brief {
    function: i32,
    bits: u64,
    is_kernel: bool,
    is_inlined: bool,
    is_runtime: bool,
}

const NAMELESS: Brief = Brief { function: -1, bits: 0, is_kernel: false, is_inlined: false, is_runtime: false };

fn some(id: i32) -> Option<i32> {
    (id >= 0).then_some(id)
}

impl Nodes {
    pub fn read(tables: &Tables, marks: &Marks) -> Nodes {
        let count = tables.stacks.len();
        let mut nodes = Nodes {
            parent: Vec::with_capacity(count),
            function: Vec::with_capacity(count),
            bits: Vec::with_capacity(count),
            adds: Vec::with_capacity(count),
            site: Vec::with_capacity(count),
            in_runtime: Vec::with_capacity(count),
            is_inlined: Vec::with_capacity(count),
            is_kernel: Vec::with_capacity(count),
        };
        // Stacks jump about in the frames: what is asked of them should fit into a cache.
        let brief = |frame: &Frame| Brief {
            function: frame.function_id.unwrap_or(-1),
            bits: marks.of_frame(frame),
            is_kernel: frame.is_kernel,
            is_inlined: frame.is_inlined,
            is_runtime: marks.is_runtime(frame.function_id),
        };
        let frames: Vec<Brief> = tables.frames.iter().map(brief).collect();
        for (at, row) in tables.stacks.iter().enumerate() {
            let frame = frames.get(row.frame_id as usize).copied().unwrap_or(NAMELESS);
            let (function, is_kernel, is_runtime) = (some(frame.function), frame.is_kernel, frame.is_runtime);
            // A parent that does not come first is none: such a table is not built by us, but must still be read.
            let parent = row.parent_stack_id.get().and_then(|id| usize::try_from(id).ok()).filter(|parent| *parent < at);
            let above = parent.and_then(|parent| nodes.bits.get(parent)).copied().unwrap_or(0);
            let own = frame.bits;
            let inherited = |list: &[u32]| parent.and_then(|parent| list.get(parent)).copied().unwrap_or(NONE);
            let adds = if own & !above != 0 { at as u32 } else { inherited(&nodes.adds) };
            let site = match function {
                Some(function) if !is_kernel && !is_runtime => function,
                _ => parent.and_then(|parent| nodes.site.get(parent)).copied().unwrap_or(-1),
            };
            let in_runtime = match is_kernel {
                true => parent.and_then(|parent| nodes.in_runtime.get(parent)).copied().unwrap_or(false),
                false => is_runtime,
            };
            nodes.parent.push(parent.map_or(NONE, |parent| parent as u32));
            nodes.function.push(frame.function);
            nodes.bits.push(above | own);
            nodes.adds.push(adds);
            nodes.site.push(site);
            nodes.in_runtime.push(in_runtime);
            nodes.is_inlined.push(frame.is_inlined);
            nodes.is_kernel.push(is_kernel);
        }
        nodes
    }

    /// The function of the node's own frame.
    pub fn function(&self, stack: i32) -> Option<i32> {
        self.function.get(stack as usize).copied().and_then(some)
    }

    pub fn is_kernel(&self, stack: i32) -> bool {
        self.is_kernel.get(stack as usize).copied().unwrap_or(false)
    }

    /// From the node to its root: function, and whether it is inlined.
    pub fn path(&self, stack: i32) -> impl Iterator<Item = (Option<i32>, bool)> + '_ {
        let exists = |at: &u32| (*at as usize) < self.parent.len();
        let up = move |at: &u32| self.parent.get(*at as usize).copied().filter(exists);
        std::iter::successors(Some(stack as u32).filter(exists), up).map(|at| {
            let at = at as usize;
            (self.function.get(at).copied().and_then(some), self.is_inlined.get(at).copied().unwrap_or(false))
        })
    }

    /// The nearest named user function outside the runtime.
    pub fn site(&self, stack: i32) -> Option<i32> {
        self.site.get(stack as usize).copied().and_then(some)
    }

    /// Whether the innermost user frame lies outside the runtime: frame pointers lose the caller of a libc leaf.
    pub fn caller_certain(&self, stack: i32) -> bool {
        !self.in_runtime.get(stack as usize).copied().unwrap_or(false)
    }

    /// Union of the bits of the classes on a stack.
    pub fn bits(&self, stack: i32) -> u64 {
        self.bits.get(stack as usize).copied().unwrap_or(0)
    }

    /// The classes on a stack, by number, into `out`.
    pub fn classes(&self, stack: i32, out: &mut Vec<Outermost>) {
        out.clear();
        let mut at = self.adds.get(stack as usize).copied().unwrap_or(NONE);
        while let Some(bits) = self.bits.get(at as usize) {
            let parent = self.parent.get(at as usize).copied().unwrap_or(NONE);
            let mut new = bits & !self.bits.get(parent as usize).copied().unwrap_or(0);
            let site = self.site.get(parent as usize).copied().and_then(some);
            while new != 0 {
                let class = new.trailing_zeros();
                new &= new - 1;
                let function_id = self.function.get(at as usize).copied().and_then(some);
                out.push(Outermost { class, function_id, site });
            }
            at = self.adds.get(parent as usize).copied().unwrap_or(NONE);
        }
        out.sort_unstable_by_key(|found| found.class);
    }
}
