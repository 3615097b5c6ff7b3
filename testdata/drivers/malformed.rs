//! Broken and hostile inputs (testdata/malformed, listed in testdata/README.md): each ends with the exit code and the
//! message that the list promises, nothing else in the folder is lost, and no name in them reaches a terminal, a table or
//! a picture as more than a name.

use std::path::Path;
use std::process::Output;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;

use crate::support::{self, Outcome};

/// A row of the list.
#[derive(Debug, Clone)]
struct Case {
    file: String,
    code: i32,
    says: String,
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(support::testdata().join("README.md")).unwrap_or_default();
    let case = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [file, _, code, says] = cells[..] else { return None };
        let file = file.trim_matches('`').strip_prefix("malformed/")?;
        Some(Case { file: file.to_owned(), code: code.parse().ok()?, says: says.to_owned() })
    };
    text.lines().filter(|line| line.starts_with("| `malformed/")).filter_map(case).collect()
}

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> =
        cases().into_iter().map(|case| Trial::ignorable_test(format!("malformed::{}", case.file), move || alone(&case))).collect();
    trials.push(Trial::ignorable_test("malformed::all_beside_a_whole_report", beside_a_whole_report));
    trials.push(Trial::ignorable_test("malformed::hostile_file_names", hostile_file_names));
    trials.push(Trial::ignorable_test("malformed::written_by_the_script", written_by_the_script));
    trials
}

/// What GNU time 1.9 prints with -v, shortened.
const WHOLE: &str = "\tCommand being timed: \"./whole 1\"\n\tUser time (seconds): 1.00\n\tSystem time (seconds): 3.00\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:05.00\n\tMaximum resident set size (kbytes): 3000\n\tExit status: 0\n";

fn analyze(input: &Path, out: &Path) -> Output {
    support::tripod(&["analyze", &input.to_string_lossy(), "-o", &out.to_string_lossy()])
}

fn fail(what: &str, output: &Output) -> Failed {
    format!("{what}: {}\n{}\n{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)).into()
}

/// Escape sequences, carriage returns and the like; line feeds and tabs lay the text out.
fn controls(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).chars().any(|c| c.is_control() && c != '\n' && c != '\t')
}

/// Nothing that was printed or written does more than show a name.
fn harmless(output: &Output, run: &Path) -> Result<(), Failed> {
    if controls(&output.stdout) || controls(&output.stderr) {
        return Err(fail("control characters on the terminal", output));
    }
    for path in support::walk(run) {
        let extension = path.extension().map_or_else(String::new, |extension| extension.to_string_lossy().into_owned());
        if !matches!(extension.as_str(), "md" | "svg" | "json") {
            continue;
        }
        let bytes = std::fs::read(&path)?;
        let text = String::from_utf8(bytes)?;
        if controls(text.as_bytes()) {
            return Err(format!("control characters in {}", path.display()).into());
        }
        if extension != "json" && (text.contains("<script>alert") || text.contains("<b>")) {
            return Err(format!("a name is markup in {}", path.display()).into());
        }
        // A pipe that is no border would shift the cells behind it.
        let lines: Vec<&str> = if extension == "md" { text.lines().collect() } else { Vec::new() };
        for table in lines.split(|line| !line.starts_with('|')) {
            let borders = |line: &&str| line.matches('|').count();
            if let Some(row) = table.iter().find(|line| Some(borders(line)) != table.first().map(borders)) {
                return Err(format!("{}: a row with other borders than its table: {row}", path.display()).into());
            }
        }
    }
    Ok(())
}

fn diagnostics(summary: &Value, file: &str) -> Vec<Value> {
    let rows = summary["diagnostics"]["kinds"].as_array().into_iter().flatten();
    rows.filter(|row| row["artifact"] == file).cloned().collect()
}

fn alone(case: &Case) -> Outcome {
    let scratch = tempfile::tempdir()?;
    let (input, run) = (support::testdata().join("malformed").join(&case.file), scratch.path().join("run"));
    let output = analyze(&input, &run);
    if output.status.code() != Some(case.code) {
        return Err(fail(&format!("expected exit code {}", case.code), &output));
    }
    harmless(&output, &run)?;
    if case.code == 3 {
        let said = String::from_utf8_lossy(&output.stderr);
        // File, what was expected or found, what to do: one message, no run directory.
        let complete = said.contains(&case.file) && said.contains(&case.says) && said.contains("tripod formats");
        if !complete || said.lines().count() != 1 || run.exists() {
            return Err(fail(&format!("expected one message with {:?}", case.says), &output));
        }
        return Ok(Completion::Completed);
    }
    let found = diagnostics(&support::summary(&run)?, &case.file);
    if case.says == "-" {
        let lost: Vec<_> = found.iter().filter(|row| row["severity"] != "info").collect();
        return if lost.is_empty() { Ok(Completion::Completed) } else { Err(format!("nothing should be lost: {lost:?}").into()) };
    }
    let Some(row) = found.iter().find(|row| row["kind"] == case.says.as_str()) else {
        return Err(format!("no diagnostic {}: {found:?}", case.says).into());
    };
    let empty = |key: &str| row[key].as_str().is_none_or(str::is_empty);
    if empty("message") || empty("advice") { Err(format!("no message or no advice: {row}").into()) } else { Ok(Completion::Completed) }
}

