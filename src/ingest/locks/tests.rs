use super::*;
use crate::ingest::testing::{kinds, read_text, survives_damage};

/// perf 6.1, `perf lock contention -v` of four threads that map and unmap, shortened; the last two lines are of its summary.
const CONTENTION: &str = " contended   total wait     max wait     avg wait         type   caller\n\n        81    324.39 ms      8.27 ms      4.00 ms      rwsem:W   __x64_sys_munmap+0x17\n\t\t\t0xffffffff821fd95f  rwsem_down_write_slowpath+0x37f\n\t\t\t0x7fd5cd424a07  \n        18    647.90 us     44.73 us     35.99 us     spinlock   irqentry_exit_to_user_mode+0x110\n         1       212 ns       212 ns       212 ns     spinlock   \n         x     12.00 us     12.00 us     12.00 us     spinlock   broken\n\n=== output for debug===\n\nbad: 2, total: 102\n";

/// Kind, caller or lock, waits, time, line.
type Row = (String, Option<String>, Option<i64>, Option<i64>, i64);

fn of(recorder: &Recorder) -> Vec<Row> {
    let text = |value: &Option<Text>| value.as_deref().map(str::to_owned);
    let rows = recorder.tables.locks.iter();
    rows.map(|row| (row.kind.to_string(), text(&row.caller).or_else(|| text(&row.name)), row.contended, row.wait_ns, row.line_no)).collect()
}

#[test]
fn waits_by_caller() {
    let recorder = read_text(perf::FORMAT.read, CONTENTION);
    let row = |kind: &str, name: Option<&str>, n, ns, line| (kind.to_owned(), name.map(str::to_owned), Some(n), Some(ns), line);
    let expected = [
        row("rwsem:W", Some("__x64_sys_munmap"), 81, 324_390_000, 3),
        row("spinlock", Some("irqentry_exit_to_user_mode"), 18, 647_900, 6),
        row("spinlock", None, 1, 212, 7),
    ];
    assert_eq!(of(&recorder), expected);
    assert_eq!(recorder.tables.locks[0].wait_max_ns, Some(8_270_000));
    assert_eq!(kinds(&recorder), ["locks_line", "other_text", "perf_lock_bad"]);
    assert_eq!(recorder.tables.diagnostics[2].count, 2);
    survives_damage(perf::FORMAT.read, CONTENTION.as_bytes());
}

/// perf 6.1, -t and report; the patch that added symbols (6.2) and their types for -l.
#[test]
fn waits_by_thread_lock_and_name() {
    let threads = " contended   total wait     max wait     avg wait          pid   comm\n\n        34    116.22 ms      7.92 ms      3.42 ms        23006   nv queue\n";
    let recorder = read_text(perf::FORMAT.read, threads);
    let row = &recorder.tables.locks[0];
    assert_eq!(
        (row.kind.as_ref(), row.thread, row.caller.as_deref(), row.wait_ns),
        ("thread", Some(23_006), Some("nv queue"), Some(116_220_000))
    );
    let symbols = " contended   total wait     max wait     avg wait            address   symbol\n\n           3     14.99 us     14.44 us      5.00 us   ffffffff851c0940   pack_mutex (mutex)\n           1       212 ns       212 ns       212 ns   ffff98d7031784d8   \n";
    let recorder = read_text(perf::FORMAT.read, symbols);
    let names: Vec<_> = recorder.tables.locks.iter().map(|row| (row.name.as_deref(), row.kind.as_ref(), row.wait_ns)).collect();
    assert_eq!(names, [(Some("pack_mutex"), "mutex", Some(14_990)), (Some("ffff98d7031784d8"), "lock", Some(212))]);
    let report = "                Name   acquired  contended     avg wait   total wait     max wait     min wait \n\n  do_syscall_64+0x71         96         90      3.88 ms    372.76 ms      8.27 ms     25.27 us \n          kernfs top          2          1     85.20 us    170.41 us    156.65 us     13.76 us \n";
    let recorder = read_text(perf::FORMAT.read, report);
    let rows: Vec<_> = recorder.tables.locks.iter().map(|row| (row.caller.as_deref(), row.acquired, row.contended, row.wait_ns)).collect();
    let expected = [(Some("do_syscall_64"), Some(96), Some(90), Some(372_760_000)), (Some("kernfs top"), Some(2), Some(1), Some(170_410))];
    assert_eq!(rows, expected);
}

