//! What the recordings of testdata/tracepoints do not show: ends without begins, requests in parts, locks twice begun.
//! Records are laid out by hand after the formats of Linux 6.18; expected values are counted by hand.

use super::bytes::Order;
use super::call_names::CallNames;
use super::payload::{Moment, Payload};
use super::tracing::Format;
use super::{block, interrupts, locks, syscalls};
use crate::ingest::Recorder;
use crate::ingest::testing::{kinds, try_read};

fn recorder() -> Recorder {
    try_read(|_, _| Ok(()), b"").unwrap()
}

fn format(name: &str, fields: &[(&str, usize, usize)], print: &str) -> Format {
    let (system, name) = name.split_once(':').unwrap();
    let mut text = format!("name: {name}\nID: 1\n");
    for (field, offset, size) in fields {
        text.push_str(&format!("\tfield:{field};\toffset:{offset};\tsize:{size};\tsigned:1;\n"));
    }
    text.push_str(&format!("print fmt: {print}\n"));
    Format::parse(system, &text).unwrap().1
}

fn at(ts: i64, tid: i32) -> Moment {
    Moment { ts, record_no: ts, tid, thread: Some(tid), cpu: Some(0) }
}

/// A payload of words from offset 8 on.
fn raw(words: &[i64]) -> Vec<u8> {
    std::iter::once(&0).chain(words).flat_map(|word| word.to_le_bytes()).collect()
}

fn enter(words: &[i64], at: &Moment, calls: &mut syscalls::Syscalls, recorder: &mut Recorder) {
    let format = format("raw_syscalls:sys_enter", &[("long id", 8, 8), ("unsigned long args[6]", 16, 48)], "");
    let mut words = words.to_vec();
    words.resize(7, 0);
    let enter = syscalls::Enter::of(&format).unwrap();
    calls.begin(&enter.read(&raw(&words), Order::Little).unwrap(), at, None, recorder);
}

type Call = (i64, Option<i64>, Option<i64>);

fn calls_of(recorder: &Recorder) -> Vec<Call> {
    recorder.tables.syscall_events.iter().map(|row| (row.start_ns.unwrap(), row.dur_ns, row.result)).collect()
}

fn x86() -> syscalls::Syscalls {
    let mut calls = syscalls::Syscalls::new(CallNames::x86_64());
    calls.has_ends = true;
    calls
}

#[test]
fn ends_belong_to_the_begin_of_their_thread() {
    let (mut calls, mut recorder) = (x86(), recorder());
    // An end alone: in flight when the recording began.
    calls.end(0, 7, &at(5, 1), &mut recorder);
    // write(1, _, 10) of two threads at once
    enter(&[1, 1, 0, 10], &at(10, 1), &mut calls, &mut recorder);
    enter(&[1, 2, 0, 20], &at(11, 2), &mut calls, &mut recorder);
    calls.end(1, 20, &at(15, 2), &mut recorder);
    calls.end(1, -32, &at(18, 1), &mut recorder);
    // rt_sigreturn leaves no number; clone returns in the child, too.
    enter(&[15], &at(20, 1), &mut calls, &mut recorder);
    calls.end(-1, 0, &at(22, 1), &mut recorder);
    enter(&[56], &at(30, 1), &mut calls, &mut recorder);
    calls.end(56, 0, &at(33, 3), &mut recorder);
    calls.end(56, 3, &at(34, 1), &mut recorder);
    // The end of read was lost, then exit_group does not return and its tid is used again.
    enter(&[0, 3, 0, 8], &at(40, 1), &mut calls, &mut recorder);
    enter(&[231], &at(50, 1), &mut calls, &mut recorder);
    enter(&[39], &at(60, 1), &mut calls, &mut recorder);
    // Another call ends than the one that was begun.
    calls.end(0, 0, &at(61, 1), &mut recorder);
    // In flight at the end: read; exit_group is not.
    enter(&[0, 4, 0, 8], &at(70, 2), &mut calls, &mut recorder);
    enter(&[231], &at(71, 3), &mut calls, &mut recorder);
    calls.finish(&mut recorder);
    let expected = [
        (10, Some(8), Some(-1)),
        (11, Some(4), Some(20)),
        (20, Some(2), Some(0)),
        (30, Some(4), Some(3)),
        (40, None, None),
        (50, None, None),
        (60, None, None),
        (70, None, None),
        (71, None, None),
    ];
    assert_eq!(calls_of(&recorder), expected);
    let first = &recorder.tables.syscall_events[0];
    assert_eq!((first.name.as_ref(), first.fd, first.length, first.error.as_deref()), ("write", Some(1), Some(10), Some("EPIPE")));
    let recorder = recorder.finish();
    assert_eq!(kinds(&recorder), ["perf_syscall_in_flight", "perf_syscall_unmatched"]);
    // Without their begin: at 5 and at 61; without their end: the read at 40 and the call at 60.
    assert_eq!(recorder.tables.diagnostics.iter().map(|row| row.count).collect::<Vec<_>>(), [1, 4]);
    let sums = recorder.tables.syscalls.iter().filter(|row| row.name.as_ref() == "write");
    assert_eq!(sums.map(|row| (row.calls, row.errors, row.total_ns)).collect::<Vec<_>>(), [(1, Some(1), Some(8)), (1, Some(0), Some(4))]);
}

