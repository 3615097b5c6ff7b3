//! What each stage of the pipeline cost: for `--timings`, and for nothing else.

use std::time::Instant;

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
}

impl Default for Stages {
    fn default() -> Self {
        Stages { costs: Vec::new(), wall: Instant::now(), cpu_ms: usage().0 }
    }
}

impl Stages {
    /// Ends the stage that began with the last call (or with the collector).
    pub fn end(&mut self, name: &'static str) {
        let (cpu_ms, peak_bytes) = usage();
        let wall_ms = i64::try_from(self.wall.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.costs.push(StageCost { name, wall_ms, cpu_ms: cpu_ms - self.cpu_ms, peak_bytes });
        self.wall = Instant::now();
        self.cpu_ms = cpu_ms;
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