/// bcc's klockstat_example.txt with -s 3, and the form that libbpf-tools' klockstat.c prints.
#[test]
fn klockstat_in_both_forms() {
    let bcc = "Tracing lock events... Hit Ctrl-C to end.\n^C\n                                  Caller   Avg Spin  Count   Max spin Total spin\n                          pipe_wait+0xa9        685 811947      17376  556542328\n                          pipe_wait+0xa9\n                         pipe_read+0x206\n\n                                  Caller   Avg Hold  Count   Max hold Total hold\n                     flush_to_ldisc+0x22      28145      3      63872      84437\n";
    let recorder = read_text(klockstat::FORMAT.read, bcc);
    let rows: Vec<_> =
        recorder.tables.locks.iter().map(|row| (row.caller.as_deref(), row.acquired, row.wait_ns, row.hold_ns, row.line_no)).collect();
    let expected =
        [(Some("pipe_wait"), Some(811_947), Some(556_542_328), None, 4), (Some("flush_to_ldisc"), Some(3), None, Some(84_437), 9)];
    assert_eq!(rows, expected);
    assert_eq!(kinds(&recorder), ["other_text"]);
    let libbpf = "\n                               Caller  Avg Wait    Count   Max Wait   Total Wait\n                     pipe_read+0x3f    420 ns   334120    17.0 us     140.6 ms\n                              Max PID 4711, COMM cat, Lock no-ksym (0xffff8881)\n                       do_exit+0x3f     1.5 s        2     2.0 m        3.0 m \n                          bad+0x3f     1.5 x        2     2.0 m        3.0 m \n\n                Tid              Comm  Avg Hold    Count   Max Hold   Total Hold\n                          1234              cat    12.0 us        3     20.0 us      36.0 us\n";
    let recorder = read_text(klockstat::FORMAT.read, libbpf);
    let rows: Vec<_> =
        recorder.tables.locks.iter().map(|row| (row.caller.as_deref(), row.acquired, row.wait_ns, row.wait_max_ns, row.hold_ns)).collect();
    let expected = [
        (Some("pipe_read"), Some(334_120), Some(140_600_000), Some(17_000), None),
        (Some("do_exit"), Some(2), Some(180_000_000_000), Some(120_000_000_000), None),
        (Some("cat"), Some(3), None, None, Some(36_000)),
    ];
    assert_eq!(rows, expected);
    assert_eq!((recorder.tables.locks[2].kind.as_ref(), recorder.tables.locks[2].thread), ("thread", Some(1234)));
    assert_eq!(kinds(&recorder), ["locks_line"]);
    survives_damage(klockstat::FORMAT.read, libbpf.as_bytes());
}

/// The form in which bpftrace 0.17 prints maps of sum() and count().
#[test]
fn futexes_by_lock() {
    let text = "Attaching 3 probes...\n\n@futex_wait_ns[140245]: 1976517\n@futex_wait_ns[140246]: 5\n@futex_wait_ns[1]: -5\n@futex_waits[140245]: 12\n@other[1]: 3\n";
    let recorder = read_text(futex::FORMAT.read, text);
    let rows: Vec<_> = recorder.tables.locks.iter().map(|row| (row.name.as_deref(), row.wait_ns, row.contended, row.is_kernel)).collect();
    assert_eq!(rows, [(Some("140245"), Some(1_976_517), Some(12), false), (Some("140246"), Some(5), None, false)]);
    assert_eq!(kinds(&recorder), ["locks_line", "other_text"]);
    survives_damage(futex::FORMAT.read, text.as_bytes());
}

#[test]
fn headings_are_claimed_by_their_own_format() {
    assert!((perf::FORMAT.sniff)(CONTENTION.as_bytes()) && !(klockstat::FORMAT.sniff)(CONTENTION.as_bytes()));
    assert!((klockstat::FORMAT.sniff)(b" Caller Avg Wait Count Max Wait Total Wait\n"));
    assert!(!(perf::FORMAT.sniff)(b"contended total wait\n") && !(futex::FORMAT.sniff)(b"@futex[1]: 3\n"));
}