#[test]
fn begins_alone_have_no_durations_and_no_complaint() {
    let (mut calls, mut recorder) = (x86(), recorder());
    calls.has_ends = false;
    enter(&[1, -1, 0, 10], &at(10, 1), &mut calls, &mut recorder);
    enter(&[9999, 5], &at(11, 1), &mut calls, &mut recorder);
    calls.finish(&mut recorder);
    let rows = &recorder.tables.syscall_events;
    assert_eq!((rows[0].fd, rows[1].name.as_ref(), rows[1].fd), (None, "syscall_0x270f", None));
    assert_eq!(recorder.tables.syscalls.iter().map(|row| (row.errors, row.total_ns)).collect::<Vec<_>>(), [(None, None), (None, None)]);
    assert!(kinds(&recorder.finish()).is_empty());
}

// Younger kernels (6.19) copy the path behind the arguments.
#[test]
fn paths_are_read_where_the_kernel_copied_them() {
    let fields = [
        ("int __syscall_nr", 8, 4),
        ("int dfd", 16, 8),
        ("const char * filename", 24, 8),
        ("int flags", 32, 8),
        ("umode_t mode", 40, 8),
        ("__data_loc char[] __filename_val", 48, 4),
    ];
    let enter = syscalls::Enter::of(&format("syscalls:sys_enter_openat", &fields, "")).unwrap();
    let mut bytes = raw(&[257, -100, 0x1000, 0, 0, (5 << 16) | 52]);
    bytes.truncate(52);
    bytes.extend_from_slice(b"/etc\0");
    let mut recorder = recorder();
    let mut calls = syscalls::Syscalls::new(CallNames::default());
    calls.begin(&enter.read(&bytes, Order::Little).unwrap(), &at(1, 1), None, &mut recorder);
    let row = &recorder.tables.syscall_events[0];
    assert_eq!((row.name.as_ref(), row.path.as_deref(), row.fd), ("openat", Some("/etc"), None));
    assert!(enter.read(&bytes[..10], Order::Little).is_none());
}

fn told(words: (i64, i64, i64, i64), operation: &str) -> Vec<u8> {
    let (device, sector, sectors, error) = words;
    let mut bytes = raw(&[device, sector, sectors, error]);
    bytes.extend_from_slice(operation.as_bytes());
    bytes.resize(64, 0);
    bytes
}

#[test]
fn requests_are_completed_in_parts_and_issued_again() {
    let fields =
        [("dev_t dev", 8, 8), ("sector_t sector", 16, 8), ("unsigned int nr_sector", 24, 8), ("int error", 32, 8), ("char rwbs[8]", 40, 8)];
    let fields = block::Fields::of(&format("block:block_rq_issue", &fields, "")).unwrap();
    let (mut blocks, mut recorder) = (block::Blocks::default(), recorder());
    blocks.has_ends = true;
    let device = (254 << 20) | 3;
    macro_rules! tell {
        ($words:expr, $operation:expr) => {
            &fields.read(&told($words, $operation), Order::Little).unwrap()
        };
    }
    blocks.insert(tell!((device, 100, 16, 0), "WS"), &at(5, 1), Some(9));
    blocks.issue(tell!((device, 100, 16, 0), "WS"), &at(10, 2), Some(8), &mut recorder);
    blocks.complete(tell!((device, 100, 8, 0), "WS"), &at(20, 0), &mut recorder);
    blocks.complete(tell!((device, 108, 8, 0), "WS"), &at(30, 0), &mut recorder);
    // Taken back and issued again: one request. It fails.
    blocks.issue(tell!((device, 200, 8, 0), "R"), &at(40, 2), Some(8), &mut recorder);
    blocks.requeue(tell!((device, 200, 8, 0), "R"));
    blocks.issue(tell!((device, 200, 8, 0), "R"), &at(45, 2), Some(8), &mut recorder);
    blocks.complete(tell!((device, 200, 8, -5), "R"), &at(50, 0), &mut recorder);
    // A flush, and what only asked for one; a completion alone; one that is not completed.
    blocks.issue(tell!((device, 0, 0, 0), "FF"), &at(60, 2), None, &mut recorder);
    blocks.complete(tell!((device, -1, 0, 0), "FF"), &at(66, 0), &mut recorder);
    blocks.complete(tell!((device, 0, 0, 0), "WS"), &at(67, 0), &mut recorder);
    blocks.complete(tell!((device, 999, 8, 0), "R"), &at(70, 0), &mut recorder);
    blocks.issue(tell!((device, 300, 8, 0), "R"), &at(80, 2), None, &mut recorder);
    blocks.finish(&mut recorder);
    let rows = recorder.tables.block_requests.iter();
    let found: Vec<_> =
        rows.map(|row| (row.start_ns, row.queued_ns, row.dur_ns, row.sector, row.bytes, row.thread_id, row.stack_id)).collect();
    let expected = [
        (10, Some(5), Some(20), Some(100), 8192, Some(1), Some(9)),
        (40, None, Some(10), Some(200), 4096, Some(2), Some(8)),
        (60, None, Some(6), None, 0, Some(2), None),
        (80, None, None, Some(300), 4096, Some(2), None),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        (recorder.tables.block_requests[0].device.as_ref(), recorder.tables.block_requests[1].error.as_deref()),
        ("254,3", Some("EIO"))
    );
    let recorder = recorder.finish();
    assert_eq!(
        recorder.tables.diagnostics.iter().map(|row| (row.kind.as_ref(), row.count)).collect::<Vec<_>>(),
        [("perf_block_unmatched", 2)]
    );
}

