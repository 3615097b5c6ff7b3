//! Verdicts that the authors of logs wrote into them: shown as stated, apart from the ledger.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{View, escape};
use crate::tables::StatedVerdict;

/// The columns, exactly.
pub const HEADER: &str = "| Hypothesis, as stated | Verdict, as stated | Evidence, as stated | Line |";

const TEXT_CHARS_MAX: usize = 200;
const ROWS_MAX: usize = 200;

/// The section of hypothesis.md; nothing where nobody stated anything.
pub fn section(view: &View<'_>) -> String {
    let rows = &view.run.tables.stated_verdicts;
    if rows.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "\n## Stated by the authors of logs\n\nThese verdicts stand in the recordings. Tripod has not tested them: they are no angle of any hypothesis and \
         change no label.\n\n",
    );
    out.push_str(HEADER);
    out.push_str("\n|---|---|---|---|\n");
    for row in rows.iter().take(ROWS_MAX) {
        let cell = |text: &str| escape::markdown(&escape::shorten(text, TEXT_CHARS_MAX));
        let evidence = row.evidence.as_deref().map_or_else(|| super::number::ABSENT.to_owned(), cell);
        let _ = writeln!(
            out,
            "| {} | {} | {evidence} | {} |",
            cell(&row.hypothesis),
            cell(&row.verdict),
            escape::markdown_code(&line(view, row))
        );
    }
    if rows.len() > ROWS_MAX {
        let _ = writeln!(out, "\n{} more are in tables/stated_verdicts.parquet.", rows.len() - ROWS_MAX);
    }
    out
}

fn line(view: &View<'_>, row: &StatedVerdict) -> String {
    super::anchor::shown(&format!("{}#L={}", crate::hotspots::encode(view.path(Some(row.artifact_id))), row.line_no))
}

/// The part of summary.json, at most `max` of them.
pub fn json(view: &View<'_>, max: usize, text: fn(&str) -> String) -> Value {
    let rows = &view.run.tables.stated_verdicts;
    let row = |row: &StatedVerdict| {
        json!({
            "hypothesis": text(&row.hypothesis), "verdict": text(&row.verdict), "evidence": row.evidence.as_deref().map(text), "line": line(view, row),
        })
    };
    let listed: Vec<Value> = rows.iter().take(max).map(row).collect();
    json!({"note": "stated in the recordings by their authors, not tested", "verdicts": listed, "left_out": rows.len().saturating_sub(max)})
}
