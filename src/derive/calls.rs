//! The stack forest by functions: stacks that go through the same functions are one path.
//!
//! A large recording has millions of stack nodes, one per address, but some thousand functions and a twentieth as many
//! paths. What a node inherits from its callers (classes, sites, sums) depends on the functions only, so it is found per
//! path, and a stack looks up its path.
//!
//! ```text
//! stacks (addresses)               paths (functions)
//! 0 main 0x10                      0 main
//! 1 └ parse 0x20                   1 └ parse
//! 2   └ read 0x33                  2   └ read
//! 3   └ read 0x38                  of_stack: 0 1 2 2
//! ```

use rustc_hash::FxHashMap;

use crate::tables::{Frame, Tables};

/// What later stages ask of a frame. Ids are -1 where nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind {
    pub function: i32,
    pub dso: i32,
    pub has_frame: Option<bool>,
    pub is_kernel: bool,
    pub is_inlined: bool,
}

const NAMELESS: Kind = Kind { function: -1, dso: -1, has_frame: None, is_kernel: false, is_inlined: false };

impl Kind {
    pub fn of(frame: &Frame) -> Kind {
        Kind {
            function: frame.function_id.unwrap_or(-1),
            dso: frame.dso_id.unwrap_or(-1),
            has_frame: frame.has_frame,
            is_kernel: frame.is_kernel,
            is_inlined: frame.is_inlined,
        }
    }

    pub fn function_id(&self) -> Option<i32> {
        (self.function >= 0).then_some(self.function)
    }

    pub fn dso_id(&self) -> Option<i32> {
        (self.dso >= 0).then_some(self.dso)
    }
}

/// No path: the caller of a root.
pub const NONE: u32 = u32::MAX;

/// A path: that of its caller ([`NONE`] at the root), and the number of the kind of its own frame. Callers come first.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    pub caller: u32,
    pub kind: u32,
}

/// All paths of a run.
#[derive(Debug, Clone)]
pub struct Calls {
    kinds: Vec<Kind>,
    steps: Vec<Step>,
    of_stack: Vec<u32>,
}

/// Paths that are being told apart.
#[derive(Default)]
struct Interner {
    steps: Vec<Step>,
    /// Per path the kind and the path of what was called last: most often that is called next.
    recent: Vec<(u32, u32)>,
    known: FxHashMap<u64, u32>,
}

impl Interner {
    fn path(&mut self, caller: u32, kind: u32) -> u32 {
        if let Some((_, path)) = self.recent.get(caller as usize).filter(|(recent, _)| *recent == kind) {
            return *path;
        }
        let next = self.steps.len() as u32;
        let path = *self.known.entry(u64::from(caller) << 32 | u64::from(kind)).or_insert(next);
        if path == next {
            self.steps.push(Step { caller, kind });
            self.recent.push((NONE, NONE));
        }
        if let Some(recent) = self.recent.get_mut(caller as usize) {
            *recent = (kind, path);
        }
        path
    }
}

impl Calls {
    pub fn read(tables: &Tables) -> Calls {
        let mut kinds = vec![NAMELESS];
        let mut numbers: FxHashMap<Kind, u32> = FxHashMap::default();
        let number = |frame: &Frame| {
            *numbers.entry(Kind::of(frame)).or_insert_with_key(|kind| {
                kinds.push(*kind);
                kinds.len() as u32 - 1
            })
        };
        // Stacks jump about in the frames: a number each fits into a cache.
        let of_frame: Vec<u32> = tables.frames.iter().map(number).collect();
        let mut paths = Interner::default();
        let mut of_stack: Vec<u32> = Vec::with_capacity(tables.stacks.len());
        for (parent, frame) in tables.stacks.nodes() {
            // A parent that does not come first is none: such a table is not built by us, but must still be read.
            let caller = parent.and_then(|parent| of_stack.get(usize::try_from(parent).ok()?)).copied().unwrap_or(NONE);
            let kind = of_frame.get(frame as usize).copied().unwrap_or(0);
            of_stack.push(paths.path(caller, kind));
        }
        Calls { kinds, steps: paths.steps, of_stack }
    }

    /// All kinds, by number.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// All paths, callers first.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The path of a stack; [`NONE`] where there is no such stack.
    pub fn path(&self, stack: i32) -> u32 {
        self.of_stack.get(stack as usize).copied().unwrap_or(NONE)
    }

    /// Weight and number of stacks, summed by path, in order of the paths. `stacks`: how many come at most.
    pub fn sum(&self, stacks: usize, all: impl Iterator<Item = (i32, i64, i64)>) -> Vec<(u32, i64, i64)> {
        let mut out: Vec<(u32, i64, i64)> = Vec::new();
        if stacks < self.steps.len() / 16 {
            // Few among many: a list of all paths would cost more than sorting.
            let mut few: Vec<(u32, i64, i64)> = all.map(|(stack, weight, count)| (self.path(stack), weight, count)).collect();
            few.sort_unstable_by_key(|(path, ..)| *path);
            for (path, weight, count) in few.into_iter().filter(|(path, ..)| *path != NONE) {
                match out.last_mut().filter(|last| last.0 == path) {
                    Some(last) => (last.1, last.2) = (last.1.saturating_add(weight), last.2.saturating_add(count)),
                    None => out.push((path, weight, count)),
                }
            }
            return out;
        }
        let mut sums = vec![(0_i64, 0_i64); self.steps.len()];
        for (stack, weight, count) in all {
            if let Some(sum) = sums.get_mut(self.path(stack) as usize) {
                *sum = (sum.0.saturating_add(weight), sum.1.saturating_add(count));
            }
        }
        let seen = (0..).zip(sums).filter(|(_, (_, count))| *count > 0);
        out.extend(seen.map(|(path, (weight, count))| (path, weight, count)));
        out
    }

    /// What the innermost frame of a path is; `None` where there is no such path.
    pub fn leaf(&self, path: u32) -> Option<&Kind> {
        self.steps.get(path as usize).map(|step| self.kind(step))
    }

    fn kind(&self, step: &Step) -> &Kind {
        self.kinds.get(step.kind as usize).unwrap_or(&NAMELESS)
    }

    /// From a path's innermost frame to its root, what each frame is.
    pub fn frames(&self, path: u32) -> impl Iterator<Item = &Kind> + '_ {
        std::iter::successors(self.steps.get(path as usize), |step| self.steps.get(step.caller as usize)).map(|step| self.kind(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture above, by hand.
    #[test]
    fn addresses_of_one_function_are_one_path() {
        let mut tables = Tables::default();
        let frame = crate::emit::sample().tables.frames[0].clone();
        tables.frames = [0, 1, 2, 2].map(|function| Frame { function_id: Some(function), ..frame.clone() }).to_vec();
        for (parent, frame) in [(None, 0), (Some(0), 1), (Some(1), 2), (Some(1), 3)] {
            tables.stacks.push(parent, frame);
        }
        let calls = Calls::read(&tables);
        assert_eq!((0..5).map(|stack| calls.path(stack)).collect::<Vec<_>>(), [0, 1, 2, 2, NONE]);
        assert_eq!(calls.frames(2).map(|kind| kind.function).collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!(calls.leaf(NONE), None);
        let stacks = [(2, 10, 1), (3, 20, 2), (0, 5, 1), (9, 7, 1)];
        for few in [0, 4] {
            assert_eq!(calls.sum(few, stacks.into_iter()), [(0, 5, 1), (2, 30, 3)]);
        }
    }
}
