//! The columns of one row group as compressed Parquet pages, each column by a task of its own.
//!
//! polars' writer tries a dictionary for every column: it estimates the distinct values of all rows (16,384 registers for a
//! table of three rows, too), and compresses on one thread. Here a look at 1,024 values says which encoding to try.

use std::collections::HashSet;

use polars::prelude::{ChunkAgg, Column, CompatLevel, DataFrame, DataType, PolarsError, PolarsResult};
use polars_parquet::parquet::error::ParquetError;
use polars_parquet::write::{
    CompressedPage, DynIter, DynStreamingIterator, Encoding, ParquetType, RowGroupIterColumns, WriteOptions, array_to_columns, compress,
    fallible_streaming_iterator,
};
use rayon::prelude::*;

/// Values that are looked at; a column of no more rows is written as it is, which zstd compresses well.
const LOOKED_AT: usize = 1024;

/// The pages of every column, in order.
pub fn compressed(frame: &DataFrame, types: &[ParquetType], options: WriteOptions) -> PolarsResult<Vec<Vec<CompressedPage>>> {
    let one = |(column, of_type): (&Column, &ParquetType)| pages_of(column, of_type, options);
    match frame.height() > LOOKED_AT {
        true => frame.columns().par_iter().zip(types).map(one).collect(),
        false => frame.columns().iter().zip(types).map(one).collect(),
    }
}

/// The same in the form that the file writer takes.
pub fn pages(columns: &[Vec<CompressedPage>]) -> RowGroupIterColumns<'_, PolarsError> {
    DynIter::new(
        columns.iter().map(|pages| Ok(DynStreamingIterator::new(fallible_streaming_iterator::convert(pages.iter().map(PolarsResult::Ok))))),
    )
}

fn pages_of(column: &Column, of_type: &ParquetType, options: WriteOptions) -> PolarsResult<Vec<CompressedPage>> {
    let array = column.as_materialized_series().rechunk().to_arrow(0, CompatLevel::newest());
    let mut out = Vec::new();
    for pages in array_to_columns(array, of_type.clone(), options, &[encoding(column)])? {
        for page in pages {
            out.push(compress(page?, Vec::new(), options.compression).map_err(failed)?);
        }
    }
    Ok(out)
}

fn failed(error: ParquetError) -> PolarsError {
    PolarsError::ComputeError(error.to_string().into())
}

/// A dictionary where values repeat (polars writes plain values after all if it does not help); differences of neighbours
/// for whole numbers that are mostly distinct (times, record numbers, the nodes of a tree) or all the same; hashes as they
/// are.
fn encoding(column: &Column) -> Encoding {
    let rows = column.len();
    if rows <= LOOKED_AT || column.null_count() == rows {
        return Encoding::Plain;
    }
    let looked_at = || (0..LOOKED_AT).map(|at| at * rows / LOOKED_AT);
    let distinct = match column.dtype() {
        DataType::Int64 => looked_at().filter_map(|row| column.i64().ok()?.get(row)).collect::<HashSet<i64>>().len(),
        DataType::Int32 if is_narrow(column) => looked_at().filter_map(|row| column.i32().ok()?.get(row)).collect::<HashSet<i32>>().len(),
        DataType::Boolean => return Encoding::Plain,
        _ => 0,
    };
    match distinct {
        1 => Encoding::DeltaBinaryPacked,
        distinct if distinct <= LOOKED_AT / 2 => Encoding::RleDictionary,
        _ if are_scattered(column) => Encoding::Plain,
        _ => Encoding::DeltaBinaryPacked,
    }
}

/// Whether most differences of neighbours need as many bits as the numbers themselves: hashes.
fn are_scattered(column: &Column) -> bool {
    let Ok(values) = column.i64() else { return false };
    let rows = column.len();
    let far = |at: usize| {
        let row = at * (rows - 1) / LOOKED_AT;
        values.get(row).zip(values.get(row + 1)).is_some_and(|(one, next)| next.wrapping_sub(one).unsigned_abs().leading_zeros() < 8)
    };
    (0..LOOKED_AT).filter(|at| far(*at)).count() > LOOKED_AT / 2
}

