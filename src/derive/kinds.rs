//! Frames, told apart only by what the stages behind symbolization ask of them.
//!
//! A large recording has some hundred thousand frames of 64 bytes, and stacks jump about in them. It has some thousand
//! functions: a number per node and a small table of what the numbers stand for are read much faster.

use rustc_hash::FxHashMap;

use super::classes::Marks;
use crate::tables::{Frame, Tables};

/// What a frame is. Ids are -1 where nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub function: i32,
    pub dso: i32,
    pub has_frame: Option<bool>,
    pub is_kernel: bool,
    pub is_inlined: bool,
    /// The classes of the frame.
    pub bits: u64,
    pub is_runtime: bool,
}

const NAMELESS: Kind = Kind { function: -1, dso: -1, has_frame: None, is_kernel: false, is_inlined: false, bits: 0, is_runtime: false };

/// A node: its parent, `u32::MAX` for none, and the number of its kind.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    pub parent: u32,
    kind: u32,
}

/// One step per row of `stacks`.
#[derive(Debug)]
pub struct Kinds {
    kinds: Vec<Kind>,
    steps: Vec<Step>,
}

impl Kinds {
    pub fn read(tables: &Tables, marks: &Marks) -> Kinds {
        let mut kinds = vec![NAMELESS];
        let mut numbers = FxHashMap::default();
        let mut number = |frame: &Frame| {
            let key = (frame.function_id, frame.dso_id, frame.has_frame, frame.is_kernel, frame.is_inlined);
            *numbers.entry(key).or_insert_with(|| {
                kinds.push(Kind {
                    function: frame.function_id.unwrap_or(-1),
                    dso: frame.dso_id.unwrap_or(-1),
                    has_frame: frame.has_frame,
                    is_kernel: frame.is_kernel,
                    is_inlined: frame.is_inlined,
                    bits: marks.of_frame(frame),
                    is_runtime: marks.is_runtime(frame.function_id),
                });
                kinds.len() as u32 - 1
            })
        };
        let of_frame: Vec<u32> = tables.frames.iter().map(&mut number).collect();
        let step = |(at, (parent, frame)): (usize, (Option<i32>, i32))| Step {
            // A parent that does not come first is none: such a table is not built by us, but must still be read.
            parent: parent.map_or(u32::MAX, |parent| if (parent as usize) < at { parent as u32 } else { u32::MAX }),
            kind: of_frame.get(frame as usize).copied().unwrap_or(0),
        };
        let steps = tables.stacks.nodes().enumerate().map(step).collect();
        Kinds { kinds, steps }
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn kind(&self, step: Step) -> &Kind {
        self.kinds.get(step.kind as usize).unwrap_or(&NAMELESS)
    }

    /// The node's own frame; `None` where there is no such node.
    pub fn leaf(&self, stack: i32) -> Option<&Kind> {
        self.steps.get(usize::try_from(stack).ok()?).map(|step| self.kind(*step))
    }
}
