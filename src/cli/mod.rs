//! What was typed -> what was meant -> one call of the library.
//!
//! One file per command. Arguments are parsed without looking at the world; each command then resolves them once and
//! does its work. Exit codes: 0 done; 1 a condition of `--fail-on` holds, or `verify` found something that differs; 2 the request cannot be met; 3 no input could
//! be read at all. A closed pipe is success.

mod analyze;
mod catalogue;
mod change;
mod columns;
mod dry_run;
mod explain;
mod fleet;
mod formats;
mod frame;
mod hypotheses;
mod out;
mod place;
mod progress;
mod query;
mod recipe;
mod stored;
mod tables;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::{Error, Result};

/// Turns recorded Linux profiles into ranked hotspots and tested explanations.
///
/// Tripod reads what perf, strace, heaptrack, off-CPU tools, /usr/bin/time, perf stat, hyperfine and programs that time
/// themselves left behind, and answers two questions with receipts: where does the time go, and which explanations
/// survive three independent angles. It records nothing itself, needs no network and never changes its inputs.
#[derive(Debug, Parser)]
#[command(name = "tripod", version, after_help = HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const HELP: &str = "Examples:
  tripod analyze recordings/                 a folder of recordings -> tables and ./tripod-out/recordings
  tripod analyze perf.data                   a lone perf.data is worth it too
  tripod explain tripod-out/recordings R25   why this label, and what would change it
  tripod query tripod-out/recordings \"SELECT name, n FROM events\"
  tripod analyze recordings/ --dataset runs/ --run web-1     one run of many, for `tripod query runs/`

What was done goes to standard output, the run directory to ./tripod-out/<name of the input>, messages to standard error.
Exit codes: 0 done, 1 a --fail-on condition holds or a run is not confirmed, 2 the request cannot be met, 3 no input could be read";

#[derive(Debug, Subcommand)]
enum Command {
    /// Read recordings, rank hotspots, test hypotheses, write a run directory
    Analyze(Box<analyze::Args>),
    /// Ask a run directory, or a folder of many, questions in SQL
    Query(query::Args),
    /// Say in full why a hypothesis got its label and what would change it
    Explain(explain::Args),
    /// Print a capture kit: a POSIX sh script that records a program on another machine
    Recipe(recipe::Args),
    /// Check a run directory against its recordings: every number again
    Verify(verify::Args),
    /// List the file formats that can be read and the commands that record them
    Formats(formats::Args),
    /// List the hypotheses with their three angles
    Hypotheses(hypotheses::Args),
    /// List the tables of a run with their columns and units
    Tables(tables::Args),
}

/// What a command ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    /// A condition that the user asked for with `--fail-on` holds, or a run was not confirmed.
    Failed,
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    run(std::env::args_os())
}

fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // clap prints help to stdout and usage errors to stderr; a closed pipe is no reason to panic.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match dispatch(cli.command) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Err(error) => {
            out::complain(&error.to_string());
            ExitCode::from(exit_code(&error))
        }
    }
}

fn dispatch(command: Command) -> Result<Outcome> {
    match command {
        Command::Analyze(args) => analyze::run(*args),
        Command::Query(args) => query::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Recipe(args) => recipe::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Formats(args) => formats::run(&args),
        Command::Hypotheses(args) => hypotheses::run(args),
        Command::Tables(args) => tables::run(&args),
    }
}

fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Request(_) => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent_and_every_command_helps_with_examples() {
        let mut cli = Cli::command();
        cli.clone().debug_assert();
        for command in cli.get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Examples:"), "{help}");
            assert!(command.get_arguments().all(|arg| arg.get_help().is_some()), "{help}");
        }
    }

    #[test]
    fn requests_and_unreadable_inputs_differ() {
        assert_eq!(exit_code(&Error::Request(String::new())), 2);
        assert_eq!(exit_code(&Error::Unusable { path: String::new(), what: String::new(), advice: String::new() }), 3);
    }
}
