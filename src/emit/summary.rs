//! summary.json: the whole report for programs and agents, bounded in size.
//!
//! Every list has a limit and says how many entries it left out; long texts lose their middle. The same input gives the
//! same bytes; the cost of the stages is in it with `--timings` only.

use serde_json::{Map, Value, json};

use super::view::{Entry, Slot};
use super::{EmitOptions, OutputFile, View, escape, quality, quality_status, run::WallLine, stated, unresolved, wall};
use crate::error::{Error, Result};
use crate::tables::SCHEMA_VERSION;

const HOTSPOTS_MAX: usize = 20;
const HYPOTHESES_MAX: usize = 200;
const LIST_MAX: usize = 40;
/// Longest text, in characters.
const TEXT_CHARS_MAX: usize = 400;

pub fn emit(view: &View<'_>, options: EmitOptions) -> Result<Vec<OutputFile>> {
    let run = view.run;
    let ledger = view.ledger();
    let mut root = Map::new();
    root.insert("tool".to_owned(), json!("tripod"));
    root.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    root.insert("schema".to_owned(), json!(SCHEMA_VERSION));
    root.insert("target".to_owned(), json!(text(&run.target)));
    root.insert("wall".to_owned(), wall_json(&run.wall_line));
    root.insert("hotspots".to_owned(), hotspots(view));
    root.insert("hotspots_left_out".to_owned(), json!(run.tables.hotspots.len().saturating_sub(HOTSPOTS_MAX)));
    let hypotheses: Vec<Value> = ledger.iter().take(HYPOTHESES_MAX).map(|entry| hypothesis(view, entry)).collect();
    root.insert("hypotheses".to_owned(), Value::Array(hypotheses));
    root.insert("hypotheses_left_out".to_owned(), json!(ledger.len().saturating_sub(HYPOTHESES_MAX)));
    root.insert("stated_verdicts".to_owned(), stated::json(view, LIST_MAX, text));
    root.insert("record_next".to_owned(), record_next(view));
    root.insert("quality".to_owned(), quality_json(view));
    root.insert("unresolved".to_owned(), unresolved::json(view, text));
    root.insert("diagnostics".to_owned(), diagnostics(view));
    root.insert("artifacts".to_owned(), artifacts(view));
    if options.timings {
        let stage = |stage: &super::Stage| json!({"stage": stage.name, "wall_ms": stage.wall_ms, "cpu_ms": stage.cpu_ms, "peak_bytes": stage.peak_bytes});
        root.insert("timings".to_owned(), run.timings.iter().map(stage).collect());
    }
    Ok(vec![("summary.json".to_owned(), pretty(&Value::Object(root))?)])
}

/// JSON with a final newline.
pub(super) fn pretty(value: &Value) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| Error::Request(format!("JSON cannot be written: {error}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn text(value: &str) -> String {
    escape::shorten(&escape::plain(value), TEXT_CHARS_MAX).into_owned()
}

fn maybe(value: Option<&str>) -> Value {
    value.map_or(Value::Null, |value| json!(text(value)))
}

fn wall_json(line: &WallLine) -> Value {
    match line {
        WallLine::Known { wall_ns, source, .. } => {
            let part = |part: wall::Part| json!({"name": text(&part.name), "ns": part.ns, "per_cent": part.tenths as f64 / 10.0, "evidence": part.source});
            let parts: Vec<Value> = wall::parts(line).into_iter().map(part).collect();
            json!({"known": true, "wall_ns": wall_ns, "evidence": source, "parts": parts})
        }
        WallLine::Unknown { reason } => json!({"known": false, "reason": text(reason)}),
    }
}

fn hotspots(view: &View<'_>) -> Value {
    let row = |row: &crate::tables::Hotspot| {
        json!({
            "rank": row.rank, "location": text(&row.location), "metric": text(&row.metric), "value": row.value, "value_lo": row.value_lo,
            "weight": row.weight, "whole": row.whole, "wall_share": row.wall_share, "resource": &*row.resource,
            "category": &*row.category, "detail": text(&row.detail), "evidence": &*row.anchor,
        })
    };
    view.run.tables.hotspots.iter().take(HOTSPOTS_MAX).map(row).collect()
}

fn hypothesis(view: &View<'_>, entry: &Entry<'_>) -> Value {
    let row = entry.row;
    let slots: Map<String, Value> = entry.slots.iter().map(|slot| (text(slot.name), slot_json(view, entry, slot))).collect();
    let doc = |get: fn(&super::HypothesisDoc) -> &String| maybe(entry.doc.map(|doc| get(doc).as_str()));
    json!({
        "id": &*row.hypothesis, "name": text(&row.name), "label": &*row.label, "category": text(&row.category),
        "claim": doc(|doc| &doc.claim), "slots": slots,
        "supports": row.supports, "rejects": row.rejects, "not_measured": row.not_measured,
        "site_kind": maybe(row.site_kind.as_deref()), "site": maybe(row.site.as_deref()),
        "suspected_site": maybe(row.suspected_site.as_deref()), "explained_by": maybe(row.explained_by.as_deref()),
        "resource": maybe(row.resource.as_deref()), "cost_share": row.cost_share, "charged_share": row.charged_share,
        "wall_share": row.wall_share, "impact": row.impact, "confidence": row.confidence, "effort": row.effort,
        "opportunity": row.opportunity, "handed_off": row.handed_off, "note": maybe(row.note.as_deref()),
        "status": maybe(row.status.as_deref()),
        "advice": doc(|doc| &doc.advice), "false_positives": doc(|doc| &doc.false_positives),
    })
}

/// One angle; with several metrics the one that decided, and their number.
fn slot_json(view: &View<'_>, entry: &Entry<'_>, slot: &Slot<'_>) -> Value {
    let missing = entry.missing.iter().find(|missing| missing.slot == slot.name);
    let record = missing.map(|missing| missing.command.as_str());
    let reason = slot.reason.or(missing.map(|missing| missing.reason.as_str()));
    let deciding = slot
        .metrics
        .iter()
        .find(|metric| &*metric.reading.verdict == slot.verdict && metric.reading.score == slot.score)
        .or_else(|| slot.metrics.iter().find(|metric| &*metric.reading.verdict == slot.verdict))
        .or_else(|| slot.metrics.first());
    let Some(metric) = deciding else {
        return json!({"verdict": slot.verdict, "reason": maybe(reason), "record": record});
    };
    let row = metric.reading;
    let mut paths: Vec<&str> = slot.metrics.iter().filter_map(|metric| metric.reading.artifact_id).map(|id| view.path(Some(id))).collect();
    paths.sort_unstable();
    paths.dedup();
    let artifacts: Vec<Value> = paths.into_iter().map(|path| json!(text(path))).collect();
    json!({
        "artifacts": artifacts,
        "verdict": slot.verdict, "reason": maybe(reason), "tool": maybe(row.tool.as_deref()),
        "artifact": maybe(row.artifact_id.map(|id| view.path(Some(id)))), "alternate": maybe(row.alternate.as_deref()),
        "mechanism": maybe(row.mechanism.as_deref()), "metric": maybe(row.metric.as_deref()), "metrics": slot.metrics.len(),
        "unit": maybe(row.unit.as_deref()), "value": row.value, "lo": row.lo, "hi": row.hi, "n": row.n, "score": slot.score,
        "reject": metric.threshold.map(|row| row.reject), "support": metric.threshold.map(|row| row.support),
        "threshold_source": maybe(metric.threshold.map(|row| &*row.source_kind)), "evidence": metric.anchor(), "record": record,
    })
}

/// Each command once, with the slots it would fill.
fn record_next(view: &View<'_>) -> Value {
    let recordings = view.record_next();
    let row = |recording: &super::view::Recording<'_>| {
        let slots = recording.slots.iter().take(LIST_MAX);
        let settles: Vec<Value> =
            slots.map(|row| json!({"hypothesis": row.hypothesis, "slot": row.slot, "reason": text(&row.reason)})).collect();
        json!({"command": recording.command, "settles": settles})
    };
    let rows: Vec<Value> = recordings.iter().take(LIST_MAX).map(row).collect();
    json!({"commands": rows, "left_out": recordings.len().saturating_sub(LIST_MAX)})
}

