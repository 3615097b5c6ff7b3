//! What every path of functions inherits from its callers, in one pass: callers come before what they call.

use super::calls::{Calls, Kind, NONE};
use super::classes::Marks;

/// One entry per path of [`Calls`].
#[derive(Debug)]
pub struct Nodes<'a> {
    calls: &'a Calls,
    paths: Vec<Above>,
    /// The classes of each kind of frame.
    bits: Vec<u64>,
}

/// A path and its callers.
#[derive(Debug, Clone, Copy)]
struct Above {
    /// Union of the class bits on the path.
    bits: u64,
    /// The nearest path up from this one (itself included) whose own frame adds a bit to those of its callers.
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

impl<'a> Nodes<'a> {
    pub fn read(calls: &'a Calls, marks: &Marks) -> Nodes<'a> {
        let bits: Vec<u64> = calls.kinds().iter().map(|kind| marks.of_kind(kind)).collect();
        let mut paths: Vec<Above> = Vec::with_capacity(calls.steps().len());
        for (at, step) in calls.steps().iter().enumerate() {
            let mut own = paths.get(step.caller as usize).copied().unwrap_or(NOTHING);
            let new = bits.get(step.kind as usize).copied().unwrap_or(0) & !own.bits;
            if new != 0 {
                (own.bits, own.adds) = (own.bits | new, at as u32);
            }
            if let Some(kind) = calls.kinds().get(step.kind as usize).filter(|kind| !kind.is_kernel) {
                own.in_runtime = marks.is_runtime(kind.function_id());
                own.site = if kind.function >= 0 && !own.in_runtime { kind.function } else { own.site };
            }
            paths.push(own);
        }
        Nodes { calls, paths, bits }
    }

    pub fn calls(&self) -> &'a Calls {
        self.calls
    }

    /// What the stack's own frame is; `None` where there is no such stack.
    pub fn leaf(&self, stack: i32) -> Option<&'a Kind> {
        self.calls.leaf(self.calls.path(stack))
    }

    /// The function of the stack's own frame.
    pub fn function(&self, stack: i32) -> Option<i32> {
        self.leaf(stack).and_then(Kind::function_id)
    }

    /// The classes of the stack's own frame.
    pub fn leaf_bits(&self, stack: i32) -> u64 {
        let step = self.calls.steps().get(self.calls.path(stack) as usize);
        step.and_then(|step| self.bits.get(step.kind as usize)).copied().unwrap_or(0)
    }

    fn above(&self, path: u32) -> Above {
        self.paths.get(path as usize).copied().unwrap_or(NOTHING)
    }

    /// The nearest named user function outside the runtime.
    pub fn site(&self, stack: i32) -> Option<i32> {
        some(self.above(self.calls.path(stack)).site)
    }

    /// Whether the innermost user frame lies outside the runtime: frame pointers lose the caller of a libc leaf.
    pub fn caller_certain(&self, stack: i32) -> bool {
        !self.above(self.calls.path(stack)).in_runtime
    }

    /// Union of the bits of the classes on a stack.
    pub fn bits(&self, stack: i32) -> u64 {
        self.above(self.calls.path(stack)).bits
    }

    /// The classes on a stack, by number, into `out`.
    pub fn classes(&self, stack: i32, out: &mut Vec<Outermost>) {
        out.clear();
        let mut at = self.above(self.calls.path(stack)).adds;
        while let (Some(own), Some(step)) = (self.paths.get(at as usize), self.calls.steps().get(at as usize)) {
            let caller = self.above(step.caller);
            let mut new = own.bits & !caller.bits;
            let function_id = self.calls.leaf(at).and_then(Kind::function_id);
            while new != 0 {
                let class = new.trailing_zeros();
                new &= new - 1;
                out.push(Outermost { class, function_id, site: some(caller.site) });
            }
            at = caller.adds;
        }
        out.sort_unstable_by_key(|found| found.class);
    }
}
