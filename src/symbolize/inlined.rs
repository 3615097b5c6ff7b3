//! Inlined frames on their way into the stacks.

use crate::tables::{Stacks, Tables};

/// Frames that were inlined into others. Stacks do not have them yet: they go below their physical frame.
#[must_use]
#[derive(Debug, Default)]
pub struct Inlined {
    /// Those of a frame are in `list` from `first[frame]` up to `first[frame + 1]`. Empty where there are none at all.
    first: Vec<u32>,
    list: Vec<i32>,
}

impl Inlined {
    /// From (frame, inlined frame), sorted by the frame, outermost first.
    pub fn new(frames: usize, pairs: &[(i32, i32)]) -> Inlined {
        if pairs.is_empty() {
            return Inlined::default();
        }
        let mut first = vec![0_u32; frames + 1];
        for (frame, _) in pairs {
            if let Some(count) = first.get_mut(*frame as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for count in &mut first {
            sum += *count;
            *count = sum;
        }
        Inlined { first, list: pairs.iter().map(|(_, inner)| *inner).collect() }
    }

    /// What was inlined into a frame, outermost first.
    pub fn of(&self, frame: i32) -> &[i32] {
        let ends = usize::try_from(frame).ok().and_then(|at| self.first.get(at..)?.first_chunk::<2>());
        ends.and_then(|[start, end]| self.list.get(*start as usize..*end as usize)).unwrap_or(&[])
    }

    /// Puts the frames on all stacks. Parents stay in front of their children.
    pub fn expand(&self, tables: &mut Tables) {
        if self.list.is_empty() {
            return;
        }
        let old = std::mem::take(&mut tables.stacks);
        let mut stacks = Stacks::with_capacity(old.len());
        // Old node -> the innermost of the nodes that replace it.
        let mut leaves: Vec<i32> = Vec::with_capacity(old.len());
        for (parent, frame) in old.nodes() {
            let parent = parent.and_then(|parent| leaves.get(parent as usize).copied());
            leaves.push(self.push(&mut stacks, parent, frame));
        }
        tables.stacks = stacks;
        tables.map_stacks(|id| id.and_then(|id| leaves.get(id as usize).copied()));
    }

    /// Adds the nodes of a physical frame and of what was inlined into it; gives the innermost.
    pub fn push(&self, stacks: &mut Stacks, parent: Option<i32>, frame: i32) -> i32 {
        let physical = stacks.push(parent, frame);
        self.of(frame).iter().fold(physical, |caller, frame| stacks.push(Some(caller), *frame))
    }
}
