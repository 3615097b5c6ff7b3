//! Files of queries/quality: TEXT -> [`Check`]. A header, then one measure or several.
//!
//! ```text
//! -- id: Q28               keys of the check: id, name, advice
//! -- measure: spread       then per measure its keys and its SELECT; a check with one measure has them in its header
//! -- level: warn above 0.05 effect none
//! SELECT artifact_id, part, whole (and subject, other_artifact_id)
//! ```

use super::effects;
use crate::error::Result;
use crate::rules::dialect;
use crate::rules::parse::{At, Block, Entry, split};

/// One check as its file declares it.
#[derive(Debug, Clone)]
pub struct Check {
    pub file: String,
    pub text: String,
    pub id: String,
    pub name: String,
    pub advice: String,
    /// Rows of refused artifacts count too (Q30).
    pub of_refused: bool,
    pub measures: Vec<Measure>,
}

/// One number that decides, and what it decides.
#[derive(Debug, Clone)]
pub struct Measure {
    pub name: Option<String>,
    pub levels: Vec<Level>,
    /// Sentence with {value}, {percent}, {part}, {whole}, {part_s}, {whole_s}, {subject} and {other}.
    pub message: String,
    /// What is said instead where all is well.
    pub fine: Option<String>,
    /// The message in a few words, for the line that sums up.
    pub short: String,
    pub unchecked: String,
    /// What it does where it cannot be checked; none by default.
    pub unchecked_effect: String,
    /// Where the levels come from: `kind: reference`.
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

impl Level {
    pub fn holds(&self, value: f64) -> bool {
        if self.above { value > self.bound } else { value < self.bound }
    }

    fn describe(&self) -> String {
        format!("{} {} {}", self.status, if self.above { "above" } else { "below" }, self.bound)
    }
}

impl Measure {
    /// `warn above 0.05, demote above 0.3`.
    pub fn limits(&self) -> String {
        self.levels.iter().map(Level::describe).collect::<Vec<_>>().join(", ")
    }
}

/// Reads one file of queries/quality.
pub fn parse(file: &str, text: &str) -> Result<Check> {
    let mut parts = split(file, text)?.into_iter();
    let Some((mut block, sql)) = parts.next() else {
        return Err(At { file, line: 1, key: "id" }.error("a header", "nothing"));
    };
    let mut check = Check {
        file: file.to_owned(),
        text: text.to_owned(),
        id: block.text("id")?,
        name: block.text("name")?,
        advice: block.text("advice")?,
        of_refused: block.optional("of_refused")?.is_some(),
        measures: Vec::new(),
    };
    if !sql.is_empty() {
        check.measures.push(measure(&mut block, None, &sql)?);
    }
    block.done()?;
    for (mut block, sql) in parts {
        let name = block.text("measure")?;
        check.measures.push(measure(&mut block, Some(name), &sql)?);
        block.done()?;
    }
    let single = check.measures.len() == 1;
    if check.measures.is_empty() || !single && check.measures.iter().any(|own| own.name.is_none()) {
        return Err(At { file, line: 1, key: "measure" }.error("one SELECT, or a name for each of several", "something else"));
    }
    Ok(check)
}

fn measure(block: &mut Block<'_>, name: Option<String>, sql: &[(usize, &str)]) -> Result<Measure> {
    let file = block.file;
    let line = sql.first().map_or(1, |(line, _)| *line);
    let levels = block.many("level").iter().map(|entry| level(file, entry)).collect::<Result<Vec<_>>>()?;
    let sql: Vec<&str> = sql.iter().map(|(_, line)| *line).collect();
    let sql = sql.join("\n").trim().trim_end_matches(';').to_owned();
    dialect::check(&sql).map_err(|why| At { file, line, key: "SELECT" }.error("the dialect of queries/README.md", why))?;
    let source = block.required("source")?;
    let kind = source.value.split_once(": ").map(|(kind, _)| kind);
    if !matches!(kind, Some("tool" | "paper" | "doc" | "measured" | "house")) {
        let at = At { file, line: source.line, key: "source" };
        return Err(at.error("a source of kind tool, paper, doc, measured or house", source.value));
    }
    let unchecked_effect = match block.optional("unchecked_effect")? {
        None => "none".to_owned(),
        Some(entry) => known_effects(file, &entry, &entry.value)?,
    };
    Ok(Measure {
        name,
        levels,
        message: block.text("message")?,
        fine: block.optional("fine")?.map(|entry| entry.value),
        short: block.text("short")?,
        unchecked: block.text("unchecked")?,
        unchecked_effect,
        source: source.value,
        sql,
    })
}

fn level(file: &str, entry: &Entry) -> Result<Level> {
    let at = At { file, line: entry.line, key: "level" };
    let words: Vec<&str> = entry.value.split_whitespace().collect();
    let [status, side, bound, "effect", effect] = words[..] else {
        return Err(at.error("`status above|below number effect ..`", entry.value.as_str()));
    };
    if !["ok", "warn", "demote", "block"].contains(&status) || !["above", "below"].contains(&side) {
        return Err(at.error("ok, warn, demote or block; above or below", entry.value.as_str()));
    }
    let bound = bound.parse::<f64>().ok().filter(|bound| bound.is_finite()).ok_or_else(|| at.error("a number", bound))?;
    Ok(Level { status: status.to_owned(), above: side == "above", bound, effect: known_effects(file, entry, effect)? })
}

fn known_effects(file: &str, entry: &Entry, text: &str) -> Result<String> {
    match text.split(',').find(|own| !effects::is_known(own)) {
        None => Ok(text.to_owned()),
        Some(unknown) => Err(At { file, line: entry.line, key: &entry.key }.error("effects as in src/quality/effects.rs", unknown)),
    }
}
