//! Hypotheses are data: one more is one more file, and what it says decides alone.

use std::path::Path;

use libtest_mimic::{Completion, Failed, Trial};

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("own_rules::one_file_is_a_hypothesis", one_file),
        Trial::ignorable_test("own_rules::a_veto_and_a_preview", veto_and_preview),
        Trial::ignorable_test("own_rules::thresholds_come_from_the_files", thresholds_come_from_the_files),
    ]
}

/// 30 s of 100 s are system time: a share of 0.3.
const TIME_V: &str = "\tCommand being timed: \"./p\"\n\tUser time (seconds): 70.00\n\tSystem time (seconds): 30.00\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:40.00\n\tMaximum resident set size (kbytes): 3000\n\tMinor (reclaiming a frame) page faults: 120\n\tVoluntary context switches: 3\n\tInvoluntary context switches: 40\n\tExit status: 0\n";

/// One system call, of a run that may have been the same.
const STRACE_C: &str = "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n100.00    1.000000           5    200000           write\n------ ----------- ----------- --------- --------- ----------------\n100.00    1.000000                200000           total\n";

/// One software counter of perf stat.
const PERF_STAT: &str = "{\"counter-value\" : \"80.000000\", \"unit\" : \"\", \"event\" : \"page-faults\", \"event-runtime\" : 3739377, \"pcnt-running\" : 100.00, \"metric-value\" : 21.0, \"metric-unit\" : \"K/sec\"}\n";

/// A hypothesis that no built-in one knows: the system share of time -v; with `three`, angles B and C read the other two
/// files and say 90 %.
fn hypothesis(id: &str, support: &str, more: &str, three: bool) -> String {
    let head = format!(
        "-- id: {id}\n-- name: own.share\n-- claim: A test.\n-- category: System\n-- scope: run\n-- resource: cpu\n-- cost: A.share\n-- effort: 1\n-- advice: None.\n-- false_positives: None.\n{more}-- since: 0.1\n"
    );
    let slot = |letter: &str, lineage: &str, needs: &str, numbers: &str| {
        format!(
            "--\n-- slot: {letter}\n-- alternate: one\n{lineage}\n-- metric: share unit=share reject=0.1 support={support} saturate=0.95 scale=linear interval=accounting min_n=0 basis=count source=house:\"a test\"\n-- needs: {needs}\n-- evidence: {{percent}}\n-- record: a tool {{argv}}\nSELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'share' AS metric, {numbers}\n"
        )
    };
    let none = "counters where event = 'none'";
    let nine = "CAST(9 AS BIGINT) AS part, CAST(10 AS BIGINT) AS whole, CAST(1 AS BIGINT) AS n";
    let times = "system_ns AS part, user_ns + system_ns AS whole, CAST(1 AS BIGINT) AS n, '@system_ns' AS part_anchor FROM executions WHERE system_ns IS NOT NULL";
    let (calls, faults) = if three { ("syscalls", "counters where event = 'page-faults'") } else { (none, none) };
    [
        head,
        slot("A", "-- mechanism: M9\n-- probe: cputime", "executions where system_ns IS NOT NULL", times),
        slot("B", "-- mechanism: M5\n-- probe: ptrace_stop", calls, &format!("{nine} FROM syscalls")),
        slot("C", "-- mechanism: M10\n-- probe: sw_count", faults, &format!("{nine} FROM counters WHERE event = 'page-faults'")),
    ]
    .concat()
}

fn analyze(rules: &[(&str, String)]) -> Result<tripod::emit::Run, Failed> {
    let dir = tempfile::tempdir()?;
    let (input, own) = (dir.path().join("input"), dir.path().join("rules"));
    for folder in [&input, &own] {
        std::fs::create_dir_all(folder)?;
    }
    for (file, text) in [("time.txt", TIME_V), ("c.txt", STRACE_C), ("stat.json", PERF_STAT)] {
        std::fs::write(input.join(file), text)?;
    }
    for (file, text) in rules {
        std::fs::write(own.join(file), text)?;
    }
    let request = tripod::AnalyzeRequest { paths: vec![input], rules: vec![own], ..tripod::AnalyzeRequest::default() };
    Ok(tripod::analyze(&request)?)
}

/// Verdict of slot A.
fn verdict<'r>(run: &'r tripod::emit::Run, id: &str) -> Result<&'r str, Failed> {
    let row = run.tables.readings.iter().find(|row| *row.hypothesis == *id && &*row.slot == "A" && &*row.role == "primary");
    row.map(|row| &*row.verdict).ok_or_else(|| format!("{id} has no reading").into())
}

fn expect(found: &str, wanted: &str) -> Result<(), Failed> {
    if found == wanted { Ok(()) } else { Err(format!("expected {wanted}, found {found}").into()) }
}

