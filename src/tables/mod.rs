//! THE SCHEMA, AND NOTHING BUT THE SCHEMA.
//!
//! One row type per table. Its declaration carries the table's sentence and, for each column, type, unit and
//! sentence; the Arrow schema, the reference page (`tripod tables --docs`) and the Parquet files come from it.
//!
//! In memory a table is a `Vec` of its row type, but for the largest ([`Stacks`]); [`Tables`] holds them all.
//! [`TableRow::batch_of`] makes the Arrow record batch, `bridge.rs` the polars frame. Adding a table touches its file and
//! one line of [`Tables`].
//!
//! Rules that hold for every table:
//! * ids, cpu, depth and line are `i32`; times, weights, addresses, sizes and record numbers `i64`; no dictionaries,
//!   lists or maps; absent is null, never 0.
//! * times are integer nanoseconds in the artifact's clock; a row's place in its file is `record_no` or `line_no`.
//! * schemas grow by added nullable columns only.

mod bench;
#[cfg(feature = "engine")]
pub mod bridge;
mod cell;
mod derived;
mod filling;
mod heap;
mod kernel;
pub mod keys;
mod place;
mod result;
mod run;
mod sample;
mod set;
mod span;
mod stacks;
mod syscall;
mod wait;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Schema};

pub use bench::{Benchmark, Counter};
pub use cell::{Cell, ColumnType, Maybe32, Maybe64, Text, Value};
pub use derived::{
    Baseline, BenchmarkStat, FunctionCost, LeafPath, LeafSpread, Scaling, ScalingStep, SeriesTrend, StackClass, StackCost, StackSite,
    StatedScaling, ThreadWeight,
};
pub use heap::{Allocation, HeapPoint, MemoryPoint};
pub use kernel::{Accounting, BlockRequest, HistogramBucket, Interrupt, LockContention, LockTotal};
pub use place::{Dso, Frame, Function, Mapping, Stack};
pub use result::{Charged, Evidence, Hotspot, Hypothesis, Quality, Reading, Threshold};
pub use run::{Artifact, Diagnostic, EnvironmentReading, Execution, HostFact, LostSecond, RecordingFact};
pub use sample::{Event, Process, Sample, Thread, ThreadName};
pub use set::Tables;
pub use span::{ScalingPoint, Span, SpanCost, SpanLog, StatedVerdict};
pub use stacks::Stacks;
pub use syscall::{Syscall, SyscallEvent};
pub use wait::{ThreadState, Wait, WaitPair};

/// Version of the whole schema, written into the metadata of every Parquet file under `tripod.schema`.
pub const SCHEMA_VERSION: &str = "1";

/// One column: what it is called, what it holds and in which unit.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: &'static str,
    pub column_type: ColumnType,
    pub nullable: bool,
    /// Unit of the numbers (`ns`, `bytes`, `count`, `share`, `id`, `text`, ...).
    pub unit: &'static str,
    pub doc: &'static str,
}

/// A table as people read about it.
#[derive(Debug, Clone)]
pub struct Descriptor {
    pub name: &'static str,
    pub doc: &'static str,
    pub columns: Vec<Column>,
}

/// A row type; made by the `table!` macro.
pub trait TableRow: Sized {
    /// How the table lies in memory.
    type Rows: Rows;
    const NAME: &'static str;
    const DOC: &'static str;
    fn columns() -> Vec<Column>;
    /// The arrays of the wanted columns.
    fn arrays(rows: &[Self], is_wanted: &dyn Fn(&str) -> bool) -> Vec<ArrayRef>;
    /// The row whose cells `get` gives by column name; `None` where one has another type.
    fn from_values(get: &mut dyn FnMut(&'static str) -> Value) -> Option<Self>;

    fn descriptor() -> Descriptor {
        Descriptor { name: Self::NAME, doc: Self::DOC, columns: Self::columns() }
    }

    /// The wanted columns of some rows as one Arrow record batch; of those of the range that there are.
    fn batch_of(rows: &Self::Rows, range: Range<usize>, is_wanted: &dyn Fn(&str) -> bool) -> Result<RecordBatch, ArrowError> {
        let end = range.end.min(rows.len());
        let range = range.start.min(end)..end;
        let columns = Self::columns();
        let wanted = columns.iter().filter(|column| is_wanted(column.name));
        let fields: Vec<Field> = wanted.map(|column| Field::new(column.name, column.column_type.arrow(), column.nullable)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(range.len()));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), rows.arrays(range, is_wanted), &options)
    }
}

/// A table in memory.
pub trait Rows {
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The arrays of the wanted columns, for rows that there are.
    fn arrays(&self, rows: Range<usize>, is_wanted: &dyn Fn(&str) -> bool) -> Vec<ArrayRef>;
}

impl<R: TableRow> Rows for Vec<R> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn arrays(&self, rows: Range<usize>, is_wanted: &dyn Fn(&str) -> bool) -> Vec<ArrayRef> {
        R::arrays(self.get(rows).unwrap_or(&[]), is_wanted)
    }
}

/// Declares a row type with its table's name, sentence, and per column `name: type, "unit", "sentence";`.
///
/// `in Rows` before the braces says how the table lies in memory, if not as a `Vec` of rows.
macro_rules! table {
    ($table:literal, $doc:literal, $(#[$meta:meta])* $Row:ident { $( $body:tt )* }) => {
        table!($table, $doc, $(#[$meta])* $Row in Vec<$Row> { $( $body )* });
    };
    ($table:literal, $doc:literal, $(#[$meta:meta])* $Row:ident in $Rows:ty { $( $field:ident : $ty:ty, $unit:literal, $col_doc:literal; )* }) => {
        #[doc = $doc]
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $Row {
            $( #[doc = $col_doc] pub $field: $ty, )*
        }

        impl crate::tables::TableRow for $Row {
            type Rows = $Rows;
            const NAME: &'static str = $table;
            const DOC: &'static str = $doc;

            fn columns() -> Vec<crate::tables::Column> {
                vec![ $( crate::tables::Column {
                    name: stringify!($field),
                    column_type: <$ty as crate::tables::Cell>::TYPE,
                    nullable: <$ty as crate::tables::Cell>::NULLABLE,
                    unit: $unit,
                    doc: $col_doc,
                } ),* ]
            }

            fn arrays(rows: &[Self], is_wanted: &dyn Fn(&str) -> bool) -> Vec<arrow_array::ArrayRef> {
                use crate::tables::filling::{BLOCK_ROWS, Filling};
                $( let mut $field = is_wanted(stringify!($field))
                    .then(|| <<$ty as crate::tables::Cell>::Filling as Filling<$ty>>::new(rows.len())); )*
                for block in rows.chunks(BLOCK_ROWS) {
                    $( if let Some(filling) = &mut $field {
                        filling.extend(block.iter().map(|row| &row.$field));
                    } )*
                }
                let arrays = [$( $field.map(|filling| Filling::<$ty>::array(filling)) ),*];
                arrays.into_iter().flatten().collect()
            }

            fn from_values(get: &mut dyn FnMut(&'static str) -> crate::tables::Value) -> Option<Self> {
                Some($Row { $( $field: <$ty as crate::tables::Cell>::from_value(get(stringify!($field)))?, )* })
            }
        }
    };
}
pub(crate) use table;