/// Whether differences of differences fit into 32 bits: polars counts in 64, and Arrow's C++ reader refuses 33 of an int32.
fn is_narrow(column: &Column) -> bool {
    let ends = column.i32().ok().and_then(|values| Some((i64::from(values.min()?), i64::from(values.max()?))));
    ends.is_some_and(|(least, most)| most - least < 1 << 30)
}

#[cfg(test)]
mod tests {
    use polars::prelude::{NamedFrom, SchemaExt, Series};
    use polars_io::SerReader;
    use polars_io::parquet::read::ParquetReader;
    use polars_parquet::write::FileWriter;

    use super::*;

    fn written(frame: &DataFrame) -> DataFrame {
        let options = crate::emit::parquet::options();
        let mut writer = FileWriter::try_new(Vec::new(), frame.schema().to_arrow(CompatLevel::newest()), options).unwrap();
        let types = writer.parquet_schema().fields().to_vec();
        let columns = compressed(frame, &types, options).unwrap();
        writer.write(frame.height() as u64, pages(&columns)).unwrap();
        writer.end(None).unwrap();
        ParquetReader::new(std::io::Cursor::new(writer.into_inner())).finish().unwrap()
    }

    /// Columns of every shape come back as they were: few rows and many, nulls, the ends of the types, one value only.
    #[test]
    fn every_encoding_reads_back() {
        for rows in [0_i64, 1, 1024, 1025, 300_000] {
            let long = |of: fn(i64) -> Option<i64>| (0..rows).map(of).collect::<Vec<Option<i64>>>();
            let short = |of: fn(i64) -> Option<i64>| (0..rows).map(|row| of(row).map(|value| value as i32)).collect::<Vec<Option<i32>>>();
            let ends = |row: i64| [Some(i64::MIN), Some(i64::MAX), None, Some(row), Some(-row)][row as usize % 5];
            let far = |row: i64| Some(row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64));
            let text: Vec<Option<String>> = (0..rows).map(|row| (row % 7 != 0).then(|| format!("name {}", row % 900))).collect();
            let columns = vec![
                Series::new("ends".into(), long(ends)),
                Series::new("far".into(), long(far)),
                Series::new("sorted".into(), long(|row| Some(row * 1_000_003))),
                Series::new("one".into(), long(|_| Some(7))),
                Series::new("none".into(), long(|_| None)),
                Series::new("few".into(), short(|row| Some(row % 11))),
                Series::new("far_short".into(), short(far)),
                Series::new("sorted_short".into(), short(|row| (row % 3 != 0).then_some(row))),
                Series::new("text".into(), text),
                Series::new("share".into(), (0..rows).map(|row| row as f64 / 3.0).collect::<Vec<f64>>()),
                Series::new("flag".into(), (0..rows).map(|row| row % 2 == 0).collect::<Vec<bool>>()),
            ];
            let frame = DataFrame::new(rows as usize, columns.into_iter().map(Column::from).collect()).unwrap();
            assert!(written(&frame).equals_missing(&frame), "{rows} rows");
        }
    }

    #[test]
    fn numbers_far_apart_are_no_differences() {
        let of = |values: Vec<i32>| encoding(&Column::from(Series::new("c".into(), values)));
        assert_eq!(of((0..5000).collect()), Encoding::DeltaBinaryPacked);
        assert_eq!(of((0..5000).map(|row| row * 400_000 - 1_000_000_000).collect()), Encoding::RleDictionary);
        assert_eq!(of(vec![3; 5000]), Encoding::DeltaBinaryPacked);
        let hashes: Vec<i64> = (0..5000_i64).map(|row| row.wrapping_mul(row).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)).collect();
        assert_eq!(encoding(&Column::from(Series::new("c".into(), hashes))), Encoding::Plain);
        assert_eq!(of((0..5000).map(|row| row % 9).collect()), Encoding::RleDictionary);
    }
}
