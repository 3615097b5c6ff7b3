//! The one place where arrow-rs arrays become polars frames: through Arrow's C data interface, without copying numbers.

use std::mem;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::{Array, ArrayRef, RecordBatch};
use polars::prelude::{Column, DataFrame, PlSmallStr, PolarsError, PolarsResult, Series};

use super::Tables;

/// One record batch as a frame with the same column names and types.
pub fn frame(batch: &RecordBatch) -> PolarsResult<DataFrame> {
    let schema = batch.schema();
    let columns: PolarsResult<Vec<Column>> =
        schema.fields().iter().zip(batch.columns()).map(|(field, array)| Ok(Column::from(series(field.name(), array)?))).collect();
    DataFrame::new(batch.num_rows(), columns?)
}

/// The tables that are wanted as frames, with those of their columns that are; empty ones too: a query over a table without rows
/// gives no rows instead of an error. `is_wanted` is asked about a table, then about each of its columns.
pub fn frames(tables: &Tables, is_wanted: &dyn Fn(&str, Option<&str>) -> bool) -> PolarsResult<Vec<(&'static str, DataFrame)>> {
    let batches = tables.all_batches(is_wanted).map_err(|error| PolarsError::ComputeError(error.to_string().into()))?;
    batches.iter().map(|(name, batch)| Ok((*name, frame(batch)?))).collect()
}

fn series(name: &str, array: &ArrayRef) -> PolarsResult<Series> {
    let (array, schema) =
        arrow_array::ffi::to_ffi(&array.to_data()).map_err(|error| PolarsError::ComputeError(error.to_string().into()))?;
    // SAFETY: both sides declare the two structs of the Arrow C data interface (`repr(C)`, the same fields in the same
    // order); `transmute` checks that the sizes agree. The array owns its buffers through its release callback, which
    // moves with it: `array` is consumed here and never dropped on this side.
    let array = unsafe { mem::transmute::<FFI_ArrowArray, polars_arrow::ffi::ArrowArray>(array) };
    let schema = unsafe { mem::transmute::<FFI_ArrowSchema, polars_arrow::ffi::ArrowSchema>(schema) };
    // SAFETY: exported by arrow-rs an instant ago, so both follow the interface's contract.
    let field = unsafe { polars_arrow::ffi::import_field_from_c(&schema)? };
    let imported = unsafe { polars_arrow::ffi::import_array_from_c(array, field.dtype)? };
    Series::try_from((PlSmallStr::from_str(name), imported))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Counter, TableRow};

    #[test]
    fn nulls_and_types_survive() {
        let row = |value, share| Counter {
            artifact_id: 1,
            event: "cycles".into(),
            value,
            unit: "count".into(),
            status: "counted".into(),
            running_share: share,
            scope: "process".into(),
            interval_ns: None,
            line_no: 7,
            modifiers: None,
        };
        let batch = Counter::batch_of(&vec![row(Some(5), None), row(None, Some(0.5))], 0..2, &|_| true).unwrap();
        let frame = frame(&batch).unwrap();
        assert_eq!((frame.height(), frame.width()), (2, 10));
        assert_eq!(frame.column("value").unwrap().i64().unwrap().to_vec(), [Some(5), None]);
        assert_eq!(frame.column("running_share").unwrap().f64().unwrap().to_vec(), [None, Some(0.5)]);
        assert_eq!(frame.column("event").unwrap().str().unwrap().get(0), Some("cycles"));
        assert_eq!(frame.column("artifact_id").unwrap().i32().unwrap().get(1), Some(1));
    }
}
