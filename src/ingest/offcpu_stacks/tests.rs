use super::*;
use crate::ingest::merge;
use crate::ingest::testing::{kinds, read_text, survives_damage};

/// libbpf-tools 0.26 `offcputime -p PID 2`, one stack that it gave up (its kernel frames only) and two whole ones.
const BLOCKS: &str = "    bpf_prog_6896d07dd3e1383c_sched_switch
    bpf_trace_run4
    __schedule
    schedule
    bpf_prog_6896d07dd3e1383c_sched_switch
    bpf_trace_run4
    __schedule
    schedule
    do_nanosleep
    do_syscall_64
    entry_SYSCALL_64_after_hwframe
    clock_nanosleep
    [unknown]
    main
    -                DOM Worker 7 (9832)
        1976517

    bpf_prog_6896d07dd3e1383c_sched_switch
    bpf_trace_run4
    __schedule
    schedule
    irqentry_exit_to_user_mode
    asm_sysvec_apic_timer_interrupt
    update_one_slot
    -                sl (9830)
        14

";

/// Stacks root first; kernel frames in brackets.
fn stacks(recorder: &Recorder) -> Vec<String> {
    let tables = &recorder.tables;
    let ids = tables.waits.iter().map(|wait| wait.stack_id.get()).chain(tables.samples.iter().map(|sample| sample.stack_id.get()));
    ids.map(|mut stack| {
        let mut names = Vec::new();
        while let Some(node) = stack.and_then(|id| tables.stacks.row(id)) {
            let frame = &tables.frames[node.frame_id as usize];
            let name = match (frame.function_id, frame.rel) {
                (Some(id), _) => tables.functions[id as usize].name.to_string(),
                (None, Some(rel)) => format!("{rel:x}"),
                (None, None) => "?".into(),
            };
            names.push(if frame.is_kernel { format!("[{name}]") } else { name });
            stack = node.parent_stack_id.get();
        }
        names.reverse();
        names.join(";")
    })
    .collect()
}

fn waits(recorder: &Recorder) -> Vec<(i64, Option<&str>, i64)> {
    let name = |thread: Option<i32>| thread.and_then(|id| recorder.tables.threads[id as usize].name.as_deref());
    recorder.tables.waits.iter().map(|wait| (wait.dur_ns, name(wait.thread_id.get()), wait.record_no)).collect()
}

#[test]
fn blocks_of_offcputime() {
    let recorder = read_text(read, BLOCKS);
    assert_eq!(waits(&recorder), [(1_976_517_000, Some("DOM Worker 7"), 16), (14_000, Some("sl"), 26)]);
    let expected = [
        "main;?;clock_nanosleep;[entry_SYSCALL_64_after_hwframe];[do_syscall_64];[do_nanosleep];[schedule];[__schedule]",
        "update_one_slot;[asm_sysvec_apic_timer_interrupt];[irqentry_exit_to_user_mode];[schedule];[__schedule]",
    ];
    assert_eq!(stacks(&recorder), expected);
    assert_eq!(recorder.tables.threads[0].tid, 9832);
    assert_eq!(kinds(&recorder), ["offcpu_lost_stack"]);
    let event = &recorder.tables.events[0];
    assert_eq!((event.n, event.total_weight, event.role.as_ref(), event.mechanism.as_ref()), (2, 1_976_531_000, "off-cpu", "M4"));
    survives_damage(read, BLOCKS.as_bytes());
}

/// bpftrace 0.17: `@usecs[kstack, ustack, comm] = sum(...)`.
const MAP: &str = "Attaching 4 probes...\n\n\n@usecs[\n    __schedule+1560\n    schedule+35\n    do_syscall_64+113\n    entry_SYSCALL_64_after_hwframe+118\n, \n    clock_nanosleep+101\n    \
    0x7f12ab\n    operator+\n, sl]: 1971475\n@count[1]: 7\n@usecs[\n    __schedule+1560\n    schedule+35\n    worker_thread+3\n    kthread+209\n    ret_from_fork+49\n, \n, kworker/0:1]: 3\n";

