//! A query's result as a table for people, CSV, JSON or Parquet.

use std::fmt::Write;
use std::path::Path;

use clap::ValueEnum;
use comfy_table::{CellAlignment, ContentArrangement};
use polars::prelude::{AnyValue, Column, DataFrame, DataType};
use polars_io::parquet::write::{KeyValueMetadata, ParquetWriter};
use serde_json::{Map, Value, json};

use crate::dataset::RUN;
use crate::emit::escape;
use crate::emit::terminal::{self, Style};
use crate::error::{Error, Result};

/// Rows of a table for people; the other formats have all.
const ROWS_MAX: usize = 200;
/// Longest cell of a table for people.
const CELL_CHARS_MAX: usize = 120;
/// A text keeps this much of itself, however many columns there are.
const TEXT_CHARS_MIN: usize = 16;
/// Blanks beside a column.
const GAP: usize = 2;

/// How to print a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people; the first 200 rows, long texts lose their middle
    Table,
    /// RFC 4180, one header line; null is an empty field
    Csv,
    /// One array of objects
    Json,
    /// Needs -o FILE or a pipe
    Parquet,
}

impl Format {
    /// What the name of a file asks for.
    pub fn of(path: Option<&Path>) -> Format {
        let ending = path.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("csv") => Format::Csv,
            Some("json") => Format::Json,
            Some("parquet") => Format::Parquet,
            _ => Format::Table,
        }
    }
}

pub fn format(frame: &DataFrame, format: Format, style: Style) -> Result<Vec<u8>> {
    match format {
        Format::Table => Ok(table(frame, style).into_bytes()),
        Format::Csv => Ok(csv(frame).into_bytes()),
        Format::Json => json(frame),
        Format::Parquet => parquet(frame),
    }
}

/// The result in the types of the tables: polars counts in unsigned numbers of 32 bits, every other engine in int64.
pub fn documented_types(mut frame: DataFrame) -> Result<DataFrame> {
    let unsigned = |kind: &DataType| matches!(kind, DataType::UInt8 | DataType::UInt16 | DataType::UInt32);
    let counts: Vec<String> =
        frame.columns().iter().filter(|column| unsigned(column.dtype())).map(|column| column.name().to_string()).collect();
    for name in counts {
        let cast = frame.column(&name).and_then(|column| column.cast(&DataType::Int64));
        cast.and_then(|column| frame.with_column(column).map(drop)).map_err(|error| Error::Request(format!("column {name}: {error}")))?;
    }
    Ok(frame)
}

fn names(frame: &DataFrame) -> Vec<&str> {
    frame.columns().iter().map(|column| column.name().as_str()).collect()
}

/// The cells of one row.
fn row(frame: &DataFrame, index: usize) -> Vec<AnyValue<'_>> {
    frame.columns().iter().map(|column| column.get(index).unwrap_or(AnyValue::Null)).collect()
}

fn table(frame: &DataFrame, style: Style) -> String {
    let header: Vec<String> = names(frame).iter().map(|name| escape::terminal(name, CELL_CHARS_MAX)).collect();
    let shown = frame.height().min(ROWS_MAX);
    let cell = |value: &AnyValue<'_>| match value {
        AnyValue::Null => "-".to_owned(),
        AnyValue::Float64(number) => rounded(*number),
        value => escape::terminal(&text(value), CELL_CHARS_MAX),
    };
    let rows: Vec<Vec<String>> = (0..shown).map(|index| row(frame, index).iter().map(cell).collect()).collect();
    // The name of a run is a key that is copied, as a number is.
    let may_be_cut = |column: &Column| matches!(column.dtype(), DataType::String) && column.name() != RUN;
    let is_cut: Vec<bool> = frame.columns().iter().map(may_be_cut).collect();
    let widest = text_width(style.width, &header, &rows, &is_cut);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut out = terminal::table(style, &header);
    out.set_content_arrangement(ContentArrangement::Disabled);
    for (index, own) in frame.columns().iter().enumerate() {
        if let (false, Some(column)) = (matches!(own.dtype(), DataType::String), out.column_mut(index)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in rows {
        let cells = row.into_iter().zip(&is_cut);
        out.add_row(
            cells.map(|(cell, is_cut)| if *is_cut { escape::shorten(&cell, widest).into_owned() } else { cell }).collect::<Vec<_>>(),
        );
    }
    let mut text = format!("{}\n", out.trim_fmt());
    let left = frame.height() - shown;
    let more = if left > 0 { format!(", {left} of them not shown (use --format csv)") } else { String::new() };
    let rows = if frame.height() == 1 { "row" } else { "rows" };
    let _ = writeln!(text, "({} {rows}{more})", frame.height());
    terminal::paint(&text, style.colour)
}

/// How long a text may be so that the lines fit into `width`, [`TEXT_CHARS_MIN`] at least: a number or a name that is cut
/// in two cannot be copied, so numbers stay whole, and a table of very many columns is wider than the terminal.
fn text_width(width: usize, header: &[String], rows: &[Vec<String>], is_cut: &[bool]) -> usize {
    let of_column = |index: usize| {
        let cells = rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.chars().count());
        (cells.max().unwrap_or(0), header.get(index).map_or(0, |name| name.chars().count()))
    };
    let widths: Vec<(usize, usize)> = (0..header.len()).map(of_column).collect();
    let needed = |most: usize| -> usize {
        let own = |((cells, name), is_cut): (&(usize, usize), &bool)| if *is_cut { (*cells).min(most) } else { *cells }.max(*name) + GAP;
        widths.iter().zip(is_cut).map(own).sum()
    };
    (TEXT_CHARS_MIN..CELL_CHARS_MAX).rev().find(|most| needed(*most) <= width).unwrap_or(TEXT_CHARS_MIN)
}

