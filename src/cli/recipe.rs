//! `tripod recipe`: the capture kit for the other machine, or the part of it that open angles need.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::stored::Stored;
use super::{Outcome, out};
use crate::emit::recipe::{self, Kit, Question};
use crate::error::{Error, Result};
use crate::ingest::command_words;
use crate::rules::file::Hypothesis;
use crate::tables::{Execution, Reading};

const HELP: &str = "Examples:
  tripod recipe -o kit.sh                       the whole kit; there: sh kit.sh -- ./server --port 80
  tripod recipe -o kit.sh -- ./server --port 80
  tripod recipe --missing tripod-out/run        only what settles its DISPUTED and open hypotheses
  sh kit.sh --probe                             there: what can be recorded, and what not";

/// Print a capture kit: a POSIX sh script that records a program on another machine
///
/// The kit needs no Tripod and no network there. It uses perf, strace, heaptrack, offcputime, GNU time and hyperfine,
/// whichever exist, says what it can record and what not, runs one tool at a time and writes a new folder for
/// `tripod analyze`. It asks before it changes anything of that machine.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Only what would settle the DISPUTED and open hypotheses of this run directory
    #[arg(long, value_name = "DIR")]
    missing: Option<PathBuf>,
    /// Hypotheses of your own that the run was analyzed with; may be repeated
    #[arg(long, value_name = "DIR")]
    rules: Vec<PathBuf>,
    /// Write the kit to this file, which must not exist
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The program to record and its arguments; the kit takes them when it is run, too
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub fn run(args: Args) -> Result<Outcome> {
    let mut kit = match &args.missing {
        None => Kit::default(),
        Some(dir) => missing(dir, &args.rules)?,
    };
    if args.missing.is_some() && kit.questions.is_empty() {
        out::complain("nothing in this run is DISPUTED or open; `tripod recipe` without --missing prints the whole kit");
        return Ok(Outcome::Done);
    }
    if args.missing.is_some() && kit.questions.iter().all(Question::is_recorded) {
        out::complain(
            "nothing is missing in this run: what is open was recorded and is inconclusive; more work under the same tools may settle it (tripod explain)",
        );
        return Ok(Outcome::Done);
    }
    if !args.program.is_empty() {
        kit = Kit { argv: args.program.into_iter().map(OsString::into_vec).collect(), questions: kit.questions, ..Kit::default() };
    }
    let script = recipe::render(&kit);
    match &args.output {
        None => out::print(&script)?,
        Some(path) => write(path, &script)?,
    }
    Ok(Outcome::Done)
}

fn write(path: &Path, script: &[u8]) -> Result<()> {
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(path);
    file.and_then(|mut file| file.write_all(script)).map_err(|error| Error::Request(format!("{}: {error}", path.display())))
}

/// The questions that the run left open, with the commands of the hypotheses as they are known here: nothing that the
/// run directory says becomes part of a command, only the program's words do, quoted.
fn missing(dir: &Path, rules: &[PathBuf]) -> Result<Kit> {
    let stored = Stored::open(dir)?;
    let run = stored.results()?;
    let catalogue = crate::rules::hypotheses(rules)?;
    let view = crate::emit::View::new(&run);
    let mut questions = Vec::new();
    for entry in view.ledger().iter().filter(|entry| matches!(label(&entry.row.label), "DISPUTED" | "open")) {
        let Some(own) = catalogue.iter().find(|own| *own.id == *entry.row.hypothesis) else { continue };
        for row in &entry.missing {
            let alternate = run.tables.readings.iter().find(|reading| is_of(reading, &row.hypothesis, &row.slot));
            let Some(record) = record(own, &row.slot, alternate.and_then(|reading| reading.alternate.as_deref())) else { continue };
            questions.push(Question {
                angle: format!("{} {}", own.id, row.slot),
                about: format!("{}, {}", own.name, label(&entry.row.label)),
                record: record.to_owned(),
                reason: row.reason.clone(),
            });
        }
    }
    let executions: Vec<Execution> = stored.rows()?;
    let program = executions.iter().filter(|row| row.argv.is_some()).min_by_key(|row| (&*row.wrapper != "bare", row.execution_id));
    let Some(program) = program else { return Ok(Kit { questions, ..Kit::default() }) };
    let words = command_words(program.argv.as_deref().unwrap_or(""));
    Ok(Kit {
        // sh cannot hold a NUL character in a word; nor can a program be given one.
        argv: words.into_iter().map(|word| word.replace('\0', "").into_bytes()).collect(),
        work: program.work,
        threads: program.threads,
        variant: program.variant.as_deref().map(str::to_owned),
        questions,
    })
}

/// The label without what may follow it, as in `open (1/3)`.
fn label(text: &str) -> &str {
    text.split(' ').next().unwrap_or(text)
}

fn is_of(reading: &Reading, hypothesis: &str, slot: &str) -> bool {
    &*reading.hypothesis == hypothesis && &*reading.slot == slot && &*reading.role != "site"
}

/// The command of the alternate that filled the slot, else of the first.
fn record<'a>(own: &'a Hypothesis, slot: &str, alternate: Option<&str>) -> Option<&'a str> {
    let slot = own.slots.iter().find(|known| known.letter.to_string() == slot)?;
    let named = slot.alternates.iter().find(|known| Some(known.name.as_str()) == alternate);
    named.or(slot.alternates.first()).map(|alternate| alternate.record.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_the_alternate_that_filled_the_slot() {
        let catalogue = crate::rules::hypotheses(&[]).unwrap();
        let own = catalogue.iter().find(|own| own.id == "R25").unwrap();
        // queries/hypotheses/R25: slot C begins with the repaired partner, then come system shares.
        assert!(record(own, "C", None).unwrap().contains("-L variant"));
        assert!(record(own, "C", Some("system share")).unwrap().contains("/usr/bin/time"));
        assert_eq!(record(own, "D", None), None);
        assert_eq!((label("open (1/3)"), label("DISPUTED")), ("open", "DISPUTED"));
    }

    #[test]
    fn an_existing_file_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kit.sh");
        write(&path, b"one").unwrap();
        assert!(write(&path, b"two").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
    }
}
