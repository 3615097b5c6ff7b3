//! The run as the emitters walk it: hypotheses in the order of the ledger, each with its slots, readings, thresholds,
//! evidence and what to record. Nothing is judged here.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::run::{HypothesisDoc, Missing, Run};
use super::unresolved;
use crate::derive::Calls;
use crate::tables::{Artifact, Evidence, Hypothesis, Reading, Tables, Threshold};

/// The three words of the ledger.
pub const SUPPORTS: &str = "supports";
pub const REJECTS: &str = "rejects";
pub const NOT_MEASURED: &str = "not measured";

/// A run with its rows found by key.
pub struct View<'a> {
    pub run: &'a Run,
    artifacts: BTreeMap<i32, &'a Artifact>,
    readings: BTreeMap<&'a str, Vec<&'a Reading>>,
    evidence: BTreeMap<(&'a str, &'a str), Vec<&'a Evidence>>,
    thresholds: BTreeMap<&'a str, Vec<&'a Threshold>>,
    docs: BTreeMap<&'a str, &'a HypothesisDoc>,
    unresolved: OnceLock<Vec<unresolved::Row<'a>>>,
    calls: OnceLock<Calls>,
}

/// One hypothesis.
pub struct Entry<'a> {
    pub row: &'a Hypothesis,
    pub doc: Option<&'a HypothesisDoc>,
    /// Three of them, whatever was measured.
    pub slots: Vec<Slot<'a>>,
    pub missing: Vec<&'a Missing>,
}

/// One angle.
pub struct Slot<'a> {
    pub name: &'a str,
    /// `supports`, `rejects` or `not measured`: the least over the metrics.
    pub verdict: &'static str,
    pub reason: Option<&'a str>,
    /// The least score, where the angle was measured.
    pub score: Option<f64>,
    /// What was judged, one per metric. Empty where nothing filled the slot.
    pub metrics: Vec<Metric<'a>>,
    /// Other artifacts that could have filled the slot.
    pub cross_checks: Vec<&'a Reading>,
    /// Where the primary says it is.
    pub sites: Vec<&'a Reading>,
}

/// One judged number.
pub struct Metric<'a> {
    pub reading: &'a Reading,
    pub threshold: Option<&'a Threshold>,
    pub evidence: Vec<&'a Evidence>,
}

/// A command and what it would settle.
pub struct Recording<'a> {
    pub command: &'a str,
    pub slots: Vec<&'a Missing>,
}

impl<'a> View<'a> {
    /// What has no name, made when it is first asked for.
    pub fn unresolved(&self) -> &[unresolved::Row<'a>] {
        self.unresolved.get_or_init(|| unresolved::rows(&self.run.tables, self.calls()))
    }

    /// The stacks by functions.
    pub fn calls(&self) -> &Calls {
        self.run.calls.as_ref().unwrap_or_else(|| self.calls.get_or_init(|| Calls::read(&self.run.tables)))
    }

    pub fn new(run: &'a Run) -> View<'a> {
        let Tables { artifacts, readings, evidence, thresholds, .. } = &run.tables;
        let mut view = View {
            run,
            artifacts: artifacts.iter().map(|row| (row.artifact_id, row)).collect(),
            readings: BTreeMap::new(),
            evidence: BTreeMap::new(),
            thresholds: BTreeMap::new(),
            docs: run.catalogue.iter().map(|doc| (doc.id.as_str(), doc)).collect(),
            unresolved: OnceLock::new(),
            calls: OnceLock::new(),
        };
        for row in readings {
            view.readings.entry(&row.hypothesis).or_default().push(row);
        }
        for row in evidence {
            view.evidence.entry((&row.hypothesis, &row.slot)).or_default().push(row);
        }
        for row in thresholds {
            view.thresholds.entry(&row.hypothesis).or_default().push(row);
        }
        view
    }

    pub fn artifact(&self, id: Option<i32>) -> Option<&'a Artifact> {
        self.artifacts.get(&id?).copied()
    }

