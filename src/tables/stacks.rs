//! The stack forest in memory, column by column: it has more rows than any other table, and most stages ask for two of its
//! columns only.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, Int64Array};

use super::filling::{Filling, MaybeNumbers};
use super::{Maybe32, Rows, Stack};

/// Nodes by `stack_id`, which is their place. Parents come before their children.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Stacks {
    parents: Vec<Maybe32>,
    frames: Vec<i32>,
    depths: Vec<i32>,
    /// Empty until they are known: then 0.
    keys: Vec<i64>,
}

impl Stacks {
    pub fn with_capacity(nodes: usize) -> Stacks {
        let mut stacks = Stacks::default();
        stacks.reserve(nodes);
        stacks
    }

    pub fn reserve(&mut self, nodes: usize) {
        self.parents.reserve_exact(nodes);
        self.frames.reserve_exact(nodes);
        self.depths.reserve_exact(nodes);
    }

    pub fn len(&self) -> usize {
        self.frames.len()
    }

    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Adds the node for `frame` called from `parent`. Gives its id.
    pub fn push(&mut self, parent: Option<i32>, frame: i32) -> i32 {
        let id = self.frames.len() as i32;
        let above = parent.and_then(|parent| self.depths.get(usize::try_from(parent).ok()?));
        self.depths.push(above.map_or(0, |depth| depth.saturating_add(1)));
        self.parents.push(parent.into());
        self.frames.push(frame);
        id
    }

    pub fn parent(&self, stack: i32) -> Option<i32> {
        self.parents.get(usize::try_from(stack).ok()?)?.get()
    }

    pub fn frame(&self, stack: i32) -> Option<i32> {
        self.frames.get(usize::try_from(stack).ok()?).copied()
    }

    pub fn key(&self, stack: i32) -> Option<i64> {
        self.keys.get(usize::try_from(stack).ok()?).copied()
    }

    /// The frames of all nodes, in order.
    pub fn frames(&self) -> &[i32] {
        &self.frames
    }

    pub fn frames_mut(&mut self) -> &mut [i32] {
        &mut self.frames
    }

    /// Parent and frame of every node, in order.
    pub fn nodes(&self) -> impl Iterator<Item = (Option<i32>, i32)> + '_ {
        self.parents.iter().zip(&self.frames).map(|(parent, frame)| (parent.get(), *frame))
    }

    /// Sets `stack_key`, one for every node.
    pub fn set_keys(&mut self, keys: Vec<i64>) {
        self.keys = keys;
    }

    /// One row of the table.
    pub fn row(&self, stack: i32) -> Option<Stack> {
        let depth = *self.depths.get(usize::try_from(stack).ok()?)?;
        let parent_stack_id = self.parent(stack).into();
        Some(Stack { stack_id: stack, parent_stack_id, frame_id: self.frame(stack)?, depth, stack_key: self.key(stack).unwrap_or(0) })
    }
}

impl Rows for Stacks {
    fn len(&self) -> usize {
        self.frames.len()
    }

    fn arrays(&self, rows: Range<usize>, is_wanted: &dyn Fn(&str) -> bool) -> Vec<ArrayRef> {
        let short = |values: &[i32]| Arc::new(Int32Array::from(values.get(rows.clone()).unwrap_or(&[]).to_vec())) as ArrayRef;
        let ids = || Arc::new(Int32Array::from_iter_values(rows.clone().map(|id| id as i32))) as ArrayRef;
        let parents = || {
            let mut column = <MaybeNumbers<Int32Type> as Filling<Maybe32>>::new(rows.len());
            column.extend(self.parents.get(rows.clone()).unwrap_or(&[]).iter());
            Filling::<Maybe32>::array(column)
        };
        let keys = || {
            let own = self.keys.get(rows.clone()).map_or_else(|| vec![0; rows.len()], <[i64]>::to_vec);
            Arc::new(Int64Array::from(own)) as ArrayRef
        };
        let columns: [(&str, &dyn Fn() -> ArrayRef); 5] = [
            ("stack_id", &ids),
            ("parent_stack_id", &parents),
            ("frame_id", &|| short(&self.frames)),
            ("depth", &|| short(&self.depths)),
            ("stack_key", &keys),
        ];
        columns.into_iter().filter(|(name, _)| is_wanted(name)).map(|(_, array)| array()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::TableRow;

    /// The columns are those of the row type, in its order, and hold what the rows say.
    #[test]
    fn columns_are_those_of_the_rows() {
        let mut stacks = Stacks::default();
        for (parent, frame) in [(None, 7), (Some(0), 8), (Some(0), 7), (None, 9)] {
            stacks.push(parent, frame);
        }
        stacks.set_keys(vec![11, 12, 13, 14]);
        let rows: Vec<Stack> = (0..4).filter_map(|id| stacks.row(id)).collect();
        assert_eq!(rows.iter().map(|row| row.depth).collect::<Vec<_>>(), [0, 1, 1, 0]);
        for range in [0..4, 1..3, 3..3, 0..2] {
            let batch = Stack::batch_of(&stacks, range.clone(), &|_| true).unwrap();
            assert_eq!(batch.columns(), Stack::arrays(&rows[range], &|_| true));
        }
        let some = |name: &str| name == "depth" || name == "stack_id";
        assert_eq!(Stack::batch_of(&stacks, 0..4, &some).unwrap().columns(), Stack::arrays(&rows, &some));
    }
}
