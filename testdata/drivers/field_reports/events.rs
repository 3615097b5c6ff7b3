//! A025 to A052: weights, events, off-CPU time and tracepoints.

use libtest_mimic::Completion;

use super::Proof::{Check, Covered, Elsewhere};
use super::{Row, row};
use crate::perf::file::{self, Attr, File, Sample, Words, program, string};
use crate::perf::{import_bytes, losses, same, samples};
use crate::support::Outcome;

const PERF_STAT: &str = "perf stat's text and JSON (src/ingest/perf_stat)";
const OFF_CPU_TEXT: &str = "text of bcc and bpftrace (src/ingest/offcpu_stacks)";

pub const ROWS: &[Row] = &[
    row("A025", "weight is the period, the count beside it", Check(weight_and_count)),
    row("A026", "numbers carry their unit", Check(units)),
    row("A027", "as A026", Check(units)),
    row("A028", "a hole in the sampling adds nothing", Check(a_hole_adds_nothing)),
    row("A029", "absurd periods are flagged", Covered(&["few_large_periods_are_told_and_many_are_not"])),
    row("A030", "the event that was recorded is named", Check(recorded_event)),
    row("A031", "several events stay apart", Check(several_events)),
    row("A032", "ratios of two events per function", Elsewhere("derived measures (issue 4)")),
    row("A033", "perf script without stacks", Elsewhere("text of perf script, which is no input")),
    row("A034", "sums do not overflow", Check(large_periods)),
    row("A035", "running share of multiplexed counters", Elsewhere(PERF_STAT)),
    row("A036", "derived shares out of range", Elsewhere(PERF_STAT)),
    row("A037", "negative shares", Elsewhere(PERF_STAT)),
    row("A038", "not counted is null", Elsewhere(PERF_STAT)),
    row("A039", "missing running share is unknown", Elsewhere(PERF_STAT)),
    row("A040", "rows per CPU and core type", Elsewhere(PERF_STAT)),
    row("A041", "decimal commas", Elsewhere(PERF_STAT)),
    row("A042", "decimal commas in shares", Elsewhere(PERF_STAT)),
    row("A043", "separator and decimal mark are found apart", Elsewhere(PERF_STAT)),
    row(
        "A044",
        "waits that are open at the ends are clipped, the parts sum to the window",
        Covered(&["every_moment_of_a_complete_recording_is_accounted_once"]),
    ),
    row("A045", "sched_switch alone gives waits", Check(switches_alone)),
    row("A046", "perf without libtraceevent", Elsewhere("advice on recording (issue 4)")),
    row("A047", "a tracepoint's payload does no harm, the event counts", Check(tracepoint_with_payload)),
    row("A048", "missed off-CPU stacks are coverage", Elsewhere(OFF_CPU_TEXT)),
    row("A049", "broken placeholders", Elsewhere(OFF_CPU_TEXT)),
    row("A050", "known-bad versions of the tool", Elsewhere(OFF_CPU_TEXT)),
    row("A051", "off-CPU stacks that end in the libc wrapper", Elsewhere(OFF_CPU_TEXT)),
    row("A052", "hex frames stay apart", Elsewhere(OFF_CPU_TEXT)),
];

fn sample(time: u64, period: u64) -> Sample<'static> {
    Sample { ip: 0x40_0100, pid: 10, tid: 10, time, period, ..Sample::default() }
}

/// (n, total weight) of the first event of a file with these (time, period).
fn weighed(of: &[(u64, u64)]) -> Result<(i64, i64), libtest_mimic::Failed> {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[]);
    for (time, period) in of {
        made.push(attr.sample(file::USER, sample(*time, *period)));
    }
    let recorder = import_bytes(&made.bytes())?;
    Ok((recorder.tables.events[0].n, recorder.tables.events[0].total_weight))
}

fn weight_and_count() -> Outcome {
    same("n and weight", weighed(&[(10, 100), (20, 20), (30, 3)])?, (3, 123))?;
    // Public file: what `perf script -F period` sums to.
    let Some(corpus) = crate::perf::corpus_dir() else { return Ok(Completion::Completed) };
    let public = crate::perf::import(&corpus.join("perfdata/perf_data_converter--perf.data.busy.0-3.8"))?;
    same("public file", public.tables.events.iter().map(|event| event.total_weight).sum::<i64>(), 4_000_000)?;
    Ok(Completion::Completed)
}

fn units() -> Outcome {
    let clock = Attr::cpu_clock();
    let faults = Attr { config: 2, ..Attr::cpu_clock() };
    for (attr, unit) in [(clock, "ns"), (faults, "count")] {
        let recorder = import_bytes(&program(&attr, &[10]).bytes())?;
        same("unit", recorder.tables.events[0].unit.as_ref(), unit)?;
    }
    Ok(Completion::Completed)
}

fn a_hole_adds_nothing() -> Outcome {
    same("n and weight", weighed(&[(10, 100), (2_000_000_010, 100)])?, (2, 200))?;
    Ok(Completion::Completed)
}

fn recorded_event() -> Outcome {
    let mut made = program(&Attr::cpu_clock(), &[10]);
    let words = ["perf", "record", "-e", "cycles", "--", "/opt/prog"];
    let line = words.iter().fold(Words::default().u32(words.len() as u32), |line, word| line.bytes(&string(word)));
    made.feature(file::CMDLINE, line.0);
    let recorder = import_bytes(&made.bytes())?;
    same("event", recorder.tables.events[0].name.as_ref(), "cpu-clock")?;
    let asked = recorder.artifact.command.as_deref().unwrap_or_default().contains("-e cycles");
    same("the command line is beside it", asked, true)?;
    Ok(Completion::Completed)
}

