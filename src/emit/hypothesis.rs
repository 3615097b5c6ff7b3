//! hypothesis.md: the ledger.

use std::fmt::Write;

use super::view::{Entry, Metric, NOT_MEASURED, Slot};
use super::{EmitOptions, OutputFile, View, anchor, escape, number, stated};
use crate::error::Result;
use crate::tables::Threshold;

/// The columns, exactly.
pub const HEADER: &str = "| Angle | Tool / file | Verdict | Evidence path |";

pub fn emit(view: &View<'_>, _options: EmitOptions) -> Result<Vec<OutputFile>> {
    let mut out = String::from("# Hypothesis ledger\n\n");
    let target = escape::markdown(&view.run.target);
    if !target.is_empty() {
        let _ = writeln!(out, "Target: {target}\n");
    }
    out.push_str(
        "No hypothesis stands on one leg: each is tested from three angles whose mechanisms differ. Three that support make it KERNEL (act on \
         it), two DISPUTED, one with something unmeasured open.\n",
    );
    for entry in view.ledger() {
        entry_section(&mut out, view, &entry);
    }
    out.push_str(&stated::section(view));
    Ok(vec![("hypothesis.md".to_owned(), out.into_bytes())])
}

fn entry_section(out: &mut String, view: &View<'_>, entry: &Entry<'_>) {
    let row = entry.row;
    let _ = writeln!(out, "\n## {} {}\n", escape::markdown(&row.hypothesis), escape::markdown(&row.name));
    if let Some(doc) = entry.doc {
        let _ = writeln!(out, "Claim: {}\n", escape::markdown(&doc.claim));
    }
    out.push_str(HEADER);
    out.push_str("\n|---|---|---|---|\n");
    for slot in &entry.slots {
        out.push_str(&slot_row(view, slot));
    }
    // A row of the table too: GitHub's Markdown needs no outer pipes.
    let _ = writeln!(out, "Result | {}\n", escape::markdown(&entry.result()));
    facts(out, entry);
    for slot in &entry.slots {
        for metric in &slot.metrics {
            let _ = writeln!(out, "- {}: {}", escape::markdown(slot.name), metric_text(metric, &escape::markdown));
        }
        for cross in &slot.cross_checks {
            let path = escape::markdown_code(view.path(cross.artifact_id));
            let metric = escape::markdown(cross.metric.as_deref().unwrap_or("value"));
            let _ = writeln!(out, "- {} cross-check, {path}: {metric} {}", escape::markdown(slot.name), escape::markdown(&cross.verdict));
        }
    }
    advice(out, entry);
}

fn slot_row(view: &View<'_>, slot: &Slot<'_>) -> String {
    let first = slot.metrics.first().map(|metric| metric.reading);
    let mut angle = slot.name.to_owned();
    if let Some(name) = first.and_then(|row| row.alternate.as_deref()) {
        angle = format!("{angle}: {name}");
    }
    if let Some(mechanism) = first.and_then(|row| row.mechanism.as_deref()) {
        angle = format!("{angle} ({mechanism})");
    }
    let tool = first.map_or_else(
        || number::ABSENT.to_owned(),
        |row| format!("{} {}", escape::markdown(row.tool.as_deref().unwrap_or("")), escape::markdown_code(view.path(row.artifact_id))),
    );
    let mut verdict = slot.verdict_with_reason();
    // An angle that is not measured may hold a metric that is: its score would mislead.
    if let Some(score) = slot.score.filter(|_| slot.verdict != NOT_MEASURED) {
        let _ = write!(verdict, ", score {score:.2}");
    }
    let place = slot.anchor().map_or_else(|| number::ABSENT.to_owned(), |place| escape::markdown_code(&anchor::shown(place)));
    format!("| {} | {} | {} | {place} |\n", escape::markdown(&angle), tool.trim(), escape::markdown(&verdict))
}

/// Site, cost, charges and notes.
fn facts(out: &mut String, entry: &Entry<'_>) {
    let row = entry.row;
    if let Some((site, agreed)) = entry.site() {
        let kind = row.site_kind.as_deref().unwrap_or("place");
        let how = if agreed { "two angles agree" } else { "suspected: one angle alone names it" };
        let name = escape::markdown_code(&escape::shorten(site, 4 * escape::NAME_CHARS_MAX));
        let _ = writeln!(out, "- Site: {name} ({}; {how})", escape::markdown(kind));
    }
    if let Some(special) = &row.explained_by {
        let _ = writeln!(out, "- Explained by {}: its cost was charged there", escape::markdown(special));
    }
    if let Some(cost) = cost(entry) {
        let _ = writeln!(out, "- {}", escape::markdown(&cost));
    }
    if let Some(note) = row.note.as_deref().filter(|note| !note.is_empty()) {
        let _ = writeln!(out, "- Note: {}", escape::markdown(note));
    }
}

