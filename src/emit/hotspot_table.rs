//! hotspot_table.md: the line that says where the wall time went, then one row per place.

use super::{EmitOptions, OutputFile, View, anchor, escape, number, wall};
use crate::error::Result;
use crate::tables::Hotspot;

/// The columns, exactly.
pub const HEADER: &str = "| Rank | Location | Metric | Value | Category | Evidence |";

pub fn emit(view: &View<'_>, _options: EmitOptions) -> Result<Vec<OutputFile>> {
    let mut out = wall::sentence(&view.run.wall_line, &escape::markdown);
    out.push_str("\n\n");
    out.push_str(HEADER);
    out.push_str("\n|---:|---|---|---|---|---|\n");
    for row in &view.run.tables.hotspots {
        out.push_str(&line(row));
    }
    if view.run.tables.hotspots.is_empty() {
        out.push_str("\nNo artifact gave a place that could be ranked; quality.md says what was read and what was lost.\n");
    }
    let target = escape::markdown(&view.run.target);
    if !target.is_empty() {
        out.push_str(&format!("\nTarget: {target}\n"));
    }
    out.push_str(&format!(
        "\nValues are shares of the metric's resource with the 95 % lower bound; rows are ranked by that bound times the resource's share of the \
         wall clock. Names over {} characters lose their middle to `…`; tables/hotspots.parquet has them whole.\n",
        escape::NAME_CHARS_MAX
    ));
    Ok(vec![("hotspot_table.md".to_owned(), out.into_bytes())])
}

fn line(row: &Hotspot) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} |\n",
        row.rank,
        escape::markdown_code(&escape::shorten(&row.location, escape::NAME_CHARS_MAX)),
        escape::markdown(&row.metric),
        escape::markdown(&value(row)),
        escape::markdown(&row.category),
        escape::markdown_code(&anchor::shown(&row.anchor)),
    )
}

/// The share with its lower bound, and the line's own words.
pub fn value(row: &Hotspot) -> String {
    let mut out = format!("{} (at least {})", number::share(row.value), number::share(row.value_lo));
    if !row.detail.is_empty() {
        out.push_str("; ");
        out.push_str(&row.detail);
    }
    out
}
