//! What a hypothesis file says, as types. `parse.rs` reads it.

use std::collections::BTreeMap;

use super::condition::Condition;
use super::costs::Cost;
use super::parse::At;
use super::score::{Bounds, Interval};

/// One hypothesis: a claim, and the angles from which it is tested.
#[derive(Debug, Clone)]
pub struct Hypothesis {
    /// File name, for messages and for `queries/` in the run directory.
    pub file: String,
    /// The file as written.
    pub text: String,
    pub id: String,
    pub name: String,
    pub claim: String,
    pub category: String,
    /// run, function, syscall, thread or allocation-site: what kind of place the claim is about.
    pub scope: String,
    /// cpu, off-cpu or memory: whose cost it explains.
    pub resource: String,
    pub applies_if: Option<Condition>,
    pub explains: Vec<Explains>,
    /// Hypotheses that are not worth acting on before this one is settled.
    pub vetoes: Vec<String>,
    /// Metrics that say how much of the resource it owns, the first that was read counts.
    pub cost: Vec<CostMetric>,
    /// 1 config or flag, 2 local edit, 3 module, 4 across modules, 5 architecture.
    pub effort: i32,
    pub advice: String,
    pub false_positives: String,
    pub status: Status,
    pub since: String,
    /// A, B, C and perhaps the fallback D.
    pub slots: Vec<Slot>,
}

/// How far a hypothesis can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Stable,
    /// No recording has shown it at work yet: it is shown, charges nothing and is never handed off.
    Preview,
}

impl Status {
    const ALL: [Status; 2] = [Status::Stable, Status::Preview];

    pub fn name(self) -> &'static str {
        match self {
            Status::Stable => "stable",
            Status::Preview => "preview",
        }
    }

    pub fn named(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// An edge from a special explanation to a general one: what the special one owns is not charged to the general one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explains {
    pub hypothesis: String,
    pub how: Overlap,
}

/// How much of the general explanation's cost the special one takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlap {
    /// The special one's own lower bound.
    Share,
    /// All of it: the general one is a mere consequence (page faults of a heap that grows).
    All,
    /// What the general one's place spends under this symbol class.
    Class(String),
}

/// `slot.metric` of the `cost` key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostMetric {
    pub slot: char,
    pub metric: String,
}

/// One angle.
#[derive(Debug, Clone)]
pub struct Slot {
    pub letter: char,
    pub alternates: Vec<Alternate>,
}

/// One way to fill a slot.
#[derive(Debug, Clone)]
pub struct Alternate {
    pub name: String,
    /// Row of the mechanism table, M1 to M10.
    pub mechanism: String,
    /// What fires; `event` where the artifact's events say it.
    pub probe: String,
    pub metrics: Vec<Metric>,
    /// The run fact in the denominator, where it is one: evidence, not an angle.
    pub normalizer: Option<String>,
    /// Artifacts must have rows in all of these to be candidates.
    pub needs: Vec<Need>,
    /// Second measured inputs; their lineage joins.
    pub with: Vec<Need>,
    /// Which executions may fill it besides those like the bare run.
    pub admits: Admits,
    /// What it reads was written by the compiler, not by the tool of the recording that led to the file.
    pub is_of_compiler: bool,
    /// It supports by what is not there: it needs two others that say what is.
    pub is_exclusion: bool,
    /// Sentence with {part}, {whole}, {value}, {n} of the first metric, or {metric.part} of a named one.
    pub evidence: String,
    /// Command that would record what is missing, with {argv}.
    pub record: String,
    pub sql: String,
    /// Line of the file on which the SELECT begins.
    pub line: usize,
}

/// Executions that may fill an alternate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Admits {
    /// Only those with the bare run's variant and threads.
    #[default]
    Same,
    /// Repaired partners too.
    Variant,
    /// A series over threads too.
    Threads,
}

/// `table [where predicate]`: an artifact qualifies if the table has such a row with its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    pub table: String,
    pub predicate: Option<String>,
}

