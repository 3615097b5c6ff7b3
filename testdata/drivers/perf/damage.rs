//! Damage: files cut at random places keep what came before, and no changed byte brings the import down, lets it run on
//! or makes it ask for much memory. The same cases in every run.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Failed, Trial};

use super::{file, import, samples};
use crate::support::{self, Outcome};

const CUTS: usize = 200;
const MUTATIONS: usize = 2_000;
const ALLOCATION_BYTES_MAX: usize = 1 << 30;
/// A case takes milliseconds; this is for a machine that does other things too.
const CASE_SECONDS_MAX: u64 = 20;
const ALL_SECONDS_MAX: u64 = 900;

pub fn trials() -> Vec<Trial> {
    recordings()
        .into_iter()
        .flat_map(|(name, path)| {
            let (cut, mutated) = (path.clone(), path);
            [
                Trial::ignorable_test(format!("perf_damage::cut_{name}"), move || watched(cut, cuts)),
                Trial::ignorable_test(format!("perf_damage::changed_{name}"), move || watched(mutated, mutations)),
            ]
        })
        .collect()
}

/// Small recordings of four shapes.
fn recordings() -> Vec<(&'static str, PathBuf)> {
    let scenario = |name: &str, file: &str| support::scenario(name).join(file);
    let made = |file: &str| support::testdata().join("perf-data").join(file);
    vec![
        ("frame_pointers", scenario("s2-lock-convoy", "cpu-fp.perf.data.zst")),
        ("stack_dumps", scenario("s6-sleep", "cpu-dwarf.perf.data.zst")),
        ("compressed", made("compressed.perf.data")),
        ("pipe", made("pipe.perf.data")),
    ]
}

/// The largest request so far.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// Notes the size of each request.
struct Watch;

#[global_allocator]
static WATCH: Watch = Watch;

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as for this call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as for this call.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as for this call.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: as for this call.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// xorshift64*: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16) as usize % bound
    }
}

/// Runs the cases beside a clock, so that a case that never ends fails too.
fn watched(path: PathBuf, cases: fn(&[u8]) -> Result<(), Failed>) -> Outcome {
    if !path.is_file() {
        return Ok(Completion::ignored_with(format!("{} was not recorded", path.display())));
    }
    let bytes = std::fs::read(&path)?;
    let bytes = if path.extension().is_some_and(|extension| extension == "zst") { zstd::decode_all(&bytes[..])? } else { bytes };
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || {
        let outcome = std::panic::catch_unwind(|| cases(&bytes));
        // Nobody listens any more once the time is over.
        let _ = done.send(outcome.unwrap_or_else(|_| Err("the import panicked".into())));
    });
    wait.recv_timeout(Duration::from_secs(ALL_SECONDS_MAX)).map_err(|_| Failed::from("a case does not end"))??;
    let largest = LARGEST.load(Ordering::Relaxed);
    if largest > ALLOCATION_BYTES_MAX {
        return Err(format!("{largest} bytes were asked for at once").into());
    }
    Ok(Completion::Completed)
}

/// The import of one case: how many samples came out.
fn case(what: &str, bytes: &[u8], place: &std::path::Path) -> Result<i64, Failed> {
    std::fs::write(place, bytes)?;
    let start = Instant::now();
    let recorder = std::panic::catch_unwind(|| import(place)).map_err(|_| Failed::from(format!("{what}: panic")))??;
    if start.elapsed() > Duration::from_secs(CASE_SECONDS_MAX) {
        return Err(format!("{what}: {:?}", start.elapsed()).into());
    }
    Ok(samples(&recorder))
}

fn cuts(bytes: &[u8]) -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let place = dir.path().join("cut.data");
    let all = whole_samples(bytes);
    super::same("samples of the whole file", case("whole", bytes, &place)?, all)?;
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..CUTS {
        let cut = random.below(bytes.len());
        let found = case(&format!("cut at {cut}"), &bytes[..cut], &place)?;
        super::same(&format!("samples before the cut at {cut}"), found, whole_samples(&bytes[..cut]))?;
    }
    Ok(())
}

fn mutations(bytes: &[u8]) -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let place = dir.path().join("changed.data");
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    // Header and attrs are a small part of a file and decide the most: half of the changes are there.
    let head = bytes.len().min(1024);
    for turn in 0..MUTATIONS {
        let at = random.below(if turn % 2 == 0 { head } else { bytes.len() });
        let mut changed = bytes.to_vec();
        changed[at] ^= 1 + random.below(255) as u8;
        case(&format!("byte {at} is {:#x}", changed[at]), &changed, &place)?;
    }
    Ok(())
}

/// Samples whose record is whole, by a walk over the headers: independent of the import.
fn whole_samples(bytes: &[u8]) -> i64 {
    let word = |at: usize| bytes.get(at..at + 8).map_or(0, |word| u64::from_le_bytes(word.try_into().expect("eight bytes")) as usize);
    let data = match word(8) {
        16 => bytes.get(16..),
        _ => bytes.get(word(40)..(word(40) + word(48)).min(bytes.len())),
    };
    let mut packed = Vec::new();
    let outer = count(data.unwrap_or_default(), &mut packed);
    let mut inflated = Vec::new();
    if !packed.is_empty() {
        let mut decoder = zstd::stream::read::Decoder::new(&packed[..]).expect("a decoder");
        let mut step = [0; 4096];
        // The stream has no end mark: it ends in an error.
        while let Ok(read @ 1..) = decoder.read(&mut step) {
            inflated.extend_from_slice(&step[..read]);
        }
    }
    outer + count(&inflated, &mut Vec::new())
}

fn count(mut rest: &[u8], packed: &mut Vec<u8>) -> i64 {
    let mut samples = 0;
    while let Some((header, _)) = rest.split_first_chunk::<8>() {
        let kind = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let size = usize::from(u16::from_le_bytes([header[6], header[7]]));
        let Some(record) = rest.get(..size).filter(|_| size >= 8) else { break };
        samples += i64::from(kind == file::SAMPLE);
        if kind == file::COMPRESSED {
            packed.extend_from_slice(&record[8..]);
        }
        rest = &rest[size..];
    }
    samples
}
