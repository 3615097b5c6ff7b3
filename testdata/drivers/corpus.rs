//! The public files of ../shared/corpus against what other tools say of them (its TRUTH.jsonl): every importer, through
//! the library's own door. The corpus is not part of the repository; without it these tests say so and count as ignored.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;
use tripod::ingest::{self, ImportOptions, Inputs, Recorder};
use tripod::objects::{Library, Roots};

use crate::corpus_heaptrack;
use crate::support::{self, Outcome};

type Check = fn(&Path) -> Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let checks: [(&str, Check); 10] = [
        ("formats_claim_their_own", formats_claim_their_own),
        ("perf_samples_per_event", perf_samples_per_event),
        ("perf_records", perf_records),
        ("perf_compressed", perf_compressed),
        ("perf_hostile", perf_hostile),
        ("perf_cut_anywhere", perf_cut_anywhere),
        ("perf_damage", perf_damage),
        ("perf_throttled_spans", perf_throttled_spans),
        ("folded_sums", folded_sums),
        ("heaptrack_sums", corpus_heaptrack::sums),
    ];
    let trial = |(name, check): (&str, Check)| Trial::ignorable_test(format!("corpus::{name}"), move || with_corpus(check));
    let mut trials: Vec<Trial> = checks.into_iter().map(trial).collect();
    trials.push(Trial::ignorable_test("corpus::heaptrack_stacks", || match support::corpus() {
        Ok(corpus) => corpus_heaptrack::stacks(&corpus),
        Err(absent) => Ok(absent),
    }));
    trials
}

fn with_corpus(check: Check) -> Outcome {
    match support::corpus() {
        Ok(corpus) => check(&corpus).map(|()| Completion::Completed),
        Err(absent) => Ok(absent),
    }
}

/// Reads one file as `tripod analyze` does.
pub fn import(path: &Path) -> Result<Recorder, Failed> {
    let inputs = Inputs::find(&[path.to_owned()])?;
    let library = Library::open(&Roots::default());
    ingest::read_all(&inputs, &library, &ImportOptions::default()).pop().ok_or_else(|| "nothing was read".into())
}

/// (file, facts) of one kind, from the tools that are asked for.
pub fn truth(corpus: &Path, kind: &str, tool: &str) -> Result<Vec<(String, Value)>, Failed> {
    let mut found = Vec::new();
    for line in std::fs::read_to_string(corpus.join("TRUTH.jsonl"))?.lines() {
        let row: Value = serde_json::from_str(line)?;
        if row["kind"] == kind && row["tool"].as_str().is_some_and(|name| name.starts_with(tool)) {
            found.push((row["name"].as_str().unwrap_or_default().to_owned(), row["facts"].clone()));
        }
    }
    if found.is_empty() { Err(format!("TRUTH.jsonl has no row of kind {kind} by {tool}").into()) } else { Ok(found) }
}

fn none_wrong(wrong: Vec<String>) -> Result<(), Failed> {
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// What claims a file, `-` for nothing.
fn claimed(path: &Path) -> Result<&'static str, Failed> {
    let bytes = std::fs::read(path)?;
    let mut plain = Vec::new();
    match &bytes[..] {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd::stream::copy_decode(&bytes[..], &mut plain)?,
        // A cut .gz is sniffed by what comes out of it.
        [0x1f, 0x8b, ..] => drop(std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut plain)),
        _ => plain = bytes,
    }
    Ok(ingest::sniff(&plain).map_or("-", |format| format.name))
}

