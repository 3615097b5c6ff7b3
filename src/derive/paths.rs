//! Walking stacks from the leaf to the root.

use crate::tables::{Frame, Stack, Tables};

/// The nodes of one stack, leaf first.
pub struct Path<'a> {
    stacks: &'a [Stack],
    frames: &'a [Frame],
    next: Option<i32>,
    /// Parents come before children; a table that breaks this (it cannot be built by us) must still end.
    left: usize,
}

/// The frames of `stack`, leaf first.
pub fn path(tables: &Tables, stack: i32) -> Path<'_> {
    Path { stacks: &tables.stacks, frames: &tables.frames, next: Some(stack), left: tables.stacks.len() + 1 }
}

impl<'a> Iterator for Path<'a> {
    type Item = &'a Frame;

    fn next(&mut self) -> Option<&'a Frame> {
        let node = self.stacks.get(usize::try_from(self.next?).ok()?)?;
        self.left = self.left.checked_sub(1)?;
        self.next = node.parent_stack_id.get();
        self.frames.get(usize::try_from(node.frame_id).ok()?)
    }
}
