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
//! woken task's event, too), else at the next thing the thread does. What lies between is then counted as on CPU after
//! a wakeup (part of it may have been waiting for the CPU) and as unknown without one; a wait that ends so is clipped.
//! `--switch-events` or `-a` tell it exactly.

use rustc_hash::FxHashMap;

use super::waits::{Off, Waits, Wake};
use crate::ingest::Recorder;
use crate::tables::ThreadState;

/// What a recording can say about switches into a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Every switch is recorded: one that is missing was lost.
    Both,
    /// Only the side that leaves.
    Leaving,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Nothing is known since the mark.
    Unknown,
    Running,
    Off(Off),
    /// It left for the last time.
    Dead,
}

/// Time of one thread so far. Everything up to `mark` is in one of the sums.
#[derive(Debug, Clone)]
struct Track {
    start: i64,
    mark: i64,
    state: State,
    exit: Option<i64>,
    sums: Sums,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    on_cpu: i64,
    runnable: i64,
    blocked: i64,
    unknown: i64,
    switches: i64,
}

/// A sched_switch in terms of thread ids. Threads that the file does not introduce are `None`.
#[derive(Debug, Clone, Copy)]
pub struct Switched {
    pub prev: Option<i32>,
    pub next: Option<i32>,
    pub state: char,
    pub cpu: Option<i32>,
    pub to_idle: bool,
}

/// The scheduler's side of one file.
#[derive(Debug)]
pub struct Sched {
    /// By thread.
    tracks: Vec<Option<Track>>,
    recording_start: Option<i64>,
    last: i64,
    sight: Sight,
    waits: Waits,
    /// CPUs whose last known switch was to the idle task.
    idle: FxHashMap<i32, bool>,
}

impl Sched {
    pub fn new(sight: Sight) -> Sched {
        Sched { tracks: Vec::new(), recording_start: None, last: i64::MIN, sight, waits: Waits::default(), idle: FxHashMap::default() }
    }

    /// Any time stamp of the recording.
    pub fn tick(&mut self, ts: i64) {
        self.recording_start.get_or_insert(ts);
        self.last = self.last.max(ts);
    }

    /// A thread that is heard of for the first time was there when the recording began, unless it was forked later.
    fn take(&mut self, thread: i32, ts: i64) -> Track {
        let start = self.recording_start.unwrap_or(ts).min(ts);
        let fresh = || Track { start, mark: start, state: State::Unknown, exit: None, sums: Sums::default() };
        self.tracks.get_mut(thread as usize).and_then(Option::take).unwrap_or_else(fresh)
    }

    fn put(&mut self, thread: i32, track: Track) {
        let Ok(at) = usize::try_from(thread) else { return };
        if self.tracks.len() <= at {
            // Threads are numbered one after the other.
            self.tracks.resize_with(at.saturating_add(1), || None);
        }
        if let Some(slot) = self.tracks.get_mut(at) {
            *slot = Some(track);
        }
    }

    fn state(&self, thread: i32) -> Option<&State> {
        self.tracks.get(thread as usize)?.as_ref().map(|track| &track.state)
    }

    /// FORK: the thread exists from here on, and may run.
    pub fn born(&mut self, thread: i32, ts: i64) {
        let state = match self.sight {
            Sight::Leaving => State::Running,
            Sight::Both => State::Off(Off { born: true, wake: Some(Wake::unseen(ts)), ..Off::since(ts) }),
        };
        self.put(thread, Track { start: ts, mark: ts, state, exit: None, sums: Sums::default() });
    }

    /// An exec: the program runs, and what came before is another program's.
    pub fn exec(&mut self, thread: i32, ts: i64) {
        if self.state(thread).is_none() {
            self.put(thread, Track { start: ts, mark: ts, state: State::Running, exit: None, sums: Sums::default() });
        }
        self.sign_of_life(thread, None, ts);
    }

    pub fn exit(&mut self, thread: i32, ts: i64) {
        if let Some(track) = self.tracks.get_mut(thread as usize).and_then(Option::as_mut) {
            track.exit = Some(ts);
        }
    }

    /// The thread does something at this moment, so it is on a CPU.
    pub fn sign_of_life(&mut self, thread: i32, cpu: Option<i32>, ts: i64) {
        let mut track = self.take(thread, ts);
        match track.state {
            State::Unknown => {
                track.sums.unknown += advance(&mut track.mark, ts);
                track.state = State::Running;
            }
            State::Off(off) => {
                self.back_unseen(&mut track, off, (thread, cpu), ts);
                track.state = State::Running;
            }
            State::Running | State::Dead => {}
        }
        self.put(thread, track);
    }

