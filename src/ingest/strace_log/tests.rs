use super::*;
use crate::ingest::testing::{kinds, read_text, survives_damage};
use crate::tables::Tables;

/// strace 6.1 `-k -f -ttt -T -o`, lines taken from one recording.
const STACKS: &str = "\
15078 1795971503.422216 write(4, \"rec 0) = 7\\n\", 6) = 6 <0.000103>
 > /usr/lib/x86_64-linux-gnu/libc.so.6(__write+0x10) [0xf8350]
 > /tmp/p (deleted)(emit_record(int)+0x36) [0x1596]
 > /tmp/p() [0x121d]
15080 1795971503.532000 futex(0x5588c0e07100, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
15078 1795971503.533000 write(4, \"rec 1\\n\", 6) = 6 <0.000003>
 > /usr/lib/x86_64-linux-gnu/libc.so.6(__write+0x10) [0xf8350]
 > /tmp/p (deleted)(emit_record(int)+0x36) [0x1596]
 > /tmp/p() [0x121d]
15080 1795971503.534234 <... futex resumed>) = -1 EAGAIN (Resource temporarily unavailable) <0.002666>
 > /usr/lib/x86_64-linux-gnu/libc.so.6(__lll_lock_wait_private+0x7b) [0x8612b]
15078 1795971503.666793 +++ exited with 0 +++
";

/// Frames root first, as `function@rel in dso`.
fn path(tables: &Tables, mut stack: Option<i32>) -> Vec<String> {
    let mut shown = Vec::new();
    while let Some(node) = stack.and_then(|id| tables.stacks.row(id)) {
        let frame = &tables.frames[node.frame_id as usize];
        let name = frame.function_id.map_or("?", |id| &tables.functions[id as usize].name);
        let dso = &tables.dsos[frame.dso_id.unwrap() as usize].name;
        shown.push(format!("{name}@{:x} in {dso}", frame.rel.unwrap()));
        stack = node.parent_stack_id.get();
    }
    shown.reverse();
    shown
}

#[test]
fn stacks_and_interrupted_calls() {
    let recorder = read_text(read, STACKS);
    let tables = &recorder.tables;
    let [first, futex, second] = &tables.syscall_events[..] else { panic!() };
    assert_eq!(
        (first.name.as_ref(), first.start_ns, first.dur_ns, first.line_no),
        ("write", Some(1_795_971_503_422_216_000), Some(103_000), 1)
    );
    assert_eq!((first.fd, first.length, first.result, first.error.as_deref()), (Some(4), Some(6), Some(6), None));
    assert_eq!(path(tables, first.stack_id), ["?@121c in p", "emit_record(int)@1595 in p", "__write@f8350 in libc.so.6"]);
    assert_eq!(first.stack_id, second.stack_id);
    assert_eq!(tables.frames[tables.stacks.frame(first.stack_id.unwrap()).unwrap() as usize].symbol_rel, Some(0xf8340));
    assert_eq!((futex.line_no, futex.dur_ns, futex.result, futex.error.as_deref()), (5, Some(2_666_000), Some(-1), Some("EAGAIN")));
    assert_eq!((futex.address, futex.operation.as_deref()), (Some(0x5588_c0e0_7100), Some("FUTEX_WAIT_PRIVATE")));
    assert_eq!(path(tables, futex.stack_id), ["__lll_lock_wait_private@8612b in libc.so.6"]);
    assert_eq!(tables.threads.iter().map(|thread| thread.tid).collect::<Vec<_>>(), [15078, 15080]);
    assert_eq!(tables.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [15078]);
    assert_eq!((recorder.artifact.clock.as_deref(), recorder.artifact.follows_children), (Some("realtime"), Some(true)));
    assert_eq!(recorder.artifact.window_ns, Some(112_450_000));
    assert!(kinds(&recorder).is_empty());
    survives_damage(read, STACKS.as_bytes());
}

/// strace 6.1 `-f -ttt -T -y` on a terminal: notices in the middle of lines, numbers that come and go.
const TERMINAL: &str = "\
1795971503.895836 execve(\"./p\", [\"./p\", \"a b\"], 0x7ffef46a6e18 /* 35 vars */) = 0 <0.000524>
1795971503.897700 openat(AT_FDCWD</tmp>, \"/etc/ld, so.cache\", O_RDONLY|O_CLOEXEC) = 4</etc/ld, so.cache> <0.000090>
1795971503.898211 mmap(NULL, 41879, PROT_READ, MAP_PRIVATE, 4</etc/ld, so.cache>, 0) = 0x7f2399621000 <0.000065>
1795971503.935649 write(6<pipe:[32347]>, \"x\", 1) = 1 <0.000092>
1795971503.939717 write(8<socket:[32348]>, \"hello (x) = 3\\\"\", 14) = 14 <0.000090>
1795971503.942767 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0}strace: Process 15098 attached
 => {parent_tid=[15098]}, 88) = 15098 <0.000091>
[pid 15098] 1795971503.943168 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=200000}, strace: Process 15097 attached
 <unfinished ...>
[pid 15096] 1795971503.943635 futex(0x7f239943b990, FUTEX_WAIT, 15097, NULL <unfinished ...>
[pid 15098] 1795971503.943663 <... clock_nanosleep resumed>NULL) = 0 <0.000392>
[pid 15098] 1795971503.943700 +++ exited with 0 +++
1795971503.944000 <... futex resumed>) = 0 <0.000365>
strace: Process 15098 detached
1795971503.944500 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---
1795971503.945000 write(1</tmp/yyk.txt>, \"done\\n\", 5done
) = 5 <0.000087>
1795971503.946000 openat(AT_FDCWD, \"/nonexistent\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000079>
1795971503.947000 exit_group(3)         = ?
1795971503.947836 +++ exited with 3 +++
";

#[test]
fn a_log_from_a_terminal() {
    let recorder = read_text(read, TERMINAL);
    let tables = &recorder.tables;
    let shown: Vec<_> = tables
        .syscall_events
        .iter()
        .map(|e| (e.name.as_ref(), e.fd, e.fd_kind.as_deref(), e.length, e.path.as_deref(), e.result))
        .collect();
    let expected = [
        ("execve", None, None, None, Some("./p"), Some(0)),
        ("openat", None, None, None, Some("/etc/ld, so.cache"), Some(4)),
        ("mmap", Some(4), Some("file"), Some(41879), Some("/etc/ld, so.cache"), Some(0x7f23_9962_1000)),
        ("write", Some(6), Some("pipe"), Some(1), Some("pipe:[32347]"), Some(1)),
        ("write", Some(8), Some("socket"), Some(14), Some("socket:[32348]"), Some(14)),
        ("clone3", None, None, None, None, Some(15098)),
        ("clock_nanosleep", None, None, None, None, Some(0)),
        ("futex", None, None, None, None, Some(0)),
        // the program's output runs into the length
        ("write", Some(1), Some("file"), None, Some("/tmp/yyk.txt"), Some(5)),
        ("openat", None, None, None, Some("/nonexistent"), Some(-1)),
        ("exit_group", None, None, None, None, None),
    ];
    assert_eq!(shown, expected);
    assert_eq!(tables.threads.iter().map(|thread| thread.tid).collect::<Vec<_>>(), [15096, 15098]);
    assert_eq!(tables.processes.len(), 1);
    let [execution] = &tables.executions[..] else { panic!() };
    assert_eq!((execution.argv.as_deref(), execution.exit_code, execution.wall_ns), (Some("./p 'a b'"), Some(3), Some(52_000_000)));
    assert_eq!(kinds(&recorder), ["strace_notice"]);
    survives_damage(read, TERMINAL.as_bytes());
}

#[test]
fn descriptors_are_known_by_the_call_that_made_them() {
    let log = "7 0.0 pipe2([3, 4], 0) = 0\n7 0.1 eventfd2(0, 0) = 5\n7 0.1 socket(AF_UNIX, SOCK_STREAM, 0) = 6\n7 0.1 open(\"/dev/tty\", O_RDWR) = 7\n7 0.1 dup2(4, 9) = 9\n\
        7 0.2 clone(child_stack=NULL, flags=SIGCHLD) = 8\n8 0.1 write(9, \"a\", 1) = 1\n8 0.1 write(5, \"a\", 8) = 8\n8 0.1 writev(6, [{iov_base=\"a\", iov_len=3}, {iov_base=\"b\", iov_len=4}], 2) = 7\n\
        8 0.1 write(7, \"a\", 1) = 1\n8 0.1 close(6) = 0\n8 0.1 write(6, \"a\", 1) = -1 EBADF (Bad file descriptor)\n7 0.1 write(6, \"a\", 1) = 1\n";
    let recorder = read_text(read, log);
    let writes: Vec<_> =
        recorder.tables.syscall_events.iter().filter(|e| e.name.starts_with("write")).map(|e| (e.fd_kind.as_deref(), e.length)).collect();
    let expected = [
        (Some("pipe"), Some(1)),
        (Some("eventfd"), Some(8)),
        (Some("socket"), Some(7)),
        (Some("tty"), Some(1)),
        (None, Some(1)),
        (Some("socket"), Some(1)),
    ];
    assert_eq!(writes, expected);
    assert_eq!(recorder.tables.processes.iter().map(|p| (p.pid, p.parent_process_id)).collect::<Vec<_>>(), [(7, None), (8, Some(0))]);
    assert_eq!(recorder.artifact.clock.as_deref(), Some("relative"));
    assert_eq!(recorder.artifact.window_ns, Some(1_300_000_000));
}

#[test]
fn clocks_of_the_other_options() {
    let times = |log: &str| read_text(read, log).tables.syscall_events.iter().map(|e| e.start_ns).collect::<Vec<_>>();
    assert_eq!(times("23:59:59.999999 brk(NULL) = 0x1\n00:00:00.000001 brk(NULL) = 0x1\n"), [Some(0), Some(2_000)]);
    assert_eq!(
        times("     0.000000 brk(NULL) = 0x1\n     0.000898 brk(NULL) = 0x1\n     0.000002 brk(NULL) = 0x1\n"),
        [Some(0), Some(898_000), Some(900_000)]
    );
    assert_eq!(times("16:58:24 (+     0.000524) brk(NULL) = 0x1\n"), [Some(0)]);
    assert_eq!(times("brk(NULL)                               = 0x55fcee0cc000\n"), [None]);
}

/// `-C` puts the table below the log; both are read.
#[test]
fn a_log_with_its_summary() {
    let log = "execve(\"./p\", [\"./p\"], 0x7ff /* 3 vars */) = 0\nbrk(NULL) = 0x1\nexit_group(0) = ?\n+++ exited with 0 +++\n% time     seconds  usecs/call     calls    errors syscall\n\
        ------ ----------- ----------- --------- --------- ----------------\n100.00    0.000003           3         1           brk\n------ ----------- ----------- --------- --------- \
        ----------------\n100.00    0.000003           3         1           total\n";
    let recorder = read_text(read, log);
    assert_eq!((recorder.tables.syscall_events.len(), recorder.tables.syscalls.len()), (3, 1));
    assert_eq!(recorder.tables.syscalls[0].total_ns, Some(3_000));
    assert_eq!(recorder.tables.events.len(), 1);
    assert!(sniff(log.as_bytes()));
}

#[test]
fn only_logs_are_claimed() {
    assert!(sniff(STACKS.as_bytes()) && sniff(TERMINAL.as_bytes()));
    for other in [
        "perf 12345 [000] 1234.567890: cycles:\n\tffff schedule ([kernel])\n",
        "main(int) 3\nfoo(bar) = 3 apples\nand a line\nof text\n",
        "a;b;c 3\n",
        "% time     seconds  usecs/call     calls    errors syscall\n",
        "",
    ] {
        assert!(!sniff(other.as_bytes()), "{other}");
    }
}
