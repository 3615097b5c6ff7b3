//! Walking stacks from the leaf to the root.

use crate::tables::{Frame, Stacks, Tables};

/// The nodes of one stack, leaf first.
pub struct Path<'a> {
    stacks: &'a Stacks,
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
        let node = self.next?;
        self.left = self.left.checked_sub(1)?;
        self.next = self.stacks.parent(node);
        self.frames.get(usize::try_from(self.stacks.frame(node)?).ok()?)
    }
}
