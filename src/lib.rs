//! Tripod: an offline post-processor for recorded Linux profiles.
//!
//! # Bird's eye view
//!
//! Tripod reads what an incident or a benchmark left behind (perf.data, strace output, heaptrack files, off-CPU stacks,
//! timings, the spans of programs that time themselves) into one set of Arrow tables and answers two questions with
//! receipts: where does the time go, and which explanations survive. No explanation stands on one leg: each is tested
//! from three angles whose mechanisms differ.
//!
//! ```text
//! paths -> ingest -> tables -> symbolize -> derive -> rules (SQL readings -> scores -> verdicts) -> ledger, hotspots -> emit
//! ```
//!
//! # Code map
//!
//! * [`error`]: the reasons for which Tripod cannot go on. A skipped record is not an error but a diagnostic.
//! * [`tables`]: the schema and nothing but the schema: row types with units and sentences, the Arrow schema, the bridge
//!   into polars (`tables::bridge`, the only place where the two meet).
//! * [`objects`]: object files found by build-id; the one door of object, gimli, addr2line and framehop.
//! * [`ingest`]: bytes -> rows. One file or folder per format, one line in `FORMATS`; `Recorder` is the only door.
//! * [`symbolize`]: address -> function, inline chains, demangling, the kernel by kallsyms.
//! * [`derive`]: tables -> tables where SQL should not go: costs over stacks, symbol classes and sites, reasons of waits,
//!   trends, canonical ids.
//! * [`rules`]: queries/*, run in polars, scored by one scorer; quality first ([`quality`]), verdicts and labels into
//!   the [`ledger`].
//! * [`hotspots`], [`wall`]: the ranked table and the line above it.
//! * [`emit`]: report -> files, one pure emitter per output; a run directory of its own, or a member of a dataset.
//! * [`dataset`]: many runs as one: a statement is asked of batches of runs, so that memory does not grow with their number.
//! * [`cli`]: one file per command.
//! * [`verify`]: a run directory against its artifacts: a second, small reader of every format, and the pipeline again.
//!
//! Dependency direction: `cli -> {verify, dataset} -> {ingest, symbolize, derive, rules, ledger, hotspots, emit} -> {objects, tables} -> error`.
//! Stages meet in `tables` and in this file only ([`derive`] lends its symbol classes and places to [`hotspots`]).
//! Everything up to [`derive`] compiles without polars (`--no-default-features`).
//!
//! # Invariants
//!
//! * Output depends on input bytes and flags only: no clock, no locale, no hash order; it is the same for any number of
//!   threads and any order of the arguments. Sums are over integers, floats appear in the last division. (The clock is
//!   read for `--timings` alone, and only then does it reach an output.)
//! * No network. Inputs are never written. Outputs appear whole or not at all. (Whether a directory that a killed writer
//!   left in a dataset is an hour old is told by the clock of the file system; no output depends on it.)
//! * Nothing is named from a file whose build-id differs from the recorded one, nor from the running kernel.
//! * Every dropped record is counted in a diagnostic. A number without data is null, never 0.
//! * Every number shown to a person has evidence.
//! * `Verdict::Rejects` can be made from a reading only; what nobody recorded is *not measured*.

#[cfg(feature = "engine")]
pub mod cli;
#[cfg(feature = "engine")]
pub mod dataset;
pub mod derive;
pub mod emit;
pub mod error;
pub mod hotspots;
pub mod ingest;
#[cfg(feature = "engine")]
pub mod ledger;
pub mod memory;
pub mod objects;
#[cfg(feature = "engine")]
mod pipeline;
#[cfg(feature = "engine")]
pub mod quality;
pub mod request;
#[cfg(feature = "engine")]
pub mod rules;
pub mod stages;
pub mod symbolize;
pub mod tables;
#[cfg(feature = "engine")]
pub mod verify;
pub mod wall;

#[cfg(feature = "engine")]
pub use pipeline::{analyze, catalogue};
pub use request::AnalyzeRequest;