/// What the hypothesis costs and what it would be worth to act on it.
pub fn cost(entry: &Entry<'_>) -> Option<String> {
    let row = entry.row;
    let share = row.cost_share?;
    let mut out = format!("Cost: {} of {}", number::share(share), row.resource.as_deref().unwrap_or("its resource"));
    if let Some(charged) = row.charged_share {
        let _ = write!(out, ", {} after special explanations", number::share(charged));
    }
    if let Some(wall) = row.wall_share {
        let _ = write!(out, ", up to {} of the wall clock", number::share(wall));
    }
    if let (Some(impact), Some(confidence), Some(opportunity)) = (row.impact, row.confidence, row.opportunity) {
        let _ = write!(out, "; impact {impact} x confidence {confidence} / effort {} = opportunity {opportunity:.1}", row.effort);
    }
    if row.handed_off {
        out.push_str(" (handed off)");
    }
    Some(out)
}

/// One judged number with its interval, its threshold and where that comes from.
pub fn metric_text(metric: &Metric<'_>, escape: &dyn Fn(&str) -> String) -> String {
    let row = metric.reading;
    let unit = row.unit.as_deref().unwrap_or("");
    let mut out = escape(row.metric.as_deref().unwrap_or("value"));
    match row.value {
        Some(value) => {
            let _ = write!(out, " = {}", escape(&number::value(value, unit)));
        }
        None => out.push_str(" was not read"),
    }
    match (row.lo, row.hi) {
        (Some(lo), Some(hi)) if lo == hi => out.push_str(" (exact)"),
        (Some(_), Some(_)) => {
            let _ = write!(out, ", interval {}", escape(&number::interval(row.lo, row.hi, unit)));
        }
        _ => {}
    }
    if let Some(n) = row.n {
        let _ = write!(out, ", n = {}", number::count(n));
    }
    if let (Some(up), Some(down)) = (row.scale_up, row.scale_down) {
        let _ = write!(out, ", times {} / {}", number::count(up), number::count(down));
    }
    if let Some(threshold) = metric.threshold {
        let _ = write!(out, "; {}", escape(&threshold_text(threshold)));
    }
    out
}

/// `supports from 25.0 % up, rejects up to 5.0 %, full score at 60.0 % (linear, wilson; house threshold: ...)`.
pub fn threshold_text(row: &Threshold) -> String {
    let shown = |value: f64| number::value(value, &row.unit);
    let (from, to) = if row.support >= row.reject { ("at or above", "at or below") } else { ("at or below", "at or above") };
    let kind = match &*row.source_kind {
        "house" => "house threshold".to_owned(),
        "user" => "threshold of the user".to_owned(),
        other => format!("source: {other}"),
    };
    let cost = match (&row.cost, row.cost_ns, row.cost_source.as_deref()) {
        // The default is what the published number was stated for.
        (Some(name), Some(ns), Some(source)) if source != "default" => {
            format!("; for a {} of {} ({source})", name.replace('_', " "), number::duration(ns.round() as i64))
        }
        _ => String::new(),
    };
    format!(
        "supports {from} {}, rejects {to} {}, full score at {} ({}, {} interval, at least {} observations; {kind}: {}{cost})",
        shown(row.support),
        shown(row.reject),
        shown(row.saturate),
        row.scale,
        row.interval,
        number::count(row.min_n),
        row.source
    )
}

fn advice(out: &mut String, entry: &Entry<'_>) {
    if let Some(doc) = entry.doc {
        if !doc.advice.is_empty() {
            let _ = writeln!(out, "- Advice: {}", escape::markdown(&doc.advice));
        }
        if !doc.false_positives.is_empty() {
            let _ = writeln!(out, "- Known false positives: {}", escape::markdown(&doc.false_positives));
        }
    }
    for missing in &entry.missing {
        let reason = if missing.reason.is_empty() { String::new() } else { format!(" ({})", escape::markdown(&missing.reason)) };
        let block = escape::markdown_block(&missing.command);
        let _ = write!(out, "\nTo measure {}{reason}:\n\n{block}", escape::markdown(&missing.slot));
    }
}
