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
