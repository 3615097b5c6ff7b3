//! testdata/tracepoints: every row of the tables that tracepoints fill against what perf script's text says, added up by
//! testdata/tracepoints.py.

use std::collections::BTreeMap;
use std::path::Path;

use crate::ingest::{ImportOptions, Inputs, Recorder, read_all};
use crate::objects::{Library, Roots};
use crate::tables::{Diagnostic, Text};

fn recording(name: &str) -> Recorder {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/tracepoints/{name}.perf.data.zst"));
    let library = Library::open(&Roots::default());
    read_all(&Inputs::find(&[path]).unwrap(), &library, &ImportOptions::default()).remove(0)
}

fn truth(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/tracepoints/{name}.tsv"));
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn tid(recorder: &Recorder, thread: Option<i32>) -> String {
    or_dash(thread.map(|thread| recorder.tables.threads[thread as usize].tid))
}

fn frames(recorder: &Recorder, stack: Option<i32>) -> String {
    stack.map_or(0, |stack| recorder.tables.stacks.row(stack).unwrap().depth + 1).to_string()
}

#[track_caller]
fn assert_rows(mut found: Vec<String>, expected: &[String]) {
    found.sort_unstable();
    let wrong: Vec<_> = found.iter().zip(expected).filter(|(found, expected)| found != expected).take(5).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(found.len(), expected.len());
    assert!(!found.is_empty());
}

fn calls(recorder: &Recorder) -> Vec<String> {
    let rows = recorder.tables.syscall_events.iter().map(|row| {
        let sized = matches!(row.name.as_ref(), "read" | "write");
        let fields = [
            or_dash(row.start_ns),
            or_dash(row.dur_ns),
            tid(recorder, row.thread_id),
            row.name.to_string(),
            or_dash(row.fd.filter(|_| sized)),
            or_dash(row.length.filter(|_| sized)),
            or_dash(row.result),
            or_dash(row.error.clone()),
            frames(recorder, row.stack_id),
        ];
        fields.join("\t")
    });
    rows.collect()
}

/// The kinds of the diagnostics that say something did not pair.
fn unmatched(recorder: &Recorder) -> BTreeMap<&str, i64> {
    let rows = recorder.tables.diagnostics.iter().filter(|row| row.kind.ends_with("_unmatched") || row.kind.ends_with("_in_flight"));
    rows.map(|row| (row.kind.as_ref(), row.count)).collect()
}

#[test]
fn raw_system_calls_equal_perf_script() {
    let recorder = recording("raw-syscalls");
    assert_rows(calls(&recorder), &truth("raw-syscalls.calls"));
    assert!(recorder.tables.samples.is_empty(), "they have their own table");
    let events: i64 = recorder.tables.events.iter().map(|event| event.n).sum();
    assert!(events > 2 * recorder.tables.syscall_events.len() as i64 - 20, "but they are counted");
    // The first record is the end of the execve that began before the recording.
    assert_eq!(unmatched(&recorder), BTreeMap::from([("perf_syscall_unmatched", 1)]));
    assert_eq!(recorder.artifact.syscall_filter, None);
}

#[test]
fn system_calls_by_name_equal_perf_script() {
    let recorder = recording("syscalls");
    assert_rows(calls(&recorder), &truth("syscalls.calls"));
    assert_eq!(recorder.artifact.syscall_filter.as_deref(), Some("openat,write"));
    assert!(unmatched(&recorder).is_empty(), "{:?}", unmatched(&recorder));
}

/// The sums per thread, added up here from the truth once more.
#[test]
fn sums_of_system_calls_equal_the_calls() {
    let recorder = recording("raw-syscalls");
    let mut expected: BTreeMap<(String, String), (i64, i64, i64)> = BTreeMap::new();
    for line in truth("raw-syscalls.calls") {
        let fields: Vec<&str> = line.split('\t').collect();
        let sum = expected.entry((fields[2].to_owned(), fields[3].to_owned())).or_default();
        *sum = (sum.0 + 1, sum.1 + i64::from(fields[7] != "-"), sum.2 + fields[1].parse().unwrap_or(0));
    }
    let rows = recorder.tables.syscalls.iter();
    let found = rows.map(|row| {
        assert_eq!(row.clock.as_ref(), "wall");
        let key = (tid(&recorder, row.thread_id), row.name.to_string());
        (key, (row.calls, row.errors.unwrap(), row.total_ns.unwrap()))
    });
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
}

#[test]
fn block_requests_equal_perf_script() {
    let recorder = recording("block");
    let rows = recorder.tables.block_requests.iter().map(|row| {
        let fields = [
            row.start_ns.to_string(),
            or_dash(row.queued_ns),
            or_dash(row.dur_ns),
            row.device.to_string(),
            or_dash(row.sector),
            row.bytes.to_string(),
            row.operation.to_string(),
        ];
        fields.join("\t")
    });
    assert_rows(rows.collect(), &truth("block.block"));
    assert!(unmatched(&recorder).is_empty(), "{:?}", unmatched(&recorder));
    // What has no table of its own stays a sample, with its stack.
    let event = |id: i32| recorder.tables.events[id as usize].name.clone();
    let kept: std::collections::BTreeSet<Text> = recorder.tables.samples.iter().map(|sample| event(sample.event_id)).collect();
    assert!(kept.contains("block:block_bio_queue") && !kept.contains("block:block_rq_issue"), "{kept:?}");
    assert!(recorder.tables.block_requests.iter().all(|row| row.stack_id.is_some() && row.error.is_none()));
}

#[test]
fn lock_contentions_equal_perf_script() {
    let recorder = recording("lock");
    let rows = recorder.tables.lock_contentions.iter().map(|row| {
        let fields = [
            row.start_ns.to_string(),
            or_dash(row.dur_ns),
            tid(&recorder, row.thread_id),
            row.address.to_string(),
            or_dash(row.kind.clone()),
            frames(&recorder, row.stack_id),
        ];
        fields.join("\t")
    });
    assert_rows(rows.collect(), &truth("lock.locks"));
    assert!(unmatched(&recorder).is_empty(), "{:?}", unmatched(&recorder));
}

#[test]
fn interrupts_and_faults_equal_perf_script() {
    for name in ["irq", "faults"] {
        let recorder = recording(name);
        let rows = recorder.tables.interrupts.iter().map(|row| {
            let fields = [
                row.kind.to_string(),
                row.name.to_string(),
                or_dash(row.cpu),
                row.count.to_string(),
                row.timed.to_string(),
                or_dash(row.total_ns),
                or_dash(row.longest_ns),
            ];
            fields.join("\t")
        });
        assert_rows(rows.collect(), &truth(&format!("{name}.interrupts")));
        // They stay in `samples`, where their stacks are.
        let n: i64 = recorder.tables.events.iter().map(|event| event.n).sum();
        assert_eq!(recorder.tables.samples.len() as i64, n, "{name}");
    }
}

/// Members of a group have the samples that perf makes up for them; other tracepoints of the scheduler do no harm.
#[test]
fn samples_and_weights_per_event_equal_perf_script() {
    for name in ["group", "sched-all", "fallback"] {
        let recorder = recording(name);
        let rows = recorder.tables.events.iter().filter(|event| event.n > 0);
        assert_rows(
            rows.map(|event| format!("{}\t{}\t{}", event.name, event.n, event.total_weight)).collect(),
            &truth(&format!("{name}.events")),
        );
    }
    let sched = recording("sched-all");
    assert!(!sched.tables.waits.is_empty() && sched.tables.samples.is_empty());
    assert!(sched.tables.diagnostics.iter().all(|row| row.kind.as_ref() != "perf_bad_record"), "{:?}", sched.tables.diagnostics);
}

fn diagnostic<'a>(recorder: &'a Recorder, kind: &str) -> Option<&'a Diagnostic> {
    recorder.tables.diagnostics.iter().find(|row| row.kind.as_ref() == kind)
}

