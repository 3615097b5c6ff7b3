//! The program as people and scripts meet it: exit codes, closed pipes, directories that must not be lost, formats.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Completion, Failed, Trial};

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("commands::exit_codes", exit_codes),
        Trial::ignorable_test("commands::closed_pipe_is_success", closed_pipe),
        Trial::ignorable_test("commands::other_runs_are_kept", other_runs_are_kept),
        Trial::ignorable_test("commands::query_formats", query_formats),
        Trial::ignorable_test("commands::explain_says_why", explain_says_why),
        Trial::ignorable_test("commands::no_colour_in_a_pipe", no_colour_in_a_pipe),
    ]
}

/// A small text recording by hand: what GNU time 1.9 prints with -v (its documentation gives the format).
pub const TIME_V: &str = "\tCommand being timed: \"./prog\"\n\tUser time (seconds): 1.00\n\tSystem time (seconds): 3.00\n\tPercent of CPU this job got: 80%\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:05.00\n\tAverage shared text size (kbytes): 0\n\tAverage unshared data size (kbytes): 0\n\tAverage stack size (kbytes): 0\n\tAverage total size (kbytes): 0\n\tMaximum resident set size (kbytes): 3000\n\tAverage resident set size (kbytes): 0\n\tMajor (requiring I/O) page faults: 0\n\tMinor (reclaiming a frame) page faults: 120\n\tVoluntary context switches: 3\n\tInvoluntary context switches: 4\n\tSwaps: 0\n\tFile system inputs: 0\n\tFile system outputs: 0\n\tSocket messages sent: 0\n\tSocket messages received: 0\n\tSignals delivered: 0\n\tPage size (bytes): 4096\n\tExit status: 0\n";

struct Scratch {
    dir: tempfile::TempDir,
    input: PathBuf,
}

impl Scratch {
    fn new() -> Result<Scratch, Failed> {
        let dir = tempfile::tempdir()?;
        let input = dir.path().join("time-v.txt");
        std::fs::write(&input, TIME_V)?;
        Ok(Scratch { dir, input })
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_string_lossy().into_owned()
    }

    /// Analyzes the small recording into `name`.
    fn analyze(&self, name: &str, more: &[&str]) -> Output {
        let (input, out) = (self.input.to_string_lossy().into_owned(), self.path(name));
        let mut arguments = vec!["analyze", &input, "-o", &out];
        arguments.extend_from_slice(more);
        support::tripod(&arguments)
    }
}

pub fn expect(output: &Output, code: i32, stderr: &str) -> Result<(), Failed> {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(code) && err.contains(stderr) {
        return Ok(());
    }
    Err(format!("expected exit code {code} and `{stderr}`, got {}\n{out}\n{err}", output.status).into())
}

fn exit_codes() -> Outcome {
    let scratch = Scratch::new()?;
    expect(&scratch.analyze("run", &[]), 0, "")?;
    expect(&scratch.analyze("run", &["-q", "--fail-on", "kernel"]), 0, "")?;
    // A file that nothing reads is a loss, on which a build may be failed.
    std::fs::write(scratch.path("foreign.txt"), "no recording at all\n")?;
    let (folder, out) = (scratch.path(""), scratch.path("second"));
    let lossy = support::tripod(&["analyze", &folder, "-o", &out, "-q"]);
    expect(&lossy, 0, "")?;
    let failed = support::tripod(&["analyze", &folder, "-o", &out, "-q", "--fail-on", "loss"]);
    expect(&failed, 1, "")?;
    expect(&support::tripod(&["analyze"]), 2, "Usage")?;
    expect(&support::tripod(&["analyse", "x"]), 2, "analyze")?;
    expect(&support::tripod(&["query", &scratch.path("nothing")]), 2, "no run directory")?;
    expect(&support::tripod(&["query", &scratch.path("run"), "SELECT nme FROM artifacts"]), 2, "nme")?;
    expect(&support::tripod(&["analyze", &scratch.path("foreign.txt"), "-o", &scratch.path("third")]), 3, "tripod formats")?;
    expect(&support::tripod(&["analyze", &scratch.path("absent")]), 3, "absent")?;
    // A rule that is not well formed is a mistake in the request, not in a recording.
    let rules = scratch.path("rules");
    expect(&support::tripod(&["hypotheses", "--rules", &rules]), 2, "rules")?;
    std::fs::create_dir(&rules)?;
    std::fs::write(Path::new(&rules).join("own.sql"), "-- id: X1\n-- nonsense\n")?;
    expect(&scratch.analyze("fourth", &["--rules", &rules]), 2, "own.sql: line 2")?;
    if Path::new(&scratch.path("third")).exists() {
        return Err("a run directory was left although nothing could be read".into());
    }
    Ok(Completion::Completed)
}

