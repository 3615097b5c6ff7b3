//! Why threads waited: the reason from the symbolized stack, the roles of threads, and the split of blocked time.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::classes::{Classes, Marks};
use super::paths::path;
use crate::tables::{Tables, Text, WaitPair};

/// A main thread that spends more than this part of its window in one futex wait is waiting for the others to end
/// (rules.md R32: "exclude single long waits by main").
const JOIN_SHARE: (i64, i64) = (1, 2);

/// Sets `waits.reason` where the importer left it `unknown`.
pub fn reasons(tables: &mut Tables, classes: &Classes, marks: &Marks) {
    let rules: Vec<(u64, Option<bool>, Text)> = classes
        .wait_reasons
        .iter()
        .map(|rule| (classes.bit(&rule.class), rule.dso.as_deref().map(|dso| dso == "kernel"), Text::from(rule.reason.as_str())))
        .collect();
    // Per stack that somebody waited in: the rule that says why.
    const NEW: u8 = u8::MAX;
    const NO_RULE: u8 = NEW - 1;
    let mut of_stack: Vec<u8> = vec![NEW; if tables.waits.is_empty() { 0 } else { tables.stacks.len() }];
    for stack in tables.waits.iter().filter_map(|wait| wait.stack_id.get()) {
        let Some(known) = of_stack.get_mut(stack as usize).filter(|rule| **rule == NEW) else { continue };
        let (mut user, mut kernel) = (0, 0);
        for frame in path(tables, stack) {
            *(if frame.is_kernel { &mut kernel } else { &mut user }) |= marks.of_frame(frame);
        }
        let seen = |side: &Option<bool>| side.map_or(user | kernel, |is_kernel| if is_kernel { kernel } else { user });
        let found = rules.iter().position(|(bit, side, _)| seen(side) & bit != 0);
        *known = found.and_then(|rule| u8::try_from(rule).ok()).unwrap_or(NO_RULE);
    }
    let preempted = Text::from("preempted");
    let other = Text::from("other");
    for wait in tables.waits.iter_mut().filter(|wait| wait.reason.as_ref() == "unknown") {
        let rule = wait.stack_id.get().and_then(|stack| of_stack.get(stack as usize));
        let found = rule.and_then(|rule| rules.get(usize::from(*rule))).map(|(_, _, reason)| reason.clone());
        wait.reason = match (found, wait.state.as_deref()) {
            (Some(reason), _) => reason,
            (None, Some("R" | "R+")) => preempted.clone(),
            (None, _) if wait.stack_id.get().is_some() => other.clone(),
            (None, _) => continue,
        };
        if wait.reason == preempted && wait.state.is_none() {
            wait.state = Some(Text::from("R"));
        }
    }
    joins(tables);
}

/// The main thread's one long wait is a join even where the unwinder lost `pthread_join`.
fn joins(tables: &mut Tables) {
    let windows: BTreeMap<i32, i64> = tables.thread_states.iter().map(|row| (row.thread_id, row.window_ns)).collect();
    let join = Text::from("join");
    let threads = &tables.threads;
    let processes = &tables.processes;
    for wait in tables.waits.iter_mut().filter(|wait| !wait.is_aggregate && wait.reason.as_ref() == "lock") {
        let Some(thread) = wait.thread_id.get().and_then(|id| threads.get(id as usize)) else { continue };
        let is_main = processes.get(thread.process_id as usize).is_some_and(|process| process.pid == thread.tid);
        let window = windows.get(&thread.thread_id).copied().unwrap_or(i64::MAX);
        if is_main && wait.dur_ns.saturating_mul(JOIN_SHARE.1) > window.saturating_mul(JOIN_SHARE.0) {
            wait.reason = join.clone();
        }
    }
}

/// The rows of `wait_pairs`.
pub fn pairs(tables: &Tables) -> Vec<WaitPair> {
    // The texts are shared: where they lie tells them apart, but for the same text read twice.
    let at = |text: &Text| text.as_ptr().addr();
    let mut known = FxHashMap::default();
    let mut rows: Vec<WaitPair> = Vec::new();
    for wait in &tables.waits {
        let state = wait.state.as_ref().map(at);
        let key = (wait.artifact_id, wait.is_aggregate, wait.thread_id, wait.waker_thread_id, at(&wait.reason), state, wait.stack_id);
        let row = *known.entry(key).or_insert_with(|| {
            rows.push(WaitPair {
                artifact_id: wait.artifact_id,
                is_aggregate: wait.is_aggregate,
                thread_id: wait.thread_id,
                waker_thread_id: wait.waker_thread_id,
                reason: wait.reason.clone(),
                state: wait.state.clone(),
                stack_id: wait.stack_id,
                wait_ns: 0,
                n: 0,
                runnable_ns: 0,
            });
            rows.len() - 1
        });
        if let Some(row) = rows.get_mut(row) {
            row.add(wait.dur_ns, 1, wait.runnable_ns.get().unwrap_or(0));
        }
    }
    let key = |row: &WaitPair| (row.artifact_id, row.is_aggregate, row.thread_id, row.waker_thread_id, row.stack_id);
    rows.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| (&a.reason, &a.state).cmp(&(&b.reason, &b.state))));
    rows.dedup_by(|next, kept| {
        let is_same = key(next) == key(kept) && next.reason == kept.reason && next.state == kept.state;
        if is_same {
            kept.add(next.wait_ns, next.n, next.runnable_ns);
        }
        is_same
    });
    rows
}