fn quality_json(view: &View<'_>) -> Value {
    let rows = &view.run.tables.quality;
    let mut notable: Vec<_> = rows.iter().filter(|row| &*row.status != "ok" && &*row.status != "not checkable").collect();
    // The list is bounded: what took something comes first.
    notable.sort_by_key(|row| ["block", "demote", "silenced", "warn"].iter().position(|own| *own == &*row.status));
    let row = |row: &&crate::tables::Quality| {
        json!({
            "check": &*row.check, "name": text(&row.name), "artifact": maybe(row.artifact_id.map(|id| view.path(Some(id)))),
            "measure": maybe(row.measure.as_deref()), "status": &*row.status, "effect": text(&row.effect), "value": row.value,
            "found": text(&row.message), "limits": maybe(row.limits.as_deref()), "source": maybe(row.source.as_deref()),
            "advice": text(&row.advice),
        })
    };
    let all: serde_json::Map<String, Value> =
        quality_status::worst(rows).into_iter().map(|row| (text(&row.check), json!(&*row.status))).collect();
    let listed: Vec<Value> = notable.iter().take(LIST_MAX).map(row).collect();
    let sentence = quality::sentence(rows, &view.run.tables.readings);
    json!({"sentence": text(&sentence), "status": all, "checks": listed, "left_out": notable.len().saturating_sub(LIST_MAX)})
}

fn diagnostics(view: &View<'_>) -> Value {
    let mut rows: Vec<_> = view.run.tables.diagnostics.iter().collect();
    let severity = |name: &str| ["error", "warn", "info"].iter().position(|known| *known == name).unwrap_or(3);
    let count = |name: &str| rows.iter().filter(|row| &*row.severity == name).fold(0_i64, |sum, row| sum.saturating_add(row.count));
    let (errors, warnings, infos) = (count("error"), count("warn"), count("info"));
    rows.sort_by(|a, b| {
        let key = |row: &crate::tables::Diagnostic| (severity(&row.severity), std::cmp::Reverse(row.count), row.artifact_id);
        key(a).cmp(&key(b)).then_with(|| a.kind.cmp(&b.kind))
    });
    let row = |row: &&crate::tables::Diagnostic| {
        json!({
            "kind": &*row.kind, "severity": &*row.severity, "count": row.count, "artifact": maybe(row.artifact_id.map(|id| view.path(Some(id)))),
            "message": text(&row.message), "advice": text(&row.advice), "places": text(&row.places),
        })
    };
    let listed: Vec<Value> = rows.iter().take(LIST_MAX).map(row).collect();
    json!({"error": errors, "warn": warnings, "info": infos, "kinds": listed, "left_out": rows.len().saturating_sub(LIST_MAX)})
}

fn artifacts(view: &View<'_>) -> Value {
    let rows = &view.run.tables.artifacts;
    let row = |row: &crate::tables::Artifact| json!({"path": text(&row.path), "kind": &*row.kind, "tool": &*row.tool, "status": &*row.status, "records": row.records, "skipped": row.skipped});
    let listed: Vec<Value> = rows.iter().take(LIST_MAX).map(row).collect();
    json!({"files": listed, "left_out": rows.len().saturating_sub(LIST_MAX)})
}
