//! Which stage of the pipeline runs, for the line on the terminal, and what each one cost, for `--timings`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The stages in the order in which they run. The hotspots are ranked beside the rules.
pub const ORDER: [&str; 7] = ["open", "ingest", "merge", "symbolize", "derive", "rules", "write"];

/// Says to another thread which stage runs.
#[derive(Debug, Clone, Default)]
pub struct Watch(Arc<AtomicUsize>);

impl Watch {
    /// The stage that runs now.
    pub fn stage(&self) -> &'static str {
        ORDER.get(self.0.load(Ordering::Relaxed)).copied().unwrap_or("end")
    }

    fn ended(&self, name: &str) {
        if let Some(at) = ORDER.iter().position(|stage| *stage == name) {
            self.0.store(at + 1, Ordering::Relaxed);
        }
    }
}

/// CPU time, wall time and peak memory of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageCost {
    pub name: &'static str,
    pub wall_ms: i64,
    /// User and system time of all threads.
    pub cpu_ms: i64,
    /// Largest resident set of the process so far.
    pub peak_bytes: i64,
}

/// Collects the costs of stages that follow each other.
#[derive(Debug)]
pub struct Stages {
    costs: Vec<StageCost>,
    wall: Instant,
    cpu_ms: i64,
    watch: Watch,
}

impl Stages {
    pub fn new(watch: Watch) -> Self {
        Stages { costs: Vec::new(), wall: Instant::now(), cpu_ms: usage().0, watch }
    }

    /// Ends the stage that began with the last call (or with the collector).
    pub fn end(&mut self, name: &'static str) {
        let (cpu_ms, peak_bytes) = usage();
        let wall_ms = i64::try_from(self.wall.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.costs.push(StageCost { name, wall_ms, cpu_ms: cpu_ms - self.cpu_ms, peak_bytes });
        self.wall = Instant::now();
        self.cpu_ms = cpu_ms;
        self.watch.ended(name);
    }

    pub fn costs(&self) -> &[StageCost] {
        &self.costs
    }
}

/// CPU milliseconds and peak resident bytes of this process.
fn usage() -> (i64, i64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the struct it is given; all of it is plain integers, so zeroed is a valid value too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ms = |time: libc::timeval| time.tv_sec * 1000 + time.tv_usec / 1000;
    (ms(usage.ru_utime) + ms(usage.ru_stime), usage.ru_maxrss * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_stage_runs_when_one_has_ended() {
        let watch = Watch::default();
        let mut stages = Stages::new(watch.clone());
        assert_eq!(watch.stage(), "open");
        stages.end("ingest");
        assert_eq!(watch.stage(), "merge");
        stages.end("write");
        assert_eq!((watch.stage(), stages.costs().len()), ("end", 2));
    }
}
