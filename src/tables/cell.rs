//! The values a column can hold, and how a column of them becomes an Arrow array.

use std::sync::Arc;

use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_schema::DataType;

use super::filling::{Filling, Flags, MaybeNumbers, Number, Numbers, Texts};

/// Text that many rows share: cloning costs a reference count.
pub type Text = Arc<str>;

/// The five types of design.md section 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    Int32,
    Int64,
    Float64,
    Utf8,
    Bool,
}

impl ColumnType {
    pub fn arrow(self) -> DataType {
        match self {
            ColumnType::Int32 => DataType::Int32,
            ColumnType::Int64 => DataType::Int64,
            ColumnType::Float64 => DataType::Float64,
            // Short texts lie in the view itself, and the engine takes views as they are.
            ColumnType::Utf8 => DataType::Utf8View,
            ColumnType::Bool => DataType::Boolean,
        }
    }

    /// The name users read in the reference page and in `tripod tables`.
    pub fn name(self) -> &'static str {
        match self {
            ColumnType::Int32 => "int32",
            ColumnType::Int64 => "int64",
            ColumnType::Float64 => "float64",
            ColumnType::Utf8 => "utf8",
            ColumnType::Bool => "bool",
        }
    }
}

/// A cell on its way from a stored table back into a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Int(i64),
    Float(f64),
    Text(Text),
    Bool(bool),
}

/// A value that a column can hold.
pub trait Cell: Sized {
    /// How a column of them becomes an array.
    type Filling: Filling<Self>;
    const TYPE: ColumnType;
    const NULLABLE: bool;
    /// The value of a stored cell; `None` where its type or range is another one.
    fn from_value(value: Value) -> Option<Self>;
}

macro_rules! cell {
    ($ty:ty, $column:ident, $filling:ty, $maybe:ty, $from:expr) => {
        impl Cell for $ty {
            type Filling = $filling;
            const TYPE: ColumnType = ColumnType::$column;
            const NULLABLE: bool = false;
            fn from_value(value: Value) -> Option<Self> {
                let from: fn(Value) -> Option<$ty> = $from;
                from(value)
            }
        }
        impl Cell for Option<$ty> {
            type Filling = $maybe;
            const TYPE: ColumnType = ColumnType::$column;
            const NULLABLE: bool = true;
            fn from_value(value: Value) -> Option<Self> {
                optional(value)
            }
        }
    };
}

cell!(i32, Int32, Numbers<Int32Type>, MaybeNumbers<Int32Type>, |value| match value {
    Value::Int(value) => i32::try_from(value).ok(),
    _ => None,
});
cell!(i64, Int64, Numbers<Int64Type>, MaybeNumbers<Int64Type>, |value| match value {
    Value::Int(value) => Some(value),
    _ => None,
});
cell!(f64, Float64, Numbers<Float64Type>, MaybeNumbers<Float64Type>, |value| match value {
    Value::Float(value) => Some(value),
    _ => None,
});
cell!(bool, Bool, Flags, Flags, |value| match value {
    Value::Bool(value) => Some(value),
    _ => None,
});

/// Null is absent, everything else must be of the type.
fn optional<T: Cell>(value: Value) -> Option<Option<T>> {
    match value {
        Value::Null => Some(None),
        value => T::from_value(value).map(Some),
    }
}

impl Cell for Text {
    type Filling = Texts;
    const TYPE: ColumnType = ColumnType::Utf8;
    const NULLABLE: bool = false;
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Text(value) => Some(value),
            _ => None,
        }
    }
}

impl Cell for Option<Text> {
    type Filling = Texts;
    const TYPE: ColumnType = ColumnType::Utf8;
    const NULLABLE: bool = true;
    fn from_value(value: Value) -> Option<Self> {
        optional(value)
    }
}

/// An `i32` that may be absent, in four bytes: samples are kept in memory by the million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Maybe32(i32);

impl Maybe32 {
    pub const NONE: Maybe32 = Maybe32(i32::MIN);

    pub fn get(self) -> Option<i32> {
        (self != Self::NONE).then_some(self.0)
    }
}

impl From<Option<i32>> for Maybe32 {
    fn from(value: Option<i32>) -> Self {
        value.map_or(Self::NONE, Maybe32)
    }
}

impl Number<i32> for Maybe32 {
    fn number(&self) -> Option<i32> {
        self.get()
    }
}

impl Cell for Maybe32 {
    type Filling = MaybeNumbers<Int32Type>;
    const TYPE: ColumnType = ColumnType::Int32;
    const NULLABLE: bool = true;
    fn from_value(value: Value) -> Option<Self> {
        optional::<i32>(value).map(Maybe32::from)
    }
}

/// An `i64` that may be absent, in eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Maybe64(i64);

impl Maybe64 {
    pub const NONE: Maybe64 = Maybe64(i64::MIN);

    pub fn get(self) -> Option<i64> {
        (self != Self::NONE).then_some(self.0)
    }
}

impl From<Option<i64>> for Maybe64 {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::NONE, Maybe64)
    }
}

impl Number<i64> for Maybe64 {
    fn number(&self) -> Option<i64> {
        self.get()
    }
}

impl Cell for Maybe64 {
    type Filling = MaybeNumbers<Int64Type>;
    const TYPE: ColumnType = ColumnType::Int64;
    const NULLABLE: bool = true;
    fn from_value(value: Value) -> Option<Self> {
        optional::<i64>(value).map(Maybe64::from)
    }
}
