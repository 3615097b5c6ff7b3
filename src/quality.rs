//! How far the recordings can be trusted, judged before any hypothesis.
//!
//! One file in queries/quality per check: a header with its levels, and one SELECT that returns artifact_id, part and
//! whole. Part / whole decides the level; a row without them is *not checkable*, which is not the same as ok. Q30 (which
//! executions may meet) is decided in `rules::comparable`, since everything else depends on it.
//!
//! Effects on slots are visible: a slot that loses its word says which check took it.

use std::sync::Arc;

use crate::error::Result;
use crate::rules::engine::{Engine, integers};
use crate::rules::file::Basis;
use crate::rules::parse::{At, Block, Entry, split};
use crate::rules::{Comparability, Standing, dialect};
use crate::tables::{Quality, Tables};

/// One check as its file declares it.
#[derive(Debug, Clone)]
pub struct Check {
    pub file: String,
    pub text: String,
    pub id: String,
    pub name: String,
    pub levels: Vec<Level>,
    /// Sentence with {value}, {percent}, {part} and {whole}.
    pub message: String,
    pub unchecked: String,
    /// What it does where it cannot be checked; none by default.
    pub unchecked_effect: String,
    pub advice: String,
    pub source: String,
    pub sql: String,
}

/// `warn above 0.05 effect none`.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    pub status: String,
    pub above: bool,
    pub bound: f64,
    pub effect: String,
}

/// What an effect is about.
#[derive(Debug, Clone, PartialEq)]
enum Aspect {
    Everything,
    Location,
    Basis(String),
}

#[derive(Debug, Clone, PartialEq)]
enum Action {
    Block,
    Demote,
    NoZero,
    Widen(f64),
}

#[derive(Debug, Clone, PartialEq)]
struct Effect {
    artifact: Option<i32>,
    mechanism: String,
    aspect: Aspect,
    action: Action,
    reason: String,
}

/// What the checks do to slots.
#[derive(Debug, Clone, Default)]
pub struct Effects(Vec<Effect>);

impl Effects {
    /// Reads the effects out of the rows of `quality`.
    pub fn of(rows: &[Quality]) -> Effects {
        let mut out = Vec::new();
        for row in rows {
            for text in row.effect.split(',').filter(|text| *text != "none") {
                let mut parts = text.split(':');
                let action = match parts.next() {
                    Some("block") => Action::Block,
                    Some("demote") => Action::Demote,
                    Some("no_zero") => Action::NoZero,
                    Some("widen") => Action::Widen(row.value.unwrap_or(0.0)),
                    _ => continue,
                };
                let mechanism = parts.next().unwrap_or("").to_owned();
                let aspect = match parts.next() {
                    None => Aspect::Everything,
                    Some("location") => Aspect::Location,
                    Some(basis) => Aspect::Basis(basis.to_owned()),
                };
                let word = match action {
                    Action::Block => "blocked",
                    _ => "demoted",
                };
                let reason = format!("{word} by {}: {}", row.check, row.message);
                out.push(Effect { artifact: row.artifact_id, mechanism, aspect, action, reason });
            }
        }
        Effects(out)
    }

    fn find(&self, artifact: i32, mechanism: &str, wanted: impl Fn(&Effect) -> bool) -> Option<&Effect> {
        self.0.iter().find(|effect| effect.artifact.is_none_or(|own| own == artifact) && effect.mechanism == mechanism && wanted(effect))
    }

    /// The artifact must not fill a slot with this mechanism.
    pub fn block(&self, artifact: i32, mechanism: &str) -> Option<String> {
        self.find(artifact, mechanism, |effect| effect.action == Action::Block).map(|effect| effect.reason.clone())
    }

    /// What is read from it there is inconclusive.
    pub fn demotion(&self, artifact: i32, mechanism: &str, basis: Basis) -> Option<String> {
        let name = basis.name();
        let hit = |effect: &Effect| {
            effect.action == Action::Demote
                && match &effect.aspect {
                    Aspect::Everything => true,
                    Aspect::Location => false,
                    Aspect::Basis(own) => own == name,
                }
        };
        self.find(artifact, mechanism, hit).map(|effect| effect.reason.clone())
    }

