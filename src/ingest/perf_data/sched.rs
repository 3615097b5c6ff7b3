//! sched_switch, wakeups and SWITCH records -> waits and thread states.
//!
//! ```text
//!      on CPU        blocked            runnable      on CPU
//! ---------------|----------------------|----------|-----------
//!            switch out               wakeup    switch in
//! ```
//!
//! System-wide recordings see every switch. A recording of one program sees a switch only from the side of the thread
//! that leaves: who comes back after an idle CPU or a stranger is seen at the wakeup (the kernel delivers it to the
//! woken task's event, too), else at the next thing the thread does. What lies between is then counted as on CPU after a
//! wakeup (it may have waited for the CPU) and as unknown without one. `--switch-events` or `-a` tell it exactly.

use crate::ingest::{Recorder, Severity};
use crate::tables::{ThreadState, Wait};

use super::tracing::Switch;

/// What a recording can say about switches into a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Every switch is recorded: one that is missing was lost.
    Both,
    /// Only the side that leaves.
    Leaving,
}

#[derive(Debug, Clone, Copy)]
struct Wake {
    ts: i64,
    thread: Option<i32>,
    stack: Option<i32>,
}

#[derive(Debug, Clone, Copy)]
struct Off {
    since: i64,
    /// `None` where the thread was off the CPU before the first event, or a SWITCH record told it.
    state: Option<char>,
    stack: Option<i32>,
    record_no: i64,
    wake: Option<Wake>,
    /// Began before the recording.
    open: bool,
    /// A new thread that has not run yet: no wait.
    fresh: bool,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Unknown,
    Running,
    Off(Off),
    Dead,
}

#[derive(Debug, Clone)]
struct Track {
    start: i64,
    /// Up to here the time is accounted; for `Off`, where it began.
    mark: i64,
    state: State,
    exit: Option<i64>,
    on_cpu: i64,
    runnable: i64,
    blocked: i64,
    unknown: i64,
    switches: i64,
}

/// The scheduler's side of one file; indexed by thread id.
#[derive(Debug)]
pub struct Sched {
    tracks: Vec<Option<Track>>,
    /// Threads that were there before the recording begin with it, others with their fork: thread -> time.
    born: Vec<Option<i64>>,
    recording_start: Option<i64>,
    last: i64,
    pub sight: Sight,
    /// sched_waking is recorded: like perf, take it rather than sched_wakeup.
    pub prefer_waking: bool,
    unmatched: i64,
    unmatched_first: Option<i64>,
    without_switch_in: i64,
}

/// What a wakeup tells about the waker.
#[derive(Debug, Clone, Copy)]
pub struct Waker {
    pub thread: Option<i32>,
    pub stack: Option<i32>,
}

impl Sched {
    pub fn new(sight: Sight, prefer_waking: bool) -> Sched {
        Sched {
            tracks: Vec::new(),
            born: Vec::new(),
            recording_start: None,
            last: i64::MIN,
            sight,
            prefer_waking,
            unmatched: 0,
            unmatched_first: None,
            without_switch_in: 0,
        }
    }

    /// Any time stamp of the recording.
    pub fn tick(&mut self, ts: i64) {
        self.recording_start.get_or_insert(ts);
        self.last = self.last.max(ts);
    }

    /// A FORK during the recording: the thread is runnable from here on.
    pub fn born(&mut self, thread: i32, ts: i64) {
        let place = thread.max(0) as usize;
        if self.born.len() <= place {
            self.born.resize(place + 1, None);
        }
        if let Some(born) = self.born.get_mut(place) {
            *born = Some(ts);
        }
        let sight = self.sight;
        let track = self.track(thread, ts);
        track.state = match sight {
            Sight::Leaving => State::Running,
            Sight::Both => {
                let wake = Some(Wake { ts, thread: None, stack: None });
                State::Off(Off { since: ts, state: Some('R'), stack: None, record_no: 0, wake, open: false, fresh: true })
            }
        };
    }

    fn track(&mut self, thread: i32, ts: i64) -> &mut Track {
        let place = thread.max(0) as usize;
        if self.tracks.len() <= place {
            self.tracks.resize(place + 1, None);
        }
        let start = self.born.get(place).copied().flatten().or(self.recording_start).unwrap_or(ts).min(ts);
        let fresh = Track { start, mark: start, state: State::Unknown, exit: None, on_cpu: 0, runnable: 0, blocked: 0, unknown: 0, switches: 0 };
        // `resize` above made the place.
        match self.tracks.get_mut(place) {
            Some(track) => track.get_or_insert(fresh),
            None => unreachable!("resized above"),
        }
    }
}
