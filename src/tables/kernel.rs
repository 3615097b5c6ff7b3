//! What the kernel did for, or to, the programs.

use super::{Text, table};

table!("block_requests", "One request to a block device, from its issue to its completion. Sorted by (artifact_id, start_ns, record_no).", BlockRequest {
    artifact_id: i32, "id", "The artifact";
    thread_id: Option<i32>, "id", "Who put it into the queue, where that was recorded (block_rq_insert); else who issued it, which may be a kernel worker";
    device: Text, "text", "major,minor";
    sector: Option<i64>, "sector", "First sector, of 512 bytes; null for a flush";
    bytes: i64, "bytes", "Size; 0 for a flush";
    operation: Text, "text", "As the kernel writes it: R read, W write, D discard, F flush before or (at the end) force unit access, S synchronous, M metadata, A read-ahead";
    start_ns: i64, "ns", "When it was issued to the device";
    queued_ns: Option<i64>, "ns", "From its insertion into the queue to its issue; null where no insertion was recorded";
    dur_ns: Option<i64>, "ns", "From issue to completion; null where it was not completed in the recording";
    error: Option<Text>, "text", "errno name where the device failed";
    stack_id: Option<i32>, "id", "Where it was inserted, else issued";
    record_no: i64, "record", "Record of the issue";
});

table!("lock_contentions", "One wait for a lock of the kernel itself (not a futex). Sorted by (artifact_id, start_ns, record_no).", LockContention {
    artifact_id: i32, "id", "The artifact";
    thread_id: Option<i32>, "id", "The thread that waited, or that an interrupt stopped";
    address: i64, "address", "The lock";
    kind: Option<Text>, "text", "Flags of the first begin: SPIN, READ, WRITE, RT, PERCPU, MUTEX, joined with |; null for none (semaphores)";
    start_ns: i64, "ns", "When it began to wait; a mutex that spins first and then sleeps is one wait";
    dur_ns: Option<i64>, "ns", "How long; null where no end was recorded";
    error: Option<Text>, "text", "errno name where it gave up (a signal)";
    stack_id: Option<i32>, "id", "Where it waited";
    record_no: i64, "record", "Record of the begin";
});

table!("interrupts", "Interrupts, soft interrupts and exceptions of one name on one CPU.", Interrupt {
    artifact_id: i32, "id", "The artifact";
    kind: Text, "text", "irq, softirq or exception";
    name: Text, "text", "Handler (irq), vector (softirq), tracepoint (exception: page_fault_user, page_fault_kernel, ...)";
    cpu: Option<i32>, "cpu", "The CPU; null where the samples do not have it";
    count: i64, "count", "How often it began";
    timed: i64, "count", "Of those, with an end of their own";
    total_ns: Option<i64>, "ns", "Time of the timed ones; null where there are none (exceptions have no end)";
    longest_ns: Option<i64>, "ns", "The longest of them";
    record_no: i64, "record", "Record of the first";
});

table!("histograms", "One bucket of a histogram that a kernel-side tool printed, empty ones too.", HistogramBucket {
    artifact_id: i32, "id", "The artifact";
    metric: Text, "text", "block_latency (biolatency), runq_latency (runqlat), on_cpu_time, off_cpu_time (cpudist), runq_length (runqlen), fs_latency (ext4dist and its kin), function_latency (funclatency); else the name of the map (bpftrace) without its unit, or the unit where the text names nothing";
    key: Option<Text>, "text", "What the histogram is of, as printed but for the equals sign (disk vda, pid 4711 cat); the key of the map (bpftrace); null where there is one only";
    operation: Option<Text>, "text", "Of block requests told apart by their flags (biolatency -F): read, write, sync write, flush, discard or other";
    section: i64, "count", "From 0: which of the histograms of this metric and key it belongs to (intervals)";
    lo: Option<i64>, "unit", "Least value that falls into it; null where it is open below";
    hi: Option<i64>, "unit", "First value that does not any more; null where it is open above";
    unit: Text, "text", "ns for times, whatever unit was printed; else the word above the column, or value";
    count: i64, "count", "How many";
    least: Option<i64>, "unit", "count times lo: what they sum to at least";
    most: Option<i64>, "unit", "count times hi: what they sum to at most; null where it is open above and not empty";
    line_no: i64, "line", "Line in the file";
});

table!("locks", "One row of a table of lock waits: the waits of one lock or, where the tool does not name locks, of one caller or thread.", LockTotal {
    artifact_id: i32, "id", "The artifact";
    kind: Text, "text", "As the tool calls it: spinlock, mutex, rwsem:R, rwsem:W, rwlock:W, ...; futex; thread where the row is about all locks of a thread; lock where the tool does not say";
    name: Option<Text>, "text", "The lock: symbol, address or futex word; null where the tool names the caller";
    caller: Option<Text>, "text", "Function that waited, without the offset; thread name of a row about a thread";
    thread: Option<i64>, "tid", "Thread or process id of a row about one";
    contended: Option<i64>, "count", "Waits; null where the tool counts acquisitions only";
    acquired: Option<i64>, "count", "Acquisitions, those that did not wait too";
    wait_ns: Option<i64>, "ns", "Time waited in all, as exact as it was printed; null in rows about holding";
    wait_max_ns: Option<i64>, "ns", "Longest wait";
    hold_ns: Option<i64>, "ns", "Time held in all (klockstat's second table)";
    is_kernel: bool, "bool", "A lock of the kernel; false for futexes";
    line_no: i64, "line", "Line in the file";
});

table!("accounting", "One number of the kernel's accounting: pressure, cgroup, /proc/stat, or a line of vmstat, mpstat, sar, iostat.", Accounting {
    artifact_id: i32, "id", "The artifact; of two files named before and after, the latter";
    scope: Text, "text", "system, cgroup, process, or the name of the CPU or disk";
    key: Text, "text", "psi_cpu_some, psi_io_full, nr_periods, nr_throttled, throttled, cpu_steal, cpu_total, read_bytes, run_queue, await, ...";
    value: i64, "unit", "The number";
    unit: Text, "text", "ns, count, bytes, or ppm: millionths of the time (or of one)";
    moment: Text, "text", "first, between, last: a snapshot of a running total, by its order in the file; average: a mean that the kernel keeps at a snapshot (psi avg10); interval: about the time since the line before; since_boot: the first line of vmstat and iostat; mean: the tool's own mean over all intervals";
    stands_in: Option<i32>, "id", "The artifact with the line, where it is another one (the file named before)";
    line_no: i64, "line", "Line in the file";
});
