//! Alternates and limits that no recorded scenario reaches: small folders, written here or linked from a scenario, in
//! which one artifact decides. Expected verdicts follow from the thresholds of rules.md and the numbers beside each text.

use std::path::Path;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("alternates::benchmark_of_the_function", benchmark_of_the_function),
        Trial::ignorable_test("alternates::repaired_partners", repaired_partners),
        Trial::ignorable_test("alternates::writes_to_who_knows_what", writes_to_who_knows_what),
        Trial::ignorable_test("alternates::twins_are_not_the_run", twins_are_not_the_run),
        Trial::ignorable_test("alternates::time_v_values_stand_in_their_lines", time_v_values_stand_in_their_lines),
    ]
}

/// GNU time 1.9 with -v, the lines that are read.
fn time_v(user: &str, system: &str, wall: &str, voluntary: i64) -> String {
    format!(
        "\tCommand being timed: \"./p\"\n\tUser time (seconds): {user}\n\tSystem time (seconds): {system}\n\tElapsed (wall clock) time (h:mm:ss or m:ss): {wall}\n\tMaximum resident set size (kbytes): 3000\n\tMinor (reclaiming a frame) page faults: 120\n\tVoluntary context switches: {voluntary}\n\tExit status: 0\n"
    )
}

/// hyperfine 1.15 with one parameter, five repetitions of each command.
fn bench(parameter: &str, commands: &[(&str, f64)]) -> String {
    let one = |(value, wall): &(&str, f64)| {
        format!(
            r#"{{"command": "./p {value}", "mean": {wall}, "times": [{wall}, {wall}, {wall}, {wall}, {wall}], "exit_codes": [0, 0, 0, 0, 0], "parameters": {{"{parameter}": "{value}"}}}}"#
        )
    };
    format!(r#"{{"results": [{}]}}"#, commands.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn write(dir: &Path, files: &[(&str, String)]) -> Result<(), Failed> {
    for (name, text) in files {
        std::fs::write(dir.join(name), text)?;
    }
    Ok(())
}

fn summary(input: &Path) -> Result<Value, Failed> {
    let scratch = tempfile::tempdir()?;
    support::summary(&support::analyze(input, scratch.path(), &[])?)
}

fn hypothesis<'a>(summary: &'a Value, id: &str) -> &'a Value {
    summary["hypotheses"].as_array().into_iter().flatten().find(|row| row["id"] == id).unwrap_or(&Value::Null)
}

fn expect(slot: &Value, key: &str, wanted: &str) -> Result<(), Failed> {
    if slot[key].as_str().is_some_and(|found| found.contains(wanted)) {
        Ok(())
    } else {
        Err(format!("{key} has no {wanted:?}: {slot}").into())
    }
}

fn scenario(name: &str) -> Result<std::path::PathBuf, Completion> {
    let input = support::scenario(name);
    if input.is_dir() { Ok(input) } else { Err(Completion::ignored_with(format!("{name} was not recorded"))) }
}

/// R01 D: 2 s of benchmark of a bare run of 5 s are 40 %; 0.05 s are 1 %, below the reject bound of 2 %.
fn benchmark_of_the_function() -> Outcome {
    let input = match scenario("s3-allocator-churn") {
        Ok(input) => input,
        Err(ignored) => return Ok(ignored),
    };
    for (wall, verdict) in [(2.0, "supports"), (0.05, "rejects")] {
        // Blocked time by another tool fills C, so that D may stand for B.
        let dir = support::linked(&input, &|name| name == "cpu-dwarf.perf.data.zst" || name.starts_with("offcpu"))?;
        write(
            dir.path(),
            &[("time.txt", time_v("4.80", "0.10", "0:05.00", 3)), ("function.json", bench("function", &[("new_node", wall)]))],
        )?;
        let summary = summary(dir.path())?;
        let slot = &hypothesis(&summary, "R01")["slots"]["D"];
        expect(slot, "verdict", verdict)?;
        expect(slot, "artifact", "function.json")?;
        expect(slot, "evidence", "function.json#ptr=/results/0/times/0")?;
    }
    Ok(Completion::Completed)
}

/// R13, R18 and R25 C: the same work with the fault switched off takes 1 s of 5 s, or no less.
fn repaired_partners() -> Outcome {
    for (id, variant) in [("R13", "log-off"), ("R25", "buffered"), ("R18", "jemalloc")] {
        for (wall, verdict) in [(1.0, "supports"), (5.0, "rejects")] {
            let dir = tempfile::tempdir()?;
            write(dir.path(), &[("bench.json", bench("variant", &[("plain", 5.0), (variant, wall)]))])?;
            let summary = summary(dir.path())?;
            let slot = &hypothesis(&summary, id)["slots"]["C"];
            expect(slot, "verdict", verdict)?;
            expect(slot, "artifact", "bench.json")?;
        }
        // Another variant is nobody's repair.
        let dir = tempfile::tempdir()?;
        write(dir.path(), &[("bench.json", bench("variant", &[("plain", 5.0), ("other", 1.0)]))])?;
        expect(&hypothesis(&summary(dir.path())?, id)["slots"]["C"], "verdict", "not measured")?;
    }
    Ok(Completion::Completed)
}

