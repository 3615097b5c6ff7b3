//! Time that was not spent on a CPU.

use super::{Maybe32, Maybe64, Text, table};

table!("waits", "One off-CPU interval of a thread with its reason; or one aggregated off-CPU stack. Preempted time is runnable, not a wait, and has state R. Sorted by (artifact_id, start_ns, record_no).", Wait {
    artifact_id: i32, "id", "The artifact";
    is_aggregate: bool, "bool", "True for a stack summed by the recording tool: no start, no count";
    thread_id: Maybe32, "id", "The thread";
    start_ns: Maybe64, "ns", "When it left the CPU";
    dur_ns: i64, "ns", "Until it was runnable again (wakeup), or until it ran where no wakeup was seen; the sum for an aggregate";
    runnable_ns: Maybe64, "ns", "From wakeup to switch-in (scheduling delay)";
    state: Option<Text>, "text", "Scheduler state at the switch: S, D, R, ...; null where the tool has none";
    reason: Text, "text", "lock, condvar, join, sleep, fsync, disk, poll, pipe, accept, network, fault, child, preempted, stopped, other or unknown; from the stack";
    stack_id: Maybe32, "id", "Where it waited";
    waker_thread_id: Maybe32, "id", "Who woke it; the idle task (tid 0) stands for an interrupt on an idle CPU: who asked for it is not recorded";
    waker_stack_id: Maybe32, "id", "Where the waker was";
    clipped: bool, "bool", "Began before or ended after the recording: dur_ns is a lower bound";
    record_no: i64, "record", "Record of the switch (or the line, for text)";
});

table!("wait_pairs", "The waits summed by thread, waker, reason, state and stack: waits itself may have millions of rows.", WaitPair {
    artifact_id: i32, "id", "The artifact";
    is_aggregate: bool, "bool", "As in waits";
    thread_id: Maybe32, "id", "The thread";
    waker_thread_id: Maybe32, "id", "Who woke it, as in waits";
    reason: Text, "text", "As in waits";
    state: Option<Text>, "text", "As in waits";
    stack_id: Maybe32, "id", "Where it waited";
    wait_ns: i64, "ns", "Sum of dur_ns";
    n: i64, "count", "How many waits";
    runnable_ns: i64, "ns", "Sum of runnable_ns, where it is known";
});

table!("thread_states", "What one thread did in the recorded window; the parts sum to the window.", ThreadState {
    artifact_id: i32, "id", "The artifact";
    thread_id: i32, "id", "The thread";
    window_ns: i64, "ns", "Length of the thread's window: from its first to its last sign of life, clipped to the recording";
    on_cpu_ns: i64, "ns", "Running";
    runnable_ns: i64, "ns", "Waiting for a CPU, preemption included";
    lock_ns: i64, "ns", "Blocked on a user lock (futex)";
    sleep_ns: i64, "ns", "Blocked in an explicit sleep or timer";
    fsync_ns: i64, "ns", "Blocked in fsync and its kin";
    disk_ns: i64, "ns", "Blocked on block I/O otherwise";
    other_ns: i64, "ns", "Blocked for any other reason (condvar, join, poll, pipe, network, ...)";
    unknown_ns: i64, "ns", "Time at the edges for which no state is known";
    switches: i64, "count", "Times it left the CPU";
    role: Text, "text", "worker, joiner (main thread waiting for the others) or idle (never did work)";
});
