//! The tests that run the whole program, in one binary: linking polars is slow.
//!
//! Cases are found by walking folders, so a new recording or malformed file is tested without touching code. A test that
//! cannot run here says why and counts as ignored.

mod alternates;
mod anchors;
mod answers;
mod cases;
mod commands;
mod corpus;
mod corpus_heaptrack;
mod dataset;
mod degraded;
mod determinism;
mod examples;
mod field_reports;
mod given;
mod malformed;
mod matrix;
mod mutations;
mod names;
mod notebooks;
mod own_rules;
mod parity;
mod peers;
mod perf;
mod recipe;
mod removal;
mod run_tables;
mod spans;
mod support;
mod tidy;
mod verify;

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut trials = tidy::trials();
    trials.extend(matrix::trials());
    trials.extend(removal::trials());
    trials.extend(mutations::trials());
    trials.extend(peers::trials());
    trials.extend(names::trials());
    trials.extend(anchors::trials());
    trials.extend(alternates::trials());
    trials.extend(spans::trials());
    trials.extend(cases::trials());
    trials.extend(own_rules::trials());
    trials.extend(given::trials());
    trials.extend(parity::trials());
    trials.extend(notebooks::trials());
    trials.extend(verify::trials());
    trials.extend(determinism::trials());
    trials.extend(degraded::trials());
    trials.extend(malformed::trials());
    trials.extend(commands::trials());
    trials.extend(dataset::trials());
    trials.extend(examples::trials());
    trials.extend(recipe::trials());
    trials.extend(corpus::trials());
    trials.extend(perf::corpus::trials());
    trials.extend(perf::shapes::trials());
    trials.extend(perf::damage::trials());
    trials.extend(field_reports::trials());
    libtest_mimic::run(&arguments, trials).exit();
}
