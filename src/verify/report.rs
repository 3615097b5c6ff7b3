//! What was checked, what was not, what failed and where; told in a few lines, or as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

/// Failures listed per part; the number of all is printed.
const LISTED_MAX: usize = 40;

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// File and line, or the row, that says it.
    pub place: String,
    pub what: String,
}

/// What an anchor's number was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// The artifact itself, read by a reader that shares nothing with the importers.
    File,
    /// The run's tables; their rows were compared with the artifact's own where that is possible.
    Tables,
}

impl Basis {
    pub fn name(self) -> &'static str {
        match self {
            Basis::File => "file",
            Basis::Tables => "tables",
        }
    }
}

/// A number that was confirmed.
#[derive(Debug, Clone)]
pub struct Checked {
    pub place: String,
    pub value: i64,
    pub anchor: String,
    pub basis: Basis,
}

/// One of the three parts: artifacts, re-read, replay.
#[derive(Debug, Default)]
pub struct Part {
    pub name: &'static str,
    /// What was checked, in words.
    pub told: Vec<String>,
    pub counts: BTreeMap<String, usize>,
    pub failures: Vec<Failure>,
    /// Reason -> how often, and the first place. Each counts as a failure: what cannot be checked is not confirmed.
    pub unchecked: BTreeMap<String, (usize, String)>,
}

impl Part {
    pub fn new(name: &'static str) -> Part {
        Part { name, ..Part::default() }
    }

    pub fn fail(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.failures.push(Failure { place: place.into(), what: what.into() });
    }

    pub fn not_checked(&mut self, reason: impl Into<String>, place: &str) {
        self.unchecked.entry(reason.into()).or_insert_with(|| (0, place.to_owned())).0 += 1;
    }

    pub fn count(&mut self, what: &str, n: usize) {
        *self.counts.entry(what.to_owned()).or_default() += n;
    }

    pub fn is_confirmed(&self) -> bool {
        self.failures.is_empty() && self.unchecked.is_empty()
    }

    fn text(&self, out: &mut String) {
        let word = if self.is_confirmed() { "ok  " } else { "FAIL" };
        let mut told = self.told.iter();
        let _ = writeln!(out, "{word}  {:<10} {}", self.name, told.next().map_or("", String::as_str));
        for line in told {
            let _ = writeln!(out, "                 {line}");
        }
        for failure in self.failures.iter().take(LISTED_MAX) {
            let _ = writeln!(out, "      {}: {}", failure.place, failure.what);
        }
        if self.failures.len() > LISTED_MAX {
            let _ = writeln!(out, "      and {} more", self.failures.len() - LISTED_MAX);
        }
        for (reason, (n, first)) in &self.unchecked {
            let _ = writeln!(out, "      not checked: {n} ({reason}); first: {first}");
        }
    }

    fn json(&self) -> Value {
        let failures: Vec<Value> = self.failures.iter().map(|failure| json!({"place": failure.place, "what": failure.what})).collect();
        let unchecked: Vec<Value> =
            self.unchecked.iter().map(|(reason, (n, first))| json!({"reason": reason, "n": n, "first": first})).collect();
        json!({"part": self.name, "confirmed": self.is_confirmed(), "counts": self.counts, "failures": failures, "not_checked": unchecked})
    }
}

/// The whole.
#[derive(Debug, Default)]
pub struct Report {
    pub parts: Vec<Part>,
    /// Every number of the re-read that was confirmed.
    pub anchors: Vec<Checked>,
    /// What explains differences beforehand, e.g. another version of Tripod.
    pub notes: Vec<String>,
}

impl Report {
    pub fn is_confirmed(&self) -> bool {
        self.parts.iter().all(Part::is_confirmed)
    }

    pub fn text(&self) -> String {
        let mut out = String::new();
        for note in &self.notes {
            let _ = writeln!(out, "note: {note}");
        }
        self.parts.iter().for_each(|part| part.text(&mut out));
        let failed: usize = self.parts.iter().map(|part| part.failures.len()).sum();
        let unchecked: usize = self.parts.iter().flat_map(|part| part.unchecked.values()).map(|(n, _)| n).sum();
        out.push_str(&match (failed, unchecked) {
            (0, 0) => "confirmed\n".to_owned(),
            (failed, 0) => format!("NOT confirmed: {failed} differ\n"),
            (failed, unchecked) => format!("NOT confirmed: {failed} differ, {unchecked} could not be checked\n"),
        });
        out
    }

    /// One line per confirmed number: its basis, who says it, where it stands.
    pub fn list(&self) -> String {
        let mut out = String::new();
        for row in &self.anchors {
            let _ = writeln!(out, "{:<6}  {}: {} at {}", row.basis.name(), row.place, row.value, row.anchor);
        }
        out
    }

    pub fn json(&self) -> Value {
        let parts: Vec<Value> = self.parts.iter().map(Part::json).collect();
        let anchor = |row: &Checked| json!({"place": row.place, "value": row.value, "anchor": row.anchor, "basis": row.basis.name()});
        let anchors: Vec<Value> = self.anchors.iter().map(anchor).collect();
        json!({"confirmed": self.is_confirmed(), "notes": self.notes, "parts": parts, "anchors": anchors})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_checked_is_not_confirmed() {
        let mut part = Part::new("re-read");
        assert!(part.is_confirmed());
        part.not_checked("no reader for this", "evidence R25 A");
        part.not_checked("no reader for this", "evidence R25 B");
        let report = Report { parts: vec![part], ..Report::default() };
        assert!(!report.is_confirmed());
        let text = report.text();
        assert!(text.contains("not checked: 2 (no reader for this); first: evidence R25 A"), "{text}");
        assert!(text.ends_with("NOT confirmed: 0 differ, 2 could not be checked\n"), "{text}");
    }

    #[test]
    fn the_list_is_bounded_and_the_count_is_not() {
        let mut part = Part::new("replay");
        (0..50).for_each(|n| part.fail(format!("file:{n}"), "differs"));
        let text = Report { parts: vec![part], ..Report::default() }.text();
        assert!(text.contains("and 10 more") && text.contains("50 differ"), "{text}");
    }
}
