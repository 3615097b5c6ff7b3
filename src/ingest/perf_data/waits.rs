//! The rows of `waits`.

use super::sched::Sight;
use crate::ingest::{Recorder, Severity};
use crate::tables::{Text, Wait};

/// Who woke a thread, and when.
#[derive(Debug, Clone, Copy)]
pub struct Wake {
    pub ts: i64,
    pub thread: Option<i32>,
    pub stack: Option<i32>,
}

impl Wake {
    /// Runnable from a moment on without a wakeup event.
    pub fn unseen(ts: i64) -> Wake {
        Wake { ts, thread: None, stack: None }
    }
}

/// A thread that is off its CPU.
#[derive(Debug, Clone, Copy)]
pub struct Off {
    pub since: i64,
    /// Scheduler state; `None` where it was off before the first event, or a SWITCH record told it.
    pub state: Option<char>,
    pub stack: Option<i32>,
    pub record_no: i64,
    pub wake: Option<Wake>,
    /// Since before the recording.
    pub open: bool,
    /// A new thread that has not run yet: no wait.
    pub born: bool,
}

impl Off {
    pub fn since(since: i64) -> Off {
        Off { since, state: None, stack: None, record_no: 0, wake: None, open: false, born: false }
    }

    /// It could have gone on: runnable, not waiting.
    pub fn is_preempted(&self) -> bool {
        self.state == Some('R')
    }
}

/// The waits of a file, and what was missing between them.
#[derive(Debug, Default)]
pub struct Waits {
    rows: Vec<(Off, Row)>,
    unmatched: i64,
    unmatched_first: Option<i64>,
    /// Returns to a CPU that the recording could not show.
    pub without_switch_in: i64,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    thread: i32,
    end: i64,
    runnable_ns: Option<i64>,
    clipped: bool,
}

impl Waits {
    /// A switch without its counterpart.
    pub fn unmatched(&mut self, record_no: i64) {
        self.unmatched += 1;
        self.unmatched_first.get_or_insert(record_no);
    }

    pub fn push(&mut self, thread: i32, off: Off, end: i64, runnable_ns: Option<i64>, clipped: bool) {
        if !off.born {
            self.rows.push((off, Row { thread, end, runnable_ns, clipped }));
        }
    }

    pub fn finish(self, sight: Sight, recorder: &mut Recorder) {
        // The rows are wide: their keys are sorted instead.
        let keys = self.rows.iter().enumerate().map(|(at, (off, row))| (off.since, off.record_no, row.thread, at));
        let mut order: Vec<(i64, i64, i32, usize)> = keys.collect();
        order.sort_unstable();
        recorder.tables.waits.reserve(self.rows.len());
        let mut states: Vec<(char, Text)> = Vec::new();
        let [preempted, unknown] = ["preempted", "unknown"].map(|reason| recorder.text(reason));
        for (off, row) in order.iter().filter_map(|(_, _, _, at)| self.rows.get(*at)) {
            let state = off.state.map(|state| match states.iter().find(|(known, _)| *known == state) {
                Some((_, text)) => text.clone(),
                None => {
                    let text = recorder.text(state.encode_utf8(&mut [0; 4]));
                    states.push((state, text.clone()));
                    text
                }
            });
            let reason = if off.is_preempted() { &preempted } else { &unknown }.clone();
            recorder.tables.waits.push(Wait {
                artifact_id: 0,
                is_aggregate: false,
                thread_id: Some(row.thread),
                start_ns: Some(off.since),
                dur_ns: row.end.saturating_sub(off.since).max(0),
                runnable_ns: row.runnable_ns,
                state,
                reason,
                stack_id: off.stack,
                waker_thread_id: off.wake.and_then(|wake| wake.thread),
                waker_stack_id: off.wake.and_then(|wake| wake.stack),
                clipped: row.clipped,
                record_no: off.record_no,
            });
        }
        if self.unmatched > 0 {
            let first = self.unmatched_first.map_or(String::new(), |no| format!("record={no}"));
            let message =
                format!("switches without their counterpart, of {} waits: events were lost without a LOST record", self.rows.len());
            let advice = "these waits are clipped; pin the program to CPU 0 (taskset -c 0), or record it alone with --switch-events";
            recorder.skip_many("sched_unmatched", Severity::Info, self.unmatched, &message, advice, &first);
        }
        if self.without_switch_in > 0 && sight == Sight::Leaving {
            let message = "returns to a CPU that this recording does not show: run-queue delay is missing, \
                on-CPU time after a wakeup includes it, waits without a wakeup are clipped";
            let advice = "record with -a or --switch-events";
            recorder.skip_many("sched_no_switch_in", Severity::Info, self.without_switch_in, message, advice, "");
        }
    }
}
