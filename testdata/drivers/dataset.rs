//! Many runs in one folder: written by several processes at once, some of them killed, and asked meanwhile.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;

use crate::commands::{TIME_V, expect};
use crate::support::{self, Outcome};

/// How often a writer is killed.
const KILLS: u32 = 50;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("dataset::readers_see_whole_runs_only", whole_runs_only),
        Trial::ignorable_test("dataset::ids_and_places", ids_and_places),
        Trial::ignorable_test("dataset::questions_and_formats", questions_and_formats),
        Trial::ignorable_test("dataset::mistakes_are_explained", mistakes),
        Trial::ignorable_test("dataset::yesterdays_run_is_read", yesterday),
        Trial::ignorable_test("dataset::fleet_queries_do_not_depend_on_memory", fleet_queries),
    ]
}

/// A dataset, and two recordings of which the second took twice as long.
struct Scratch {
    dir: tempfile::TempDir,
    root: PathBuf,
}

impl Scratch {
    fn new() -> Result<Scratch, Failed> {
        let dir = tempfile::tempdir()?;
        fs::write(dir.path().join("short.txt"), TIME_V)?;
        let long = TIME_V.replace("0:05.00", "0:10.00").replace("User time (seconds): 1.00", "User time (seconds): 2.00");
        fs::write(dir.path().join("long.txt"), long)?;
        let root = dir.path().join("runs");
        Ok(Scratch { dir, root })
    }

