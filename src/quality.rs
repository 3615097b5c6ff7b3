//! How far the recordings can be trusted, judged before any hypothesis.
//!
//! One file in queries/quality per check: a header, and per measure its levels and one SELECT that returns artifact_id,
//! part and whole. Part / whole decides the level; a row without them is *not checkable*, which is not the same as ok.
//! What SQL cannot express (rhythms, phases, equal figures) is in the table recording_facts, so that every check is data.

mod effects;
mod file;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

pub use effects::Effects;
pub use file::{Check, parse};

use crate::error::{Error, Result};
use crate::quality::file::Measure;
use crate::rules::engine::{Engine, integers, texts};
use crate::rules::{Comparability, Standing};
use crate::tables::{Quality, Tables};

/// Ids that the user silenced with `--allow`.
#[derive(Debug, Clone, Default)]
pub struct Allowed(BTreeSet<String>);

impl Allowed {
    /// Fails where no check has one of the ids.
    pub fn new(ids: &[String], checks: &[Check]) -> Result<Allowed> {
        match ids.iter().find(|id| !checks.iter().any(|check| check.id == **id)) {
            None => Ok(Allowed(ids.iter().cloned().collect())),
            Some(unknown) => {
                let known: Vec<&str> = checks.iter().map(|check| check.id.as_str()).collect();
                Err(Error::Request(format!("--allow {unknown}: there is no such quality check; there are {}", known.join(", "))))
            }
        }
    }

    pub fn has(&self, id: &str) -> bool {
        self.0.contains(id)
    }
}

/// One row of a measure's SELECT.
#[derive(Debug, Clone, Default)]
struct Found {
    artifact: Option<i32>,
    part: Option<i64>,
    whole: Option<i64>,
    subject: Option<String>,
    other: Option<i32>,
}

/// Runs every check. Rows in order of check, measure and artifact.
pub fn judge(tables: &Tables, engine: &Engine, checks: &[Check], comparability: &Comparability, allowed: &Allowed) -> Result<Vec<Quality>> {
    let measures: Vec<(&Check, &Measure)> =
        checks.iter().flat_map(|check| check.measures.iter().map(move |measure| (check, measure))).collect();
    for (check, measure) in &measures {
        engine.prepare(&file_of(check), &measure.sql)?;
    }
    let rows = |(check, measure): &(&Check, &Measure)| {
        let mut found = ask(engine, check, measure)?;
        found.retain(|row| {
            let standing = row.artifact.map_or(Standing::Same, |id| comparability.standing_of(id));
            standing < Standing::Refused || check.of_refused && standing == Standing::Refused
        });
        if found.is_empty() {
            found.push(Found::default());
        }
        found.sort_by(|a, b| (a.artifact, &a.subject, a.other).cmp(&(b.artifact, &b.subject, b.other)));
        Ok(found.iter().map(|found| row(tables, check, measure, found, allowed.has(&check.id))).collect())
    };
    // The first error in order, not in time.
    let rows: Vec<Result<Vec<Quality>>> = measures.par_iter().map(rows).collect();
    Ok(rows.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

fn file_of(check: &Check) -> String {
    format!("quality/{}", check.file)
}

fn ask(engine: &Engine, check: &Check, measure: &Measure) -> Result<Vec<Found>> {
    let frame = engine.query(&file_of(check), &measure.sql)?;
    let has = |name: &str| frame.get_column_names().iter().any(|own| own.as_str() == name);
    let (artifacts, parts, wholes) = (integers(&frame, "artifact_id")?, integers(&frame, "part")?, integers(&frame, "whole")?);
    let subjects = if has("subject") { texts(&frame, "subject")? } else { vec![None; frame.height()] };
    let others = if has("other_artifact_id") { integers(&frame, "other_artifact_id")? } else { vec![None; frame.height()] };
    let narrow = |id: &Option<i64>| id.and_then(|id| i32::try_from(id).ok());
    let rows = artifacts.iter().zip(parts).zip(wholes).zip(subjects).zip(&others);
    Ok(rows
        .map(|((((artifact, part), whole), subject), other)| Found {
            artifact: narrow(artifact),
            part,
            whole,
            subject,
            other: narrow(other),
        })
        .collect())
}

fn row(tables: &Tables, check: &Check, measure: &Measure, found: &Found, silenced: bool) -> Quality {
    let value = match (found.part, found.whole) {
        (Some(part), Some(whole)) if whole > 0 => Some(part as f64 / whole as f64),
        _ => None,
    };
    let level = value.and_then(|value| measure.levels.iter().rev().find(|level| level.holds(value)));
    let (status, effect) = match (value, level) {
        // Nothing to check at all has no effect either.
        (None, _) if found.artifact.is_none() => ("not checkable", "none"),
        (None, _) => ("not checkable", measure.unchecked_effect.as_str()),
        (_, None) => ("ok", "none"),
        (_, Some(level)) => (level.status.as_str(), level.effect.as_str()),
    };
    let (message, short) = match value {
        None => (measure.unchecked.clone(), measure.unchecked.clone()),
        Some(value) => {
            let text = measure.fine.as_ref().filter(|_| status == "ok").unwrap_or(&measure.message);
            (fill(tables, text, value, found), fill(tables, &measure.short, value, found))
        }
    };
    let is_bad = ["warn", "demote", "block"].contains(&status);
    let (status, effect, message) = match silenced {
        true if is_bad => ("silenced", "none", format!("{message} ({status} without --allow {})", check.id)),
        true => (status, "none", message),
        false => (status, effect, message),
    };
    Quality {
        check: Arc::from(check.id.as_str()),
        name: Arc::from(check.name.as_str()),
        artifact_id: found.artifact,
        status: Arc::from(status),
        effect: Arc::from(effect),
        value,
        message: Arc::from(message),
        advice: Arc::from(if status == "ok" { "" } else { check.advice.as_str() }),
        measure: measure.name.as_deref().map(Arc::from),
        part: found.part,
        whole: found.whole,
        limits: Some(Arc::from(measure.limits())),
        source: Some(Arc::from(measure.source.as_str())),
        short: Some(Arc::from(short)),
        subject: found.subject.as_deref().map(Arc::from),
        other_artifact_id: found.other,
    }
}

/// Puts the numbers into a sentence. The names come last: they may hold anything.
fn fill(tables: &Tables, text: &str, value: f64, found: &Found) -> String {
    let (part, whole) = (found.part.unwrap_or(0), found.whole.unwrap_or(0));
    let seconds = |ns: i64| format!("{:.3}", ns as f64 / 1e9);
    let other = found.other.and_then(|id| tables.artifacts.get(usize::try_from(id).ok()?)).map_or("", |row| &*row.path);
    text.replace("{value}", &crate::rules::slot::short(value))
        .replace("{percent}", &format!("{:.1} %", value * 100.0))
        .replace("{part}", &part.to_string())
        .replace("{whole}", &whole.to_string())
        .replace("{part_s}", &seconds(part))
        .replace("{whole_s}", &seconds(whole))
        .replace("{other}", other)
        .replace("{subject}", found.subject.as_deref().unwrap_or(""))
}
