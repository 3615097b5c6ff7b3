//! `tripod verify`: every recording is confirmed, and every tampering is found, in its place.
//!
//! What is tampered with is a copy: one number in a text for people, one line, count or byte of an artifact, one cell of a
//! table. The message must name the place, which the test finds by itself.

use std::path::{Path, PathBuf};
use std::process::Output;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::{self, Outcome};

/// What the tamperings are made on: it has every kind of artifact.
const SCENE: &str = "s1-unbuffered-writes";

type Tamper = fn(&Scene) -> Result<Vec<String>, Failed>;

/// Each gives what the message must say.
const TAMPERS: &[(&str, Tamper)] = &[
    ("hotspot_value", hotspot_value),
    ("hotspot_wall_line", hotspot_wall_line),
    ("hypothesis_value", hypothesis_value),
    ("hypothesis_cost", hypothesis_cost),
    ("quality_value", quality_value),
    ("other_markdown", other_markdown),
    ("strace_line_removed", strace_line_removed),
    ("strace_count", strace_count),
    ("perf_byte", perf_byte),
    ("artifact_missing", artifact_missing),
    ("artifact_added", artifact_added),
    ("table_cell", table_cell),
    ("table_missing", table_missing),
    ("evidence_anchor", evidence_anchor),
    ("summary_label", summary_label),
    ("flame", flame),
    ("query", query),
    ("manifest", manifest),
    ("artifact_of_another_run", artifact_of_another_run),
];

/// Found by the re-read alone although the list of hashes was made to fit.
const FORGERIES: &[(&str, Tamper)] = &[("strace_count", strace_count), ("perf_byte", perf_byte), ("heaptrack_line", heaptrack_line)];

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = support::scenarios()
        .into_iter()
        .map(|name| Trial::ignorable_test(format!("verify::confirms::{name}"), move || confirms(&name)))
        .collect();
    trials.extend(TAMPERS.iter().map(|(name, tamper)| Trial::ignorable_test(format!("verify::finds::{name}"), || finds(*tamper))));
    trials.extend(FORGERIES.iter().map(|(name, tamper)| Trial::ignorable_test(format!("verify::rereads::{name}"), || rereads(*tamper))));
    trials.push(Trial::ignorable_test("verify::recordings_that_moved", moved));
    trials.push(Trial::ignorable_test("verify::exit_codes", exit_codes));
    trials
}

fn verify(run: &Path, more: &[&str]) -> Output {
    let run = run.to_string_lossy();
    let mut arguments = vec!["verify", &*run];
    arguments.extend_from_slice(more);
    support::tripod(&arguments)
}

fn expect(output: &Output, code: i32, says: &[String]) -> Outcome {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let missing: Vec<&String> = says.iter().filter(|what| !text.contains(what.as_str())).collect();
    if output.status.code() == Some(code) && missing.is_empty() {
        return Ok(Completion::Completed);
    }
    Err(format!("expected exit code {code} and {missing:?}, got {}\n{text}", output.status).into())
}

fn confirms(name: &str) -> Outcome {
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(&support::scenario(name), scratch.path(), &[])?;
    let output = verify(&run, &["--format", "json"]);
    expect(&output, 0, &[])?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let parts = report["parts"].as_array().ok_or("no parts")?;
    let n = |part: usize, what: &str| parts[part]["counts"][what].as_u64().unwrap_or(0);
    // The sum of weights by perf's own records, at least, is found in the file; places on stacks only in the tables.
    if n(1, "anchors_file") == 0 || n(1, "anchors_tables") == 0 || n(1, "rows") == 0 || n(2, "same") != n(2, "files") {
        return Err(format!("too little was checked: {parts:?}").into());
    }
    let anchors = report["anchors"].as_array().map_or(0, Vec::len);
    if anchors as u64 == n(1, "claims") { Ok(Completion::Completed) } else { Err(format!("{anchors} of {parts:?}").into()) }
}

/// A copy of a recording and its run.
struct Scene {
    _scratch: tempfile::TempDir,
    input: PathBuf,
    run: PathBuf,
}

impl Scene {
    fn new() -> Result<Scene, Failed> {
        let scratch = tempfile::tempdir()?;
        let (from, input) = (support::scenario(SCENE), scratch.path().join("in"));
        for file in support::walk(&from) {
            let to = input.join(file.strip_prefix(&from)?);
            std::fs::create_dir_all(to.parent().ok_or("no parent")?)?;
            std::fs::copy(&file, &to)?;
        }
        let run = support::analyze(&input, scratch.path(), &[])?;
        Ok(Scene { _scratch: scratch, input, run })
    }