#[test]
fn maps_of_bpftrace() {
    let recorder = read_text(read, MAP);
    assert_eq!(waits(&recorder), [(1_971_475_000, Some("sl"), 4), (3_000, Some("kworker/0:1"), 15)]);
    let expected = [
        "operator+;7f12ab;clock_nanosleep;[entry_SYSCALL_64_after_hwframe];[do_syscall_64];[schedule];[__schedule]",
        "[ret_from_fork];[kthread];[worker_thread];[schedule];[__schedule]",
    ];
    assert_eq!(stacks(&recorder), expected);
    assert_eq!(recorder.artifact.system_wide, Some(true));
    assert_eq!(read_text(read, &MAP.replace("usecs", "ns")).tables.waits[0].dur_ns, 1_971_475);
    let unknown = read_text(read, &MAP.replace("usecs", ""));
    assert!(unknown.tables.waits.is_empty());
    assert_eq!(unknown.tables.events[0].role.as_ref(), "other");
    survives_damage(read, MAP.as_bytes());
}

#[test]
fn folded_off_cpu_time_is_known_by_its_stacks() {
    let recorder = read_text(
        read,
        "sl;main;nanosleep;-;entry_SYSCALL_64;do_nanosleep;schedule 70\r\nsl;[Missed User Stack];entry_SYSCALL_64;schedule 30\r\n",
    );
    assert_eq!(waits(&recorder), [(70_000, Some("sl"), 1), (30_000, Some("sl"), 2)]);
    assert_eq!(stacks(&recorder)[0], "main;nanosleep;[entry_SYSCALL_64];[do_nanosleep];[schedule]");
    assert_eq!(recorder.tables.threads.len(), 1);
    assert_eq!(kinds(&recorder), ["offcpu_missed_stack"]);
    // bcc bug 2051: one letter per frame
    let letters: Vec<String> = "[Missed User Stack]".chars().map(|c| if c == ' ' { String::new() } else { c.to_string() }).collect();
    let recorder = read_text(read, &format!("sl;{};entry_SYSCALL_64;schedule 30\n", letters.join(";")));
    assert_eq!(stacks(&recorder), ["[Missed User Stack];[entry_SYSCALL_64];[schedule]"]);
}

// CPU samples of a program that sleeps: 13 of 19 end where the scheduler gives the CPU back.
#[test]
fn samples_of_a_sleeping_program_are_no_off_cpu_time() {
    let text = "sl;main;work 6\nsl;main;nanosleep;entry_SYSCALL_64;do_nanosleep;schedule;__schedule;finish_task_switch 13\n";
    let recorder = read_text(read, text);
    assert_eq!((recorder.artifact.kind.as_ref(), recorder.tables.waits.len()), ("folded-stacks", 0));
}

#[test]
fn folded_stacks_of_unknown_meaning_wait_for_a_manifest() {
    let recorder = read_text(read, "sl;main;f 7\nsl;main 3\n");
    assert_eq!((recorder.artifact.kind.as_ref(), recorder.tables.waits.len()), ("folded-stacks", 0));
    assert_eq!(recorder.tables.samples.iter().map(|sample| sample.weight).collect::<Vec<_>>(), [7, 3]);
    assert_eq!(kinds(&recorder), ["folded_unknown"]);
    let mut with_command = read_text(read, "sl;main;f 7\nsl;main 3\n");
    with_command.artifact.command = Some("./sl & pid=$!; offcputime -f -p $pid 3 > x".into());
    let mut tables = merge(vec![recorder, with_command]);
    adopt_commands(&mut tables);
    assert_eq!(tables.samples.len(), 2);
    assert_eq!(tables.waits.iter().map(|wait| (wait.artifact_id, wait.dur_ns)).collect::<Vec<_>>(), [(1, 7_000), (1, 3_000)]);
    assert_eq!((tables.artifacts[1].kind.as_ref(), tables.events[1].total_weight), ("offcpu-stacks", 10_000));
}

#[test]
fn profiles_and_histograms_are_not_off_cpu_time() {
    assert!(sniff(BLOCKS.as_bytes()) && sniff(MAP.as_bytes()));
    for other in [
        "Sampling at 49 Hertz\n\n    func_a\n    main\n    -                func_ab (13549)\n        5\n",
        "    func_a\n    main\n    -                func_ab (13549)\n        5\n",
        "@[\n    blk_account_io_start+1\n]: \n[64, 128)  1 |@@@|\n",
        "@[1]: 4\n",
        "a 1\nb 2\n",
        "a;b c\nd;e f\n",
        "",
    ] {
        assert!(!sniff(other.as_bytes()), "{other}");
    }
}
