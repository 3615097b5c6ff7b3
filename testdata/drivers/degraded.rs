//! Folders as users bring them: most artifacts missing, one unreadable, one foreign. Each gives a useful table, exits 0,
//! names what it cannot know, calls nothing discarded that is merely unmeasured, and says what to record next.

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("degraded::only_perf_data", only_perf_data),
        Trial::ignorable_test("degraded::only_strace_summary", only_strace_summary),
        Trial::ignorable_test("degraded::no_manifest", no_manifest),
        Trial::ignorable_test("degraded::system_wide", system_wide),
        Trial::ignorable_test("degraded::broken_files", broken_files),
        Trial::ignorable_test("degraded::nothing_readable", nothing_readable),
    ]
}

struct Report {
    summary: Value,
    terminal: String,
    hotspots: String,
    _scratch: tempfile::TempDir,
}

fn report(input: &std::path::Path) -> Result<Report, Failed> {
    let scratch = tempfile::tempdir()?;
    let out = scratch.path().join("run");
    let symbols = support::symbols();
    let output =
        support::tripod(&["analyze", &input.to_string_lossy(), "-o", &out.to_string_lossy(), "--symbol-dir", &symbols.to_string_lossy()]);
    if output.status.code() != Some(0) {
        return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(Report {
        summary: support::summary(&out)?,
        terminal: String::from_utf8_lossy(&output.stdout).into_owned(),
        hotspots: std::fs::read_to_string(out.join("hotspot_table.md"))?,
        _scratch: scratch,
    })
}

/// What holds for every degraded folder.
fn honest(report: &Report) -> Result<(), Failed> {
    for row in report.summary["hypotheses"].as_array().into_iter().flatten() {
        let (label, open) = (row["label"].as_str().unwrap_or_default(), row["not_measured"].as_i64().unwrap_or(0));
        if matches!(label, "discarded") && open > 0 {
            return Err(format!("{} is called {label} with {open} angles not measured", row["id"]).into());
        }
        if label == "KERNEL" {
            return Err(format!("{} is KERNEL", row["id"]).into());
        }
    }
    if report.summary["record_next"]["commands"].as_array().is_none_or(Vec::is_empty) {
        return Err("nothing is proposed to record next".into());
    }
    Ok(())
}

fn contains(text: &str, what: &str) -> Result<(), Failed> {
    if text.contains(what) { Ok(()) } else { Err(format!("{what:?} is not in:\n{text}").into()) }
}

fn base() -> Result<std::path::PathBuf, Completion> {
    let input = support::scenario("s1-unbuffered-writes");
    if input.is_dir() { Ok(input) } else { Err(Completion::ignored_with("s1-unbuffered-writes was not recorded")) }
}

fn only_perf_data() -> Outcome {
    let input = match base() {
        Ok(input) => input,
        Err(ignored) => return Ok(ignored),
    };
    let dir = support::linked(&input, &|name| name == "cpu-fp.perf.data.zst")?;
    let report = report(dir.path())?;
    honest(&report)?;
    contains(&report.hotspots, "write path")?;
    contains(&report.hotspots.lines().next().unwrap_or_default().to_lowercase(), "unknown")?;
    Ok(Completion::Completed)
}

fn only_strace_summary() -> Outcome {
    let input = match base() {
        Ok(input) => input,
        Err(ignored) => return Ok(ignored),
    };
    let dir = support::linked(&input, &|name| name == "strace-c.txt")?;
    let report = report(dir.path())?;
    honest(&report)?;
    // Whether the seconds are CPU or wall time stands nowhere in the file.
    contains(&report.summary["quality"].to_string(), "Q20")?;
    Ok(Completion::Completed)
}

fn no_manifest() -> Outcome {
    let input = match base() {
        Ok(input) => input,
        Err(ignored) => return Ok(ignored),
    };
    let dir = support::linked(&input, &|name| name.starts_with("heaptrack") || name == "cpu-dwarf.perf.data.zst")?;
    let report = report(dir.path())?;
    honest(&report)?;
    contains(&report.hotspots, "emit_record")?;
    Ok(Completion::Completed)
}

fn system_wide() -> Outcome {
    let input = support::scenario("system-wide");
    if !input.is_dir() {
        return Ok(Completion::ignored_with("no system-wide recording"));
    }
    let dir = support::linked(&input, &|name| name.ends_with("perf.data.zst"))?;
    let report = report(dir.path())?;
    honest(&report)?;
    let target = report.summary["target"].as_str().unwrap_or_default().to_owned();
    contains(&target, "(")?;
    contains(&report.terminal, target.split(' ').next().unwrap_or_default())?;
    Ok(Completion::Completed)
}

fn broken_files() -> Outcome {
    let input = match base() {
        Ok(input) => input,
        Err(ignored) => return Ok(ignored),
    };
    let dir = support::linked(&input, &|name| name == "cpu-fp.perf.data.zst" || name == "time-v.txt")?;
    let whole = std::fs::read(input.join("cpu-dwarf.perf.data.zst"))?;
    std::fs::write(dir.path().join("cut.zst"), &whole[..whole.len() / 2])?;
    std::fs::write(dir.path().join("foreign.bin"), b"\x89PNG\r\n\x1a\nnot a profile")?;
    std::os::unix::fs::symlink("/nonexistent/file", dir.path().join("gone"))?;
    std::fs::write(dir.path().join("empty"), b"")?;
    let report = report(dir.path())?;
    honest(&report)?;
    let all = report.summary["diagnostics"].to_string();
    for name in ["cut.zst", "foreign.bin", "empty"] {
        contains(&all, name)?;
    }
    contains(&report.hotspots, "write path")?;
    Ok(Completion::Completed)
}

fn nothing_readable() -> Outcome {
    let dir = tempfile::tempdir()?;
    std::fs::write(dir.path().join("foreign.bin"), b"\x89PNG\r\n\x1a\n")?;
    let output = support::tripod(&["analyze", &dir.path().to_string_lossy(), "-o", &dir.path().join("run").to_string_lossy()]);
    if output.status.code() != Some(3) || dir.path().join("run").exists() {
        return Err(format!("exit {:?}, expected 3 and no run directory", output.status.code()).into());
    }
    contains(&String::from_utf8_lossy(&output.stderr), "foreign.bin")?;
    Ok(Completion::Completed)
}
