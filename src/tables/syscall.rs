//! System calls.

use super::{Text, table};

table!("syscalls", "One row of a summary: a system call's calls, errors and time; of perf.data, the sums of its syscall_events per thread.", Syscall {
    artifact_id: i32, "id", "The artifact";
    thread_id: Option<i32>, "id", "The thread; null where the summary is over all";
    name: Text, "text", "Name";
    calls: i64, "count", "Calls";
    errors: Option<i64>, "count", "Calls that failed; null where the column was empty";
    total_ns: Option<i64>, "ns", "Time, in the clock of the next column";
    clock: Text, "text", "system (CPU time in the kernel), wall or unknown";
    line_no: i64, "line", "Line in the file, from 1; perf.data: record of the first call";
});

table!("syscall_events", "One call. Sorted by (artifact_id, start_ns, line_no).", SyscallEvent {
    artifact_id: i32, "id", "The artifact";
    thread_id: Option<i32>, "id", "The thread";
    name: Text, "text", "Name";
    start_ns: Option<i64>, "ns", "When it began";
    dur_ns: Option<i64>, "ns", "How long it took; null where -T was not given or it never returned in the recording";
    fd: Option<i64>, "fd", "First argument where it is a descriptor";
    fd_kind: Option<Text>, "text", "What the descriptor is where known: file, pipe, socket, eventfd, tty, device";
    length: Option<i64>, "bytes", "Bytes asked for (read, write, mmap, munmap, ...); of vectors strace alone knows them";
    address: Option<i64>, "address", "Address argument (brk, mmap, munmap) or futex word";
    path: Option<Text>, "text", "Path argument; perf has it from kernels that copy it only";
    operation: Option<Text>, "text", "futex operation, or the flags of mmap and madvise";
    result: Option<i64>, "value", "Return value, -1 where it failed";
    error: Option<Text>, "text", "errno name";
    stack_id: Option<i32>, "id", "Where it was called from: strace -k, perf record -g";
    line_no: i64, "line", "Line where it began, from 1; perf.data: its record";
});
