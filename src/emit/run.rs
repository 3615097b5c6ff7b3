//! What the stages hand to the emitters: plain data, nothing left to decide.

use crate::derive::Calls;
use crate::stages::StageCost;
use crate::tables::Tables;

/// Everything that is printed or written about one run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    pub tables: Tables,
    /// The stacks by functions, where they are at hand: else they are read from the tables.
    pub calls: Option<Calls>,
    /// Where the wall time went, or why that is unknown.
    pub wall_line: WallLine,
    /// Which process was analysed and why that one.
    pub target: String,
    /// What to record to settle what is open.
    pub missing: Vec<Missing>,
    /// The queries as they ran: path below `queries/` and text.
    pub queries: Vec<(String, String)>,
    /// The words that ask for this analysis again (fingerprint.json, `tripod verify`).
    pub arguments: Vec<String>,
    /// What each stage cost; printed with `--timings` only, since it differs from run to run.
    pub timings: Vec<Stage>,
    /// The hypotheses as they describe themselves, in the order of their ids.
    pub catalogue: Vec<HypothesisDoc>,
}

/// The line above the hotspot table. Its shares always sum to 100.0 %.
#[derive(Debug, Clone)]
pub enum WallLine {
    Known {
        /// The wall clock that is being explained.
        wall_ns: i64,
        /// How many threads' time that is; 1 for a wall clock proper.
        threads: usize,
        /// Anchor of that number.
        source: String,
        /// Its parts. What they leave is printed as `not accounted for`.
        parts: Vec<WallPart>,
    },
    Unknown {
        /// Why, and what to record to know it.
        reason: String,
    },
}

impl Default for WallLine {
    fn default() -> Self {
        WallLine::Unknown { reason: "no artifact tells it".to_owned() }
    }
}

/// One part of the wall clock.
#[derive(Debug, Clone)]
pub struct WallPart {
    /// E.g. `on CPU in user code`, `waiting: fsync`.
    pub name: String,
    pub ns: i64,
    /// Anchor of the number, or the artifact it was derived from.
    pub source: String,
}

/// One recording that would settle a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub hypothesis: String,
    pub slot: String,
    /// Shell command.
    pub command: String,
    /// Why the slot is not measured.
    pub reason: String,
}

/// What one stage of the pipeline cost.
#[derive(Debug, Clone)]
pub struct Stage {
    pub name: String,
    pub wall_ms: i64,
    /// CPU time of all threads.
    pub cpu_ms: i64,
    /// Peak resident set at the end of the stage.
    pub peak_bytes: i64,
}

impl From<&StageCost> for Stage {
    fn from(cost: &StageCost) -> Stage {
        Stage { name: cost.name.to_owned(), wall_ms: cost.wall_ms, cpu_ms: cost.cpu_ms, peak_bytes: cost.peak_bytes }
    }
}

/// A hypothesis as its file describes it.
#[derive(Debug, Clone, Default)]
pub struct HypothesisDoc {
    pub id: String,
    pub name: String,
    pub claim: String,
    pub category: String,
    pub advice: String,
    pub false_positives: String,
    /// stable or preview.
    pub status: String,
    /// 1 (a flag) to 5 (the architecture).
    pub effort: i32,
    pub slots: Vec<SlotDoc>,
}

/// One of the three angles of a hypothesis.
#[derive(Debug, Clone, Default)]
pub struct SlotDoc {
    pub slot: String,
    /// In the order in which they are tried.
    pub alternates: Vec<AlternateDoc>,
}

/// One way to measure an angle.
#[derive(Debug, Clone, Default)]
pub struct AlternateDoc {
    pub name: String,
    /// M1 to M10.
    pub mechanism: String,
    /// The command that records what it needs.
    pub record: String,
}
