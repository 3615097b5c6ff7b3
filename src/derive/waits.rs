//! Why threads waited: the reason from the symbolized stack, the roles of threads, and the split of blocked time.

use std::collections::BTreeMap;

use super::classes::{Classes, Marks};
use super::paths::path;
use crate::tables::{Tables, Text, Wait};

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
    let mut of_stack: BTreeMap<i32, Option<Text>> = BTreeMap::new();
    for wait in &tables.waits {
        if let Some(stack) = wait.stack_id {
            of_stack.entry(stack).or_insert_with(|| {
                let (mut user, mut kernel) = (0, 0);
                for frame in path(tables, stack) {
                    *(if frame.is_kernel { &mut kernel } else { &mut user }) |= marks.of_frame(frame);
                }
                let seen = |side: &Option<bool>| side.map_or(user | kernel, |is_kernel| if is_kernel { kernel } else { user });
                rules.iter().find(|(bit, side, _)| seen(side) & bit != 0).map(|(_, _, reason)| reason.clone())
            });
        }
    }
    let preempted = Text::from("preempted");
    let other = Text::from("other");
    for wait in tables.waits.iter_mut().filter(|wait| wait.reason.as_ref() == "unknown") {
        let found = wait.stack_id.and_then(|stack| of_stack.get(&stack)).cloned().flatten();
        wait.reason = match (found, wait.state.as_deref()) {
            (Some(reason), _) => reason,
            (None, Some("R" | "R+")) => preempted.clone(),
            (None, _) if wait.stack_id.is_some() => other.clone(),
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
        let Some(thread) = wait.thread_id.and_then(|id| threads.get(id as usize)) else { continue };
        let is_main = processes.get(thread.process_id as usize).is_some_and(|process| process.pid == thread.tid);
        let window = windows.get(&thread.thread_id).copied().unwrap_or(i64::MAX);
        if is_main && wait.dur_ns.saturating_mul(JOIN_SHARE.1) > window.saturating_mul(JOIN_SHARE.0) {
            wait.reason = join.clone();
        }
    }
}

/// Moves blocked time from `other_ns` to the column of its reason and names the thread's role.
pub fn split_states(tables: &mut Tables) {
    let mut by_thread: BTreeMap<i32, Vec<&Wait>> = BTreeMap::new();
    for wait in tables.waits.iter().filter(|wait| !wait.is_aggregate && wait.reason.as_ref() != "preempted") {
        if let Some(thread) = wait.thread_id {
            by_thread.entry(thread).or_default().push(wait);
        }
    }
    for state in &mut tables.thread_states {
        let mut joined = 0_i64;
        for wait in by_thread.get(&state.thread_id).into_iter().flatten() {
            let dur = wait.dur_ns.clamp(0, state.other_ns);
            let column = match wait.reason.as_ref() {
                "lock" => &mut state.lock_ns,
                "sleep" => &mut state.sleep_ns,
                "fsync" => &mut state.fsync_ns,
                "disk" | "fault" => &mut state.disk_ns,
                "join" => {
                    joined = joined.saturating_add(dur);
                    continue;
                }
                _ => continue,
            };
            *column = column.saturating_add(dur);
            state.other_ns -= dur;
        }
        let busy = state.on_cpu_ns.saturating_add(state.lock_ns).saturating_add(state.sleep_ns).saturating_add(state.fsync_ns);
        let role = if joined.saturating_mul(JOIN_SHARE.1) > state.window_ns.saturating_mul(JOIN_SHARE.0) {
            "joiner"
        } else if busy.saturating_add(state.disk_ns).saturating_mul(100) < state.window_ns {
            // Under 1 % of its life in anything but waiting for somebody else.
            "idle"
        } else {
            "worker"
        };
        state.role = Text::from(role);
    }
}