/// perf was asked for its default, cycles, on a machine without a PMU, and for 1000 samples a second.
#[test]
fn a_clock_in_place_of_a_counter_is_told() {
    let recorder = recording("fallback");
    let row = diagnostic(&recorder, "perf_event_fallback").unwrap();
    assert!(row.message.contains("cycles (the default) was asked for and cpu-clock:ppp recorded"), "{}", row.message);
    assert!(diagnostic(&recorder, "perf_lockstep").is_some_and(|row| row.message.contains("at 1000 Hz")));
    for kind in ["perf_frequency_missed", "perf_period_outlier", "perf_throttled"] {
        assert!(diagnostic(&recorder, kind).is_none(), "{kind}");
    }
    assert!(diagnostic(&recording("group"), "perf_event_fallback").is_none(), "it was asked for");
}

/// `--keep-tracepoints` keeps them in samples too, with the same tables beside them.
#[test]
fn kept_tracepoints_are_in_both() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/tracepoints/syscalls.perf.data.zst");
    let inputs = crate::ingest::Inputs::find(&[path]).unwrap();
    let library = crate::objects::Library::open(&crate::objects::Roots::default());
    let options = crate::ingest::ImportOptions { keep_tracepoints: true, ..ImportOptions::default() };
    let recorder = crate::ingest::read_all(&inputs, &library, &options).remove(0);
    assert_rows(calls(&recorder), &truth("syscalls.calls"));
    assert_eq!(recorder.tables.samples.len(), 2 * recorder.tables.syscall_events.len());
}

#[test]
fn damaged_tracepoints_do_no_harm() {
    for name in ["raw-syscalls", "block", "irq"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/tracepoints/{name}.perf.data.zst"));
        let bytes = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap();
        crate::ingest::testing::survives_damage(super::read, &bytes[..bytes.len().min(100_000)]);
    }
}
