//! A judged hypothesis -> rows of the result tables.

use std::sync::Arc;

use super::charge::{Charge, Taken};
use super::{Count, Label};
use crate::quality::Effects;
use crate::rules::assign::Candidate;
use crate::rules::engine::Row;
use crate::rules::file::Status;
use crate::rules::score::Word;
use crate::rules::slot::{Measured, SlotResult};
use crate::rules::{Judged, Judgement, Missing, Statement};
use crate::tables::{Charged, Evidence, Hypothesis, Reading, Tables, Text, Threshold};

/// Lower bounds of the shares of the wall clock that make impact 5, 4, 3 and 2 (rules.md 2.6).
const IMPACT: [(f64, i32); 4] = [(0.50, 5), (0.25, 4), (0.10, 3), (0.05, 2)];
/// A KERNEL whose three scores reach this, at an agreed place and without a quality flag, has confidence 5 (rules.md 2.6).
const SURE_SCORE: f64 = 0.75;
/// KERNEL rows with this opportunity are handed off (rules.md 2.6).
const HAND_OFF: f64 = 2.0;

fn text(value: impl AsRef<str>) -> Text {
    Arc::from(value.as_ref())
}

pub fn hypothesis(tables: &mut Tables, own: &Judged, charge: &Charge, effects: &Effects) {
    let count = Count::of(own);
    let label = count.label(own);
    let impact = impact(own, charge);
    let confidence = confidence(tables, own, label, count, effects);
    let effort = own.hypothesis.effort;
    let opportunity = impact.zip(confidence).map(|(impact, confidence)| f64::from(impact * confidence) / f64::from(effort));
    let site = own.agreement.site.as_ref().filter(|_| label == Label::Kernel || label == Label::Disputed);
    let suspected = own.agreement.suspected.as_ref();
    let mut notes: Vec<String> = own.not_applicable.iter().cloned().collect();
    notes.extend(own.agreement.note.clone());
    notes.extend(shared_tools(own));
    if let Some(by) = charge.explained_by.as_deref().filter(|_| charge.is_vetoed) {
        notes.push(format!("vetoed by {by}: settle that first and record again"));
    }
    let is_preview = own.hypothesis.status == Status::Preview;
    if is_preview {
        notes.push("preview: no recording has shown this hypothesis at work yet, so it is never handed off".to_owned());
    }
    tables.hypotheses.push(Hypothesis {
        hypothesis: text(&own.hypothesis.id),
        name: text(&own.hypothesis.name),
        category: text(&own.hypothesis.category),
        label: text(label.name()),
        supports: count.supports as i32,
        rejects: count.rejects as i32,
        not_measured: count.not_measured as i32,
        site_kind: site.map(|site| text(&site.kind)),
        site: site.map(|site| site.name.clone()),
        suspected_site: suspected.map(|site| site.name.clone()),
        explained_by: charge.explained_by.as_ref().map(text),
        resource: Some(text(&own.hypothesis.resource)),
        cost_share: charge.cost_share,
        charged_share: charge.charged_share,
        wall_share: charge.wall_share,
        impact,
        confidence,
        effort,
        opportunity,
        handed_off: label == Label::Kernel
            && !is_preview
            && charge.explained_by.is_none()
            && opportunity.is_some_and(|value| value >= HAND_OFF),
        note: (!notes.is_empty()).then(|| text(notes.join("; "))),
        status: Some(text(own.hypothesis.status.name())),
    });
}

/// Angles that count as two only because `--lineage probe` lets two recordings of one tool count.
fn shared_tools(own: &Judged) -> Option<String> {
    let filled: Vec<(char, &Candidate)> = own.slots.iter().filter_map(|slot| Some((slot.letter, slot.candidate.as_ref()?))).collect();
    let mut pairs = Vec::new();
    for (at, (letter, candidate)) in filled.iter().enumerate() {
        for (other, second) in filled.iter().skip(at + 1) {
            let shared: Vec<String> = candidate.shared_tools(second).map(|tool| tool.to_string()).collect();
            if !shared.is_empty() {
                pairs.push(format!("{letter} and {other} were both recorded by {}", shared.join("+")));
            }
        }
    }
    (!pairs.is_empty()).then(|| format!("{}: they count as two angles with --lineage probe only", pairs.join(", ")))
}

/// 0 where another explanation owns the cost; 1 for what costs memory only; unknown without a wall clock.
fn impact(own: &Judged, charge: &Charge) -> Option<i32> {
    if charge.explained_by.is_some() {
        return Some(0);
    }
    match charge.wall_share {
        Some(share) => Some(IMPACT.iter().find(|(bound, _)| share > *bound).map_or(1, |(_, impact)| *impact)),
        None => (own.hypothesis.resource == "memory").then_some(1),
    }
}

