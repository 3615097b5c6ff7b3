//! The capture kit, end to end: it is made, checked by shellcheck, run on a small program under the shells that are
//! here, and its folder is analyzed. What it finds is compared with what the program was told to do.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::ignorable_test("recipe::shellcheck_finds_nothing", shellcheck),
        Trial::ignorable_test("recipe::missing_takes_only_what_settles", missing),
        Trial::ignorable_test("recipe::hostile_names_of_a_run_stay_words", hostile_run),
        Trial::ignorable_test("recipe::nothing_is_overwritten_or_changed", nothing_is_overwritten),
    ];
    for shell in ["dash", "busybox", "bash"] {
        trials.push(Trial::ignorable_test(format!("recipe::recorded_under_{shell}_and_analyzed"), move || end_to_end(shell)));
    }
    trials
}

fn has(program: &str) -> bool {
    Command::new("sh").args(["-c", &format!("command -v {program}")]).output().is_ok_and(|output| output.status.success())
}

fn made(dir: &Path, arguments: &[&str]) -> Result<PathBuf, Failed> {
    let path = dir.join("kit.sh");
    let text = path.to_string_lossy().into_owned();
    let mut all = vec!["recipe", "-o", &text];
    all.extend_from_slice(arguments);
    let output = support::tripod(&all);
    if output.status.success() { Ok(path) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned().into()) }
}

fn shell(name: &str, kit: &Path, dir: &Path, arguments: &[&str]) -> Result<Output, Failed> {
    let mut command = Command::new(name);
    if name == "busybox" {
        command.arg("sh");
    }
    if name == "bash" {
        command.arg("--posix");
    }
    Ok(command.arg(kit).args(arguments).current_dir(dir).stdin(std::process::Stdio::null()).output()?)
}

/// Both forms of the script.
fn shellcheck() -> Outcome {
    if !has("shellcheck") {
        return Ok(Completion::ignored_with("shellcheck is not installed"));
    }
    let dir = tempfile::tempdir()?;
    let whole = made(dir.path(), &["--", "./it's", "$(id)", "-x", "a\nb"])?;
    let run = support::analyze(&support::scenario("s1-unbuffered-writes"), dir.path(), &[])?;
    let part_dir = dir.path().join("part");
    std::fs::create_dir(&part_dir)?;
    let part = made(&part_dir, &["--missing", &run.to_string_lossy()])?;
    for script in [&whole, &part] {
        let output = Command::new("shellcheck").args(["-s", "sh"]).arg(script).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stdout).into_owned().into());
        }
    }
    Ok(Completion::Completed)
}

/// S1's R01 is open (testdata/labels.md): A was recorded and lies between its bounds, B is what its report asks for.
fn missing() -> Outcome {
    let dir = tempfile::tempdir()?;
    let run = support::analyze(&support::scenario("s1-unbuffered-writes"), dir.path(), &[])?;
    let script = std::fs::read_to_string(made(dir.path(), &["--missing", &run.to_string_lossy()])?)?;
    let wanted = script.lines().rfind(|line| line.starts_with("wanted=")).unwrap_or_default();
    if !wanted.contains("cycles") {
        return Err(format!("{wanted} has no cycles").into());
    }
    for part in ["cpu-dwarf", "heaptrack", "strace", "time-v", "bench"] {
        if wanted.contains(part) {
            return Err(format!("{wanted} has {part}, which would settle nothing").into());
        }
    }
    for part in
        ["#   R01 A (cpu.hot_function, open): recorded already", "#   R01 B (cpu.hot_function, open): cycles", "'{work}'", "'{variant}'"]
    {
        if !script.contains(part) {
            return Err(format!("{part} is not in the kit").into());
        }
    }
    // Nothing open: no kit.
    let clean = support::analyze(&support::scenario("s0-clean"), &dir.path().join("s0"), &[])?;
    let open = support::summary(&clean)?["hypotheses"].as_array().is_some_and(|all| {
        all.iter().any(|row| row["label"].as_str().is_some_and(|label| label.starts_with("open") || label.starts_with("DISPUTED")))
    });
    let output = support::tripod(&["recipe", "--missing", &clean.to_string_lossy()]);
    let said = String::from_utf8_lossy(&output.stderr).contains("recorded and is inconclusive");
    if !output.status.success() || (output.stdout.is_empty() == open && !said) {
        return Err(format!("open: {open}, but {} bytes were printed", output.stdout.len()).into());
    }
    Ok(Completion::Completed)
}