fn formats_claim_their_own(corpus: &Path) -> Result<(), Failed> {
    let own = [
        ("strace-c", "strace-summary"),
        ("heaptrack", "heaptrack"),
        ("hyperfine", "hyperfine"),
        ("perfstat-text", "perf-stat"),
        ("folded", "offcpu-stacks"),
        ("offcpu", "offcpu-stacks"),
        ("bcc-hist", "histogram"),
        ("bpftrace-hist", "histogram"),
        ("iostat", "sysstat"),
        ("mpstat", "sysstat"),
        ("vmstat", "sysstat"),
        ("perfdata", "perf.data"),
        ("perfdata-fuzz", "perf.data"),
    ];
    let mut wrong = Vec::new();
    for folder in support::list(corpus).into_iter().filter(|path| path.is_dir()) {
        let kind = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let expected = own.iter().find(|(name, _)| *name == kind).map_or("-", |(_, format)| format);
        for path in support::list(&folder) {
            let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let found = claimed(&path)?;
            // Of the fuzzed files some have lost their magic; profiles are no waits.
            // The folders of histograms and sysstat hold tables of other shapes and JSON, too.
            let is_mixed = ["bcc-hist", "bpftrace-hist", "iostat", "mpstat", "vmstat"].contains(&kind.as_str());
            let may_be_nothing = is_mixed || kind.starts_with("perfdata") || kind == "offcpu" && name.contains("profile");
            if found != expected && !(may_be_nothing && found == "-") {
                wrong.push(format!("{kind}/{name} is claimed by {found}, expected {expected}"));
            }
        }
    }
    none_wrong(wrong)
}

fn counts(value: &Value) -> BTreeMap<String, i64> {
    value.as_object().into_iter().flatten().filter_map(|(name, count)| Some((name.clone(), count.as_i64()?))).collect()
}

fn samples_per_event(recorder: &Recorder) -> BTreeMap<String, i64> {
    let mut found = BTreeMap::new();
    for event in recorder.tables.events.iter().filter(|event| event.n > 0) {
        *found.entry(event.name.to_string()).or_default() += event.n;
    }
    found
}

/// Files where perf counts otherwise, with the reason.
const KNOWN_GAPS: &[(&str, &str)] = &[(
    "perf_data_converter--perf.data.piped.header_feautres_group_desc-6.8",
    "the counts agree, but perf does not use EVENT_DESC in pipe mode: it derives cycles:uH where the file says cycles:u",
)];

fn perf_samples_per_event(corpus: &Path) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, facts) in truth(corpus, "perfdata", "perf report")? {
        let Some(version) = facts["facts_from"].as_str() else { continue };
        let expected = counts(&facts["perf"][version]["samples_per_event"]);
        let recorder = import(&corpus.join("perfdata").join(&name))?;
        let found = samples_per_event(&recorder);
        compared += 1;
        if found != expected && !KNOWN_GAPS.iter().any(|(gap, _)| *gap == name) {
            wrong.push(format!("{name}: expected {expected:?}, found {found:?}; {:?}", recorder.tables.diagnostics));
        }
    }
    if compared < 35 {
        wrong.push(format!("only {compared} files were compared"));
    }
    none_wrong(wrong)
}

/// A plain walk of the record headers counts as many records. Compressed records hide others, see `perf_compressed`.
fn perf_records(corpus: &Path) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, facts) in truth(corpus, "perfdata", "perf report")? {
        let walked = counts(&facts["raw"]["outer_records_by_type"]);
        if walked.contains_key("81") || walked.contains_key("83") {
            continue;
        }
        // What the plain walk counts as a record of type 1701847131 is text that perf wrote behind the records.
        let expected: i64 = walked.iter().filter(|(kind, _)| kind.len() < 6).map(|(_, count)| count).sum();
        let found = import(&corpus.join("perfdata").join(&name))?.artifact.records;
        compared += 1;
        if found != expected {
            wrong.push(format!("{name}: expected {expected} records, found {found}"));
        }
    }
    if compared < 30 {
        wrong.push(format!("only {compared} files were compared"));
    }
    none_wrong(wrong)
}

fn perf_compressed(corpus: &Path) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for (name, facts) in truth(corpus, "perfdata", "zstd CLI")? {
        let recorder = import(&corpus.join("perfdata").join(&name))?;
        let samples: i64 = samples_per_event(&recorder).values().sum();
        if Some(samples) != facts["inner"]["9"].as_i64() {
            wrong.push(format!("{name}: {samples} samples, expected {}; {:?}", facts["inner"]["9"], recorder.tables.diagnostics));
        }
    }
    none_wrong(wrong)
}