/// No line of Rust, no line of any other file: the file is the hypothesis, and its threshold is reported with its source.
fn one_file() -> Outcome {
    let status = "-- status: stable\n";
    for (support, wanted) in [("0.29", "supports"), ("0.31", "not measured")] {
        let run = analyze(&[("X01.sql", hypothesis("X01", support, status, false))])?;
        expect(verdict(&run, "X01")?, wanted)?;
        let threshold = run.tables.thresholds.iter().find(|row| &*row.hypothesis == "X01").ok_or("no threshold")?;
        expect(&format!("{} {} {}", threshold.support, threshold.source_kind, threshold.source), &format!("{support} house a test"))?;
        let evidence = run.tables.evidence.iter().find(|row| &*row.hypothesis == "X01").ok_or("no evidence")?;
        // The third line of the text above.
        expect(&evidence.anchor, "time.txt#L=3")?;
    }
    Ok(Completion::Completed)
}

fn row<'r>(run: &'r tripod::emit::Run, id: &str) -> Result<&'r tripod::tables::Hypothesis, Failed> {
    run.tables.hypotheses.iter().find(|row| *row.hypothesis == *id).ok_or_else(|| format!("{id} has no row").into())
}

/// Three KERNELs from the same numbers: one that vetoes another, and a preview that would.
fn veto_and_preview() -> Outcome {
    let rule = |id: &str, more: &str| hypothesis(id, "0.2", more, true);
    let run = analyze(&[
        ("X02.sql", rule("X02", "-- vetoes: X03\n-- status: stable\n")),
        ("X03.sql", rule("X03", "-- vetoes: X02, X05\n-- status: preview\n")),
        ("X05.sql", rule("X05", "-- status: stable\n")),
        ("X06.sql", rule("X06", "-- vetoes: X05\n-- status: stable\n")),
    ])?;
    for id in ["X02", "X03", "X05", "X06"] {
        expect(&row(&run, id)?.label, "KERNEL")?;
    }
    let free = row(&run, "X02")?;
    if free.explained_by.is_some() || free.charged_share.is_none() || free.status.as_deref() != Some("stable") {
        return Err(format!("a preview vetoes nobody: {free:?}").into());
    }
    let preview = row(&run, "X03")?;
    if preview.handed_off || preview.charged_share.is_some() || preview.status.as_deref() != Some("preview") {
        return Err(format!("a preview is shown, charges nothing and is not handed off: {preview:?}").into());
    }
    let vetoed = row(&run, "X05")?;
    if vetoed.handed_off || vetoed.explained_by.as_deref() != Some("X06") || vetoed.charged_share != Some(0.0) {
        return Err(format!("what is vetoed is charged nothing: {vetoed:?}").into());
    }
    if !vetoed.note.as_deref().is_some_and(|note| note.contains("vetoed by X06")) {
        return Err(format!("the note says so: {vetoed:?}").into());
    }
    let error = analyze(&[("X04.sql", hypothesis("X04", "0.2", "-- status: finished\n", false))]).err().ok_or("no error")?;
    let message = error.message().unwrap_or_default().to_owned();
    if !message.contains("X04.sql: line 11, key status: expected stable or preview, found finished") {
        return Err(message.into());
    }
    Ok(Completion::Completed)
}

/// Another threshold for a built-in hypothesis, given as a file, changes its verdict: Rust holds none of its own.
fn thresholds_come_from_the_files() -> Outcome {
    let path = support::project().join("queries/hypotheses/R29_sys_kernel_time.sql");
    let text = std::fs::read_to_string(path)?;
    let line = |text: &str| text.lines().find(|line| line.contains("metric: system_share")).map(str::to_owned);
    let metric = line(&text).ok_or("R29 A has another metric")?;
    let with = |support: &str| text.replacen(&metric, &replaced(&metric, support), 1);
    // The accounting slack of 2 % lies between: 0.3 * 0.98 = 0.294.
    for (support, wanted) in [("0.29", "supports"), ("0.295", "not measured")] {
        let run = analyze(&[("R29.sql", with(support))])?;
        expect(verdict(&run, "R29")?, wanted).map_err(|error| format!("support {support}: {}", error.message().unwrap_or_default()))?;
    }
    check_sources(Path::new("queries/hypotheses"))
}

fn replaced(metric: &str, support: &str) -> String {
    let words: Vec<String> =
        metric.split(' ').map(|word| if word.starts_with("support=") { format!("support={support}") } else { word.to_owned() }).collect();
    words.join(" ")
}

/// Every threshold of every file says where it comes from; a house threshold says so.
fn check_sources(dir: &Path) -> Outcome {
    let mut wrong = Vec::new();
    for path in support::list(&support::project().join(dir)) {
        for line in std::fs::read_to_string(&path)?.lines().filter(|line| line.starts_with("-- metric:")) {
            let source = line.split_once("source=").map_or("", |(_, source)| source);
            let (kind, reference) = source.split_once(':').unwrap_or_default();
            if !["tool", "paper", "doc", "measured", "house"].contains(&kind) || reference.trim_matches('"').len() < 10 {
                wrong.push(format!("{}: {line}", path.display()));
            }
        }
    }
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}