fn closed_pipe() -> Outcome {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tripod")).arg("tables").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // The reading end goes before the program has written.
    drop(child.stdout.take());
    let mut stderr = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_string(&mut stderr)?;
    }
    let status = child.wait()?;
    if status.code() == Some(0) && stderr.is_empty() { Ok(Completion::Completed) } else { Err(format!("{status}: {stderr}").into()) }
}

fn other_runs_are_kept() -> Outcome {
    let scratch = Scratch::new()?;
    expect(&scratch.analyze("run", &["-q"]), 0, "")?;
    expect(&scratch.analyze("run", &["-q"]), 0, "")?;
    std::fs::write(&scratch.input, TIME_V.replace("0:05.00", "0:06.00"))?;
    expect(&scratch.analyze("run", &["-q"]), 2, "--force")?;
    expect(&scratch.analyze("run", &["-q", "--force"]), 0, "")?;
    let precious = scratch.path("precious");
    std::fs::create_dir(&precious)?;
    std::fs::write(Path::new(&precious).join("thesis.txt"), "x")?;
    expect(&scratch.analyze("precious", &["-q", "--force"]), 2, "not written by tripod")?;
    if std::fs::read_dir(&precious)?.count() != 1 {
        return Err("the foreign directory was touched".into());
    }
    let left: Vec<PathBuf> = support::list(scratch.dir.path())
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')))
        .collect();
    if left.is_empty() { Ok(Completion::Completed) } else { Err(format!("left behind: {left:?}").into()) }
}

fn query_formats() -> Outcome {
    let scratch = Scratch::new()?;
    expect(&scratch.analyze("run", &["-q"]), 0, "")?;
    let run = scratch.path("run");
    let sql = "SELECT user_ns AS user_ns, argv AS argv, voluntary_switches AS n FROM executions";
    let csv = support::tripod(&["query", &run, sql, "--format", "csv"]);
    expect(&csv, 0, "")?;
    let text = String::from_utf8(csv.stdout)?;
    // User time 1.00 s in the file, 3 voluntary switches.
    if text != "user_ns,argv,n\n1000000000,./prog,3\n" {
        return Err(text.into());
    }
    let json: serde_json::Value = serde_json::from_slice(&support::tripod(&["query", &run, sql, "--format", "json"]).stdout)?;
    if json[0]["user_ns"] != 1_000_000_000_i64 {
        return Err(json.to_string().into());
    }
    let file = scratch.path("answer.parquet");
    expect(&support::tripod(&["query", &run, sql, "--format", "parquet", "-o", &file]), 0, "")?;
    if !std::fs::read(&file)?.starts_with(b"PAR1") {
        return Err("no Parquet file".into());
    }
    let listing = String::from_utf8(support::tripod(&["query", &run]).stdout)?;
    if !listing.contains("stack_costs") {
        return Err(listing.into());
    }
    Ok(Completion::Completed)
}

fn explain_says_why() -> Outcome {
    let scratch = Scratch::new()?;
    expect(&scratch.analyze("run", &["-q"]), 0, "")?;
    let run = scratch.path("run");
    let text = String::from_utf8(support::tripod(&["explain", &run, "R25"]).stdout)?;
    for part in
        ["R25 io.small_write", "Claim:", "Angle A:", "What would change the label", "Result | ", "Known bias of the tool", "How sure: "]
    {
        if !text.contains(part) {
            return Err(format!("{part} is missing in\n{text}").into());
        }
    }
    expect(&support::tripod(&["explain", &run, "R999"]), 2, "did you mean")?;
    Ok(Completion::Completed)
}

fn no_colour_in_a_pipe() -> Outcome {
    let scratch = Scratch::new()?;
    let input = scratch.input.to_string_lossy().into_owned();
    let output =
        Command::new(env!("CARGO_BIN_EXE_tripod")).args(["analyze", &input, "-o", &scratch.path("run")]).env_remove("NO_COLOR").output()?;
    if output.stdout.contains(&0x1b) {
        return Err("an escape sequence reached a pipe".into());
    }
    Ok(Completion::Completed)
}
