//! One angle in plain language: which tool, what it read, against which threshold, and what is known to be wrong with it.

use super::page::Page;
use crate::cli::change;
use crate::emit::biases::Bias;
use crate::emit::escape::{plain, terminal};
use crate::emit::view::{Entry, Metric, Slot, View};
use crate::emit::{anchor, number, threshold_text, words};
use crate::tables::{Evidence, Reading};

/// Places and pieces of evidence that are listed one by one.
const LISTED_MAX: usize = 5;

pub fn angle(page: &mut Page, view: &View<'_>, entry: &Entry<'_>, slot: &Slot<'_>, biases: &[Bias]) {
    page.blank();
    page.line(0, &format!("Angle {}: {}", plain(slot.name), plain(&slot.verdict_with_reason())));
    if slot.metrics.is_empty() {
        page.line(2, "Nothing recorded here fills this angle.");
    }
    let mut source = None;
    for metric in &slot.metrics {
        // Metrics of one file follow each other; who recorded it is said once.
        if source != Some(metric.reading.artifact_id) {
            recorded_by(page, view, metric.reading);
            source = Some(metric.reading.artifact_id);
        }
        one_metric(page, metric);
    }
    for row in &slot.cross_checks {
        let name = plain(row.metric.as_deref().unwrap_or("value"));
        let path = plain(view.path(row.artifact_id));
        page.line(2, &format!("Cross-check, which cannot add support: {path}: {name} {}, {}", shown(row), plain(&row.verdict)));
    }
    for row in slot.sites.iter().take(LISTED_MAX) {
        page.line(2, &format!("Place: {} ({})", terminal(row.site.as_deref().unwrap_or("?"), 200), shown(row)));
    }
    known_biases(page, view, slot, biases);
    checks(page, view, slot);
    for missing in entry.missing.iter().filter(|missing| missing.slot == slot.name) {
        page.line(2, "To measure it:");
        page.whole(4, &plain(&missing.command));
    }
}

fn shown(row: &Reading) -> String {
    row.value.map_or_else(|| number::ABSENT.to_owned(), |value| number::value(value, row.unit.as_deref().unwrap_or("")))
}

/// Tool, file, and what these codes mean.
fn recorded_by(page: &mut Page, view: &View<'_>, row: &Reading) {
    let mechanism = row.mechanism.as_deref().unwrap_or("?");
    page.line(
        2,
        &format!(
            "Measured by {} in {}: {} (mechanism {}, {})",
            plain(row.tool.as_deref().unwrap_or("?")),
            plain(view.path(row.artifact_id)),
            plain(row.alternate.as_deref().unwrap_or("?")),
            plain(mechanism),
            words::mechanism(mechanism)
        ),
    );
    let probe = row.probe.as_deref().unwrap_or("?");
    page.line(4, &format!("How it is taken: {} (probe {})", plain(&words::probe(probe)), plain(probe)));
}

fn one_metric(page: &mut Page, metric: &Metric<'_>) {
    let row = metric.reading;
    let unit = row.unit.as_deref().unwrap_or("");
    let value = row.value.map_or_else(|| "was not read".to_owned(), |value| format!("= {}", number::value(value, unit)));
    let n = row.n.map_or_else(String::new, |n| format!(", from {} observations", number::count(n)));
    let kind = metric.threshold.map_or("", |threshold| words::interval(&threshold.interval));
    let interval = match (row.lo, row.hi) {
        (Some(lo), Some(hi)) if lo == hi => " (exact)".to_owned(),
        (Some(_), Some(_)) => format!(", interval {}", number::interval(row.lo, row.hi, unit)),
        _ => String::new(),
    };
    page.line(2, &format!("{} {value}{interval}{n}", plain(row.metric.as_deref().unwrap_or("?"))));
    if row.lo.is_some() && !kind.is_empty() {
        page.line(4, &format!("How sure: {kind}"));
    }
    if let Some(threshold) = metric.threshold {
        page.line(4, &format!("Threshold: {}", plain(&threshold_text(threshold))));
    }
    if let Some(score) = row.score {
        page.line(
            4,
            &format!("Score {score:.2} (0 at the reject bound, 0.5 at the support threshold, 1 at saturation): {}", plain(&row.verdict)),
        );
    }
    if let Some(change) = change::sentence(metric) {
        let away = change::distance(metric).map_or_else(String::new, |away| format!("; {away}"));
        page.line(4, &format!("What would change it: {change}{away}"));
    }
    for row in metric.evidence.iter().take(2 * LISTED_MAX) {
        evidence(page, row);
    }
    if metric.evidence.len() > 2 * LISTED_MAX {
        page.line(4, &format!("and {} more pieces of evidence, in the table evidence", metric.evidence.len() - 2 * LISTED_MAX));
    }
}

