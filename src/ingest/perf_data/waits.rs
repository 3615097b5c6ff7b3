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
    /// Its row, where that was laid out when the thread left.
    pub row: Option<usize>,
}

impl Off {
    pub fn since(since: i64) -> Off {
        Off { since, state: None, stack: None, record_no: 0, wake: None, open: false, born: false, row: None }
    }

    /// It could have gone on: runnable, not waiting.
    pub fn is_preempted(&self) -> bool {
        self.state == Some('R')
    }
}

/// The waits of a file, and what was missing between them.
///
/// A row is laid out when its thread leaves, so that the rows come in order of time, and filled when the thread is back.
#[derive(Debug)]
pub struct Waits {
    rows: Vec<Wait>,
    /// Waits since before the recording: they are noticed late and belong to the front.
    before: Vec<Wait>,
    preempted: Text,
    unknown: Text,
    states: Vec<(char, Text)>,
    unmatched: i64,
    unmatched_first: Option<i64>,
    /// Returns to a CPU that the recording could not show.
    pub without_switch_in: i64,
}

/// The length of a wait that has not ended.
const RUNNING: i64 = -1;

impl Default for Waits {
    fn default() -> Waits {
        Waits {
            rows: Vec::new(),
            before: Vec::new(),
            preempted: "preempted".into(),
            unknown: "unknown".into(),
            states: Vec::new(),
            unmatched: 0,
            unmatched_first: None,
            without_switch_in: 0,
        }
    }
}

impl Waits {
    /// A switch without its counterpart.
    pub fn unmatched(&mut self, record_no: i64) {
        self.unmatched += 1;
        self.unmatched_first.get_or_insert(record_no);
    }

    /// One text per state letter.
    fn state(&mut self, state: char) -> Text {
        if let Some((_, text)) = self.states.iter().find(|(known, _)| *known == state) {
            return text.clone();
        }
        let text = Text::from(&*state.encode_utf8(&mut [0; 4]));
        self.states.push((state, text.clone()));
        text
    }

    fn row(&mut self, thread: i32, off: &Off) -> Wait {
        let reason = if off.is_preempted() { &self.preempted } else { &self.unknown }.clone();
        let state = off.state.map(|state| self.state(state));
        Wait {
            artifact_id: 0,
            is_aggregate: false,
            thread_id: Some(thread).into(),
            start_ns: Some(off.since).into(),
            dur_ns: RUNNING,
            runnable_ns: None.into(),
            state,
            reason,
            stack_id: off.stack.into(),
            waker_thread_id: None.into(),
            waker_stack_id: None.into(),
            clipped: false,
            record_no: off.record_no,
        }
    }

    /// The thread leaves its CPU. Gives the row.
    pub fn begin(&mut self, thread: i32, off: &Off) -> usize {
        let row = self.row(thread, off);
        self.rows.push(row);
        self.rows.len() - 1
    }

    /// The wait ends.
    pub fn push(&mut self, thread: i32, off: Off, end: i64, runnable_ns: Option<i64>, clipped: bool) {
        if off.born {
            return;
        }
        if off.row.is_none() {
            let row = self.row(thread, &off);
            self.before.push(row);
        }
        let row = off.row.map_or(self.before.last_mut(), |at| self.rows.get_mut(at));
        let Some(row) = row else { return };
        row.dur_ns = end.saturating_sub(off.since).max(0);
        row.runnable_ns = runnable_ns.into();
        row.waker_thread_id = off.wake.and_then(|wake| wake.thread).into();
        row.waker_stack_id = off.wake.and_then(|wake| wake.stack).into();
        row.clipped = clipped;
    }

    /// All rows, by time.
    fn sorted(&mut self) -> Vec<Wait> {
        let key = |row: &Wait| (row.start_ns, row.record_no, row.thread_id);
        let mut rows = std::mem::take(&mut self.rows);
        // Rows of threads whose number was given to another one never ended.
        rows.retain(|row| row.dur_ns != RUNNING);
        self.before.sort_by_key(key);
        let before = std::mem::take(&mut self.before);
        rows.splice(0..0, before);
        // Almost always they are in order, and a sort would copy half of them.
        if !rows.is_sorted_by_key(key) {
            rows.sort_by_key(key);
        }
        rows
    }

    pub fn finish(mut self, sight: Sight, recorder: &mut Recorder) {
        let mut rows = self.sorted();
        let waits = rows.len();
        match recorder.tables.waits.is_empty() {
            true => recorder.tables.waits = rows,
            false => recorder.tables.waits.append(&mut rows),
        }
        if self.unmatched > 0 {
            let first = self.unmatched_first.map_or(String::new(), |no| format!("record={no}"));
            let message = format!("switches without their counterpart, of {} waits: events were lost without a LOST record", waits);
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