    /// The thread is on a CPU though no switch into it was seen. Accounts the time since it left, up to `ts`.
    ///
    /// Even system-wide recordings lose switches out of the idle task, without a LOST record (measured on Linux 6.18:
    /// those of all CPUs but one). A CPU that was idle takes a thread as soon as it is woken.
    fn back_unseen(&mut self, track: &mut Track, off: Off, (thread, cpu): (i32, Option<i32>), ts: i64) {
        let from_idle = cpu.is_some_and(|cpu| self.idle.get(&cpu).copied().unwrap_or(false));
        if self.sight == Sight::Both {
            self.waits.unmatched(off.record_no);
        } else {
            self.waits.without_switch_in += 1;
        }
        let clipped = self.sight == Sight::Both || off.wake.is_none();
        match off.wake {
            Some(wake) => {
                track.sums.blocked += advance(&mut track.mark, wake.ts);
                let rest = advance(&mut track.mark, ts);
                match self.sight {
                    Sight::Both if !from_idle => track.sums.unknown += rest,
                    _ => track.sums.on_cpu += rest,
                }
                self.waits.push(thread, off, wake.ts, None, clipped);
            }
            None => {
                track.sums.unknown += advance(&mut track.mark, ts);
                self.waits.push(thread, off, ts, None, clipped);
            }
        }
    }

    /// The thread leaves its CPU. `state` is `None` where a SWITCH record says no more than that it was not preempted.
    fn switch_out(&mut self, (thread, cpu): (i32, Option<i32>), ts: i64, state: Option<char>, stack: Option<i32>, record_no: i64) {
        let mut track = self.take(thread, ts);
        match track.state {
            State::Running => track.sums.on_cpu += advance(&mut track.mark, ts),
            State::Off(off) => self.back_unseen(&mut track, off, (thread, cpu), ts),
            State::Unknown | State::Dead => track.sums.unknown += advance(&mut track.mark, ts),
        }
        track.sums.switches += 1;
        track.state = match state {
            Some('X' | 'Z') => State::Dead,
            _ => {
                let off = Off { state, stack, record_no, ..Off::since(ts) };
                State::Off(Off { row: Some(self.waits.begin(thread, &off)), ..off })
            }
        };
        self.put(thread, track);
    }

    /// SWITCH out, which comes right behind the sched_switch of the same switch where both are recorded.
    pub fn switch_out_record(&mut self, thread: i32, ts: i64, preempted: bool, record_no: i64) {
        let left = matches!(self.state(thread), Some(State::Off(_) | State::Dead));
        if !left {
            self.switch_out((thread, None), ts, preempted.then_some('R'), None, record_no);
        }
    }

    /// SWITCH in, which comes right behind the sched_switch of the same switch where that shows this side.
    pub fn switch_in_record(&mut self, thread: i32, ts: i64, record_no: i64) {
        let came = matches!(self.state(thread), Some(State::Running));
        if !came {
            self.switch_in(thread, ts, record_no);
        }
    }

    /// The thread gets a CPU.
    fn switch_in(&mut self, thread: i32, ts: i64, record_no: i64) {
        let mut track = self.take(thread, ts);
        match track.state {
            // It left without being seen.
            State::Running => {
                if self.sight == Sight::Both && ts > track.mark {
                    self.waits.unmatched(record_no);
                    track.sums.unknown += advance(&mut track.mark, ts);
                }
            }
            State::Unknown => {
                let since = track.mark;
                track.sums.unknown += advance(&mut track.mark, ts);
                if self.sight == Sight::Both && ts > since {
                    self.waits.push(thread, Off { record_no, open: true, ..Off::since(since) }, ts, None, true);
                }
            }
            State::Off(off) => {
                let runnable_from = match off.wake {
                    Some(wake) => wake.ts,
                    None if off.is_preempted() => off.since,
                    None => ts,
                };
                let blocked = advance(&mut track.mark, runnable_from.min(ts));
                let runnable = advance(&mut track.mark, ts);
                match off.open {
                    true => track.sums.unknown += blocked,
                    false => track.sums.blocked += blocked,
                }
                track.sums.runnable += runnable;
                let end = if off.is_preempted() { ts } else { runnable_from };
                let delay = off.wake.map(|_| runnable);
                self.waits.push(thread, off, end, delay, off.open);
            }
            State::Dead => track.sums.unknown += advance(&mut track.mark, ts),
        }
        track.state = State::Running;
        self.put(thread, track);
    }

    /// Whether a wakeup of this thread means something now; its waker's stack is not needed otherwise.
    pub fn is_waiting(&self, thread: i32) -> bool {
        match self.state(thread) {
            Some(State::Off(off)) => off.wake.is_none() && !off.is_preempted(),
            Some(State::Unknown) | None => self.sight == Sight::Both,
            Some(State::Running | State::Dead) => false,
        }
    }