pub fn evidence(page: &mut Page, row: &Evidence) {
    let value = number::count(row.value);
    page.whole(4, &format!("Evidence: {} = {value} at {}", plain(&row.term), plain(&anchor::shown(&row.anchor))));
}

/// Each bias once, for the recordings that filled the angle.
fn known_biases(page: &mut Page, view: &View<'_>, slot: &Slot<'_>, biases: &[Bias]) {
    let concerns = |bias: &&Bias| slot.metrics.iter().any(|metric| bias.applies(metric.reading, view.artifact(metric.reading.artifact_id)));
    for bias in biases.iter().filter(concerns) {
        page.line(2, &format!("Known bias of the tool: {} Seen: {}. {}", bias.bias, bias.seen, bias.answer));
    }
}

/// Checks of the recordings' quality that found something in those that filled the angle.
fn checks(page: &mut Page, view: &View<'_>, slot: &Slot<'_>) {
    let used: Vec<i32> = slot.metrics.iter().filter_map(|metric| metric.reading.artifact_id).collect();
    let mechanism = slot.metrics.first().and_then(|metric| metric.reading.mechanism.as_deref()).unwrap_or("");
    let touches = |effect: &str| effect.split(',').any(|one| one.split(':').nth(1) == Some(mechanism));
    let mut seen: Vec<(&str, Option<i32>)> = Vec::new();
    for row in &view.run.tables.quality {
        let concerns = row.artifact_id.is_none_or(|id| used.contains(&id)) && !used.is_empty();
        let found = matches!(&*row.status, "warn" | "demote" | "block");
        // What another mechanism loses is of no concern here; a warning takes nothing from anybody.
        if !(concerns && found && (touches(&row.effect) || &*row.status == "warn")) || seen.contains(&(&*row.check, row.artifact_id)) {
            continue;
        }
        seen.push((&*row.check, row.artifact_id));
        let what = match &*row.status {
            "warn" => "takes nothing away".to_owned(),
            _ => format!("takes away: {}", effect_words(&row.effect, mechanism)),
        };
        page.line(2, &format!("Quality check {} ({}): {}; {what}", plain(&row.check), plain(&row.name), plain(&row.message)));
    }
}

/// `demote:M1:location` -> `the places it names`.
fn effect_words(effect: &str, mechanism: &str) -> String {
    let one = |effect: &str| {
        let parts: Vec<&str> = effect.split(':').collect();
        match parts[..] {
            ["block", ..] => "the whole recording as this angle".to_owned(),
            ["no_zero", ..] => "that a count of none means none".to_owned(),
            ["widen", ..] => "some certainty: intervals are wider".to_owned(),
            [_, _, "location"] => "the places it names".to_owned(),
            [_, _, basis] => format!("numbers that rest on {basis}"),
            _ => "its word".to_owned(),
        }
    };
    let own: Vec<String> = effect.split(',').filter(|own| own.split(':').nth(1) == Some(mechanism)).map(one).collect();
    own.join(", ")
}
