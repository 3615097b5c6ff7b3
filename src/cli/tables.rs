//! `tripod tables`: the schema, from its own declarations.

use std::fmt::Write;

use super::{Outcome, columns, out};
use crate::error::{Error, Result};
use crate::tables::{Descriptor, SCHEMA_VERSION, Tables};

const HELP: &str = "Examples:
  tripod tables                 every table with its columns
  tripod tables waits           one table
  tripod tables --docs          the reference page in Markdown";

/// List the tables of a run with their columns and units
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Only this table
    #[arg(value_name = "TABLE")]
    table: Option<String>,
    /// Print the reference page in Markdown
    #[arg(long)]
    docs: bool,
}

pub fn run(args: &Args) -> Result<Outcome> {
    let mut tables = Tables::descriptors();
    if let Some(name) = &args.table {
        let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
        if !names.contains(&name.as_str()) {
            let near = columns::nearest(name, &names);
            return Err(Error::Request(format!("there is no table {name}; did you mean {}?", near.join(", "))));
        }
        tables.retain(|table| table.name == name);
    }
    let text = if args.docs { reference(&tables) } else { list(&tables) };
    out::print(text.as_bytes())?;
    Ok(Outcome::Done)
}

/// For people: the table's sentence, then one line per column.
pub fn list(tables: &[Descriptor]) -> String {
    let mut text = String::new();
    for table in tables {
        let _ = writeln!(text, "{}\n  {}", table.name, table.doc);
        for column in &table.columns {
            let null = if column.nullable { "?" } else { "" };
            let kind = format!("{}{null}", column.column_type.name());
            let _ = writeln!(text, "    {:<22} {:<9} {:<12} {}", column.name, kind, column.unit, column.doc);
        }
        text.push('\n');
    }
    text
}

/// The reference page.
pub fn reference(tables: &[Descriptor]) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut text = format!("# Tables (schema {SCHEMA_VERSION})\n");
    for table in tables {
        let _ = write!(text, "\n## {}\n\n{}\n\n| Column | Type | Null | Unit | Meaning |\n|---|---|---|---|---|\n", table.name, table.doc);
        for column in &table.columns {
            let null = if column.nullable { "yes" } else { "" };
            let _ = writeln!(text, "| {} | {} | {null} | {} | {} |", column.name, column.column_type.name(), column.unit, cell(column.doc));
        }
    }
    text
}
