//! Throughput of the importers on the recordings in testdata: MB/s of decompressed input and records/s.
//!
//! `cargo bench` runs it; `cargo bench -- heaptrack` one format. Every recording is decompressed before the clock starts,
//! so that the figures speak of decoding and not of zstd.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use divan::counter::{BytesCount, ItemsCount};
use tripod::ingest::{self, ImportOptions, Inputs};
use tripod::objects::{Library, Roots};

fn main() {
    divan::main();
}

/// The largest recording of each kind, decompressed into a scratch folder: kind -> (path, bytes, records).
fn inputs() -> BTreeMap<String, (PathBuf, u64, u64)> {
    let scratch = std::env::temp_dir().join("tripod-bench");
    std::fs::create_dir_all(&scratch).expect("a writable temporary directory");
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/scenarios");
    let library = Library::open(&Roots::default());
    let mut largest = BTreeMap::new();
    let Ok(found) = Inputs::find(&[scenarios]) else { return largest };
    for (name, path) in found.iter() {
        let Ok(bytes) = plain(path) else { continue };
        let copy = scratch.join(name.replace('/', "-"));
        if std::fs::write(&copy, &bytes).is_err() {
            continue;
        }
        let recorders =
            ingest::read_all(&Inputs::find(std::slice::from_ref(&copy)).expect("just written"), &library, &ImportOptions::default());
        let Some(artifact) = recorders.first().map(|recorder| &recorder.artifact) else { continue };
        let kind = match artifact.unwinding.as_deref() {
            Some("dwarf") => format!("{}-dwarf", artifact.kind),
            _ => artifact.kind.to_string(),
        };
        let entry = (copy, bytes.len() as u64, u64::try_from(artifact.records).unwrap_or(0));
        if largest.get(&kind).is_none_or(|(_, size, _): &(PathBuf, u64, u64)| *size < entry.1) {
            largest.insert(kind, entry);
        }
    }
    largest
}

fn plain(path: &Path) -> std::io::Result<Vec<u8>> {
    let bytes = std::fs::read(path)?;
    let mut out = Vec::new();
    match bytes.get(..4) {
        Some([0x28, 0xb5, 0x2f, 0xfd]) => zstd::stream::read::Decoder::new(&bytes[..])?.read_to_end(&mut out)?,
        Some([0x1f, 0x8b, ..]) => flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut out)?,
        _ => return Ok(bytes),
    };
    Ok(out)
}

fn read(bencher: divan::Bencher<'_, '_>, kind: &str, threads: usize) {
    let inputs = inputs();
    let Some((path, bytes, records)) = inputs.get(kind) else {
        eprintln!("no recording of kind {kind}: not measured");
        return;
    };
    let symbols = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/scenarios/symbols");
    let library = Library::open(&Roots { symbol_dirs: vec![symbols], ..Roots::default() });
    let found = Inputs::find(std::slice::from_ref(path)).expect("written above");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    bencher
        .counter(BytesCount::new(*bytes))
        .counter(ItemsCount::new(*records))
        .bench_local(|| pool.install(|| ingest::read_all(&found, &library, &ImportOptions::default())));
}

macro_rules! bench {
    ($($name:ident = $kind:literal),* $(,)?) => {
        $(
            #[divan::bench(args = [1, 2], sample_count = 10)]
            fn $name(bencher: divan::Bencher<'_, '_>, threads: usize) {
                read(bencher, $kind, threads);
            }
        )*
    };
}

bench! {
    perf_data = "perf.data",
    perf_data_dwarf = "perf.data-dwarf",
    strace_log = "strace-log",
    strace_summary = "strace-summary",
    heaptrack = "heaptrack",
    offcpu_stacks = "offcpu-stacks",
    memory_series = "memory-series",
    perf_stat = "perf-stat",
    time_v = "time-v",
    hyperfine = "hyperfine",
}
