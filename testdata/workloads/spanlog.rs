//! A program that times itself and logs perf.profile.* events (one JSON object per line, on standard output).
//!
//!     spanlog BATCHES RECORDS    BATCHES batches of RECORDS records: format each, hash the batch, write it out
//!
//! The spans are real work around a monotonic clock: run > batch > {format_record, hash_block, flush}. Percentiles are
//! nearest ranks over all calls of the run. The verdict at the end is the program's own: formatting takes more than half.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Instant;

#[derive(Default)]
struct Calls(Vec<u64>);

impl Calls {
    fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let begin = Instant::now();
        let out = work();
        self.0.push(begin.elapsed().as_nanos() as u64);
        out
    }

    fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The p-th per mille, by nearest rank, of the sorted calls.
    fn percentile(&mut self, per_mille: usize) -> u64 {
        self.0.sort_unstable();
        let rank = (self.0.len() * per_mille).div_ceil(1000).max(1);
        self.0[rank - 1]
    }

    fn report(&mut self, name: &str, parent: Option<&str>) {
        let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
        let [p50, p95, p99, p999, max] = [500, 950, 990, 999, 1000].map(|p| self.percentile(p) as f64 / 1e3);
        println!(
            "{{\"event\":\"perf.profile.span_summary\",\"span\":\"{name}\",\"parent\":{parent},\"thread\":\"main\",\"count\":{},\
             \"cumulative_us\":{},\"p50_us\":{p50},\"p95_us\":{p95},\"p99_us\":{p99},\"p99_9_us\":{p999},\"max_us\":{max}}}",
            self.0.len(),
            self.total() as f64 / 1e3,
        );
    }
}

#[inline(never)]
fn format_record(text: &mut String, n: u64) {
    let _ = writeln!(text, "{n:08} {:.6} {:>12} {:#x}", n as f64 / 7.0, n * 31, n ^ 0x5a5a);
}

/// FNV-1a.
#[inline(never)]
fn hash_block(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[derive(Default)]
struct Spans {
    batch: Calls,
    format: Calls,
    hash: Calls,
    flush: Calls,
}

fn batch(spans: &mut Spans, file: &mut std::fs::File, first: u64, records: u64) -> std::io::Result<u64> {
    let Spans { batch, format, hash, flush } = spans;
    batch.time(|| {
        let mut text = String::new();
        for n in first..first + records {
            format.time(|| format_record(&mut text, n));
        }
        let sum = hash.time(|| hash_block(&text));
        flush.time(|| file.write_all(text.as_bytes()))?;
        Ok(sum)
    })
}

/// The 95th percentile of a batch at ever larger sizes, and what the program makes of it.
fn scaling(file: &mut std::fs::File) -> std::io::Result<()> {
    let sizes = [100_u64, 200, 400, 800, 1600];
    let mut p95s = Vec::new();
    for size in sizes {
        let mut spans = Spans::default();
        for n in 0..40 {
            std::hint::black_box(batch(&mut spans, file, n * size, size)?);
        }
        p95s.push(spans.batch.percentile(950) as f64 / 1e3);
    }
    let verdict = if p95s[4] / p95s[0] < 0.8 * 16.0 { "sublinear" } else { "linear" };
    println!("{{\"event\":\"perf.profile.scaling_law\",\"axis\":\"records per batch\",\"sizes\":{sizes:?},\"p95s_us\":{p95s:?},\"verdict\":\"{verdict}\"}}");
    Ok(())
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [batches, records] = arguments[..] else {
        eprintln!("usage: spanlog BATCHES RECORDS");
        std::process::exit(2);
    };
    let mut file = std::fs::File::create("spanlog.out")?;
    println!(
        "{{\"event\":\"perf.profile.run_start\",\"scenario\":\"format, hash, flush\",\"argv\":[\"./spanlog\",\"{batches}\",\"{records}\"],\"clock\":\"monotonic\"}}"
    );
    let mut run = Calls::default();
    let mut spans = Spans::default();
    let sum = run.time(|| {
        (0..batches).try_fold(0_u64, |sum, n| Ok::<_, std::io::Error>(sum ^ batch(&mut spans, &mut file, n * records, records)?))
    })?;
    println!("{{\"event\":\"perf.profile.sample_collected\",\"sample_count\":{},\"duration_sec\":{},\"checksum\":{sum}}}", spans.batch.0.len(), run.total() as f64 / 1e9);
    run.report("run", None);
    spans.batch.report("batch", Some("run"));
    spans.format.report("format_record", Some("batch"));
    spans.hash.report("hash_block", Some("batch"));
    spans.flush.report("flush", Some("batch"));
    let share = spans.format.total() as f64 / run.total() as f64;
    println!(
        "{{\"event\":\"perf.profile.hypothesis_evaluated\",\"name\":\"formatting takes more than half of the run\",\"verdict\":\"{}\",\"evidence\":\"format_record / run = {share:.4}\"}}",
        if share > 0.5 { "supports" } else { "rejects" }
    );
    scaling(&mut file)?;
    println!("{{\"event\":\"perf.profile.run_complete\",\"duration_sec\":{},\"artifacts_written\":[\"spanlog.out\"]}}", run.total() as f64 / 1e9);
    Ok(())
}