    /// The places it names do not count.
    pub fn location(&self, artifact: i32, mechanism: &str) -> Option<String> {
        let hit = |effect: &Effect| effect.action == Action::Demote && matches!(effect.aspect, Aspect::Location | Aspect::Everything);
        self.find(artifact, mechanism, hit).map(|effect| effect.reason.clone())
    }

    /// A zero in it proves nothing.
    pub fn no_zero(&self, artifact: i32, mechanism: &str) -> Option<String> {
        self.find(artifact, mechanism, |effect| effect.action == Action::NoZero).map(|effect| effect.reason.clone())
    }

    /// By what share its intervals widen.
    pub fn widening(&self, artifact: i32, mechanism: &str, basis: Basis) -> f64 {
        let name = basis.name();
        let hit = |effect: &Effect| matches!(effect.action, Action::Widen(_)) && effect.aspect == Aspect::Basis(name.to_owned());
        match self.find(artifact, mechanism, hit).map(|effect| &effect.action) {
            Some(Action::Widen(share)) => *share,
            _ => 0.0,
        }
    }

    /// Whether a check took anything from this artifact; confidence falls where one did.
    pub fn touched(&self, artifact: i32, mechanism: &str) -> bool {
        self.find(artifact, mechanism, |effect| !matches!(effect.action, Action::NoZero)).is_some()
    }
}

/// Reads one file of queries/quality.
pub fn parse(file: &str, text: &str) -> Result<Check> {
    let mut parts = split(file, text)?.into_iter();
    let nothing = At { file, line: 1, key: "id" };
    let Some((mut block, sql)) = parts.next() else { return Err(nothing.error("a header", "nothing")) };
    let levels = block.many("level").iter().map(|entry| level(file, entry)).collect::<Result<Vec<_>>>()?;
    let sql: Vec<&str> = sql.into_iter().map(|(_, line)| line).collect();
    let sql = sql.join("\n").trim().trim_end_matches(';').to_owned();
    dialect::check(&sql).map_err(|why| At { file, line: 1, key: "SELECT" }.error("the dialect of queries/README.md", why))?;
    let check = check(&mut block, file, text, levels, sql)?;
    block.done()?;
    Ok(check)
}

fn check(block: &mut Block<'_>, file: &str, text: &str, levels: Vec<Level>, sql: String) -> Result<Check> {
    Ok(Check {
        file: file.to_owned(),
        text: text.to_owned(),
        id: block.text("id")?,
        name: block.text("name")?,
        levels,
        message: block.text("message")?,
        unchecked: block.text("unchecked")?,
        unchecked_effect: block.optional("unchecked_effect")?.map_or_else(|| "none".to_owned(), |entry| entry.value),
        advice: block.text("advice")?,
        source: block.text("source")?,
        sql,
    })
}

fn level(file: &str, entry: &Entry) -> Result<Level> {
    let at = At { file, line: entry.line, key: "level" };
    let words: Vec<&str> = entry.value.split_whitespace().collect();
    let [status, side, bound, "effect", effect] = words[..] else {
        return Err(at.error("`status above|below number effect ..`", entry.value.as_str()));
    };
    if !["warn", "demote", "block"].contains(&status) || !["above", "below"].contains(&side) {
        return Err(at.error("warn, demote or block; above or below", entry.value.as_str()));
    }
    let bound = bound.parse().map_err(|_| at.error("a number", bound))?;
    Ok(Level { status: status.to_owned(), above: side == "above", bound, effect: effect.to_owned() })
}

/// Runs every check. Rows in order of check and artifact.
pub fn judge(tables: &Tables, engine: &mut Engine, checks: &[Check], comparability: &Comparability) -> Result<Vec<Quality>> {
    let mut out = Vec::new();
    for check in checks {
        let frame = engine.query(&format!("quality/{}", check.file), &check.sql)?;
        let (artifacts, parts, wholes) = (integers(&frame, "artifact_id")?, integers(&frame, "part")?, integers(&frame, "whole")?);
        let mut rows = Vec::new();
        for ((artifact, part), whole) in artifacts.iter().zip(&parts).zip(&wholes) {
            let artifact = artifact.and_then(|id| i32::try_from(id).ok());
            let standing = artifact.map_or(Standing::Same, |id| comparability.standing_of(id));
            if standing < Standing::Refused {
                rows.push(row(check, artifact, *part, *whole));
            }
        }
        if rows.is_empty() {
            rows.push(row(check, None, None, None));
        }
        rows.sort_by_key(|row| row.artifact_id);
        out.extend(rows);
    }
    out.extend(comparisons(tables, comparability));
    out.sort_by(|a, b| (&a.check, a.artifact_id).cmp(&(&b.check, b.artifact_id)));
    Ok(out)
}