fn perf_hostile(corpus: &Path) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for (name, _) in truth(corpus, "perfdata-fuzz", "perf report")? {
        let start = Instant::now();
        let recorder = import(&corpus.join("perfdata-fuzz").join(&name))?;
        if start.elapsed().as_secs() >= 10 {
            wrong.push(format!("{name} took {:?}", start.elapsed()));
        }
        if recorder.artifact.status.as_ref() != "complete" && recorder.tables.diagnostics.is_empty() {
            wrong.push(format!("{name}: {} without a word", recorder.artifact.status));
        }
    }
    none_wrong(wrong)
}

/// Cuts anywhere keep what came before: the samples are a prefix of those of the whole file.
fn perf_cut_anywhere(corpus: &Path) -> Result<(), Failed> {
    let whole = corpus.join("perfdata/perf_data_converter--perf.data.callgraph-3.4");
    let bytes = std::fs::read(&whole)?;
    let all: i64 = samples_per_event(&import(&whole)?).values().sum();
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("cut.data");
    let (mut wrong, mut before) = (Vec::new(), 0);
    for part in 0..40 {
        std::fs::write(&path, &bytes[..bytes.len() * part / 40])?;
        let recorder = import(&path)?;
        let samples: i64 = samples_per_event(&recorder).values().sum();
        if samples < before || samples > all {
            wrong.push(format!("{part}: {samples} after {before}"));
        }
        if recorder.artifact.status.as_ref() == "complete" {
            wrong.push(format!("{part}: called complete"));
        }
        before = samples;
    }
    if before * 40 <= all * 30 {
        wrong.push(format!("{before} of {all} samples before the last cut"));
    }
    none_wrong(wrong)
}

/// Every few bytes one is overwritten, some are left out, or the file ends: nothing may panic.
fn perf_damage(corpus: &Path) -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("damaged.data");
    for name in [
        "linux-perf-data--sleep.data",
        "linux-perf-data--sleep.compressed2.data",
        "perf_data_converter--perf.data.piped.header_features-4.16",
    ] {
        let bytes = std::fs::read(corpus.join("perfdata").join(name))?;
        for at in (0..bytes.len()).step_by((bytes.len() / 60).max(1)) {
            let mut versions = vec![bytes[..at].to_vec(), [&bytes[..at], bytes.get(at + 10..).unwrap_or_default()].concat()];
            for value in [0, b'9', 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                versions.push(damaged);
            }
            for version in versions {
                std::fs::write(&path, version)?;
                import(&path)?;
            }
        }
    }
    Ok(())
}

/// THROTTLE, UNTHROTTLE and the time between them: from a walk over the headers, type 5 and 6, by stream id.
fn perf_throttled_spans(corpus: &Path) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for (name, expected) in [
        ("perf_data_converter--perf.data.piped.target.throttled-3.4", "1 THROTTLE and 1 UNTHROTTLE records, 8.877 ms"),
        ("autofdo--propeller_sample_1.perfdata1", "926 THROTTLE and 926 UNTHROTTLE records, 27.034 ms"),
    ] {
        let recorder = import(&corpus.join("perfdata").join(name))?;
        let told = recorder.tables.diagnostics.iter().find(|row| row.kind.as_ref() == "perf_throttled");
        if !told.is_some_and(|row| row.message.contains(expected)) {
            wrong.push(format!("{name}: expected {expected}, found {told:?}"));
        }
    }
    none_wrong(wrong)
}

/// The sum of the last column, as Python counted it.
fn folded_sums(corpus: &Path) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for kind in ["folded", "offcpu"] {
        for (name, facts) in truth(corpus, kind, "")? {
            let Some(sum) = facts["sum"].as_i64() else { continue };
            let tables = import(&corpus.join(kind).join(&name))?.tables;
            let samples = tables.samples.iter().map(|sample| sample.weight);
            let found: i64 = samples.chain(tables.waits.iter().map(|wait| wait.dur_ns / 1000)).sum();
            compared += 1;
            if found != sum || tables.waits.is_empty() == (kind == "offcpu") {
                wrong.push(format!("{kind}/{name}: {found} in {} waits, expected {sum}", tables.waits.len()));
            }
        }
    }
    if compared != 7 {
        wrong.push(format!("{compared} files were compared, expected 7"));
    }
    none_wrong(wrong)
}

/// The path of a corpus file of a kind.
pub fn file(corpus: &Path, kind: &str, name: &str) -> PathBuf {
    corpus.join(kind).join(name)
}
