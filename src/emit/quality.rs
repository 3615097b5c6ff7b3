//! quality.md: the checks of the recordings, what was lost, and what was read.

use std::fmt::Write;

use super::{EmitOptions, OutputFile, View, escape, number, unresolved};
use crate::error::Result;
use crate::tables::Quality;

pub fn emit(view: &View<'_>, _options: EmitOptions) -> Result<Vec<OutputFile>> {
    let mut out = String::from("# Quality of the recordings\n\n");
    let _ = writeln!(out, "{}\n", escape::markdown(&sentence(&view.run.tables.quality)));
    out.push_str("| Check | Name | File | Status | Effect | Found | What to do |\n|---|---|---|---|---|---|---|\n");
    for row in &view.run.tables.quality {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            escape::markdown(&row.check),
            escape::markdown(&row.name),
            escape::markdown_code(view.path(row.artifact_id)),
            escape::markdown(&row.status),
            escape::markdown(&row.effect),
            escape::markdown(&row.message),
            escape::markdown(&row.advice)
        );
    }
    names(&mut out, view);
    diagnostics(&mut out, view);
    artifacts(&mut out, view);
    Ok(vec![("quality.md".to_owned(), out.into_bytes())])
}

/// What share of the weight has no name, and what would name it.
fn names(out: &mut String, view: &View<'_>) {
    out.push_str("\n## Names that are missing\n\n");
    let rows = view.unresolved();
    if rows.is_empty() {
        out.push_str("None.\n");
        return;
    }
    out.push_str("Shares of the event's whole weight: as the leaf of a stack, and anywhere on it.\n\n");
    out.push_str("| Program or library | Event | File | Leaf | On the stack | What would name it |\n|---|---|---|---:|---:|---|\n");
    for row in rows.iter().take(unresolved::ROWS_MAX) {
        let _ = writeln!(out, "| {} |", unresolved::cells(view, row).map(|cell| escape::markdown(&cell)).join(" | "));
    }
    if rows.len() > unresolved::ROWS_MAX {
        let _ = writeln!(out, "\n{} more with smaller shares.", rows.len() - unresolved::ROWS_MAX);
    }
}

fn diagnostics(out: &mut String, view: &View<'_>) {
    out.push_str("\n## Losses and doubts\n\n");
    if view.run.tables.diagnostics.is_empty() {
        out.push_str("None.\n");
        return;
    }
    out.push_str("| File | Severity | Kind | Count | What happened | What to do | First places |\n|---|---|---|---:|---|---|---|\n");
    for row in &view.run.tables.diagnostics {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            escape::markdown_code(view.path(row.artifact_id)),
            escape::markdown(&row.severity),
            escape::markdown(&row.kind),
            number::count(row.count),
            escape::markdown(&row.message),
            escape::markdown(&row.advice),
            escape::markdown(&row.places)
        );
    }
}

fn artifacts(out: &mut String, view: &View<'_>) {
    out.push_str("\n## What was read\n\n| File | Format | Tool | Status | Records | Skipped |\n|---|---|---|---|---:|---:|\n");
    for row in &view.run.tables.artifacts {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            escape::markdown_code(&row.path),
            escape::markdown(&row.kind),
            escape::markdown(&row.tool),
            escape::markdown(&row.status),
            number::count(row.records),
            number::count(row.skipped)
        );
    }
}

/// `quality: 31 ok, 2 warn (Q05 sinks 56 %, Q29 load 13.7 on 2 CPUs), 1 demoted slot, 2 not checkable`.
pub fn sentence(rows: &[Quality]) -> String {
    let of = |status: &str| -> Vec<&Quality> { rows.iter().filter(|row| &*row.status == status).collect() };
    let (warn, demote, block, unchecked) = (of("warn"), of("demote"), of("block"), of("not checkable"));
    let mut parts = vec![format!("{} ok", of("ok").len())];
    for (rows, word) in [(&warn, "warn"), (&demote, "demoted"), (&block, "blocked")] {
        if !rows.is_empty() {
            parts.push(format!("{} {word} ({})", rows.len(), examples(rows)));
        }
    }
    if !unchecked.is_empty() {
        parts.push(format!("{} not checkable", unchecked.len()));
    }
    format!("quality: {}", parts.join(", "))
}

/// The first three with what they found, cut to a phrase.
fn examples(rows: &[&Quality]) -> String {
    let mut listed: Vec<String> = rows.iter().take(3).map(|row| format!("{} {}", row.check, escape::shorten(&row.message, 60))).collect();
    if rows.len() > 3 {
        listed.push("...".to_owned());
    }
    listed.join(", ")
}
