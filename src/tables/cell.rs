//! The values a column can hold, and how a column of them becomes an Arrow array.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, PrimitiveArray, StringViewArray};
use arrow_schema::DataType;

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
    const TYPE: ColumnType;
    const NULLABLE: bool;
    /// The value of a stored cell; `None` where its type or range is another one.
    fn from_value(value: Value) -> Option<Self>;
    fn array<'a>(values: impl Iterator<Item = &'a Self> + Clone) -> ArrayRef
    where
        Self: 'a;
}

macro_rules! cell {
    ($ty:ty, $column:ident, $array:ident, $nullable:expr, $from:expr) => {
        impl Cell for $ty {
            const TYPE: ColumnType = ColumnType::$column;
            const NULLABLE: bool = false;
            fn from_value(value: Value) -> Option<Self> {
                let from: fn(Value) -> Option<$ty> = $from;
                from(value)
            }
            fn array<'a>(values: impl Iterator<Item = &'a Self> + Clone) -> ArrayRef {
                Arc::new($array::from(values.copied().collect::<Vec<$ty>>()))
            }
        }
        impl Cell for Option<$ty> {
            const TYPE: ColumnType = ColumnType::$column;
            const NULLABLE: bool = true;
            fn from_value(value: Value) -> Option<Self> {
                optional(value)
            }
            fn array<'a>(values: impl Iterator<Item = &'a Self> + Clone) -> ArrayRef {
                $nullable(values.copied())
            }
        }
    };
}

cell!(i32, Int32, Int32Array, nullable::<Int32Type>, |value| match value {
    Value::Int(value) => i32::try_from(value).ok(),
    _ => None,
});
cell!(i64, Int64, Int64Array, nullable::<Int64Type>, |value| match value {
    Value::Int(value) => Some(value),
    _ => None,
});
cell!(f64, Float64, Float64Array, nullable::<Float64Type>, |value| match value {
    Value::Float(value) => Some(value),
    _ => None,
});
cell!(bool, Bool, BooleanArray, |values| Arc::new(BooleanArray::from_iter(values)), |value| match value {
    Value::Bool(value) => Some(value),
    _ => None,
});

/// Values first, then which of them there are: twice over the rows is faster than bit by bit.
fn nullable<P: ArrowPrimitiveType>(values: impl Iterator<Item = Option<P::Native>> + Clone) -> ArrayRef {
    let plain: Vec<P::Native> = values.clone().map(Option::unwrap_or_default).collect();
    let is_there: Vec<bool> = values.map(|value| value.is_some()).collect();
    let nulls = is_there.contains(&false).then(|| BooleanArray::from(is_there).values().clone().into());
    Arc::new(PrimitiveArray::<P>::new(plain.into(), nulls))
}

/// Null is absent, everything else must be of the type.
fn optional<T: Cell>(value: Value) -> Option<Option<T>> {
    match value {
        Value::Null => Some(None),
        value => T::from_value(value).map(Some),
    }
}

impl Cell for Text {
    const TYPE: ColumnType = ColumnType::Utf8;
    const NULLABLE: bool = false;
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Text(value) => Some(value),
            _ => None,
        }
    }
    fn array<'a>(values: impl Iterator<Item = &'a Self> + Clone) -> ArrayRef {
        Arc::new(StringViewArray::from_iter_values(values))
    }
}

impl Cell for Option<Text> {
    const TYPE: ColumnType = ColumnType::Utf8;
    const NULLABLE: bool = true;
    fn from_value(value: Value) -> Option<Self> {
        optional(value)
    }
    fn array<'a>(values: impl Iterator<Item = &'a Self> + Clone) -> ArrayRef {
        Arc::new(values.map(|value| value.as_deref()).collect::<StringViewArray>())
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

impl Cell for Maybe32 {
    const TYPE: ColumnType = ColumnType::Int32;
    const NULLABLE: bool = true;
    fn from_value(value: Value) -> Option<Self> {
        optional::<i32>(value).map(Maybe32::from)
    }
    fn array<'a>(values: impl Iterator<Item = &'a Self> + Clone) -> ArrayRef {
        nullable::<Int32Type>(values.map(|value| value.get()))
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

impl Cell for Maybe64 {
    const TYPE: ColumnType = ColumnType::Int64;
    const NULLABLE: bool = true;
    fn from_value(value: Value) -> Option<Self> {
        optional::<i64>(value).map(Maybe64::from)
    }
    fn array<'a>(values: impl Iterator<Item = &'a Self> + Clone) -> ArrayRef {
        nullable::<Int64Type>(values.map(|value| value.get()))
    }
}