/// A value that is not null, as text.
fn text(value: &AnyValue<'_>) -> String {
    match value {
        AnyValue::String(text) => (*text).to_owned(),
        AnyValue::StringOwned(text) => text.to_string(),
        AnyValue::Float64(number) => number.to_string(),
        AnyValue::Float32(number) => number.to_string(),
        other => other.to_string(),
    }
}

/// Six digits that count, as people read them; CSV, JSON and Parquet have all of them.
fn rounded(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || !size.is_finite() {
        return number.to_string();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{number:.5e}");
    }
    let digits = (5 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{number:.digits$}");
    if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

fn csv(frame: &DataFrame) -> String {
    let mut out = names(frame).iter().map(|name| escape::csv(name).into_owned()).collect::<Vec<_>>().join(",");
    out.push('\n');
    for index in 0..frame.height() {
        let cell = |value: &AnyValue<'_>| match value {
            AnyValue::Null => String::new(),
            // An empty text is quoted: an empty field is null.
            AnyValue::String("") => "\"\"".to_owned(),
            value => escape::csv(&text(value)).into_owned(),
        };
        out.push_str(&row(frame, index).iter().map(cell).collect::<Vec<_>>().join(","));
        out.push('\n');
    }
    out
}

fn json(frame: &DataFrame) -> Result<Vec<u8>> {
    let names = names(frame);
    let object = |index: usize| -> Value {
        let cells = row(frame, index);
        let pairs = names.iter().zip(&cells).map(|(name, value)| ((*name).to_owned(), cell(value)));
        Value::Object(pairs.collect::<Map<String, Value>>())
    };
    let rows: Vec<Value> = (0..frame.height()).map(object).collect();
    let mut bytes = serde_json::to_vec_pretty(&rows).map_err(|error| Error::Request(format!("JSON: {error}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Numbers stay numbers; what JSON has no number for (infinite, not a number) is null.
fn cell(value: &AnyValue<'_>) -> Value {
    match value {
        AnyValue::Null => Value::Null,
        AnyValue::Boolean(value) => json!(value),
        AnyValue::Float64(value) => json!(value),
        AnyValue::Float32(value) => json!(value),
        value => match value.extract::<i64>() {
            Some(number) if value.is_integer() => json!(number),
            _ => json!(text(value)),
        },
    }
}

fn parquet(frame: &DataFrame) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let layout = crate::emit::parquet::arrow_schema(frame.schema()).into_iter().collect();
    let writer = ParquetWriter::new(&mut bytes).with_key_value_metadata(Some(KeyValueMetadata::from_static(layout)));
    writer.finish(&mut frame.clone()).map_err(|error| Error::Request(format!("Parquet: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    fn sample() -> DataFrame {
        df!("name" => [Some("a,\"b\"\n"), None, Some("")], "n" => [1_i64, -2, 3], "x" => [Some(0.5), Some(f64::INFINITY), None]).unwrap()
    }

    #[test]
    fn csv_quotes_and_null_is_empty() {
        assert_eq!(csv(&sample()), "name,n,x\n\"a,\"\"b\"\"\n\",1,0.5\n,-2,inf\n\"\",3,\n");
    }

    #[test]
    fn numbers_are_rounded_for_people() {
        let pairs = [
            (0.07861189801699717, "0.0786119"),
            (0.21147000000000002, "0.21147"),
            (44510.385, "44510.4"),
            (890207.7151335312, "890208"),
            (1.5e12, "1500000000000"),
            (-2.0, "-2"),
            (0.0, "0"),
            (1e-9, "1.00000e-9"),
            (f64::INFINITY, "inf"),
        ];
        for (number, shown) in pairs {
            assert_eq!(rounded(number), shown);
        }
    }

    #[test]
    fn a_file_says_its_format() {
        let of = |name: &str| Format::of(Some(Path::new(name)));
        assert_eq!(
            [of("a.csv"), of("b.JSON"), of("c.d/e.parquet"), of("f"), of("g.txt")],
            [Format::Csv, Format::Json, Format::Parquet, Format::Table, Format::Table]
        );
    }

    #[test]
    fn json_reads_back() {
        let back: Value = serde_json::from_slice(&json(&sample()).unwrap()).unwrap();
        assert_eq!(
            back,
            json!([{"name": "a,\"b\"\n", "n": 1, "x": 0.5}, {"name": null, "n": -2, "x": null}, {"name": "", "n": 3, "x": null}])
        );
    }

    #[test]
    fn tables_show_no_control_characters() {
        let text = table(&sample(), Style::default());
        assert!(text.contains("a,\"b\"\\n") && text.ends_with("(3 rows)\n"), "{text}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }

    // By hand: 30 columns of 7 digits and one of 100 letters: the text keeps 16 characters, the numbers all of theirs.
    #[test]
    fn numbers_stay_whole_in_narrow_terminals() {
        let long = "word ".repeat(20);
        let mut frame = df!("name" => [long.trim()]).unwrap();
        for index in 0..30 {
            frame.with_column(polars::prelude::Column::new(format!("n{index}").into(), [1_234_567_i64])).unwrap();
        }
        let text = table(&frame, Style { colour: false, width: 80 });
        assert_eq!(text.matches("1234567").count(), 30, "{text}");
        assert!(text.contains("word wo…ord word") && text.lines().count() == 4, "{text}");
        let one = table(&frame.select(["name", "n0"]).unwrap(), Style { colour: false, width: 60 });
        assert!(one.lines().all(|line| line.chars().count() <= 60) && one.lines().count() == 4, "{one}");
    }
}
