//! Writes a synthetic dataset from real recordings, for `benches/fleet.sh`: `fleet ROOT RUNS SAMPLES`.
//!
//! Every run is one of the scenario recordings, varied: its samples follow each other several times, weights differ by
//! stack and run by up to 30 percent, and so do the sums over functions and stacks; hosts, wall times and labels differ from
//! run to run. Nothing is random: the same arguments give the same files. It is written by what `tripod analyze --dataset`
//! writes with, except that of a run directory there are only the tables and what makes it one.

use std::path::{Path, PathBuf};

use tripod::AnalyzeRequest;
use tripod::emit::{self, EmitOptions, OutputFile, Run, RunId, View};
use tripod::tables::{Sample, Tables};

/// Machines that the runs come from.
const HOSTS: usize = 40;
const RECORDINGS: &[&str] = &[
    "s1-unbuffered-writes",
    "s2-lock-convoy",
    "s3-allocator-churn",
    "s4-fsync-per-record",
    "s6-sleep",
    "s7-leak",
    "s8-mmap-churn",
    "s9-scan",
    "s10-thread-churn",
    "real-sqlite3",
];

fn main() {
    tripod::memory::keep();
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [root, runs, samples] = words.as_slice() else {
        eprintln!("fleet: writes a synthetic dataset: ROOT RUNS SAMPLES (benches/fleet.sh calls it)");
        return;
    };
    let (runs, samples): (usize, usize) = (runs.parse().expect("a number of runs"), samples.parse().expect("a number of samples"));
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/scenarios");
    let bases: Vec<Run> = RECORDINGS
        .iter()
        .map(|name| scenarios.join(name))
        .filter(|path| path.is_dir())
        .map(|path| {
            let request = AnalyzeRequest { paths: vec![path], symbol_dirs: vec![scenarios.join("symbols")], ..AnalyzeRequest::default() };
            tripod::analyze(&request).expect("a recording of testdata")
        })
        .filter(|run| !run.tables.samples.is_empty())
        .collect();
    let (mut written, mut cpu_ms, mut samples_cpu_ms) = (0, 0, 0);
    for at in 0..runs {
        let base = &bases[at % bases.len()];
        let run = vary(base, at, samples / runs);
        written += run.tables.samples.len();
        let view = View::new(&run);
        let before = cpu();
        let mut files = of("tables/*.parquet", &view);
        cpu_ms += cpu() - before;
        let only = Run { tables: Tables { samples: run.tables.samples.clone(), ..Tables::default() }, ..Run::default() };
        let before = cpu();
        drop(of("tables/*.parquet", &View::new(&only)));
        samples_cpu_ms += cpu() - before;
        files.extend(of("fingerprint.json", &view));
        files.extend(of("summary.json", &view));
        let id = RunId::parse(&format!("d{at:06}-web{}", at % HOSTS)).expect("an ID");
        emit::write_member(&PathBuf::from(root), &id, &files, &run.tables).expect("the dataset can be written");
    }
    println!("{{\"runs\": {runs}, \"samples\": {written}, \"parquet_cpu_ms\": {cpu_ms}, \"samples_cpu_ms\": {samples_cpu_ms}}}");
}

fn of(name: &str, view: &View<'_>) -> Vec<OutputFile> {
    let emitter = emit::EMITTERS.iter().find(|emitter| emitter.name == name).expect("an output of that name");
    (emitter.emit)(view, EmitOptions::default()).expect("what was analyzed can be written")
}

/// CPU time of this process, all threads, in ms.
fn cpu() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("/proc is mounted");
    // After the command in brackets: fields 14 and 15 of proc(5), in ticks of 10 ms.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("a number") * 10).sum()
}

/// 70 to 130, by run and place.
fn percent(run: usize, place: i32) -> i64 {
    let mut hash =
        (run as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (place as u64).wrapping_add(1).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    hash ^= hash >> 29;
    70 + (hash % 61) as i64
}

/// The base with about so many samples, and everything a little different.
fn vary(base: &Run, at: usize, samples: usize) -> Run {
    let mut tables = base.tables.clone();
    let times = samples.div_ceil(base.tables.samples.len()).max(1);
    tables.samples = repeat(&base.tables.samples, times, at);
    let times = times as i64;
    for row in &mut tables.function_costs {
        let factor = percent(at, row.function_id) * times;
        (row.self_weight, row.total_weight) = (row.self_weight * factor / 100, row.total_weight * factor / 100);
        (row.self_count, row.total_count) = (row.self_count * times, row.total_count * times);
    }
    for row in &mut tables.stack_costs {
        row.self_weight = row.self_weight * percent(at, row.stack_id) * times / 100;
        row.self_count *= times;
    }
    for row in &mut tables.events {
        let weight = tables.samples.iter().filter(|sample| sample.event_id == row.event_id).map(|sample| sample.weight).sum();
        (row.n, row.target_n) = (row.n * times, row.target_n * times);
        row.target_weight =
            if row.total_weight > 0 { (row.target_weight as i128 * weight as i128 / row.total_weight as i128) as i64 } else { 0 };
        row.total_weight = weight;
    }
    for row in tables.host.iter_mut().filter(|row| &*row.key == "hostname") {
        row.value = format!("web{}", at % HOSTS).into();
    }
    for row in &mut tables.executions {
        let longer = |ns: Option<i64>| ns.map(|ns| ns * percent(at, -1) / 100);
        (row.wall_ns, row.user_ns, row.system_ns) = (longer(row.wall_ns), longer(row.user_ns), longer(row.system_ns));
    }
    for row in tables.hypotheses.iter_mut().filter(|row| &*row.label == "KERNEL" && at.is_multiple_of(7)) {
        (row.label, row.supports, row.not_measured, row.handed_off) = ("DISPUTED".into(), 2, 1, false);
    }
    Run { tables, ..Run::default() }
}

/// The samples of every event several times, one after the other.
fn repeat(samples: &[Sample], times: usize, at: usize) -> Vec<Sample> {
    let mut out = Vec::with_capacity(samples.len() * times);
    for of_event in samples.chunk_by(|a, b| a.event_id == b.event_id) {
        let ends = of_event.iter().filter_map(|sample| sample.ts_ns.get());
        let window = ends.clone().max().unwrap_or(0) - ends.min().unwrap_or(0) + 1;
        let records = of_event.iter().map(|sample| sample.record_no).max().unwrap_or(0) + 1;
        for turn in 0..times as i64 {
            out.extend(of_event.iter().map(|sample| Sample {
                ts_ns: sample.ts_ns.get().map(|ns| ns + turn * window).into(),
                weight: sample.weight * percent(at, sample.stack_id.get().unwrap_or(-1)) / 100,
                record_no: sample.record_no + turn * records,
                ..*sample
            }));
        }
    }
    out
}
