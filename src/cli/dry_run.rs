//! `tripod analyze --dry-run`: which verdicts and labels the user's thresholds, costs, rules or lineage would change.

use std::fmt::Write;

use crate::AnalyzeRequest;
use crate::emit::escape::plain;
use crate::emit::{Run, number};
use crate::error::Result;
use crate::request::Lineage;
use crate::tables::{Hypothesis, Reading, Threshold};

/// Analyzes as published and as asked for, and tells the difference. Nothing is written.
pub fn flips(request: &AnalyzeRequest) -> Result<String> {
    let published = AnalyzeRequest { thresholds: None, costs: None, rules: Vec::new(), lineage: Lineage::Tool, ..request.clone() };
    Ok(difference(&crate::analyze(&published)?, &crate::analyze(request)?))
}

fn difference(before: &Run, after: &Run) -> String {
    let mut text = String::new();
    let mut changed = 0;
    for new in &after.tables.hypotheses {
        let old = before.tables.hypotheses.iter().find(|row| row.hypothesis == new.hypothesis);
        let mut lines = verdicts(before, after, &new.hypothesis);
        let flips = lines.len();
        lines.extend(label(old, new));
        if !lines.is_empty() {
            changed += flips;
            let _ = writeln!(text, "{} {}", plain(&new.hypothesis), plain(&new.name));
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    if text.is_empty() {
        return "No verdict and no label would change. Nothing was written.\n".to_owned();
    }
    let _ = writeln!(text, "\n{changed} verdicts would change. Nothing was written; without --dry-run the run is.");
    text
}

/// One line per metric that would be judged otherwise.
fn verdicts(before: &Run, after: &Run, id: &str) -> Vec<String> {
    let primary = |row: &&Reading| &*row.hypothesis == id && &*row.role == "primary";
    let mut lines = Vec::new();
    for new in after.tables.readings.iter().filter(primary) {
        let same = |row: &&Reading| primary(row) && row.slot == new.slot && row.metric == new.metric && row.artifact_id == new.artifact_id;
        let Some(old) = before.tables.readings.iter().find(same) else { continue };
        if old.verdict == new.verdict {
            continue;
        }
        let unit = new.unit.as_deref().unwrap_or("");
        let reading = match (new.value, new.lo, new.hi) {
            (None, ..) => "not read".to_owned(),
            (Some(value), Some(lo), Some(hi)) if lo != hi => {
                format!("{} ({})", number::value(value, unit), number::interval(Some(lo), Some(hi), unit))
            }
            (Some(value), ..) => number::value(value, unit),
        };
        lines.push(format!(
            "{} {} = {reading}: {} -> {}{}",
            plain(&new.slot),
            plain(new.metric.as_deref().unwrap_or("value")),
            plain(&old.verdict),
            plain(&new.verdict),
            bounds(before, after, new)
        ));
    }
    lines
}

/// `; supports from 10 000 per s -> 20 000 per s`, for the bounds that differ.
fn bounds(before: &Run, after: &Run, reading: &Reading) -> String {
    let find = |run: &Run| -> Option<Threshold> {
        let is_it = |row: &&Threshold| {
            row.hypothesis == reading.hypothesis
                && row.slot == reading.slot
                && Some(&row.alternate) == reading.alternate.as_ref()
                && Some(&row.metric) == reading.metric.as_ref()
        };
        run.tables.thresholds.iter().find(is_it).cloned()
    };
    let (Some(old), Some(new)) = (find(before), find(after)) else { return String::new() };
    let mut text = String::new();
    for (name, old_bound, new_bound) in [
        ("supports from", old.support, new.support),
        ("rejects from", old.reject, new.reject),
        ("full score from", old.saturate, new.saturate),
    ] {
        if old_bound != new_bound {
            let _ = write!(text, "; {name} {} -> {}", number::value(old_bound, &old.unit), number::value(new_bound, &new.unit));
        }
    }
    text
}

/// The label, and whether it is handed off.
fn label(old: Option<&Hypothesis>, new: &Hypothesis) -> Option<String> {
    let shown =
        |row: &Hypothesis| format!("{}/3 -> {}{}", row.supports, plain(&row.label), if row.handed_off { " (handed off)" } else { "" });
    match old {
        None => Some(format!("new: {}", shown(new))),
        Some(old) if shown(old) != shown(new) => Some(format!("label: {} becomes {}", shown(old), shown(new))),
        Some(old) if old.explained_by != new.explained_by => {
            let by = |row: &Hypothesis| row.explained_by.as_deref().map_or_else(|| "none".to_owned(), |id| plain(id).into_owned());
            Some(format!("explained by: {} becomes {}", by(old), by(new)))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told_with_the_reading() {
        let before = crate::emit::sample();
        assert_eq!(difference(&before, &before), "No verdict and no label would change. Nothing was written.\n");
        let mut after = before.clone();
        for row in after.tables.readings.iter_mut().filter(|row| &*row.hypothesis == "R25" && &*row.slot == "C") {
            row.verdict = "rejects".into();
        }
        for row in after.tables.thresholds.iter_mut().filter(|row| &*row.hypothesis == "R25" && &*row.slot == "C") {
            row.support = 0.9;
        }
        for row in after.tables.hypotheses.iter_mut().filter(|row| &*row.hypothesis == "R25") {
            row.label = "DISPUTED".into();
            row.supports = 2;
        }
        let text = difference(&before, &after);
        for part in [
            "C write_share = 62.0 % (60.0-64.0 %): supports -> rejects; supports from 25.0 % -> 90.0 %",
            "becomes 2/3 -> DISPUTED",
            "1 verdicts",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