    /// Changes the first digit behind `marker` in the first line of a file that fits; gives `file:line`.
    fn change_digit(&self, file: &Path, fits: &dyn Fn(&str) -> bool, marker: &str) -> Result<String, Failed> {
        let text = std::fs::read_to_string(file)?;
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let at = lines.iter().position(|line| fits(line)).ok_or_else(|| format!("no such line in {}", file.display()))?;
        let line = &lines[at];
        let from = line.find(marker).ok_or_else(|| format!("no {marker:?} in {line}"))? + marker.len();
        let digit = line[from..].find(|c: char| c.is_ascii_digit()).ok_or("no digit")? + from;
        let other = if &line[digit..=digit] == "7" { "3" } else { "7" };
        lines[at] = format!("{}{other}{}", &line[..digit], &line[digit + 1..]);
        std::fs::write(file, lines.join("\n"))?;
        let name = file.file_name().ok_or("no name")?.to_string_lossy().into_owned();
        Ok(format!("{name}:{}", at + 1))
    }

    /// Rewrites a table of the run with Tripod's own writer.
    fn rewrite(&self, table: &str, select: &str) -> Result<(), Failed> {
        let fresh = self.run.with_extension("parquet");
        let (run, out) = (self.run.to_string_lossy(), fresh.to_string_lossy());
        let output = support::tripod(&["query", &run, select, "--format", "parquet", "-o", &out]);
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(std::fs::rename(&fresh, self.run.join("tables").join(format!("{table}.parquet")))?)
    }
}

fn finds(tamper: Tamper) -> Outcome {
    let scene = Scene::new()?;
    expect(&verify(&scene.run, &[]), 0, &["confirmed".to_owned()])?;
    let says = tamper(&scene)?;
    let output = verify(&scene.run, &[]);
    expect(&output, 1, &says)?;
    expect(&output, 1, &["NOT confirmed".to_owned()])
}

/// The hashes of all artifacts are made to fit what lies there now; only the first level runs.
fn rereads(tamper: Tamper) -> Outcome {
    let scene = Scene::new()?;
    let says = tamper(&scene)?;
    let mut cases = String::new();
    for file in support::walk(&scene.input) {
        let name = file.strip_prefix(&scene.input)?.to_string_lossy().into_owned();
        let hash: String = Sha256::digest(std::fs::read(&file)?).iter().map(|byte| format!("{byte:02x}")).collect();
        cases.push_str(&format!(" WHEN path = '{name}' THEN '{hash}'"));
    }
    scene.rewrite("artifacts", &format!("SELECT * REPLACE (CASE{cases} ELSE sha256 END AS sha256) FROM artifacts"))?;
    let output = verify(&scene.run, &["--level", "re-read"]);
    let says: Vec<String> = says.into_iter().filter(|what| !what.contains("changed")).collect();
    if says.is_empty() || String::from_utf8_lossy(&output.stdout).contains("its sha256 is") {
        return Err(format!("the forged hashes do not fit: {}", String::from_utf8_lossy(&output.stdout)).into());
    }
    expect(&output, 1, &says)
}

// ---- numbers in texts for people

fn hotspot_value(scene: &Scene) -> Result<Vec<String>, Failed> {
    Ok(vec![scene.change_digit(&scene.run.join("hotspot_table.md"), &|line| line.starts_with("| 1 |"), "| CPU time | ")?])
}

fn hotspot_wall_line(scene: &Scene) -> Result<Vec<String>, Failed> {
    Ok(vec![scene.change_digit(&scene.run.join("hotspot_table.md"), &|line| line.starts_with("Where"), "): ")?])
}

fn hypothesis_value(scene: &Scene) -> Result<Vec<String>, Failed> {
    Ok(vec![scene.change_digit(&scene.run.join("hypothesis.md"), &|line| line.starts_with("- B: ") && line.contains(" = "), " = ")?])
}

fn hypothesis_cost(scene: &Scene) -> Result<Vec<String>, Failed> {
    Ok(vec![scene.change_digit(&scene.run.join("hypothesis.md"), &|line| line.starts_with("- Cost: "), "opportunity ")?])
}

fn quality_value(scene: &Scene) -> Result<Vec<String>, Failed> {
    Ok(vec![scene.change_digit(&scene.run.join("quality.md"), &|line| line.contains("samples of the program"), "| none | ")?])
}

