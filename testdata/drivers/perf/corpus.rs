//! Every perf.data of the public corpus against what other tools say of it.
//!
//! Where a tool and Tripod differ, or one of them refuses the file, that is one line of
//! testdata/perf-data/disagreements.md with its cause. A difference that is not in the table fails, and so does a line
//! of the table that no longer holds.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;
use tripod::ingest::perf_data::census;

use super::{import, losses};
use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("perf_corpus::equals_other_tools", equals_other_tools),
        Trial::ignorable_test("perf_corpus::what_nobody_reads_has_a_message", unread_files_have_a_message),
        Trial::ignorable_test("perf_corpus::hostile_files_are_bounded", hostile_files_are_bounded),
    ]
}

const ABSENT: &str = "the corpus is not beside the project";
const KINDS: [&str; 2] = ["perfdata", "perfdata-fuzz"];

/// Names of record types as `perf report --stats` prints them.
const TYPES: [(u32, &str); 40] = [
    (1, "MMAP"),
    (2, "LOST"),
    (3, "COMM"),
    (4, "EXIT"),
    (5, "THROTTLE"),
    (6, "UNTHROTTLE"),
    (7, "FORK"),
    (8, "READ"),
    (9, "SAMPLE"),
    (10, "MMAP2"),
    (11, "AUX"),
    (12, "ITRACE_START"),
    (13, "LOST_SAMPLES"),
    (14, "SWITCH"),
    (15, "SWITCH_CPU_WIDE"),
    (16, "NAMESPACES"),
    (17, "KSYMBOL"),
    (18, "BPF_EVENT"),
    (19, "CGROUP"),
    (20, "TEXT_POKE"),
    (21, "AUX_OUTPUT_HW_ID"),
    (64, "ATTR"),
    (65, "EVENT_TYPE"),
    (66, "TRACING_DATA"),
    (67, "BUILD_ID"),
    (68, "FINISHED_ROUND"),
    (69, "ID_INDEX"),
    (70, "AUXTRACE_INFO"),
    (71, "AUXTRACE"),
    (72, "AUXTRACE_ERROR"),
    (73, "THREAD_MAP"),
    (74, "CPU_MAP"),
    (75, "STAT_CONFIG"),
    (76, "STAT"),
    (78, "EVENT_UPDATE"),
    (79, "TIME_CONV"),
    (80, "FEATURE"),
    (81, "COMPRESSED"),
    (82, "FINISHED_INIT"),
    (83, "COMPRESSED2"),
];

fn type_name(kind: u32) -> String {
    TYPES.iter().find(|(known, _)| *known == kind).map_or_else(|| kind.to_string(), |(_, name)| (*name).to_owned())
}

type Counts = BTreeMap<String, i64>;

/// What the tools say of one file.
#[derive(Default)]
struct Truth {
    kind: String,
    facts: Value,
    quipper: Option<Value>,
    /// Records that the compressed ones hold, by the zstd tool.
    inner: Option<Value>,
}

fn truths(corpus: &Path) -> Result<BTreeMap<String, Truth>, Failed> {
    let mut truths: BTreeMap<String, Truth> = BTreeMap::new();
    for line in std::fs::read_to_string(corpus.join("TRUTH.jsonl"))?.lines() {
        let mut row: Value = serde_json::from_str(line)?;
        let kind = row["kind"].as_str().unwrap_or_default().to_owned();
        if !KINDS.contains(&kind.as_str()) {
            continue;
        }
        let truth = truths.entry(row["name"].as_str().unwrap_or_default().to_owned()).or_default();
        truth.kind = kind;
        let facts = row["facts"].take();
        match row["tool"].as_str().unwrap_or_default() {
            tool if tool.starts_with("perf report") => truth.facts = facts,
            tool if tool.starts_with("zstd") => truth.inner = Some(facts["inner"].clone()),
            _ => truth.quipper = Some(facts["events_by_type"].clone()),
        }
    }
    Ok(truths)
}