/// R25 A: 200,000 writes of 6 bytes in 5 s. Where each is answered by a switch and nothing says what the descriptor is, it
/// may be a pipe; where strace -y says that it is a file, or hardly anything switches, it counts.
fn writes_to_who_knows_what() -> Outcome {
    let calls = |fd: &str| {
        let call = |n: usize| format!("7 {}.{:06} write({fd}, \"rec 0\\n\", 6) = 6 <0.000010>\n", 1000 + n / 100, n % 100 * 1000);
        (0..40).map(call).collect::<String>()
    };
    let counts = "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n100.00    1.000000           5    200000           write\n------ ----------- ----------- --------- --------- ----------------\n100.00    1.000000                200000           total\n";
    for (fd, switches, verdict) in [
        ("3", 200_000, "not measured"),
        ("3", 20, "supports"),
        ("3</tmp/out.txt>", 200_000, "supports"),
        ("3<pipe:[77]>", 20, "not measured"),
    ] {
        let dir = tempfile::tempdir()?;
        let files = [("time.txt", time_v("1.00", "3.90", "0:05.00", switches)), ("c.txt", counts.to_owned()), ("calls.strace", calls(fd))];
        write(dir.path(), &files)?;
        let summary = summary(dir.path())?;
        let slot = &hypothesis(&summary, "R25")["slots"]["A"];
        expect(slot, "verdict", verdict).map_err(|error| format!("fd {fd}, {switches} switches: {error:?}"))?;
    }
    Ok(Completion::Completed)
}

/// A manifest tells bare runs of shortened work for the traced artifacts: they stand beside those only, never for the run.
fn twins_are_not_the_run() -> Outcome {
    let manifest = r#"{"schema": 1, "argv": ["./p", "1000"], "work": 1000, "artifacts": [
        {"path": "a.strace", "command": "strace -f -o a.strace ./other 7", "tool": "strace", "wall_s": 90.0, "bare_wall_s": 60.0, "work": 7},
        {"path": "c.txt", "command": "strace -f -c -o c.txt ./p 100", "tool": "strace", "wall_s": 2.0, "bare_wall_s": 0.5, "work": 100},
        {"path": "time.txt", "command": "/usr/bin/time -v -o time.txt ./p 1000", "tool": "time", "wall_s": 5.0, "work": 1000},
        {"path": "d.strace", "command": "strace -f -o d.strace ./p 1000", "tool": "strace", "wall_s": 5.5, "work": 1000}]}"#;
    let counts = "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n100.00    1.000000           5    200000           write\n------ ----------- ----------- --------- --------- ----------------\n100.00    1.000000                200000           total\n";
    let call = "7 1000.000001 write(3, \"rec 0\\n\", 6) = 6 <0.000026>\n7 1000.000101 write(3, \"rec 1\\n\", 6) = 6 <0.000012>\n";
    let report = time_v("1.00", "3.90", "0:05.00", 3).replace("\"./p\"", "\"./p 1000\"");
    for with_time in [true, false] {
        let dir = tempfile::tempdir()?;
        write(dir.path(), &[("manifest.json", manifest.to_owned()), ("c.txt", counts.to_owned()), ("d.strace", call.to_owned())])?;
        write(dir.path(), &[("a.strace", call.replace("rec", "other"))])?;
        if with_time {
            write(dir.path(), &[("time.txt", report.clone())])?;
        }
        let scratch = tempfile::tempdir()?;
        let run = support::analyze(dir.path(), scratch.path(), &[])?;
        let summary = support::summary(&run)?;
        let rows = summary["quality"]["checks"].as_array().into_iter().flatten();
        let slowdown = rows.filter(|row| row["check"] == "Q21" && row["artifact"] == "c.txt").find_map(|row| row["value"].as_f64());
        // 2.0 s under strace for what takes 0.5 s without it.
        if slowdown != Some(4.0) {
            return Err(
                format!("with time {with_time}: c.txt was slowed down {slowdown:?} times, expected 4: {}", summary["quality"]).into()
            );
        }
    }
    Ok(Completion::Completed)
}

/// Every number of a time -v report is shown with the line it stands in.
fn time_v_values_stand_in_their_lines() -> Outcome {
    let dir = tempfile::tempdir()?;
    write(dir.path(), &[("time.txt", time_v("1.00", "3.90", "0:05.00", 3))])?;
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(dir.path(), scratch.path(), &[])?;
    let sql = "SELECT DISTINCT value AS value, anchor AS anchor FROM evidence ORDER BY anchor NULLS LAST";
    let answer = support::tripod(&["query", &run.to_string_lossy(), sql, "--format", "csv"]);
    let found = String::from_utf8_lossy(&answer.stdout).into_owned();
    // Lines counted in the text above: user 2, system 3, wall 4, faults 6.
    for row in ["1000000000,time.txt#L=2", "3900000000,time.txt#L=3", "5000000000,time.txt#L=4", "120,time.txt#L=6"] {
        if !found.lines().any(|line| line == row) {
            return Err(format!("{row} is not in\n{found}").into());
        }
    }
    if found.contains("sum=executions") { Err(format!("a text has lines:\n{found}").into()) } else { Ok(Completion::Completed) }
}
