//! The readers against the recordings of the repository, whole and damaged: whole ones give what other tools say of them,
//! damaged ones and mutated anchors give a number or a reason, and never a panic.

use std::path::{Path, PathBuf};

use super::anchor;
use super::artifacts::Artifact;
use super::content::Content;
use super::open::{Outcome, Reader};
use super::store::Store;
use super::sums::Sums;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn artifact(kind: &str) -> Artifact {
    Artifact { id: 0, path: "a".to_owned(), kind: kind.to_owned(), sha256: String::new() }
}

/// Opens an anchor's part in bytes, without tables.
fn open(kind: &str, bytes: &[u8], part: &str) -> Outcome {
    let (store, artifact) = (Store::new(Path::new("/nonexistent")), artifact(kind));
    let sums = Sums::new(&store);
    let reader = Reader::new(&artifact, Content::of(bytes), &sums, &[]);
    reader.open(&anchor::parse(&format!("a#{part}")).part)
}

/// Number and sum of periods as `perf script -F event,period` of perf 6.1 prints them.
#[test]
fn compressed_and_piped_files_are_walked() {
    type Events = &'static [(&'static str, usize, i64)];
    let files: [(&str, Events); 3] = [
        ("compressed.perf.data", &[("cpu-clock", 385, 385_385_385)]),
        ("pipe.perf.data", &[("cpu-clock", 69, 138_276_552), ("page-faults", 6, 732)]),
        ("compressed-pipe.perf.data", &[("cpu-clock", 53, 106_212_424)]),
    ];
    for (name, expected) in files {
        let bytes = std::fs::read(testdata("perf-data").join(name)).unwrap();
        let walk = super::perf::walk(&bytes).unwrap();
        for (nth, (event, n, sum)) in expected.iter().enumerate() {
            let own = walk.event(event, nth).unwrap();
            let weights: Vec<i64> = walk.samples.iter().filter(|sample| sample.event == own).map(|sample| sample.weight).collect();
            assert_eq!((weights.len(), weights.iter().sum::<i64>()), (*n, *sum), "{name} {event}");
        }
        assert!(walk.samples.is_sorted_by_key(|sample| sample.record) && walk.samples.iter().all(|sample| sample.time.is_some()), "{name}");
    }
}

#[test]
fn what_stands_in_a_file_is_found_without_tables() {
    let read = |name: &str| std::fs::read(testdata("scenarios/s4-fsync-per-record").join(name)).unwrap();
    let values = |kind: &str, name: &str, part: &str| open(kind, &read(name), part).unwrap().values;
    // The numbers are those of the files, read by eye.
    let time = String::from_utf8(read("time-v.txt")).unwrap();
    let at = time.lines().position(|line| line.contains("Minor (reclaiming")).unwrap();
    let faults: i64 = time.lines().nth(at).unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!(values("time-v", "time-v.txt", &format!("L={}", at + 1)), [faults]);
    let fsync: i64 = String::from_utf8(read("strace-c.txt"))
        .unwrap()
        .lines()
        .find(|line| line.ends_with(" fsync"))
        .and_then(|line| line.split_whitespace().nth(3)?.parse().ok())
        .unwrap();
    assert_eq!(values("strace-summary", "strace-c.txt", "sum=syscalls.calls&name=fsync,fdatasync"), [fsync]);
    assert!(open("time-v", time.as_bytes(), "L=999").is_err() && open("time-v", time.as_bytes(), "").is_err());
}

/// A sequence of numbers that is the same in every run (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// Cuts, flips, repeats and overwrites.
fn mutate(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=dice.roll(4) {
        if out.is_empty() {
            break;
        }
        let at = dice.roll(out.len());
        match dice.roll(5) {
            0 => out.truncate(at),
            1 => out[at] ^= 1 << dice.roll(8),
            2 => out[at] = [0, 0xff, b'(', b'<', b'9', b'\n'][dice.roll(6)],
            3 => out.drain(at..(at + dice.roll(9)).min(out.len())).for_each(drop),
            _ => {
                let part: Vec<u8> = out[at..(at + dice.roll(200)).min(out.len())].to_vec();
                out.splice(at..at, part);
            }
        }
    }
    out
}

const PARTS: [&str; 14] = [
    "L=2",
    "L=1-99999999",
    "ptr=/results/0/times/0",
    "ptr=/artifacts/0/wall_s",
    "record=3",
    "sum=samples.weight",
    "sum=samples.weight&event=cpu-clock&leaf=main&site=main&dso=a",
    "sum=syscalls.total_ns&name=write,futex",
    "sum=syscall_events.length&name=write,writev",
    "sum=allocations.peak_bytes",
    "sum=waits.dur_ns&reason=lock&site=main",
    "sum=counters.value&event=task-clock",
    "sum=series_trends.growth_bytes",
    "sum=artifacts.window_ns",
];

const FILES: [(&str, &str); 12] = [
    ("perf.data", "scenarios/s1-unbuffered-writes/sched.perf.data.zst"),
    ("perf.data", "perf-data/compressed.perf.data"),
    ("perf.data", "perf-data/pipe.perf.data"),
    ("perf.data", "perf-data/compressed-pipe.perf.data"),
    ("heaptrack", "scenarios/s1-unbuffered-writes/heaptrack.zst"),
    ("strace-log", "scenarios/s1-unbuffered-writes/mem.strace.zst"),
    ("strace-summary", "scenarios/s1-unbuffered-writes/strace-c.txt"),
    ("offcpu-stacks", "scenarios/s1-unbuffered-writes/offcpu.txt"),
    ("offcpu-stacks", "scenarios/s4-fsync-per-record/offcpu.bpftrace.txt"),
    ("perf-stat", "scenarios/s1-unbuffered-writes/perf-stat.json"),
    ("memory-series", "scenarios/s1-unbuffered-writes/rss.tsv"),
    ("manifest", "scenarios/s1-unbuffered-writes/manifest.json"),
];

#[test]
fn damaged_artifacts_and_anchors_never_panic() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for (kind, name) in FILES {
        let content = Content::open(&testdata(name)).unwrap();
        // Of large files the beginning is enough: damage there reaches every reader.
        let whole = &content.bytes()[..content.bytes().len().min(60_000)];
        for _ in 0..60 {
            let bytes = mutate(whole, &mut dice);
            for part in PARTS {
                let _ = open(kind, &bytes, part);
            }
            let part = PARTS[dice.roll(PARTS.len())].as_bytes();
            let _ = open(kind, whole, &String::from_utf8_lossy(&mutate(part, &mut dice)));
            // A file that another reader takes for its own.
            let other = FILES[dice.roll(FILES.len())].0;
            let _ = open(other, &bytes, PARTS[dice.roll(PARTS.len())]);
        }
    }
}