fn counts(value: &Value) -> Counts {
    value.as_object().into_iter().flatten().map(|(name, count)| (name.clone(), count.as_i64().unwrap_or(-1))).collect()
}

/// Counts by the number of the type -> by its name.
fn named(value: &Value) -> Counts {
    counts(value).into_iter().map(|(kind, count)| (kind.parse().map_or(kind, type_name), count)).collect()
}

/// What Tripod finds.
struct Found {
    refused: bool,
    per_event: Counts,
    samples: i64,
    per_type: Counts,
}

fn found(path: &Path) -> Result<Found, Failed> {
    let recorder = import(path)?;
    let mut per_event = Counts::new();
    for event in recorder.tables.events.iter().filter(|event| event.n > 0) {
        *per_event.entry(event.name.to_string()).or_default() += event.n;
    }
    let per_type = census(&std::fs::read(path)?).unwrap_or_default();
    Ok(Found {
        refused: recorder.artifact.status.as_ref() == "unreadable",
        samples: per_event.values().sum(),
        per_event,
        per_type: per_type.into_iter().map(|(kind, count)| (type_name(kind), count)).collect(),
    })
}

fn list(counts: &Counts) -> String {
    let words: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// (what the tool says, what Tripod says), of the types that differ.
fn differing(theirs: &Counts, ours: &Counts) -> Option<(String, String)> {
    let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    let differ = |name: &&&String| theirs.get(**name).unwrap_or(&0) != ours.get(**name).unwrap_or(&0);
    let names: Vec<&&String> = names.iter().filter(differ).collect();
    let side = |counts: &Counts| names.iter().map(|name| ((**name).clone(), *counts.get(**name).unwrap_or(&0))).collect::<Counts>();
    (!names.is_empty()).then(|| (list(&side(theirs)), list(&side(ours))))
}

/// The rows (tool, it says, here) of one file.
fn disagreements(truth: &Truth, found: &Found) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    let mut differ = |tool: &str, sides: Option<(String, String)>| {
        let refused = |ours: String| if found.refused { "refused".to_owned() } else { ours };
        rows.extend(sides.map(|(theirs, ours)| [tool.to_owned(), theirs, refused(ours)]));
    };
    for (version, said) in truth.facts["perf"].as_object().into_iter().flatten() {
        let tool = format!("perf {}", version.split('.').take(2).collect::<Vec<_>>().join("."));
        if said["ok"] != true {
            let ours = format!("{} samples", found.samples);
            differ(&tool, (!found.refused).then_some(("cannot read it".to_owned(), ours)));
            continue;
        }
        let events = counts(&said["samples_per_event"]);
        differ(&tool, (events != found.per_event).then(|| (list(&events), list(&found.per_event))));
        let mut stats = counts(&said["stats"]);
        stats.remove("TOTAL");
        differ(&tool, differing(&stats, &found.per_type));
    }
    let number = |value: &Value| value.as_i64().map(|samples| (samples != found.samples, format!("{samples} samples")));
    let ours = format!("{} samples", found.samples);
    for (tool, value) in [
        ("perf script", &truth.facts["script"]["samples_printed"]),
        ("hotspot-perfparser", &truth.facts["hotspot_perfparser"]["messages"]["Sample"]),
    ] {
        let said = number(value).or_else(|| (tool.starts_with("hotspot") && found.samples > 0).then(|| (true, "0 samples".to_owned())));
        differ(tool, said.filter(|(differs, _)| *differs).map(|(_, theirs)| (theirs, ours.clone())));
    }
    if let Some(quipper) = &truth.quipper {
        differ("quipper", differing(&named(quipper), &found.per_type));
    }
    let mut walk = named(&truth.facts["raw"]["outer_records_by_type"]);
    for (name, count) in truth.inner.iter().flat_map(named) {
        *walk.entry(name).or_default() += count;
    }
    differ("walk of the headers", differing(&walk, &found.per_type).filter(|_| !walk.is_empty()));
    rows
}