fn confidence(tables: &Tables, own: &Judged, label: Label, count: Count, effects: &Effects) -> Option<i32> {
    let artifacts: Vec<(i32, &str)> = own
        .slots
        .iter()
        .filter_map(|slot| Some((slot.candidate.as_ref()?.artifact, slot.alternate.as_ref()?.mechanism.as_str())))
        .collect();
    let flagged = artifacts.iter().any(|(artifact, mechanism)| effects.touched(*artifact, mechanism));
    let sure = own.slots.iter().all(|slot| slot.verdict.score().is_some_and(|score| score >= SURE_SCORE));
    let base = match label {
        Label::Kernel if own.agreement.site.is_some() && sure && !flagged => 5,
        Label::Kernel => 4,
        Label::Disputed if count.rejects == 0 => 3,
        Label::Disputed => 2,
        _ if count.supports == 1 => 1,
        _ => return None,
    };
    let surroundings = tables.quality.iter().any(|row| {
        row.check.as_ref() == "Q29" && row.status.as_ref() == "demote" && artifacts.iter().any(|(id, _)| row.artifact_id == Some(*id))
    });
    Some((base - i32::from(surroundings) - i32::from(own.agreement.caller_uncertain)).max(1))
}

pub fn charges(tables: &mut Tables, own: &Judged, charge: &Charge) {
    let row = |taken: &Taken| Charged {
        hypothesis: text(&own.hypothesis.id),
        special: text(&taken.special),
        how: text(&taken.how),
        share: taken.share,
    };
    tables.charges.extend(charge.taken.iter().map(row));
}

pub fn readings(tables: &mut Tables, own: &Judged) {
    for slot in &own.slots {
        if slot.metrics.is_empty() {
            tables.readings.push(blank(own, slot, "empty"));
        }
        let primary = slot.metrics.iter().map(|measured| ("primary", measured));
        for (role, measured) in primary.chain(slot.cross_checks.iter().map(|measured| ("cross-check", measured))) {
            let row = reading(tables, own, slot, role, measured);
            tables.readings.push(row);
        }
        for site in slot.sites.iter().take(5) {
            let row = Reading {
                artifact_id: Some(site.artifact),
                metric: Some(text("site")),
                unit: Some(text("share")),
                site_kind: Some(text(&site.kind)),
                site: Some(site.name.clone()),
                site_key: Some(site.key),
                part: Some(site.part),
                whole: Some(site.whole),
                value: (site.whole > 0).then(|| site.part as f64 / site.whole as f64),
                reason: site.demoted.as_ref().map(text).or_else(|| (!site.certain).then(|| text("the unwinder may have lost the caller"))),
                score: None,
                ..blank(own, slot, "site")
            };
            tables.readings.push(row);
        }
    }
}

/// The row of a slot without numbers.
fn blank(own: &Judged, slot: &SlotResult, role: &str) -> Reading {
    Reading {
        hypothesis: text(&own.hypothesis.id),
        slot: text(slot.letter.to_string()),
        role: text(role),
        alternate: slot.alternate.as_ref().map(|alternate| text(&alternate.name)),
        mechanism: slot.alternate.as_ref().map(|alternate| text(&alternate.mechanism)),
        probe: slot.candidate.as_ref().map(|candidate| text(candidate.probe())),
        tool: slot.candidate.as_ref().map(|candidate| text(candidate.tool())),
        artifact_id: slot.candidate.as_ref().map(|candidate| candidate.artifact),
        metric: None,
        unit: None,
        site_kind: None,
        site: None,
        site_key: None,
        part: None,
        whole: None,
        n: None,
        value: None,
        lo: None,
        hi: None,
        score: slot.verdict.score(),
        verdict: text(slot.verdict.word().name()),
        reason: slot.verdict.reason().map(text),
        scale_up: None,
        scale_down: None,
    }
}

fn reading(tables: &Tables, own: &Judged, slot: &SlotResult, role: &str, measured: &Measured) -> Reading {
    let tool = tables.artifacts.iter().find(|row| row.artifact_id == measured.artifact).map(|row| row.tool.clone());
    let row = measured.row.as_ref();
    let scale = row.map(Row::scale).filter(|(up, down)| up != down);
    Reading {
        tool,
        artifact_id: Some(measured.artifact),
        metric: Some(text(&measured.metric.name)),
        unit: Some(text(measured.metric.unit.name)),
        site_kind: row.map(|row| text(&row.site_kind)),
        site: measured.site.as_ref().map(|site| site.name.clone()),
        site_key: measured.site.as_ref().map(|site| site.key),
        part: row.and_then(|row| row.part),
        whole: row.and_then(|row| row.whole),
        n: row.and_then(|row| row.n),
        value: measured.reading.map(|reading| reading.value()),
        lo: measured.reading.map(|reading| reading.lo()),
        hi: measured.reading.map(|reading| reading.hi()),
        score: measured.verdict.score(),
        verdict: text(measured.verdict.word().name()),
        reason: measured.verdict.reason().map(text),
        scale_up: scale.map(|(up, _)| up),
        scale_down: scale.map(|(_, down)| down),
        ..blank(own, slot, role)
    }
}

