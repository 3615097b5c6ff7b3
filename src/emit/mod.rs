//! REPORT -> FILES. One pure emitter per output, one registry, one place that writes.
//!
//! An emitter gets a [`View`] of the [`Run`] and returns bytes; it opens no file and looks at no clock, so that equal
//! runs give equal bytes. [`write`] alone touches the disk: into a sibling directory first, renamed when whole.
//!
//! Names in recordings are hostile (pipes, tags, escape sequences, right-to-left overrides). Every emitter sends each
//! name through [`escape`], which has one function per output language.

pub mod anchor;
mod baseline;
pub mod biases;
mod dataset;
pub mod escape;
mod fingerprint;
mod flame;
mod flame_tree;
mod hotspot_table;
mod hypothesis;
pub mod number;
#[cfg(feature = "engine")]
pub(crate) mod parquet;
mod quality;
mod quality_status;
pub mod recipe;
#[cfg(feature = "engine")]
mod row_group;
mod run;
#[cfg(test)]
mod sample_run;
mod scaling_law;
mod stated;
mod summary;
pub mod terminal;
#[cfg(test)]
mod tests;
mod unresolved;
pub mod view;
pub mod wall;
pub mod words;
mod write;

pub use dataset::{Published, RunId, check_member, write_member};
pub use hypothesis::{cost as cost_text, threshold_text};
pub use run::{AlternateDoc, HypothesisDoc, Missing, Run, SlotDoc, Stage, WallLine, WallPart};
pub use view::View;
pub use write::{Overwrite, check, write};

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::error::Result;

/// What the user may ask of the emitters.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmitOptions {
    /// Put the cost of the stages into summary.json; the output is then no longer the same from run to run.
    pub timings: bool,
}

/// One file of the run directory: its path there (with `/`) and its content.
pub type OutputFile = (String, Vec<u8>);

/// An output of Tripod.
pub struct Emitter {
    /// File name in the run directory; a pattern where there are several.
    pub name: &'static str,
    /// One sentence for people.
    pub doc: &'static str,
    pub emit: fn(&View<'_>, EmitOptions) -> Result<Vec<OutputFile>>,
}

/// Every output, in the order in which it is written. summary.json comes last: it marks a directory as a whole run.
pub static EMITTERS: &[Emitter] = &[
    Emitter { name: "hotspot_table.md", doc: "Where the wall time went, then the ranked hotspots", emit: hotspot_table::emit },
    Emitter { name: "hypothesis.md", doc: "The ledger: every hypothesis, its three angles and its label", emit: hypothesis::emit },
    Emitter { name: "BASELINE.md", doc: "Order statistics of benchmarks and spans, where there are any", emit: baseline::emit },
    Emitter { name: "scaling_law.md", doc: "How the time grows with the size, where there is a series", emit: scaling_law::emit },
    Emitter { name: "quality.md", doc: "Checks of the recordings, losses, and what was read", emit: quality::emit },
    Emitter { name: "fingerprint.json", doc: "Host, executions and artifacts with their hashes", emit: fingerprint::emit },
    Emitter { name: "flames/*.svg", doc: "Flame graphs: cpu, off-cpu, alloc", emit: flame::emit },
    #[cfg(feature = "engine")]
    Emitter { name: "tables/*.parquet", doc: "Every table that has rows", emit: parquet::emit },
    Emitter { name: "queries/*", doc: "The queries as they ran", emit: queries },
    Emitter { name: "summary.json", doc: "All of it for programs, bounded in size", emit: summary::emit },
];

#[cfg(test)]
pub(crate) fn sample() -> Run {
    sample_run::hostile()
}

/// A reading with the verdict and its threshold.
#[cfg(test)]
pub(crate) fn sample_reading(verdict: &str) -> (crate::tables::Reading, crate::tables::Threshold) {
    (sample_run::reading("R25", "A", verdict, 0), sample_run::threshold("R25", "A"))
}

/// All files of the run directory.
pub fn render(view: &View<'_>, options: EmitOptions) -> Result<Vec<OutputFile>> {
    let files: Result<Vec<Vec<OutputFile>>> = EMITTERS.par_iter().map(|emitter| (emitter.emit)(view, options)).collect();
    Ok(files?.into_iter().flatten().collect())
}

/// The queries as they ran. A name that would leave the folder is flattened; files of one name follow each other.
fn queries(view: &View<'_>, _options: EmitOptions) -> Result<Vec<OutputFile>> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for (name, text) in &view.run.queries {
        let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..").collect();
        let file = files.entry(format!("queries/{}", parts.join("/"))).or_default();
        if !file.is_empty() {
            file.push(b'\n');
        }
        file.extend_from_slice(text.as_bytes());
    }
    Ok(files.into_iter().collect())
}