impl WaitPair {
    fn add(&mut self, wait_ns: i64, n: i64, runnable_ns: i64) {
        self.wait_ns = self.wait_ns.saturating_add(wait_ns);
        self.n += n;
        self.runnable_ns = self.runnable_ns.saturating_add(runnable_ns);
    }
}

/// Moves blocked time from `other_ns` to the column of its reason and names the thread's role.
pub fn split_states(tables: &mut Tables) {
    let threads = tables.thread_states.iter().map(|state| state.thread_id + 1).max().unwrap_or(0);
    let mut row_of: Vec<Option<usize>> = vec![None; usize::try_from(threads).unwrap_or(0)];
    for (at, state) in tables.thread_states.iter().enumerate() {
        if let Some(row) = row_of.get_mut(state.thread_id as usize) {
            *row = Some(at);
        }
    }
    let mut sums = vec![(0_i64, 0_i64); tables.thread_states.len()];
    for wait in tables.waits.iter().filter(|wait| !wait.is_aggregate) {
        let row = wait.thread_id.get().and_then(|thread| *row_of.get(thread as usize)?);
        let Some(state) = row.and_then(|at| tables.thread_states.get_mut(at)) else { continue };
        let dur = wait.dur_ns.clamp(0, state.other_ns);
        let column = match wait.reason.as_ref() {
            "lock" => &mut state.lock_ns,
            "sleep" => &mut state.sleep_ns,
            "fsync" => &mut state.fsync_ns,
            "disk" | "fault" => &mut state.disk_ns,
            // Waiting for a peer that it asked; who waits for anybody to call (accept, poll) may have nothing to do.
            reason @ ("join" | "network") => {
                if let Some((joined, asked)) = row.and_then(|at| sums.get_mut(at)) {
                    let sum = if reason == "join" { joined } else { asked };
                    *sum = sum.saturating_add(dur);
                }
                continue;
            }
            _ => continue,
        };
        *column = column.saturating_add(dur);
        state.other_ns -= dur;
    }
    for (state, (joined, asked)) in tables.thread_states.iter_mut().zip(sums) {
        let parts = [state.on_cpu_ns, state.lock_ns, state.sleep_ns, state.fsync_ns, state.disk_ns, asked];
        let busy = parts.into_iter().fold(0_i64, i64::saturating_add);
        let role = if joined.saturating_mul(JOIN_SHARE.1) > state.window_ns.saturating_mul(JOIN_SHARE.0) {
            "joiner"
        } else if busy.saturating_mul(100) < state.window_ns {
            // Under 1 % of its life in anything but waiting for somebody else.
            "idle"
        } else {
            "worker"
        };
        state.role = Text::from(role);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{ThreadState, Wait};

    fn role(reason: &str, on_cpu_ns: i64) -> String {
        let mut tables = Tables::default();
        let wait_ns = 1_000 - on_cpu_ns;
        tables.thread_states.push(ThreadState {
            artifact_id: 0,
            thread_id: 0,
            window_ns: 1_000,
            on_cpu_ns,
            runnable_ns: 0,
            lock_ns: 0,
            sleep_ns: 0,
            fsync_ns: 0,
            disk_ns: 0,
            other_ns: wait_ns,
            unknown_ns: 0,
            switches: 1,
            role: "".into(),
        });
        tables.waits.push(Wait {
            artifact_id: 0,
            is_aggregate: false,
            thread_id: Some(0).into(),
            start_ns: Some(0).into(),
            dur_ns: wait_ns,
            runnable_ns: None.into(),
            state: Some("S".into()),
            reason: reason.into(),
            stack_id: None.into(),
            waker_thread_id: None.into(),
            waker_stack_id: None.into(),
            clipped: false,
            record_no: 0,
        });
        split_states(&mut tables);
        tables.thread_states[0].role.to_string()
    }

    // By hand: two waits of one kind are one row though their texts were read twice; another stack and another reason are not.
    #[test]
    fn equal_waits_are_one_pair() {
        let wait = |reason: &str, stack: i32, dur_ns: i64, runnable: Option<i64>| Wait {
            artifact_id: 0,
            is_aggregate: false,
            thread_id: Some(1).into(),
            start_ns: Some(0).into(),
            dur_ns,
            runnable_ns: runnable.into(),
            state: Some("S".into()),
            reason: reason.into(),
            stack_id: Some(stack).into(),
            waker_thread_id: None.into(),
            waker_stack_id: None.into(),
            clipped: false,
            record_no: 0,
        };
        let waits = vec![wait("lock", 2, 10, Some(3)), wait("lock", 1, 5, None), wait("lock", 2, 20, None), wait("disk", 2, 1, Some(1))];
        let pairs = pairs(&Tables { waits, ..Tables::default() });
        let rows: Vec<_> = pairs.iter().map(|row| (row.stack_id.get(), &*row.reason, row.wait_ns, row.n, row.runnable_ns)).collect();
        assert_eq!(rows, [(Some(1), "lock", 5, 1, 0), (Some(2), "disk", 1, 1, 1), (Some(2), "lock", 30, 2, 3)]);
    }

    // rules.md R31: request threads wait for the peer they asked; idle servers and accept loops do not count.
    #[test]
    fn who_asked_a_peer_is_no_idle_server() {
        assert_eq!(role("network", 5), "worker");
        assert_eq!([role("accept", 5), role("poll", 5), role("condvar", 5)], ["idle", "idle", "idle"]);
        assert_eq!([role("accept", 20), role("join", 5)], ["worker", "joiner"]);
    }
}
