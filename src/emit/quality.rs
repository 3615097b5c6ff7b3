//! quality.md: the checks of the recordings, what was lost, and what was read.

use std::fmt::Write;

use super::{EmitOptions, OutputFile, View, escape, number, quality_status, unresolved};
use crate::error::Result;
use crate::tables::{Quality, Reading};

pub fn emit(view: &View<'_>, _options: EmitOptions) -> Result<Vec<OutputFile>> {
    let mut out = String::from("# Quality of the recordings\n\n");
    let tables = &view.run.tables;
    let _ = writeln!(out, "{}\n", escape::markdown(&sentence(&tables.quality, &tables.readings)));
    checks(&mut out, view);
    names(&mut out, view);
    diagnostics(&mut out, view);
    artifacts(&mut out, view);
    Ok(vec![("quality.md".to_owned(), out.into_bytes())])
}

/// Every check and measure on every file, with the number that decided and where its limits come from.
fn checks(out: &mut String, view: &View<'_>) {
    out.push_str("Checks run before the hypotheses. `--allow ID` silences one: it is listed, and takes nothing from any angle.\n\n");
    out.push_str("| Check | Name | File | Status | Effect | Found | Limits | Where they come from | What to do |\n");
    out.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for row in &view.run.tables.quality {
        let name = match &row.measure {
            None => row.name.to_string(),
            Some(measure) => format!("{}: {measure}", row.name),
        };
        let cells = [&*row.check, &name].map(escape::markdown);
        let file = escape::markdown_code(row.artifact_id.map_or("", |id| view.path(Some(id))));
        let rest = [
            &*row.status,
            &*row.effect,
            &*row.message,
            row.limits.as_deref().unwrap_or(""),
            row.source.as_deref().unwrap_or(""),
            &*row.advice,
        ];
        let _ = writeln!(out, "| {} | {file} | {} |", cells.join(" | "), rest.map(escape::markdown).join(" | "));
    }
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

/// `quality: 31 ok, 2 warn (Q05 sinks 56 %, Q29 load 13.7 on 2 CPUs), 1 demoted slot, 2 not checkable`: each check counts
/// once, as what is worst about it.
pub fn sentence(rows: &[Quality], readings: &[Reading]) -> String {
    let checks = quality_status::worst(rows);
    let of = |status: &str| -> Vec<&Quality> { checks.iter().copied().filter(|row| &*row.status == status).collect() };
    let mut parts = vec![format!("{} ok", of("ok").len())];
    for status in ["warn", "demote", "block"] {
        let rows = of(status);
        if !rows.is_empty() {
            parts.push(format!("{} {status} ({})", rows.len(), examples(&rows)));
        }
    }
    let silenced = of("silenced");
    if !silenced.is_empty() {
        let ids: Vec<&str> = silenced.iter().map(|row| &*row.check).collect();
        parts.push(format!("{} silenced ({})", ids.len(), ids.join(", ")));
    }
    let slots = quality_status::taken_slots(readings);
    if slots > 0 {
        parts.push(format!("{slots} demoted slot{}", if slots == 1 { "" } else { "s" }));
    }
    let unchecked = of("not checkable");
    if !unchecked.is_empty() {
        parts.push(format!("{} not checkable", unchecked.len()));
    }
    format!("quality: {}", parts.join(", "))
}

/// The first few with what they found, as a phrase.
fn examples(rows: &[&Quality]) -> String {
    let found = |row: &&Quality| escape::shorten(row.short.as_deref().unwrap_or(&row.message), 60).into_owned();
    let mut listed: Vec<String> = rows.iter().take(4).map(|row| format!("{} {}", row.check, found(row))).collect();
    if rows.len() > 4 {
        listed.push("...".to_owned());
    }
    listed.join(", ")
}
