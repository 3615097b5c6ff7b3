//! `tripod formats`: what can be read, from the registry.

use std::fmt::Write;

use super::{Outcome, out};
use crate::error::Result;
use crate::ingest::FORMATS;

const HELP: &str = "Examples:
  tripod formats";

/// List the file formats that can be read and the commands that record them
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {}

pub fn run(_args: &Args) -> Result<Outcome> {
    let mut text = String::from("Files are recognized by content, never by name; .zst, .gz, .xz and .bz2 around any of them are undone.\n");
    for format in FORMATS {
        let _ = write!(text, "\n{} (recorded with {})\n  {}\n", format.name, format.tool, format.doc);
        for line in format.record.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    out::print(text.as_bytes())?;
    Ok(Outcome::Done)
}