/// A run whose manifest names a program that would like to be more than a word: the kit made from it must give exactly
/// these words to whatever it runs. The shell that reads them says what they are.
fn hostile_run() -> Outcome {
    let dir = tempfile::tempdir()?;
    let input = dir.path().join("input");
    std::fs::create_dir(&input)?;
    let bait = dir.path().join("bait");
    let words = vec![
        "./prog'; touch bait; '".to_owned(),
        format!("$(touch {})", bait.display()),
        "`touch bait`".to_owned(),
        "two\nlines".to_owned(),
        "--yes".to_owned(),
        "\u{1b}[2J\"\\".to_owned(),
    ];
    let manifest = serde_json::json!({
        "schema": 1, "argv": words, "work": 7, "variant": "'; touch bait; '",
        "bare": {"wall_s": 5.0, "runs": [{"wall_s": 5.0, "user_s": 1.0, "sys_s": 4.0}]},
        "artifacts": [{"path": "strace-c.txt", "tool": "strace", "variant": "'; touch bait; '"}],
    });
    std::fs::write(input.join("manifest.json"), manifest.to_string())?;
    std::fs::write(input.join("strace-c.txt"), MANY_CALLS)?;
    let run = support::analyze(&input, dir.path(), &[])?;
    let kit = made(dir.path(), &["--missing", &run.to_string_lossy()])?;
    let script = std::fs::read_to_string(&kit)?;
    if script.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err("the script holds control characters of the run".into());
    }
    // The kit up to the place where it has read its program, then the words it has.
    let (head, _) = script.split_once("case ${1-} in").ok_or("the kit has changed; this test must follow it")?;
    let probe = dir.path().join("probe.sh");
    std::fs::write(&probe, format!("{head}\nfor word do printf '%s\\0' \"$word\"; done\n"))?;
    let output = shell("sh", &probe, dir.path(), &[])?;
    let read: Vec<String> = String::from_utf8(output.stdout)?.split_terminator('\0').map(str::to_owned).collect();
    if read != words {
        return Err(format!("expected {words:?}, the shell read {read:?}\n{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    if bait.exists() || dir.path().join("bait").exists() {
        return Err("a name of the run was executed".into());
    }
    Ok(Completion::Completed)
}

/// What `strace -c` prints, for 200 000 calls per second of CPU time: R29 C supports (from 100 000 on), so R29 is open.
const MANY_CALLS: &str = "% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
100.00    4.000000           4   1000000           write
------ ----------- ----------- --------- --------- ----------------
100.00    4.000000           4   1000000           total
";

fn nothing_is_overwritten() -> Outcome {
    let dir = tempfile::tempdir()?;
    let kit = made(dir.path(), &[])?;
    let again = support::tripod(&["recipe", "-o", &kit.to_string_lossy()]);
    if again.status.code() != Some(2) {
        return Err(format!("an existing file must be kept: {}", again.status).into());
    }
    let precious = dir.path().join("precious");
    std::fs::create_dir(&precious)?;
    std::fs::write(precious.join("thesis.txt"), "x")?;
    let text = precious.to_string_lossy().into_owned();
    let output = shell("sh", &kit, dir.path(), &["--only", "bare", "-o", &text, "--", "true"])?;
    if output.status.success() || std::fs::read_dir(&precious)?.count() != 1 {
        return Err("the kit wrote into a folder that existed".into());
    }
    // Nobody to ask: the answer is no, and the kit goes on without.
    let output = shell("sh", &kit, dir.path(), &["--only", "bare", "--cold", "-o", "cold", "--", "true"])?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !said.contains("no (nobody to ask") && !said.contains("--cold needs root") {
        return Err(said.into());
    }
    for (arguments, what) in
        [(&["--", "-x"][..], "must not begin with a dash"), (&["--nonsense"], "unknown option"), (&[], "which program")]
    {
        let output = shell("sh", &kit, dir.path(), arguments)?;
        if output.status.code() != Some(2) || !String::from_utf8_lossy(&output.stderr).contains(what) {
            return Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
    }
    Ok(Completion::Completed)
}

/// How many records the small program writes: known to the test, and to be found again in the tables.
const RECORDS: i64 = 200_000;
const TRACED: i64 = 300;

fn end_to_end(name: &str) -> Outcome {
    let needed = [name, "gcc", "perf", "strace"];
    if let Some(absent) = needed.iter().find(|program| !has(program)) {
        return Ok(Completion::ignored_with(format!("{absent} is not installed")));
    }
    let dir = tempfile::tempdir()?;
    let kit = made(dir.path(), &[])?;
    let source = support::testdata().join("workloads/s1.c");
    let built = Command::new("gcc").args(["-O2", "-g", "-fno-omit-frame-pointer", "-o"]).arg(dir.path().join("s1")).arg(source).status()?;
    if !built.success() {
        return Err("s1.c does not compile".into());
    }
    let (work, traced) = (RECORDS.to_string(), TRACED.to_string());
    let only = "bare time-v perf-stat cpu-fp cpu-dwarf strace-c calls rss bench symbols costs";
    let arguments =
        ["--only", only, "-o", "out", "--runs", "2", "--work", &work, "--traced-work", &traced, "--", "./s1", "unbuffered", "{work}"];
    let output = shell(name, &kit, dir.path(), &arguments)?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(said.into());
    }
    if said.contains("perf record -N -e cpu-clock --call-graph fp is refused") || said.contains("tracing is not allowed") {
        return Ok(Completion::ignored_with(format!("perf or ptrace is not allowed here: {said}")));
    }
    let run = support::analyze(&dir.path().join("out"), dir.path(), &[])?;
    judge(&dir.path().join("out"), &run).map_err(|why| format!("{why}\n{said}"))?;
    Ok(Completion::Completed)
}

fn ask(run: &Path, sql: &str) -> Result<Value, Failed> {
    let output = support::tripod(&["query", &run.to_string_lossy(), sql, "--format", "json"]);
    Ok(serde_json::from_slice(&output.stdout).map_err(|error| format!("{sql}: {error}: {}", String::from_utf8_lossy(&output.stderr)))?)
}

fn judge(folder: &Path, run: &Path) -> Result<(), String> {
    let ask = |sql: &str| ask(run, sql).map_err(|error| format!("{error:?}"));
    let errors = ask("SELECT message AS message FROM diagnostics WHERE severity = 'error'")?;
    if errors.as_array().is_none_or(|rows| !rows.is_empty()) {
        return Err(format!("diagnostics of severity error: {errors}"));
    }
    // strace counted the records of the shortened run, one write each.
    let writes = ask("SELECT calls AS calls FROM syscalls WHERE name = 'write'")?;
    if writes[0]["calls"] != TRACED {
        return Err(format!("{TRACED} writes were traced, the table has {writes}"));
    }
    let logged = ask("SELECT CAST(COUNT(line_no) AS BIGINT) AS n FROM syscall_events WHERE name = 'write'")?;
    if logged[0]["n"] != TRACED {
        return Err(format!("{TRACED} writes were logged, the table has {logged}"));
    }
    // The manifest's declarations reach the executions: the bare runs have the whole work, the traced ones less.
    let bare = ask(
        "SELECT e.work AS work, e.argv AS argv FROM executions AS e JOIN artifacts AS a ON e.artifact_id = a.artifact_id WHERE a.kind = 'manifest' AND e.user_ns IS NOT NULL",
    )?;
    let rows = bare.as_array().ok_or("no executions")?;
    if rows.len() != 3 || rows.iter().any(|row| row["work"] != RECORDS || row["argv"] != format!("./s1 unbuffered {RECORDS}")) {
        return Err(format!("three bare runs of {RECORDS} records, the table has {bare}"));
    }
    let differs = ask("SELECT kind AS kind FROM diagnostics WHERE kind LIKE 'manifest%'")?;
    if differs.as_array().is_none_or(|rows| !rows.is_empty()) {
        return Err(format!("the manifest and the folder differ: {differs}"));
    }
    for table in ["samples", "counters", "executions"] {
        let rows =
            ask(&format!("SELECT CAST(COUNT(artifact_id) AS BIGINT) AS n FROM {}", if table == "samples" { "events" } else { table }))?;
        if rows[0]["n"].as_i64().unwrap_or(0) == 0 {
            return Err(format!("the kit's recordings left {table} empty"));
        }
    }
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).map_err(|error| error.to_string())?;
    let manifest: Value = serde_json::from_str(&manifest).map_err(|error| error.to_string())?;
    if let Some(costs) = manifest["costs"].as_object() {
        // A page fault costs between a tenth of a microsecond and a millisecond on any machine.
        let fault = costs.get("page_fault_ns").and_then(Value::as_f64).unwrap_or(0.0);
        if !(100.0..1e6).contains(&fault) {
            return Err(format!("a page fault of {fault} ns"));
        }
    }
    Ok(())
}