    pub fn wakeup(&mut self, thread: i32, ts: i64, waker: Wake, record_no: i64) {
        let mut track = self.take(thread, ts);
        let off = match track.state {
            State::Off(off) => off,
            // It was off the CPU when the recording began.
            _ => Off { record_no, open: true, ..Off::since(track.mark) },
        };
        track.state = State::Off(Off { wake: Some(waker), ..off });
        self.put(thread, track);
    }

    /// A sched_switch: one leaves, one comes.
    pub fn switch(&mut self, switch: &Switched, ts: i64, stack: Option<i32>, record_no: i64) {
        if let Some(prev) = switch.prev {
            self.switch_out((prev, switch.cpu), ts, Some(switch.state), stack, record_no);
        }
        if let Some(next) = switch.next {
            self.switch_in(next, ts, record_no);
        }
        if let Some(cpu) = switch.cpu {
            self.idle.insert(cpu, switch.to_idle);
        }
    }

    /// Closes what is open at the end of the recording and writes the rows.
    pub fn finish(mut self, recorder: &mut Recorder) {
        for (thread, track) in std::mem::take(&mut self.tracks).into_iter().enumerate() {
            let (thread, Some(mut track)) = (thread as i32, track) else { continue };
            let end = match (track.exit, track.state) {
                (Some(exit), _) => exit.max(track.mark),
                (None, State::Dead) => track.mark,
                (None, _) => self.last.max(track.mark),
            };
            self.close(thread, &mut track, end);
            if track.sums.switches > 0 || track.sums.on_cpu > 0 || track.sums.blocked > 0 {
                recorder.tables.thread_states.push(row(thread, &track));
            }
        }
        self.waits.finish(self.sight, recorder);
    }

    fn close(&mut self, thread: i32, track: &mut Track, end: i64) {
        match track.state {
            State::Unknown | State::Dead => track.sums.unknown += advance(&mut track.mark, end),
            State::Running => track.sums.on_cpu += advance(&mut track.mark, end),
            State::Off(off) => {
                let woken = off.wake.map(|wake| wake.ts).or(off.is_preempted().then_some(off.since));
                let blocked = advance(&mut track.mark, woken.unwrap_or(end).min(end));
                let rest = advance(&mut track.mark, end);
                match off.open {
                    true => track.sums.unknown += blocked,
                    false => track.sums.blocked += blocked,
                }
                match self.sight {
                    Sight::Both => track.sums.runnable += rest,
                    // After a wakeup it ran again, as far as is known.
                    Sight::Leaving if off.wake.is_some() => track.sums.on_cpu += rest,
                    Sight::Leaving => track.sums.unknown += rest,
                }
                let wait_end = off.wake.map_or(end, |wake| wake.ts);
                // Woken within the recording: the wait itself is complete, only the delay after it is not.
                let clipped = off.open || off.wake.is_none();
                self.waits.push(thread, off, wait_end, None, clipped);
            }
        }
    }
}

/// Moves the mark to `ts` and returns how far that is; a time before the mark moves nothing.
fn advance(mark: &mut i64, ts: i64) -> i64 {
    let by = ts.saturating_sub(*mark).max(0);
    *mark = mark.saturating_add(by);
    by
}