/// What a metric depends on: which distortions of a recording matter to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// How often: a slow tracer does not change it.
    Count,
    /// How long, as the recorded run's own clock saw it.
    Time,
    /// Which part of the samples.
    Share,
    /// Which part of the samples ends in one function: sinks of interrupts-off time matter to it (Q05).
    Leaf,
    /// CPU time as the kernel accounts it.
    CpuTime,
    /// Sizes.
    Memory,
}

impl Basis {
    const ALL: [Basis; 6] = [Basis::Count, Basis::Time, Basis::Share, Basis::Leaf, Basis::CpuTime, Basis::Memory];

    pub fn name(self) -> &'static str {
        match self {
            Basis::Count => "count",
            Basis::Time => "time",
            Basis::Share => "share",
            Basis::Leaf => "leaf",
            Basis::CpuTime => "cputime",
            Basis::Memory => "memory",
        }
    }

    pub fn named(name: &str) -> Option<Basis> {
        Basis::ALL.into_iter().find(|basis| basis.name() == name)
    }
}

/// One judged quantity.
#[derive(Debug, Clone)]
pub struct Metric {
    pub name: String,
    pub unit: Unit,
    pub bounds: Bounds,
    pub interval: Interval,
    pub min_n: i64,
    pub basis: Basis,
    /// The cost of one observation that the bounds were stated for (`queries/costs.json`).
    pub cost: Option<String>,
    /// The cost by which the bounds were brought to the recorded machine.
    pub calibrated: Option<Cost>,
    /// tool, paper, doc, measured or house; user where `--thresholds` changed a bound.
    pub source_kind: String,
    pub source: String,
}

/// How part / whole becomes the printed value.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    pub name: &'static str,
    /// What part / whole is multiplied with (rates have whole in ns, durations part in ns).
    pub factor: f64,
}

/// The units a metric line may name.
const UNITS: &[(&str, f64)] = &[
    ("share", 1.0),
    ("ratio", 1.0),
    ("count", 1.0),
    ("bytes", 1.0),
    ("1/s", 1e9),
    ("bytes/s", 1e9),
    ("us", 1e-3),
    ("ms", 1e-6),
    ("s", 1e-9),
];

impl Unit {
    pub fn named(name: &str) -> Option<Unit> {
        UNITS.iter().find(|(own, _)| *own == name).map(|(name, factor)| Unit { name, factor: *factor })
    }
}

impl Alternate {
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// Fills the evidence sentence from `values`, keyed `metric.part`, `metric.whole`, `metric.value`, `metric.n`.
    pub fn sentence(&self, values: &BTreeMap<String, String>) -> String {
        let mut out = String::new();
        let mut rest = self.evidence.as_str();
        while let Some(open) = rest.find('{') {
            let (before, after) = rest.split_at(open);
            out.push_str(before);
            let Some(close) = after.find('}') else {
                out.push_str(after);
                return out;
            };
            let key = &after[1..close];
            let first = self.metrics.first().map_or("", |metric| metric.name.as_str());
            let full = if key.contains('.') { key.to_owned() } else { format!("{first}.{key}") };
            out.push_str(values.get(&full).map_or("?", String::as_str));
            rest = &after[close + 1..];
        }
        out.push_str(rest);
        out
    }
}

impl Hypothesis {
    /// Where `key` with `value` stands in its file, for a mistake that is found after parsing.
    pub(super) fn at<'a>(&'a self, key: &'a str, value: &str) -> At<'a> {
        let is_it = |line: &str| line.strip_prefix("-- ").and_then(|line| line.strip_prefix(key)).is_some_and(|rest| rest.contains(value));
        let line = self.text.lines().position(is_it).map_or(1, |index| index + 1);
        At { file: &self.file, line, key }
    }

    pub fn slot(&self, letter: char) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.letter == letter)
    }

    /// The metric that says what it costs and, where one was published, its support threshold.
    pub fn cost_threshold(&self, cost: &CostMetric) -> Option<f64> {
        let slot = self.slot(cost.slot)?;
        slot.alternates.iter().find_map(|alternate| alternate.metric(&cost.metric)).map(|metric| metric.bounds.support.at(1.0))
    }
}