fn row(check: &Check, artifact: Option<i32>, part: Option<i64>, whole: Option<i64>) -> Quality {
    let value = match (part, whole) {
        (Some(part), Some(whole)) if whole > 0 => Some(part as f64 / whole as f64),
        _ => None,
    };
    let level =
        value.and_then(|value| check.levels.iter().rev().find(|level| if level.above { value > level.bound } else { value < level.bound }));
    let (status, effect) = match (value, level) {
        // Nothing to check at all has no effect either.
        (None, _) if artifact.is_none() => ("not checkable", "none"),
        (None, _) => ("not checkable", check.unchecked_effect.as_str()),
        (_, None) => ("ok", "none"),
        (_, Some(level)) => (level.status.as_str(), level.effect.as_str()),
    };
    let message = match value {
        None => check.unchecked.clone(),
        Some(value) => check
            .message
            .replace("{value}", &crate::rules::slot::short(value))
            .replace("{percent}", &format!("{:.1} %", value * 100.0))
            .replace("{part}", &part.unwrap_or(0).to_string())
            .replace("{whole}", &whole.unwrap_or(0).to_string()),
    };
    Quality {
        check: Arc::from(check.id.as_str()),
        name: Arc::from(check.name.as_str()),
        artifact_id: artifact,
        status: Arc::from(status),
        effect: Arc::from(effect),
        value,
        message: Arc::from(message),
        advice: Arc::from(if status == "ok" { "" } else { check.advice.as_str() }),
    }
}

/// Q30: executions that must not meet.
fn comparisons(tables: &Tables, comparability: &Comparability) -> Vec<Quality> {
    let mut out = Vec::new();
    let mut unknown = 0;
    let reference = comparability.signature.as_deref().unwrap_or("unknown");
    for artifact in &tables.artifacts {
        let standing = comparability.standing_of(artifact.artifact_id);
        if artifact.kind.as_ref() == "manifest" {
            continue;
        }
        let (status, message) = match standing {
            Standing::Same | Standing::Unusable => continue,
            Standing::Unknown => {
                unknown += 1;
                continue;
            }
            Standing::Refused => ("block", format!("it recorded another command than `{reference}`; it fills no slot")),
            Standing::Variant => ("warn", "it recorded another variant of the command; it fills comparisons only".to_owned()),
            Standing::Threads => {
                ("warn", "it recorded the command with another number of threads; it fills scaling series only".to_owned())
            }
        };
        out.push(Quality {
            check: Arc::from("Q30"),
            name: Arc::from("cross-execution comparison"),
            artifact_id: Some(artifact.artifact_id),
            status: Arc::from(status),
            effect: Arc::from("none"),
            value: None,
            message: Arc::from(message),
            advice: Arc::from("record every artifact with the same command and write a manifest.json"),
        });
    }
    if unknown > 0 {
        out.push(Quality {
            check: Arc::from("Q30"),
            name: Arc::from("cross-execution comparison"),
            artifact_id: None,
            status: Arc::from("not checkable"),
            effect: Arc::from("none"),
            value: None,
            message: Arc::from(format!("nothing says which command {unknown} of the artifacts recorded; taken for `{reference}`")),
            advice: Arc::from("write a manifest.json beside the recordings"),
        });
    }
    if out.is_empty() {
        out.push(Quality {
            check: Arc::from("Q30"),
            name: Arc::from("cross-execution comparison"),
            artifact_id: None,
            status: Arc::from("ok"),
            effect: Arc::from("none"),
            value: None,
            message: Arc::from(format!("every artifact recorded `{reference}`")),
            advice: Arc::from(""),
        });
    }
    out
}