pub fn evidence(tables: &mut Tables, own: &Judged) {
    let mut out = Vec::new();
    for slot in &own.slots {
        let numbers = slot.metrics.iter().filter_map(|measured| measured.row.as_ref().map(|row| (measured.metric.name.as_str(), row)));
        for (metric, row) in numbers {
            for (term, value, anchor) in terms(tables, row) {
                out.push(Evidence {
                    hypothesis: text(&own.hypothesis.id),
                    slot: text(slot.letter.to_string()),
                    metric: text(metric),
                    term: text(term),
                    value,
                    anchor: text(anchor),
                });
            }
        }
    }
    tables.evidence.append(&mut out);
}

/// (term, value, anchor) of a row's numbers.
fn terms(tables: &Tables, row: &Row) -> Vec<(String, i64, String)> {
    let mut out = Vec::new();
    let whole_artifact = row.whole_artifact_id.unwrap_or(row.artifact_id);
    for (term, value, artifact, spec) in
        [("part", row.part, row.artifact_id, &row.part_anchor), ("whole", row.whole, whole_artifact, &row.whole_anchor)]
    {
        let Some(value) = value else { continue };
        if let Some(spec) = spec.as_deref() {
            let spec = spec.replace("@site", &site_name(tables, row));
            out.extend(crate::rules::anchor::resolve(tables, artifact, term, value, &spec));
        }
    }
    out
}

/// The function a row is about, encoded for an anchor (`@site`).
fn site_name(tables: &Tables, row: &Row) -> String {
    let function = row.site_id.and_then(|id| usize::try_from(id).ok()).and_then(|id| tables.functions.get(id));
    function.map_or_else(String::new, |function| crate::hotspots::encode(&function.name))
}

pub fn thresholds(tables: &mut Tables, own: &Judged) {
    for slot in &own.hypothesis.slots {
        for alternate in &slot.alternates {
            for metric in &alternate.metrics {
                let used = own.slots.iter().find(|result| result.letter == slot.letter).and_then(|result| result.metric(&metric.name));
                let factor = used.and_then(|measured| measured.row.as_ref()).and_then(|row| row.factor).unwrap_or(1.0);
                let ramp = metric.bounds.at(factor);
                tables.thresholds.push(Threshold {
                    hypothesis: text(&own.hypothesis.id),
                    slot: text(slot.letter.to_string()),
                    alternate: text(&alternate.name),
                    metric: text(&metric.name),
                    unit: text(metric.unit.name),
                    reject: ramp.reject,
                    support: ramp.support,
                    saturate: ramp.saturate,
                    scale: text(metric.bounds.scale.name()),
                    interval: text(metric.interval.name()),
                    min_n: metric.min_n,
                    source_kind: text(&metric.source_kind),
                    source: text(&metric.source),
                    cost: metric.cost.as_ref().map(text),
                    cost_ns: metric.calibrated.as_ref().map(|cost| cost.ns),
                    cost_source: metric.calibrated.as_ref().map(|cost| text(&cost.source)),
                });
            }
        }
    }
}

pub fn statements(tables: &Tables, own: &Judged, out: &mut Judgement) {
    let argv = tables.executions.iter().find_map(|row| row.argv.clone()).unwrap_or_else(|| text("PROGRAM ARGS"));
    for slot in &own.slots {
        if !slot.sentence.is_empty() {
            out.statements.push(Statement {
                hypothesis: own.hypothesis.id.clone(),
                slot: slot.letter.to_string(),
                text: slot.sentence.clone(),
            });
        }
        let open = slot.verdict.word() == Word::NotMeasured && own.not_applicable.is_none();
        let wanted = slot.alternate.as_ref().or_else(|| own.hypothesis.slot(slot.stands_for).and_then(|slot| slot.alternates.first()));
        if let Some(alternate) = wanted.filter(|_| open) {
            out.missing.push(Missing {
                hypothesis: own.hypothesis.id.clone(),
                slot: slot.letter.to_string(),
                command: alternate.record.replace("{argv}", &argv),
            });
        }
    }
}