    fn input(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, input: &str, id: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tripod"));
        command.arg("analyze").arg(self.input(input)).arg("--dataset").arg(&self.root).args(["--run", id, "-q", "-j", "1"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn add(&self, input: &str, id: &str) -> Result<(), Failed> {
        let output = self.command(input, id).output()?;
        expect(&output, 0, "")
    }

    fn query(&self, more: &[&str]) -> Output {
        query(&self.root, more)
    }

    /// What writers have left behind.
    fn left(&self) -> Vec<PathBuf> {
        let is_left = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp-"));
        support::list(&self.root).into_iter().filter(is_left).collect()
    }
}

fn query(root: &Path, more: &[&str]) -> Output {
    let root = root.to_string_lossy().into_owned();
    support::tripod(&[&["query", &root], more].concat())
}

fn json(root: &Path, sql: &str) -> Result<Vec<Value>, Failed> {
    let output = query(root, &[sql, "--format", "json"]);
    expect(&output, 0, "")?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Asks until it is told to stop; every answer must hold whole runs: file and execution of one and the same recording.
fn read_on(root: &Path, stop: &AtomicBool, answers: &AtomicUsize) -> Result<(), Failed> {
    let sql =
        "SELECT a.run AS run, a.path AS path, e.user_ns AS user_ns FROM artifacts AS a JOIN executions AS e ON e.run = a.run ORDER BY run";
    while !stop.load(Ordering::Relaxed) {
        let rows = json(root, sql)?;
        let runs: BTreeSet<&str> = rows.iter().filter_map(|row| row["run"].as_str()).collect();
        if runs.len() != rows.len() || !runs.contains("steady") || !runs.contains("replaced") {
            return Err(format!("runs are missing or doubled: {rows:?}").into());
        }
        let is_whole = |row: &Value| {
            matches!(
                (row["path"].as_str(), row["user_ns"].as_i64()),
                (Some("short.txt"), Some(1_000_000_000)) | (Some("long.txt"), Some(2_000_000_000))
            )
        };
        if let Some(row) = rows.iter().find(|row| !is_whole(row)) {
            return Err(format!("half of one run and half of another: {row}").into());
        }
        answers.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// One process replaces a run over and over, another writes a second one and is killed in the middle, and two read.
fn whole_runs_only() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.add("short.txt", "steady")?;
    let start = Instant::now();
    scratch.add("short.txt", "replaced")?;
    let usual = start.elapsed();
    let (stop, answers, replacements) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let replace = || -> Result<(), Failed> {
        for input in ["long.txt", "short.txt"].into_iter().cycle() {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            scratch.add(input, "replaced")?;
            replacements.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    let mut killed = 0;
    thread::scope(|scope| -> Result<(), Failed> {
        let readers = [(); 2].map(|()| scope.spawn(|| read_on(&scratch.root, &stop, &answers)));
        let writer = scope.spawn(replace);
        let mut kill = || -> Result<(), Failed> {
            for turn in 0..KILLS {
                let mut child = scratch.command("long.txt", "killed").spawn()?;
                // From the first moment to well after the last: the others make it take longer than alone.
                thread::sleep(usual * 3 * turn / KILLS);
                child.kill()?;
                killed += u32::from(!child.wait()?.success());
            }
            Ok(())
        };
        let outcome = kill();
        stop.store(true, Ordering::Relaxed);
        for thread in readers.into_iter().chain([writer]) {
            thread.join().map_err(|_| "a thread panicked")??;
        }
        outcome
    })?;
    let (answers, replacements) = (answers.into_inner(), replacements.into_inner());
    if killed < KILLS / 2 || answers < 20 || replacements < 5 {
        return Err(format!("too little happened: {killed} kills, {answers} answers, {replacements} replacements").into());
    }
    swept(&scratch)?;
    let runs = json(&scratch.root, "SELECT DISTINCT run AS run FROM artifacts ORDER BY run")?;
    if runs.iter().filter_map(|row| row["run"].as_str()).collect::<Vec<_>>() != ["killed", "replaced", "steady"] {
        return Err(format!("{runs:?}").into());
    }
    Ok(Completion::Completed)
}

/// What the killed left stays for an hour, in nobody's way, and is then removed by the next writer.
fn swept(scratch: &Scratch) -> Result<(), Failed> {
    let before = scratch.left().len();
    scratch.add("long.txt", "killed")?;
    if scratch.left().len() != before {
        return Err("a writer removed what may belong to a living one".into());
    }
    for path in scratch.left() {
        File::open(path)?.set_modified(SystemTime::now() - Duration::from_secs(7200))?;
    }
    scratch.add("long.txt", "killed")?;
    if scratch.left().is_empty() { Ok(()) } else { Err(format!("left behind: {:?}", scratch.left()).into()) }
}

fn ids_and_places() -> Outcome {
    let scratch = Scratch::new()?;
    let (input, root) = (scratch.input("short.txt").to_string_lossy().into_owned(), scratch.root.to_string_lossy().into_owned());
    for id in ["007", "", "a/b", "../a", "a b", "ä", &"x".repeat(65)] {
        expect(&support::tripod(&["analyze", &input, "--dataset", &root, "--run", id]), 2, "a run ID is a letter")?;
    }
    expect(&support::tripod(&["analyze", &input, "--dataset", &root]), 2, "--run <ID>")?;
    expect(&support::tripod(&["analyze", &input, "--run", "a"]), 2, "--dataset <ROOT>")?;
    expect(&support::tripod(&["analyze", &input, "--dataset", &root, "--run", "a", "-o", "b"]), 2, "cannot be used with")?;
    if scratch.root.exists() {
        return Err("a refused request made the folder".into());
    }
    scratch.add("short.txt", "a")?;
    // Other recordings take the name without --force, since the name was given; it is said on standard error.
    let again = |more: &[&str]| {
        support::tripod(&[&["analyze", &scratch.input("long.txt").to_string_lossy(), "--dataset", &root, "--run", "a"], more].concat())
    };
    expect(&again(&[]), 0, "replaced the run of other recordings")?;
    let quiet = again(&["-q"]);
    expect(&quiet, 0, "")?;
    if !quiet.stderr.is_empty() {
        return Err(String::from_utf8_lossy(&quiet.stderr).into_owned().into());
    }
    fs::create_dir_all(scratch.root.join("run=thesis"))?;
    fs::write(scratch.root.join("run=thesis/text.txt"), "x")?;
    expect(&support::tripod(&["analyze", &input, "--dataset", &root, "--run", "thesis"]), 2, "left alone")?;
    let inside = scratch.root.join("run=a").to_string_lossy().into_owned();
    expect(&support::tripod(&["analyze", &input, "--dataset", &inside, "--run", "b"]), 2, "directory of one run")?;
    expect(&support::tripod(&["analyze", &input, "--dataset", &input, "--run", "b"]), 2, "not a directory")?;
    // A member is a run directory like any other.
    expect(&support::tripod(&["query", &inside, "SELECT path AS path FROM artifacts"]), 0, "")?;
    expect(&support::tripod(&["explain", &inside, "R25"]), 0, "")?;
    Ok(Completion::Completed)
}

fn questions_and_formats() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.add("short.txt", "a")?;
    scratch.add("long.txt", "b")?;
    let sql = "SELECT run AS run, user_ns AS user_ns, voluntary_switches AS n FROM executions ORDER BY user_ns DESC";
    let csv = scratch.query(&[sql, "--format", "csv"]);
    expect(&csv, 0, "")?;
    // User time 1.00 s in the first file and 2.00 s in the second, 3 voluntary switches in both.
    if String::from_utf8_lossy(&csv.stdout) != "run,user_ns,n\nb,2000000000,3\na,1000000000,3\n" {
        return Err(String::from_utf8_lossy(&csv.stdout).into_owned().into());
    }
    let sums = json(&scratch.root, "SELECT COUNT(*) AS n, CAST(SUM(user_ns) AS BIGINT) AS user_ns FROM executions")?;
    if sums != [serde_json::json!({"n": 2, "user_ns": 3_000_000_000_i64})] {
        return Err(format!("{sums:?}").into());
    }
    let table = String::from_utf8(scratch.query(&[sql]).stdout)?;
    if !table.contains("(2 rows)") {
        return Err(table.into());
    }
    // A file appears whole or stays as it was.
    let file = scratch.input("answer.parquet");
    let text = file.to_string_lossy().into_owned();
    fs::write(&file, "precious")?;
    expect(&scratch.query(&["SELECT nme AS n FROM executions", "--format", "parquet", "-o", &text]), 2, "nme")?;
    if fs::read(&file)? != b"precious" {
        return Err("a failed query changed the file".into());
    }
    expect(&scratch.query(&[sql, "--format", "parquet", "-o", &text]), 0, "")?;
    if !fs::read(&file)?.starts_with(b"PAR1")
        || support::list(scratch.dir.path()).iter().any(|path| path.to_string_lossy().contains(".tmp-"))
    {
        return Err("no Parquet file, or something beside it".into());
    }
    expect(&scratch.query(&[sql, "-o", "/dev/full"]), 2, "cannot write here")?;
    let listing = String::from_utf8(scratch.query(&[]).stdout)?;
    for part in [
        "2 runs, in the order of their names:\n  a\n  b\n",
        "executions                2",
        "wall_ns",
        "Wall time",
        "stack_costs",
        "the run a row is of",
    ] {
        if !listing.contains(part) {
            return Err(format!("{part} is missing in\n{listing}").into());
        }
    }
    Ok(Completion::Completed)
}

fn mistakes() -> Outcome {
    let scratch = Scratch::new()?;
    fs::create_dir(&scratch.root)?;
    expect(&scratch.query(&[]), 2, "--dataset")?;
    scratch.add("short.txt", "a")?;
    scratch.add("long.txt", "b")?;
    for (sql, what) in [
        ("SELECT usr_ns AS n FROM executions", "did you mean user_ns"),
        ("SELECT n AS n FROM evnts", "did you mean events"),
        ("SELECT n AS n FROM evnts", "The tables: accounting, allocations, artifacts,"),
        ("SELECT path AS path FROM class_costs", "class_costs is a view of one run (queries/views/03_class_costs.sql)"),
        ("SELECT standing AS s FROM admitted", "tables only"),
        (
            "SELECT a.path AS p FROM artifacts AS a LEFT JOIN executions AS e ON e.run = a.run AND e.user_ns > 3",
            "an outer join takes equalities",
        ),
        ("SELECT path FROM", "query"),
        ("DROP TABLE artifacts", "one SELECT"),
        ("SELECT path FROM artifacts; SELECT path FROM artifacts", "one SELECT"),
    ] {
        expect(&scratch.query(&[sql]), 2, what)?;
    }
    // The same over one run.
    let one = scratch.root.join("run=a");
    expect(&query(&one, &["SELECT n AS n FROM evnts"]), 2, "The tables: accounting,")?;
    expect(
        &query(&one, &["SELECT a.path AS p FROM artifacts AS a LEFT JOIN executions AS e ON e.artifact_id > a.artifact_id"]),
        2,
        "an outer join takes",
    )?;
    expect(&scratch.query(&["--file", "queries/hypotheses/R25_io_small_write.sql", "--slot", "A"]), 2, "--slot asks one run")?;
    // A file that cannot be read is named, and nothing is answered without it.
    let file = scratch.root.join("run=b/tables/executions.parquet");
    let bytes = fs::read(&file)?;
    fs::write(&file, &bytes[..bytes.len() / 2])?;
    let output = scratch.query(&["SELECT run AS run FROM executions"]);
    expect(&output, 2, "run=b/tables/executions.parquet: cannot be read")?;
    if !output.stdout.is_empty() {
        return Err("a part of the answer was printed".into());
    }
    fs::remove_dir_all(scratch.root.join("run=b"))?;
    fs::create_dir(scratch.root.join("run=b"))?;
    expect(&scratch.query(&["SELECT run AS run FROM executions"]), 2, "run=b: this is no run directory")?;
    fs::rename(scratch.root.join("run=b"), scratch.root.join("run=7"))?;
    expect(&scratch.query(&["SELECT run AS run FROM executions"]), 2, "no run ID")?;
    Ok(Completion::Completed)
}

/// A run that an earlier version wrote (testdata/README.md says which) beside one of today: every column of today is there,
/// and null where it did not exist yet.
fn yesterday() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.add("short.txt", "today")?;
    for run in support::list(&support::testdata().join("dataset")) {
        let to = scratch.root.join(run.file_name().expect("a folder"));
        for file in support::walk(&run) {
            let to = to.join(file.strip_prefix(&run)?);
            fs::create_dir_all(to.parent().expect("has a parent"))?;
            fs::copy(&file, &to)?;
        }
        expect(&query(&run, &[]), 0, "")?;
        expect(&query(&run, &["SELECT status AS status, label AS label FROM hypotheses"]), 0, "")?;
        expect(&support::tripod(&["explain", &run.to_string_lossy(), "R25"]), 0, "")?;
    }
    let tables = String::from_utf8(support::tripod(&["tables"]).stdout)?;
    let names: Vec<&str> = tables.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')).collect();
    if names.len() < 40 {
        return Err(tables.into());
    }
    for name in names {
        expect(&scratch.query(&[&format!("SELECT * FROM {name}"), "--format", "csv"]), 0, "")?;
    }
    let rows = json(&scratch.root, "SELECT run AS run, status AS status FROM hypotheses WHERE hypothesis = 'R25' ORDER BY run")?;
    let status: Vec<(Option<&str>, Option<&str>)> = rows.iter().map(|row| (row["run"].as_str(), row["status"].as_str())).collect();
    match status.as_slice() {
        [(Some("schema-1"), None), (Some("today"), Some("stable"))] => Ok(Completion::Completed),
        other => Err(format!("{other:?}").into()),
    }
}

/// Every query over many runs gives the same rows in one batch and in the smallest ones.
fn fleet_queries() -> Outcome {
    let queries: Vec<PathBuf> = support::list(&support::project().join("queries/fleet"));
    if queries.is_empty() {
        return Ok(Completion::ignored_with("there is no queries/fleet"));
    }
    let scratch = Scratch::new()?;
    for name in ["s1-unbuffered-writes", "s2-lock-convoy", "real-sqlite3"] {
        let input = support::scenario(name).to_string_lossy().into_owned();
        let (root, symbols) = (scratch.root.to_string_lossy().into_owned(), support::symbols().to_string_lossy().into_owned());
        expect(&support::tripod(&["analyze", &input, "--dataset", &root, "--run", name, "--symbol-dir", &symbols, "-q"]), 0, "")?;
    }
    scratch.add("short.txt", "small")?;
    for path in queries {
        let file = path.to_string_lossy().into_owned();
        let one = scratch.query(&["--file", &file, "--format", "json"]);
        expect(&one, 0, "")?;
        // 4 MiB in all: no two of the larger runs are in one batch.
        let many = scratch.query(&["--file", &file, "--format", "json", "--memory", "4"]);
        expect(&many, 0, "")?;
        if one.stdout != many.stdout {
            return Err(format!("{file}: other rows in small batches").into());
        }
    }
    Ok(Completion::Completed)
}