/// BASELINE.md where the run has one; else the table of what was read.
fn other_markdown(scene: &Scene) -> Result<Vec<String>, Failed> {
    let baseline = scene.run.join("BASELINE.md");
    if baseline.is_file() {
        return Ok(vec![scene.change_digit(
            &baseline,
            &|line| line.starts_with('|') && line.contains(|c: char| c.is_ascii_digit()),
            "|",
        )?]);
    }
    let fits = |line: &str| line.starts_with("| `strace-c.txt` | strace-summary");
    Ok(vec![scene.change_digit(&scene.run.join("quality.md"), &fits, "| complete | ")?])
}

// ---- artifacts

fn strace_line_removed(scene: &Scene) -> Result<Vec<String>, Failed> {
    let file = scene.input.join("strace-c.txt");
    let text = std::fs::read_to_string(&file)?;
    let kept: Vec<&str> = text.lines().filter(|line| !line.ends_with(" write")).collect();
    std::fs::write(&file, kept.join("\n") + "\n")?;
    Ok(vec!["strace-c.txt: changed".to_owned(), "strace-c.txt#sum=syscalls.calls&name=write,".to_owned()])
}

fn strace_count(scene: &Scene) -> Result<Vec<String>, Failed> {
    let file = scene.input.join("strace-c.txt");
    // The number of calls is the fourth column.
    let row = std::fs::read_to_string(&file)?.lines().find(|line| line.ends_with(" write")).ok_or("no write")?.to_owned();
    let calls = row.split_whitespace().nth(3).ok_or("no calls")?.to_owned();
    let other: String = calls.chars().map(|c| if c == '7' { '3' } else { '7' }).collect();
    std::fs::write(&file, std::fs::read_to_string(&file)?.replace(&row, &row.replace(&format!(" {calls} "), &format!(" {other} "))))?;
    Ok(vec!["strace-c.txt: changed".to_owned(), format!("has {calls}, the file gives {other}")])
}

/// One bit of the period of the first sample that has one of the period that was asked for.
fn perf_byte(scene: &Scene) -> Result<Vec<String>, Failed> {
    let file = scene.input.join("cpu-fp.perf.data.zst");
    let mut bytes = zstd::decode_all(&std::fs::read(&file)?[..])?;
    let run = scene.run.to_string_lossy();
    let sql = "SELECT s.weight AS weight, s.record_no AS record_no FROM samples AS s JOIN events AS e ON s.event_id = e.event_id JOIN artifacts AS a ON e.artifact_id = a.artifact_id WHERE a.path = 'cpu-fp.perf.data.zst' ORDER BY record_no NULLS LAST LIMIT 1";
    let json: Value = serde_json::from_slice(&support::tripod(&["query", &run, sql, "--format", "json"]).stdout)?;
    let weight = json[0]["weight"].as_i64().ok_or("no sample")?;
    let pattern = weight.to_le_bytes();
    // The attr comes first in the file and has the same number in it; the samples lie behind the header and the attrs.
    let at = bytes.windows(8).enumerate().skip(1024).find(|(_, window)| *window == pattern).ok_or("the period is not in the file")?.0;
    bytes[at] ^= 1;
    std::fs::write(&file, zstd::encode_all(&bytes[..], 3)?)?;
    Ok(vec![
        "cpu-fp.perf.data.zst: changed".to_owned(),
        format!("(record {}): weight is {weight}, in the file {}", json[0]["record_no"], weight ^ 1),
    ])
}

/// An allocation is taken out of the file: its total is part of a KERNEL or of its refutation.
fn heaptrack_line(scene: &Scene) -> Result<Vec<String>, Failed> {
    let file = scene.input.join("heaptrack.zst");
    let text = zstd::decode_all(&std::fs::read(&file)?[..])?;
    let mut gone = false;
    let lines: Vec<&[u8]> =
        text.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"+ ") || std::mem::replace(&mut gone, true)).collect();
    std::fs::write(&file, zstd::encode_all(&lines.join(&b'\n')[..], 3)?)?;
    Ok(vec!["heaptrack.zst: changed".to_owned(), "heaptrack.zst: calls of its rows in allocations sum to".to_owned()])
}

fn artifact_missing(scene: &Scene) -> Result<Vec<String>, Failed> {
    std::fs::remove_file(scene.input.join("time-v.txt"))?;
    Ok(vec!["time-v.txt: missing".to_owned()])
}

fn artifact_added(scene: &Scene) -> Result<Vec<String>, Failed> {
    std::fs::copy(scene.input.join("strace-c.txt"), scene.input.join("strace-again.txt"))?;
    Ok(vec!["strace-again.txt: added".to_owned()])
}

fn manifest(scene: &Scene) -> Result<Vec<String>, Failed> {
    scene.change_digit(&scene.input.join("manifest.json"), &|line| line.contains("\"strace-cw.txt\""), "\"wall_s\": ")?;
    Ok(vec!["manifest.json: changed".to_owned(), "tables/artifacts.parquet: row".to_owned()])
}