/// One folder with all of them: the whole report is read, every broken file is named once with its loss.
fn beside_a_whole_report() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let (input, run) = (scratch.path().join("in"), scratch.path().join("run"));
    std::fs::create_dir(&input)?;
    for case in cases() {
        std::fs::copy(support::testdata().join("malformed").join(&case.file), input.join(&case.file))?;
    }
    std::fs::write(input.join("whole.txt"), WHOLE)?;
    let output = analyze(&input, &run);
    if output.status.code() != Some(0) {
        return Err(fail("expected exit code 0", &output));
    }
    harmless(&output, &run)?;
    let run_text = run.to_string_lossy().into_owned();
    let sql = "SELECT e.wall_ns AS wall_ns, e.max_rss_bytes AS max_rss_bytes FROM executions AS e JOIN artifacts AS a ON e.artifact_id = a.artifact_id WHERE a.path = 'whole.txt'";
    let answer = support::tripod(&["query", &run_text, sql, "--format", "csv"]);
    // 0:05.00 and 3000 kbytes of 1024 bytes.
    if String::from_utf8_lossy(&answer.stdout) != "wall_ns,max_rss_bytes\n5000000000,3072000\n" {
        return Err(fail("the whole report was not read", &answer));
    }
    let sql = "SELECT a.path AS path, d.kind AS kind FROM diagnostics AS d JOIN artifacts AS a ON d.artifact_id = a.artifact_id";
    let answer = support::tripod(&["query", &run_text, sql, "--format", "csv"]);
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    let wrong: Vec<String> = cases()
        .into_iter()
        .filter(|case| case.says != "-")
        .map(|case| if case.code == 3 { format!("{},", case.file) } else { format!("{},{}\n", case.file, case.says) })
        .filter(|row| !said.contains(row.as_str()))
        .collect();
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(format!("not said: {wrong:?}\n{said}").into()) }
}

/// The names of files are no more to be trusted than what is in them.
fn hostile_file_names() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let (input, run) = (scratch.path().join("in"), scratch.path().join("run"));
    std::fs::create_dir(&input)?;
    let names = ["a\u{1b}[2J|`<script>alert(1)<`script>.txt", "'; DROP TABLE artifacts; --.txt", "#L=1&sum=x.y\n.txt"];
    for name in names {
        std::fs::write(input.join(name), WHOLE.replace("5.00", &format!("5.{}0", name.len() % 10)))?;
    }
    std::fs::write(input.join("foreign\u{7}\r.bin"), b"\x89PNG\r\n")?;
    let output = analyze(&input, &run);
    if output.status.code() != Some(0) {
        return Err(fail("expected exit code 0", &output));
    }
    harmless(&output, &run)?;
    let only = scratch.path().join("only");
    let output = analyze(&input.join("foreign\u{7}\r.bin"), &only);
    if output.status.code() != Some(3) {
        return Err(fail("expected exit code 3", &output));
    }
    harmless(&output, &only)?;
    Ok(Completion::Completed)
}

/// The folder holds what the script writes, byte for byte.
fn written_by_the_script() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let script = support::testdata().join("malformed.py");
    let output = match std::process::Command::new("python3").arg(script).arg(scratch.path()).output() {
        Ok(output) => output,
        Err(error) => return Ok(Completion::ignored_with(format!("python3: {error}"))),
    };
    if !output.status.success() {
        return Err(fail("malformed.py", &output));
    }
    let read = |dir: &Path| -> Result<Vec<(String, Vec<u8>)>, Failed> {
        let file = |path: std::path::PathBuf| Ok((path.strip_prefix(dir)?.to_string_lossy().into_owned(), std::fs::read(&path)?));
        support::walk(dir).into_iter().map(file).collect()
    };
    let (made, kept) = (read(scratch.path())?, read(&support::testdata().join("malformed"))?);
    let differ: Vec<&String> = made
        .iter()
        .filter(|file| !kept.contains(file))
        .chain(kept.iter().filter(|file| !made.contains(file)))
        .map(|(name, _)| name)
        .collect();
    if differ.is_empty() { Ok(Completion::Completed) } else { Err(format!("differ: {differ:?}").into()) }
}
