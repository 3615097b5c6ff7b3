//! System calls.

use super::{Text, table};

table!("syscalls", "One row of a summary: a system call's calls, errors and time.", Syscall {
    artifact_id: i32, "id", "The artifact";
    thread_id: Option<i32>, "id", "The thread; null where the summary is over all";
    name: Text, "text", "Name";
    calls: i64, "count", "Calls";
    errors: Option<i64>, "count", "Calls that failed; null where the column was empty";
    total_ns: Option<i64>, "ns", "Time, in the clock of the next column";
    clock: Text, "text", "system (CPU time in the kernel), wall or unknown";
    line_no: i64, "line", "Line in the file, from 1";
});

table!("syscall_events", "One call. Sorted by (artifact_id, start_ns, line_no).", SyscallEvent {
    artifact_id: i32, "id", "The artifact";
    thread_id: Option<i32>, "id", "The thread";
    name: Text, "text", "Name";
    start_ns: Option<i64>, "ns", "When it began";
    dur_ns: Option<i64>, "ns", "How long it took; null where -T was not given or it never returned";
    fd: Option<i64>, "fd", "First argument where it is a descriptor";
    fd_kind: Option<Text>, "text", "What the descriptor is where known: file, pipe, socket, eventfd, tty, device";
    length: Option<i64>, "bytes", "Bytes asked for (read, write, mmap, munmap, ...)";
    address: Option<i64>, "address", "Address argument (brk, mmap, munmap) or futex word";
    path: Option<Text>, "text", "Path argument";
    operation: Option<Text>, "text", "futex operation, or the flags of mmap and madvise";
    result: Option<i64>, "value", "Return value";
    error: Option<Text>, "text", "errno name";
    stack_id: Option<i32>, "id", "strace -k";
    line_no: i64, "line", "Line where it began, from 1";
});