fn artifact_of_another_run(scene: &Scene) -> Result<Vec<String>, Failed> {
    std::fs::copy(support::scenario("s4-fsync-per-record").join("cpu-dwarf.perf.data.zst"), scene.input.join("cpu-dwarf.perf.data.zst"))?;
    Ok(vec!["cpu-dwarf.perf.data.zst: changed".to_owned(), "tables/samples.parquet".to_owned()])
}

// ---- the run directory's data

fn table_cell(scene: &Scene) -> Result<Vec<String>, Failed> {
    scene.rewrite("syscalls", "SELECT * REPLACE (CASE WHEN name = 'write' THEN calls + 1 ELSE calls END AS calls) FROM syscalls")?;
    Ok(vec!["tables/syscalls.parquet: row ".to_owned(), "column calls: has ".to_owned(), "calls of its rows in syscalls sum to".to_owned()])
}

fn table_missing(scene: &Scene) -> Result<Vec<String>, Failed> {
    std::fs::remove_file(scene.run.join("tables/evidence.parquet"))?;
    Ok(vec!["tables/evidence.parquet: is missing".to_owned(), "no row of evidence".to_owned()])
}

/// An anchor of a kind that nobody can open is no confirmation.
fn evidence_anchor(scene: &Scene) -> Result<Vec<String>, Failed> {
    let select = "SELECT * REPLACE (CASE WHEN hypothesis = 'R25' THEN 'strace-c.txt#chapter=1' ELSE anchor END AS anchor) FROM evidence";
    scene.rewrite("evidence", select)?;
    Ok(vec!["not checked: ".to_owned(), "no documented form of an anchor: chapter=1".to_owned(), "evidence R25".to_owned()])
}

fn summary_label(scene: &Scene) -> Result<Vec<String>, Failed> {
    let file = scene.run.join("summary.json");
    let text = std::fs::read_to_string(&file)?;
    let at = text.lines().position(|line| line.contains("\"label\": \"KERNEL\"")).ok_or("no KERNEL")?;
    std::fs::write(&file, text.replacen("\"label\": \"KERNEL\"", "\"label\": \"refuted\"", 1))?;
    Ok(vec![format!("summary.json:{}", at + 1)])
}

fn flame(scene: &Scene) -> Result<Vec<String>, Failed> {
    Ok(vec![format!(
        "flames/{}",
        scene.change_digit(&scene.run.join("flames/cpu.svg"), &|line| line.contains("<title>") && line.contains('%'), "<title>")?
    )])
}

fn query(scene: &Scene) -> Result<Vec<String>, Failed> {
    let place =
        scene.change_digit(&scene.run.join("queries/hypotheses/R25_io_small_write.sql"), &|line| line.contains("support="), "support=")?;
    Ok(vec![format!("queries/hypotheses/{place}")])
}

// ---- the command

fn moved() -> Outcome {
    let scene = Scene::new()?;
    let elsewhere = scene.input.with_extension("moved");
    std::fs::rename(&scene.input, &elsewhere)?;
    expect(&verify(&scene.run, &[]), 3, &["--input ROOT".to_owned()])?;
    expect(&verify(&scene.run, &["--input", &elsewhere.to_string_lossy()]), 0, &["confirmed".to_owned()])?;
    let from_to = format!("{}={}", scene.input.display(), elsewhere.display());
    expect(&verify(&scene.run, &["--moved", &from_to, "--level", "replay"]), 0, &["ok    replay".to_owned()])?;
    expect(
        &verify(&scene.run, &["--input", &elsewhere.to_string_lossy(), "--level", "re-read", "--list"]),
        0,
        &["file    evidence ".to_owned(), "tables  evidence ".to_owned()],
    )
}

fn exit_codes() -> Outcome {
    let scratch = tempfile::tempdir()?;
    expect(&verify(scratch.path(), &[]), 2, &["no run directory".to_owned()])?;
    expect(&verify(scratch.path(), &["--level", "third"]), 2, &["third".to_owned()])?;
    // A file alone, and one given with others: names of artifacts begin with what was given.
    let alone = scratch.path().join("time-v.txt");
    std::fs::copy(support::scenario(SCENE).join("time-v.txt"), &alone)?;
    let run = support::analyze(&alone, scratch.path(), &[])?;
    expect(&verify(&run, &[]), 0, &["1 of 1".to_owned()])?;
    std::fs::rename(&alone, scratch.path().join("gone.txt"))?;
    expect(&verify(&run, &[]), 3, &["time-v.txt".to_owned()])
}
