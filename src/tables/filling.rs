//! Columns on their way into Arrow arrays, filled a block of rows at a time: a block lies in the cache for all of its
//! columns, where a whole table would be read from memory once per column.

use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};

use super::Text;

/// Rows of a block: some hundred KiB.
pub const BLOCK_ROWS: usize = 2048;

/// A column of cells that is being filled.
pub trait Filling<C> {
    fn new(rows: usize) -> Self;
    fn extend<'a>(&mut self, cells: impl Iterator<Item = &'a C> + Clone)
    where
        C: 'a;
    fn array(self) -> ArrayRef;
}

/// A cell as a number of Arrow's, where it has one.
pub trait Number<N> {
    fn number(&self) -> Option<N>;
}

impl<N: Copy> Number<N> for Option<N> {
    fn number(&self) -> Option<N> {
        *self
    }
}

/// Numbers that are always there.
pub struct Numbers<P: ArrowPrimitiveType>(Vec<P::Native>);

impl<P: ArrowPrimitiveType> Filling<P::Native> for Numbers<P> {
    fn new(rows: usize) -> Self {
        Numbers(Vec::with_capacity(rows))
    }

    fn extend<'a>(&mut self, cells: impl Iterator<Item = &'a P::Native> + Clone) {
        self.0.extend(cells);
    }

    fn array(self) -> ArrayRef {
        Arc::new(PrimitiveArray::<P>::new(self.0.into(), None))
    }
}

/// Numbers, and which of them there are.
pub struct MaybeNumbers<P: ArrowPrimitiveType> {
    numbers: Vec<P::Native>,
    is_there: Vec<bool>,
}

impl<P: ArrowPrimitiveType, C: Number<P::Native>> Filling<C> for MaybeNumbers<P> {
    fn new(rows: usize) -> Self {
        MaybeNumbers { numbers: Vec::with_capacity(rows), is_there: Vec::with_capacity(rows) }
    }

    /// Twice over the cells is faster than both at a time.
    fn extend<'a>(&mut self, cells: impl Iterator<Item = &'a C> + Clone)
    where
        C: 'a,
    {
        self.numbers.extend(cells.clone().map(|cell| cell.number().unwrap_or_default()));
        self.is_there.extend(cells.map(|cell| cell.number().is_some()));
    }

    fn array(self) -> ArrayRef {
        let nulls = self.is_there.contains(&false).then(|| BooleanArray::from(self.is_there).values().clone().into());
        Arc::new(PrimitiveArray::<P>::new(self.numbers.into(), nulls))
    }
}

/// Flags; null where one is absent.
pub struct Flags(Vec<Option<bool>>);

impl Filling<bool> for Flags {
    fn new(rows: usize) -> Self {
        Flags(Vec::with_capacity(rows))
    }

    fn extend<'a>(&mut self, cells: impl Iterator<Item = &'a bool> + Clone) {
        self.0.extend(cells.map(|flag| Some(*flag)));
    }

    fn array(self) -> ArrayRef {
        Arc::new(BooleanArray::from(self.0))
    }
}

impl Filling<Option<bool>> for Flags {
    fn new(rows: usize) -> Self {
        Flags(Vec::with_capacity(rows))
    }

    fn extend<'a>(&mut self, cells: impl Iterator<Item = &'a Option<bool>> + Clone) {
        self.0.extend(cells);
    }

    fn array(self) -> ArrayRef {
        Arc::new(BooleanArray::from(self.0))
    }
}

/// Texts; null where one is absent.
pub struct Texts(StringViewBuilder);

impl Filling<Text> for Texts {
    fn new(rows: usize) -> Self {
        Texts(StringViewBuilder::with_capacity(rows))
    }

    fn extend<'a>(&mut self, cells: impl Iterator<Item = &'a Text> + Clone) {
        cells.for_each(|text| self.0.append_value(text));
    }

    fn array(mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}

impl Filling<Option<Text>> for Texts {
    fn new(rows: usize) -> Self {
        Texts(StringViewBuilder::with_capacity(rows))
    }

    fn extend<'a>(&mut self, cells: impl Iterator<Item = &'a Option<Text>> + Clone) {
        cells.for_each(|text| self.0.append_option(text.as_deref()));
    }

    fn array(mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}