#[test]
fn a_mutex_that_spins_and_sleeps_is_one_wait() {
    let flags = "__print_flags(REC->flags, \"|\", { (1U << 0), \"SPIN\" }, { (1U << 5), \"MUTEX\" } )";
    let begin = format("lock:contention_begin", &[("void * lock_addr", 8, 8), ("unsigned int flags", 16, 8)], flags);
    let fields = locks::Fields::of(&begin, "flags").unwrap();
    let (mut locks, mut recorder) = (locks::Locks::default(), recorder());
    locks.has_ends = true;
    let mut start = |locks: &mut locks::Locks, words: [i64; 2], at: &Moment| {
        let lock = fields.read(&raw(&words), Order::Little).unwrap();
        if locks.begins(lock.0, at) {
            locks.begin(&fields, lock, at, None, &mut recorder);
        }
    };
    start(&mut locks, [77, 33], &at(10, 1));
    start(&mut locks, [77, 32], &at(20, 1));
    // An interrupt contends for another lock meanwhile; the idle task of another CPU for the same one.
    start(&mut locks, [88, 0], &at(22, 1));
    start(&mut locks, [99, 1], &at(24, 0));
    start(&mut locks, [99, 1], &Moment { cpu: Some(1), ..at(25, 0) });
    locks.end((88, 0), &at(23, 1), &mut recorder);
    locks.end((77, -4), &at(40, 1), &mut recorder);
    locks.end((99, 0), &at(44, 0), &mut recorder);
    locks.end((77, 0), &at(50, 1), &mut recorder);
    locks.finish(&mut recorder);
    let rows = recorder.tables.lock_contentions.iter();
    let found: Vec<_> = rows.map(|row| (row.start_ns, row.dur_ns, row.kind.as_deref(), row.error.as_deref())).collect();
    let spin = Some("SPIN");
    assert_eq!(
        found,
        [(10, Some(30), Some("SPIN|MUTEX"), Some("EINTR")), (22, Some(1), None, None), (24, Some(20), spin, None), (25, None, spin, None)]
    );
    let recorder = recorder.finish();
    // The last end of 77, and the wait of CPU 1.
    assert_eq!(
        recorder.tables.diagnostics.iter().map(|row| (row.kind.as_ref(), row.count)).collect::<Vec<_>>(),
        [("perf_lock_unmatched", 2)]
    );
}

#[test]
fn interrupts_pair_per_cpu() {
    let mut sums = interrupts::Interrupts::default();
    let (kind, on) = (interrupts::Kind::Irq, |ts, cpu| Moment { cpu: Some(cpu), ..at(ts, 1) });
    sums.enter(kind, 3, "disk".into(), &on(10, 0));
    sums.enter(kind, 3, "disk".into(), &on(11, 1));
    sums.exit(kind, 3, &on(15, 0));
    sums.exit(kind, 4, &on(16, 1));
    sums.enter(kind, 3, "disk".into(), &on(20, 0));
    sums.exit(kind, 3, &on(30, 0));
    sums.enter(interrupts::Kind::Exception, 0, "page_fault_user".into(), &Moment { cpu: None, ..at(31, 1) });
    let mut recorder = recorder();
    sums.finish(&mut recorder);
    let rows = recorder.tables.interrupts.iter();
    let found: Vec<_> = rows.map(|row| (row.name.as_ref(), row.cpu, row.count, row.timed, row.total_ns, row.longest_ns)).collect();
    let expected =
        [("disk", Some(0), 2, 2, Some(15), Some(10)), ("disk", Some(1), 1, 0, None, None), ("page_fault_user", None, 1, 0, None, None)];
    assert_eq!(found, expected);
    assert_eq!(kinds(&recorder.finish()), ["perf_interrupt_unmatched"]);
}

/// A format that lacks what its name promises is none of ours.
#[test]
fn formats_without_their_fields_are_left_alone() {
    for name in [
        "raw_syscalls:sys_enter",
        "raw_syscalls:sys_exit",
        "syscalls:sys_enter_write",
        "syscalls:sys_exit_write",
        "block:block_rq_issue",
        "lock:contention_begin",
        "irq:irq_handler_entry",
        "irq:softirq_exit",
        "net:net_dev_xmit",
    ] {
        assert!(Payload::of(&format(name, &[("int common_pid", 4, 4)], "")).is_none(), "{name}");
    }
}