    /// The path of an artifact, or what stands for the run as a whole.
    pub fn path(&self, id: Option<i32>) -> &'a str {
        match id {
            None => "(the run)",
            Some(_) => self.artifact(id).map_or("(unknown artifact)", |row| &row.path),
        }
    }

    /// All hypotheses: KERNEL, DISPUTED, open, then the rest; within a label the largest opportunity first, then by id.
    pub fn ledger(&self) -> Vec<Entry<'a>> {
        let mut rows: Vec<&Hypothesis> = self.run.tables.hypotheses.iter().collect();
        rows.sort_by(|a, b| {
            let opportunity = |row: &Hypothesis| row.opportunity.filter(|value| value.is_finite()).unwrap_or(-1.0);
            rank(&a.label)
                .cmp(&rank(&b.label))
                .then_with(|| is_preview(a).cmp(&is_preview(b)))
                .then_with(|| opportunity(b).total_cmp(&opportunity(a)))
                .then_with(|| a.hypothesis.cmp(&b.hypothesis))
        });
        rows.into_iter().map(|row| self.entry(row)).collect()
    }

    /// What to record for the hypotheses that are neither settled nor lost (nor a preview): DISPUTED, open, not evaluated. Each command
    /// once; those for the best label first, then those that settle the most slots.
    pub fn record_next(&self) -> Vec<Recording<'a>> {
        let mut found: Vec<(usize, Recording<'a>)> = Vec::new();
        let is_open = |row: &Hypothesis| row.supports < 3 && is_undecided(&row.label) && !is_preview(row);
        for entry in self.ledger().into_iter().filter(|entry| is_open(entry.row)) {
            for missing in entry.missing {
                match found.iter_mut().find(|(_, recording)| recording.command == missing.command) {
                    Some((_, recording)) => recording.slots.push(missing),
                    None => found.push((rank(&entry.row.label), Recording { command: &missing.command, slots: vec![missing] })),
                }
            }
        }
        found.sort_by_key(|(rank, recording)| (*rank, std::cmp::Reverse(recording.slots.len())));
        found.into_iter().map(|(_, recording)| recording).collect()
    }

    fn entry(&self, row: &'a Hypothesis) -> Entry<'a> {
        let id: &str = &row.hypothesis;
        let readings = self.readings.get(id).map_or(&[][..], Vec::as_slice);
        let has = |name: &str| readings.iter().any(|reading| &*reading.slot == name);
        // The fallback stands where the angle that it replaces would.
        let mut fallback = has("D").then_some("D");
        let names = ["A", "B", "C"].map(|name| if has(name) { name } else { fallback.take().unwrap_or(name) });
        Entry {
            row,
            doc: self.docs.get(id).copied(),
            slots: names.into_iter().map(|name| self.slot(id, name, readings)).collect(),
            missing: self.run.missing.iter().filter(|missing| missing.hypothesis == id).collect(),
        }
    }

    fn slot(&self, id: &'a str, name: &'a str, readings: &[&'a Reading]) -> Slot<'a> {
        let of_role =
            |role: &str| -> Vec<&'a Reading> { readings.iter().filter(|row| &*row.slot == name && &*row.role == role).copied().collect() };
        let primary = of_role("primary");
        let judged: Vec<&Reading> =
            readings.iter().filter(|row| &*row.slot == name && &*row.role != "cross-check" && &*row.role != "site").copied().collect();
        let least = judged.iter().max_by_key(|row| severity(&row.verdict));
        let score = primary.iter().filter_map(|row| row.score).reduce(f64::min);
        Slot {
            name,
            verdict: least.map_or(NOT_MEASURED, |row| word(&row.verdict)),
            reason: least.and_then(|row| row.reason.as_deref()),
            score,
            metrics: primary.into_iter().map(|reading| self.metric(id, reading)).collect(),
            cross_checks: of_role("cross-check"),
            sites: of_role("site"),
        }
    }

    fn metric(&self, id: &'a str, reading: &'a Reading) -> Metric<'a> {
        let thresholds = self.thresholds.get(id).map_or(&[][..], Vec::as_slice);
        let threshold = thresholds.iter().find(|row| {
            row.slot == reading.slot
                && reading.alternate.as_ref().is_none_or(|name| *name == row.alternate)
                && reading.metric.as_ref().is_none_or(|name| *name == row.metric)
        });
        let evidence = self.evidence.get(&(id, &*reading.slot)).map_or(&[][..], Vec::as_slice);
        let of_metric = evidence.iter().filter(|row| reading.metric.as_ref().is_none_or(|name| *name == row.metric));
        Metric { reading, threshold: threshold.copied(), evidence: of_metric.copied().collect() }
    }
}

impl Entry<'_> {
    /// `3/3 -> KERNEL`, or `2/3 -> DISPUTED (preview)`.
    pub fn result(&self) -> String {
        let preview = if is_preview(self.row) { " (preview)" } else { "" };
        format!("{}/3 -> {}{preview}", self.row.supports, self.row.label)
    }

    /// The place with how sure it is: agreed on by two angles, or suspected by one.
    pub fn site(&self) -> Option<(&str, bool)> {
        self.row.site.as_deref().map(|site| (site, true)).or_else(|| self.row.suspected_site.as_deref().map(|site| (site, false)))
    }
}

impl<'a> Slot<'a> {
    /// The anchor that stands for the slot in tables: the numerator of its first metric.
    pub fn anchor(&self) -> Option<&'a str> {
        self.metrics.first().and_then(Metric::anchor)
    }

    /// `supports`, or `not measured (inconclusive: n=27, 63.0-92.0 %)`.
    pub fn verdict_with_reason(&self) -> String {
        match self.reason {
            Some(reason) if !reason.is_empty() => format!("{} ({reason})", self.verdict),
            _ => self.verdict.to_owned(),
        }
    }
}

impl<'a> Metric<'a> {
    /// The anchor of the numerator, else of any other term.
    pub fn anchor(&self) -> Option<&'a str> {
        self.evidence.iter().find(|row| &*row.term == "part").or_else(|| self.evidence.first()).map(|row| &*row.anchor)
    }
}

/// A slot is as good as its worst metric: one that rejects decides, then one that was not measured.
fn severity(verdict: &str) -> u8 {
    match verdict {
        REJECTS => 2,
        SUPPORTS => 0,
        _ => 1,
    }
}

fn word(verdict: &str) -> &'static str {
    match verdict {
        REJECTS => REJECTS,
        SUPPORTS => SUPPORTS,
        _ => NOT_MEASURED,
    }
}

/// Shown, never handed off.
pub fn is_preview(row: &Hypothesis) -> bool {
    row.status.as_deref() == Some("preview")
}

fn is_undecided(label: &str) -> bool {
    ["DISPUTED", "open", "not evaluated"].iter().any(|known| label.starts_with(known))
}

/// Order of the labels in the ledger. A label may carry a suffix, as in `open (1/3)`.
pub fn rank(label: &str) -> usize {
    const ORDER: [&str; 8] = ["KERNEL", "DISPUTED", "open", "discarded", "unlikely", "refuted", "not evaluated", "not applicable"];
    ORDER.iter().position(|known| label.starts_with(known)).unwrap_or(ORDER.len())
}