fn several_events() -> Outcome {
    let base = Attr::cpu_clock();
    let sample_type = base.sample_type | file::IDENTIFIER;
    // cpu-clock, page-faults, context-switches
    let attrs: Vec<Attr> =
        [(0, 5), (2, 6), (3, 7)].map(|(config, id)| Attr { config, sample_type, ids: vec![id], ..base.clone() }).to_vec();
    let mut made = File::new(&attrs);
    for (attr, times) in attrs.iter().zip([3, 2, 1]) {
        for time in 0..times {
            made.push(attr.sample(file::USER, sample(10 + time, 1)));
        }
    }
    let recorder = import_bytes(&made.bytes())?;
    let events: Vec<_> = recorder.tables.events.iter().map(|event| (event.name.as_ref(), event.role.as_ref(), event.n)).collect();
    same("events", events, vec![("cpu-clock", "cpu", 3), ("page-faults", "other", 2), ("context-switches", "other", 1)])?;
    Ok(Completion::Completed)
}

fn large_periods() -> Outcome {
    let half = 1 << 62;
    same("n and weight", weighed(&[(10, half), (20, half), (30, half)])?, (3, i64::MAX))?;
    same("a period of 64 bits", weighed(&[(10, u64::MAX)])?, (1, i64::MAX))?;
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[]);
    for time in [10, 20] {
        made.push(attr.sample(file::USER, sample(time, u64::MAX)));
    }
    let told = losses(&import_bytes(&made.bytes())?).iter().any(|(kind, _)| *kind == "weight_overflow");
    same("told", told, true)?;
    // The shares of such a file are computed, too.
    super::container::analyzed(&made.bytes())?;
    Ok(Completion::Completed)
}

/// TRACING_DATA with one format (Documentation: tools/lib/traceevent and perf's trace-event-info.c).
fn tracing_data(system: &str, format: &str) -> Vec<u8> {
    let head = Words(vec![0x17, 0x08, 0x44]).bytes(b"tracing0.6\0").bytes(&[0, 8]).u32(4096);
    let pages = head.bytes(b"header_page\0").u64(0).bytes(b"header_event\0").u64(0);
    let systems = pages.u32(0).u32(1).bytes(system.as_bytes()).bytes(&[0]).u32(1);
    systems.u64(format.len() as u64).bytes(format.as_bytes()).u32(0).u32(0).0
}

const SWITCH: &str = "name: sched_switch\nID: 372\nformat:\n\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
    \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\nprint fmt: \"%s\", __print_flags(REC->prev_state, \"|\", \
    { 0x00000001, \"S\" }, { 0x00000002, \"D\" })\n";

/// By hand: thread 10 leaves CPU 0 asleep at 100 and comes back at 150, with no wakeup recorded.
fn switches_alone() -> Outcome {
    let base = Attr::cpu_clock();
    let attr = Attr { kind: 2, config: 372, period: 1, sample_type: base.sample_type | file::RAW, flags: file::SAMPLE_ID_ALL, ..base };
    let mut made = program(&attr, &[]);
    let switch = |time: u64, prev: u32, state: u64, next: u32| {
        let raw = Words::default().u64(372).bytes(&[0; 16]).u32(prev).u32(0).u64(state).bytes(&[0; 16]).u32(next).u32(0);
        let tail = Words::default().u32(raw.0.len() as u32 + 4).bytes(&raw.0).u32(0).0;
        attr.sample(file::KERNEL, Sample { pid: prev, tid: prev, time, period: 1, tail: &tail, ..Sample::default() })
    };
    made.push(switch(100, 10, 1, 0)).push(switch(150, 0, 0, 10)).push(switch(200, 10, 1, 0));
    made.feature(file::TRACING_DATA, tracing_data("sched", SWITCH));
    let words = ["perf", "record", "-a", "-e", "sched:sched_switch"];
    let line = words.iter().fold(Words::default().u32(words.len() as u32), |line, word| line.bytes(&string(word)));
    made.feature(file::CMDLINE, line.0);
    let recorder = import_bytes(&made.bytes())?;
    same("event", (recorder.tables.events[0].name.as_ref(), samples(&recorder)), ("sched:sched_switch", 3))?;
    let waits: Vec<_> = recorder.tables.waits.iter().map(|wait| (wait.start_ns, wait.dur_ns)).collect();
    if waits.contains(&(Some(100).into(), 50)) { Ok(Completion::Completed) } else { Err(format!("waits: {waits:?}").into()) }
}

fn tracepoint_with_payload() -> Outcome {
    let base = Attr::cpu_clock();
    let attr = Attr { kind: 2, config: 99, period: 1, sample_type: base.sample_type | file::RAW, flags: file::SAMPLE_ID_ALL, ..base };
    let mut made = program(&attr, &[]);
    let tail = Words::default().u32(20).all(&[99, 0x5555]).u32(0).0;
    made.push(attr.sample(file::KERNEL, Sample { tail: &tail, ..sample(10, 1) }));
    // A payload that is longer than its record.
    let cut = Words::default().u32(0xffff).u32(0).0;
    made.push(attr.sample(file::KERNEL, Sample { tail: &cut, ..sample(20, 1) }));
    let format = "name: sys_enter_brk\nID: 99\nformat:\n\tfield:unsigned long brk;\toffset:8;\tsize:8;\tsigned:0;\n";
    made.feature(file::TRACING_DATA, tracing_data("syscalls", format));
    let recorder = import_bytes(&made.bytes())?;
    let event = &recorder.tables.events[0];
    same("event", (event.name.as_ref(), event.n), ("syscalls:sys_enter_brk", 1))?;
    // Its kernel frame has no map: the made file introduces none.
    same("losses", losses(&recorder), vec![("perf_bad_record", 1), ("perf_kernel_hidden", 1)])?;
    Ok(Completion::Completed)
}