/// (file, tool, it says, here) -> cause, as the table has them.
fn table() -> Result<BTreeMap<[String; 4], String>, Failed> {
    let text = std::fs::read_to_string(support::testdata().join("perf-data/disagreements.md"))?;
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    let cells = rows.map(|row| row.replacen('`', "", 1).split(" | ").map(str::to_owned).collect::<Vec<_>>());
    let mut table = BTreeMap::new();
    for row in cells {
        let [file, tool, theirs, ours, cause] =
            <[String; 5]>::try_from(row).map_err(|row| format!("a line of the table has {} cells", row.len()))?;
        table.insert([file, tool, theirs, ours], cause);
    }
    Ok(table)
}

fn equals_other_tools() -> Outcome {
    let Some(corpus) = super::corpus_dir() else { return Ok(Completion::ignored_with(ABSENT)) };
    let mut table = table()?;
    let mut wrong = Vec::new();
    let truths = truths(&corpus)?;
    for (name, truth) in &truths {
        let found = found(&corpus.join(&truth.kind).join(name))?;
        for [tool, theirs, ours] in disagreements(truth, &found) {
            let row = [name.clone(), tool, theirs, ours];
            if table.remove(&row).is_none_or(|cause| cause.trim().is_empty()) {
                wrong.push(format!("not in the table: | `{}` | {} | CAUSE |", row[0], row[1..].join(" | ")));
            }
        }
    }
    wrong.extend(table.keys().map(|row| format!("no longer so: {}", row.join(" | "))));
    if truths.len() < 59 {
        wrong.push(format!("the corpus has {} files", truths.len()));
    }
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}

fn unread_files_have_a_message() -> Outcome {
    let Some(corpus) = super::corpus_dir() else { return Ok(Completion::ignored_with(ABSENT)) };
    for (name, truth) in truths(&corpus)? {
        let recorder = import(&corpus.join(&truth.kind).join(&name))?;
        let nobody = !truth.facts["facts_from"].is_string() && truth.inner.is_none();
        let warned = recorder.tables.diagnostics.iter().any(|row| row.severity.as_ref() != "info" && row.message.len() > 20);
        if nobody && !warned {
            return Err(format!("{name}: {} {:?}", recorder.artifact.status, losses(&recorder)).into());
        }
    }
    Ok(Completion::Completed)
}

const SECONDS_MAX: u64 = 10;
const BYTES_MAX: u64 = 512 << 20;

/// The program on each hostile file with 512 MB of memory of its own (the kernel refuses it more) and 10 s.
fn hostile_files_are_bounded() -> Outcome {
    let Some(corpus) = super::corpus_dir() else { return Ok(Completion::ignored_with(ABSENT)) };
    for path in support::list(&corpus.join("perfdata-fuzz")) {
        let scratch = tempfile::tempdir()?;
        let out = scratch.path().join("run");
        let mut command = Command::new(env!("CARGO_BIN_EXE_tripod"));
        command.arg("analyze").arg(&path).arg("-o").arg(&out).arg("-q").stdout(Stdio::piped()).stderr(Stdio::piped());
        limit(&mut command);
        let start = Instant::now();
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let name = path.display();
        if start.elapsed() > Duration::from_secs(SECONDS_MAX) {
            return Err(format!("{name} took {:?}", start.elapsed()).into());
        }
        let told = match output.status.code() {
            Some(0) => !support::summary(&out)?["diagnostics"]["kinds"].as_array().is_none_or(Vec::is_empty),
            Some(3) => text.len() > 40,
            _ => false,
        };
        if !told {
            return Err(format!("{name}: {} {text}", output.status).into());
        }
    }
    Ok(Completion::Completed)
}

fn limit(command: &mut Command) {
    let set = |resource, value: u64| {
        let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: setrlimit reads the struct that it is given and touches nothing else.
        if unsafe { libc::setrlimit(resource, &limit) } == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec only setrlimit is called, which may be called there.
    unsafe {
        command.pre_exec(move || {
            set(libc::RLIMIT_DATA, BYTES_MAX)?;
            set(libc::RLIMIT_CPU, SECONDS_MAX)
        });
    }
}
