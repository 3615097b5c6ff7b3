//! The public corpus beside the project, where it is present: every perf.data file against what other tools say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::records::Records;
use crate::ingest::{ImportOptions, Inputs, Recorder, read_all};
use crate::objects::{Library, Roots};

/// `../shared/corpus`, from the project or a worktree of it.
fn corpus() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    ["../shared/corpus", "../../shared/corpus"].iter().map(|path| root.join(path)).find(|path| path.is_dir())
}

pub fn import(path: &Path) -> Recorder {
    let inputs = Inputs::find(&[path.to_owned()]).unwrap();
    let library = Library::open(&Roots::default());
    read_all(&inputs, &library, &ImportOptions::default()).remove(0)
}

/// (file, facts) of one kind, from the tools that are asked for.
fn truth(corpus: &Path, kind: &str, tool: &str) -> Vec<(String, Value)> {
    let lines = std::fs::read_to_string(corpus.join("TRUTH.jsonl")).unwrap();
    let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let rows = rows.filter(|row| row["kind"] == kind && row["tool"].as_str().unwrap().starts_with(tool));
    rows.map(|row| (row["name"].as_str().unwrap().to_owned(), row["facts"].clone())).collect()
}

fn counts(value: &Value) -> BTreeMap<String, i64> {
    value.as_object().unwrap().iter().map(|(name, count)| (name.clone(), count.as_i64().unwrap())).collect()
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

#[test]
fn samples_per_event_equal_perf_report_on_the_corpus() {
    let Some(corpus) = corpus() else { return };
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, facts) in truth(&corpus, "perfdata", "perf report") {
        let Some(version) = facts["facts_from"].as_str() else { continue };
        let expected = counts(&facts["perf"][version]["samples_per_event"]);
        let recorder = import(&corpus.join("perfdata").join(&name));
        let found = samples_per_event(&recorder);
        compared += 1;
        if found != expected && !KNOWN_GAPS.iter().any(|(gap, _)| *gap == name) {
            wrong.push(format!("{name}: expected {expected:?}, found {found:?}; {:?}", recorder.tables.diagnostics));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 35, "only {compared} files were compared");
}

#[test]
fn records_by_type_equal_a_plain_walk_of_the_headers() {
    let Some(corpus) = corpus() else { return };
    for (name, facts) in truth(&corpus, "perfdata", "perf report") {
        let bytes = std::fs::read(corpus.join("perfdata").join(&name)).unwrap();
        let mut recorder = Recorder::new(import(&corpus.join("perfdata").join(&name)).artifact);
        let (library, options) = (Library::open(&Roots::default()), ImportOptions::default());
        let input = crate::ingest::Input { name: &name, path: Path::new(&name), bytes: &bytes, library: &library, options: &options };
        let container = super::container::Container::open(&input, &mut recorder).unwrap();
        let mut found: BTreeMap<String, i64> = BTreeMap::new();
        // What the plain walk counts as a record of type 1701847131 is text that perf wrote behind the records.
        let expected: BTreeMap<_, _> =
            counts(&facts["raw"]["outer_records_by_type"]).into_iter().filter(|(kind, _)| kind.len() < 6).collect();
        for record in Records::new(container.data, container.order) {
            *found.entry(record.kind.to_string()).or_default() += 1;
        }
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn compressed_records_hold_what_the_zstd_tool_finds() {
    let Some(corpus) = corpus() else { return };
    for (name, facts) in truth(&corpus, "perfdata", "zstd CLI") {
        let recorder = import(&corpus.join("perfdata").join(&name));
        let samples: i64 = samples_per_event(&recorder).values().sum();
        assert_eq!(Some(samples), facts["inner"]["9"].as_i64(), "{name}: {:?}", recorder.tables.diagnostics);
    }
}

/// THROTTLE, UNTHROTTLE and the time between them: from a walk over the headers, type 5 and 6, by stream id.
#[test]
fn throttled_spans_equal_a_plain_walk() {
    let Some(corpus) = corpus() else { return };
    for (name, expected) in [
        ("perf_data_converter--perf.data.piped.target.throttled-3.4", "1 THROTTLE and 1 UNTHROTTLE records, 8.877 ms"),
        ("autofdo--propeller_sample_1.perfdata1", "926 THROTTLE and 926 UNTHROTTLE records, 27.034 ms"),
    ] {
        let recorder = import(&corpus.join("perfdata").join(name));
        let row = recorder.tables.diagnostics.iter().find(|row| row.kind.as_ref() == "perf_throttled").unwrap();
        assert!(row.message.contains(expected), "{name}: {}", row.message);
    }
}

#[test]
fn hostile_files_end_soon_and_with_a_message() {
    let Some(corpus) = corpus() else { return };
    for (name, _) in truth(&corpus, "perfdata-fuzz", "perf report") {
        let start = Instant::now();
        let recorder = import(&corpus.join("perfdata-fuzz").join(&name));
        assert!(start.elapsed().as_secs() < 10, "{name} took {:?}", start.elapsed());
        let complete = recorder.artifact.status.as_ref() == "complete";
        assert!(complete || !recorder.tables.diagnostics.is_empty(), "{name}: {} without a word", recorder.artifact.status);
    }
}

/// Cuts anywhere keep what came before: the samples are a prefix of those of the whole file.
#[test]
fn a_file_cut_anywhere_keeps_its_prefix() {
    let Some(corpus) = corpus() else { return };
    let whole = corpus.join("perfdata/perf_data_converter--perf.data.callgraph-3.4");
    let bytes = std::fs::read(&whole).unwrap();
    let all: i64 = samples_per_event(&import(&whole)).values().sum();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.data");
    let mut before = 0;
    for part in 0..40 {
        std::fs::write(&path, &bytes[..bytes.len() * part / 40]).unwrap();
        let recorder = import(&path);
        let samples: i64 = samples_per_event(&recorder).values().sum();
        assert!(samples >= before && samples <= all, "{part}: {samples} after {before}");
        assert_ne!(recorder.artifact.status.as_ref(), "complete", "{part}");
        before = samples;
    }
    assert!(before * 40 > all * 30, "{before} of {all} samples before the last cut");
}

#[test]
fn damage_does_no_harm() {
    let Some(corpus) = corpus() else { return };
    for name in [
        "linux-perf-data--sleep.data",
        "linux-perf-data--sleep.compressed2.data",
        "perf_data_converter--perf.data.piped.header_features-4.16",
    ] {
        let bytes = std::fs::read(corpus.join("perfdata").join(name)).unwrap();
        crate::ingest::testing::survives_damage(super::read, &bytes);
    }
}