fn row(thread: i32, track: &Track) -> ThreadState {
    let sums = &track.sums;
    ThreadState {
        artifact_id: 0,
        thread_id: thread,
        window_ns: track.mark.saturating_sub(track.start),
        on_cpu_ns: sums.on_cpu,
        runnable_ns: sums.runnable,
        lock_ns: 0,
        sleep_ns: 0,
        fsync_ns: 0,
        disk_ns: 0,
        other_ns: sums.blocked,
        unknown_ns: sums.unknown,
        switches: sums.switches,
        role: "".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::testing::{kinds, try_read};

    fn rows(sched: Sched) -> Recorder {
        let mut recorder = try_read(|_, _| Ok(()), b"").unwrap();
        for tid in 0..2 {
            recorder.push_thread(0, tid, None);
        }
        sched.finish(&mut recorder);
        recorder
    }

    fn switch(prev: i32, state: char, next: i32) -> Switched {
        let known = |thread: i32| (thread >= 0).then_some(thread);
        Switched { prev: known(prev), next: known(next), state, cpu: Some(0), to_idle: next < 0 }
    }

    type Row = (i64, i64, Option<i64>, bool);

    fn waits(recorder: &Recorder) -> Vec<Row> {
        recorder.tables.waits.iter().map(|wait| (wait.start_ns.get().unwrap(), wait.dur_ns, wait.runnable_ns.get(), wait.clipped)).collect()
    }

    fn states(recorder: &Recorder) -> Vec<[i64; 5]> {
        let rows = recorder.tables.thread_states.iter();
        rows.map(|row| [row.window_ns, row.on_cpu_ns, row.runnable_ns, row.other_ns, row.unknown_ns]).collect()
    }

    // Counted by hand: 0 runs 100..150, sleeps to 180, waits for the CPU to 200, is preempted 210..220, sleeps from 240 to
    // beyond the end at 300. 1 runs 150..200 and 210..220; before 150 nothing is known but that it was off the CPU.
    #[test]
    fn every_moment_of_a_complete_recording_is_accounted_once() {
        let mut sched = Sched::new(Sight::Both);
        sched.tick(100);
        sched.exec(0, 100);
        sched.switch(&switch(0, 'S', 1), 150, None, 1);
        assert!(sched.is_waiting(0));
        sched.wakeup(0, 180, Wake::unseen(180), 2);
        sched.switch(&switch(1, 'R', 0), 200, None, 3);
        sched.switch(&switch(0, 'R', 1), 210, None, 4);
        sched.switch(&switch(1, 'D', 0), 220, None, 5);
        sched.switch(&switch(0, 'S', -1), 240, None, 6);
        sched.tick(300);
        let recorder = rows(sched);
        let zero = [(150, 30, Some(20), false), (210, 10, None, false), (240, 60, None, true)];
        let one = [(100, 50, None, true), (200, 10, None, false), (220, 80, None, true)];
        let mut expected = [zero, one].concat();
        expected.sort_unstable();
        let mut found = waits(&recorder);
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(states(&recorder), [[200, 80, 30, 90, 0], [200, 60, 10, 80, 50]]);
        let preempted = recorder.tables.waits.iter().filter(|wait| wait.reason.as_ref() == "preempted").count();
        assert_eq!(preempted, 2);
    }

    // By hand: without switches into the thread, it is on CPU from its wakeup on, and nothing is known where no wakeup
    // was recorded.
    #[test]
    fn a_recording_of_one_program_shows_leaving_only() {
        let mut sched = Sched::new(Sight::Leaving);
        sched.tick(0);
        sched.exec(0, 0);
        sched.switch(&switch(0, 'S', -1), 10, None, 1);
        sched.wakeup(0, 30, Wake::unseen(30), 2);
        sched.switch(&switch(0, 'S', -1), 40, None, 3);
        sched.switch(&switch(0, 'S', -1), 70, None, 4);
        sched.exit(0, 90);
        let recorder = rows(sched);
        assert_eq!(waits(&recorder), [(10, 20, None, false), (40, 30, None, true), (70, 20, None, true)]);
        assert_eq!(states(&recorder), [[90, 20, 0, 40, 30]]);
        assert!(recorder.tables.diagnostics.is_empty() && kinds(&recorder).is_empty());
    }

    // By hand: two switches out without one in between. The CPU was idle, so from the wakeup on it had the thread.
    #[test]
    fn a_lost_switch_is_counted_and_its_wait_clipped() {
        let mut sched = Sched::new(Sight::Both);
        sched.tick(0);
        sched.exec(0, 0);
        sched.switch(&switch(0, 'S', -1), 10, None, 1);
        sched.wakeup(0, 30, Wake::unseen(30), 2);
        sched.switch(&switch(0, 'S', -1), 50, None, 3);
        sched.switch(&switch(-1, 'R', 0), 60, None, 4);
        sched.exit(0, 70);
        let recorder = rows(sched);
        assert_eq!(waits(&recorder), [(10, 20, None, true), (50, 10, None, false)]);
        assert_eq!(states(&recorder), [[70, 40, 0, 30, 0]]);
    }

    // By hand: SWITCH records (--switch-events) come a moment after the sched_switch that they repeat, and alone where
    // the thread came back from an idle CPU.
    #[test]
    fn switch_records_fill_in_what_tracepoints_do_not_show() {
        let mut sched = Sched::new(Sight::Both);
        sched.tick(0);
        sched.exec(0, 0);
        sched.switch(&switch(0, 'S', -1), 10, None, 1);
        sched.switch_out_record(0, 11, false, 2);
        sched.wakeup(0, 30, Wake::unseen(30), 3);
        sched.switch_in_record(0, 35, 4);
        sched.switch(&switch(0, 'R', 1), 40, None, 5);
        sched.switch_out_record(0, 41, true, 6);
        sched.switch_in_record(1, 42, 7);
        sched.switch(&switch(1, 'S', 0), 50, None, 8);
        sched.switch_in_record(0, 51, 9);
        sched.exit(0, 60);
        let recorder = rows(sched);
        assert_eq!(states(&recorder)[0], [60, 25, 15, 20, 0]);
        let closed: Vec<Row> = waits(&recorder).into_iter().filter(|(_, _, _, clipped)| !clipped).collect();
        assert_eq!(closed, [(10, 20, Some(5), false), (40, 10, None, false)]);
    }
}
