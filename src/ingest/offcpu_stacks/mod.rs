//! Off-CPU time summed by stack, as BPF tools print it, and folded stacks of any origin.
//!
//! Three forms of text:
//! * blocks of bcc's and libbpf-tools' `offcputime`: frames, innermost first, then `-  COMM (TID)`, then microseconds;
//! * maps of bpftrace: `@usecs[` frames `, COMM]: N`; the unit is in the map's name (`ns`, `us`, `ms`), else unknown;
//! * folded lines: `COMM;outermost;...;innermost N`.
//!
//! A folded file does not say what its numbers are. Where 19 of 20 parts of its weight lie on stacks that end in the
//! scheduler it is off-CPU time in microseconds, as `offcputime -f` writes it. Everything else is kept as counts of an
//! event of role `other` and reported, until a manifest names the tool ([`adopt_commands`]).
//!
//! The recording tool's own frames on top (`bpf_prog_*`, `bpf_trace_run*`, ...) are removed. Preempted stacks are in the
//! data and become runnable time later, by their stack. Names come without file, so only kernel frames have a dso.

mod blocks;
mod folded;
mod frames;
mod maps;
mod window;

use std::collections::BTreeMap;

use self::frames::Name;
use super::{Format, Input, NewEvent, Recorder, Severity, text};
use crate::error::Result;
use crate::tables::{Maybe32, Maybe64, Sample, Tables, Wait};

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "offcpu-stacks",
    tool: "bpf",
    doc: "off-CPU time summed by stack: offcputime, bpftrace, folded",
    record: "offcputime -p PID 10 > offcpu.txt",
    sniff,
    read,
};

/// One summed stack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Aggregate {
    comm: Option<String>,
    tid: Option<i32>,
    /// Innermost first.
    frames: Vec<Name>,
    value: i64,
    line_no: i64,
}

/// What the numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Off-CPU time, so many nanoseconds each.
    Off(i64),
    Unknown,
}

/// What a text holds.
#[derive(Debug, Default)]
struct Found {
    aggregates: Vec<Aggregate>,
    /// Lines of other kinds, and stacks whose number is missing.
    losses: Vec<(&'static str, i64, i64)>,
}

pub fn sniff(head: &[u8]) -> bool {
    let text = text::decode(head);
    let is_cut = head.len() >= 65_536;
    blocks::is_offcputime(&text) || maps::is_stack_map(&text) || folded::is_folded(&text, is_cut)
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let text = text::decode(input.bytes);
    let (found, unit) = if maps::is_stack_map(&text) {
        maps::read(&text)
    } else if blocks::is_offcputime(&text) {
        (blocks::read(&text), Unit::Off(1_000))
    } else {
        folded::read(&text)
    };
    for (kind, count, line_no) in &found.losses {
        let (severity, message, advice) = loss(kind);
        recorder.skip_many(kind, severity, *count, message, advice, &text::place(*line_no));
    }
    recorder.artifact.records = found.aggregates.len() as i64;
    recorder.artifact.unwinding = Some("bpf".into());
    match unit {
        Unit::Off(ns) => push_waits(&found.aggregates, ns, recorder),
        Unit::Unknown => push_samples(&found.aggregates, recorder),
    }
    Ok(())
}

fn loss(kind: &str) -> (Severity, &'static str, &'static str) {
    match kind {
        "offcpu_lost_stack" => (
            Severity::Warn,
            "stacks without a number: the tool could not read the user stack and printed neither thread nor time",
            "their time is missing from the sums; keep the program alive until the tool has printed",
        ),
        "other_text" => (Severity::Info, "lines that are neither stacks nor numbers", "nothing to do"),
        _ => (Severity::Warn, "lines that are no folded stack", "a line is frames between semicolons, a space and a whole number"),
    }
}

fn push_waits(aggregates: &[Aggregate], unit_ns: i64, recorder: &mut Recorder) {
    let mut people = People::default();
    let (mut total, mut missed) = (0i64, 0i64);
    for aggregate in aggregates {
        let thread_id = people.thread(aggregate, recorder);
        let frames = frames::without_tool(&aggregate.frames);
        let stack_id = frames::intern(frames, recorder);
        let dur_ns = aggregate.value.saturating_mul(unit_ns);
        total = total.saturating_add(dur_ns);
        if frames.iter().any(Name::is_missed) {
            missed = missed.saturating_add(dur_ns);
        }
        recorder.tables.waits.push(Wait {
            artifact_id: 0,
            is_aggregate: true,
            thread_id: thread_id.into(),
            start_ns: None.into(),
            dur_ns,
            runnable_ns: None.into(),
            state: None,
            // set from the stack once it has names
            reason: "unknown".into(),
            stack_id: stack_id.into(),
            waker_thread_id: None.into(),
            waker_stack_id: None.into(),
            clipped: false,
            record_no: aggregate.line_no,
        });
    }
    if missed > 0 {
        let message = format!("stacks that the tool missed hold {missed} of {total} ns");
        recorder.skip("offcpu_missed_stack", Severity::Warn, &message, "raise --stack-storage-size; their time has no place", "");
    }
    recorder.artifact.system_wide = people.saw_kernel_threads.then_some(true);
    push_event("off-cpu", "M4", "bpf_map", "off-cpu", "ns", recorder);
    if let Some(event) = recorder.tables.events.last_mut() {
        event.n = aggregates.len() as i64;
        event.total_weight = total;
    }
}

fn push_event(
    name: &str,
    mechanism: &'static str,
    probe: &'static str,
    role: &'static str,
    unit: &'static str,
    recorder: &mut Recorder,
) -> i32 {
    recorder.push_event(&NewEvent { name: name.into(), mechanism, probe, role, frequency_hz: None, period: None, unit })
}

/// Numbers of unknown meaning: samples of role `other`, with the first element kept as the outermost frame.
fn push_samples(aggregates: &[Aggregate], recorder: &mut Recorder) {
    recorder.artifact.kind = FOLDED.into();
    recorder.artifact.tool = "unknown".into();
    recorder.artifact.unwinding = None;
    let message = "the file does not say what its numbers are: time or samples, on or off the CPU";
    recorder.skip("folded_unknown", Severity::Info, message, "name its command in a manifest, or give the original recording", "");
    let event_id = push_event("folded", "unknown", "unknown", "other", "count", recorder);
    for aggregate in aggregates {
        let mut frames = aggregate.frames.clone();
        frames.extend(aggregate.comm.as_deref().map(Name::new));
        let stack_id = frames::intern(&frames, recorder);
        recorder.push_sample(Sample {
            event_id,
            ts_ns: Maybe64::NONE,
            thread_id: Maybe32::NONE,
            cpu: Maybe32::NONE,
            stack_id: stack_id.into(),
            weight: aggregate.value,
            record_no: aggregate.line_no,
        });
    }
}

/// `artifacts.kind` of folded stacks whose meaning is unknown.
const FOLDED: &str = "folded-stacks";

/// Threads by (name, number). Where the file gives a name only, its number is negative.
#[derive(Default)]
struct People {
    known: BTreeMap<(Option<String>, Option<i32>), i32>,
    unnumbered: i32,
    saw_kernel_threads: bool,
}

impl People {
    fn thread(&mut self, aggregate: &Aggregate, recorder: &mut Recorder) -> Option<i32> {
        self.saw_kernel_threads |= aggregate.frames.iter().any(|frame| frame.text() == "kthread");
        if aggregate.comm.is_none() && aggregate.tid.is_none() {
            return None;
        }
        let key = (aggregate.comm.clone(), aggregate.tid);
        if let Some(thread) = self.known.get(&key) {
            return Some(*thread);
        }
        let tid = aggregate.tid.unwrap_or_else(|| {
            self.unnumbered -= 1;
            self.unnumbered
        });
        let comm = aggregate.comm.as_deref();
        let process = recorder.push_process(tid, None, comm);
        let thread = recorder.push_thread(process, tid, comm);
        self.known.insert(key, thread);
        Some(thread)
    }
}

/// Folded files that a manifest says `offcputime` wrote become off-CPU time in microseconds; recordings of one process
/// (`-p`) become one process, and the command says how long the tool watched. Called after the merge, when commands are known.
pub fn adopt_commands(tables: &mut Tables) {
    for n in 0..tables.artifacts.len() {
        let artifact_id = n as i32;
        let Some(artifact) = tables.artifacts.get_mut(n) else { continue };
        let Some(command) = artifact.command.clone() else { continue };
        if matches!(artifact.kind.as_ref(), "offcpu-stacks" | FOLDED) && artifact.window_ns.is_none() {
            artifact.window_ns = window::of_command(&command).map(|window| artifact.wall_ns.map_or(window, |wall| wall.min(window)));
        }
        if !command.contains("offcputime") {
            continue;
        }
        if artifact.kind.as_ref() == FOLDED {
            artifact.kind = "offcpu-stacks".into();
            artifact.tool = "bpf".into();
            adopt_samples(tables, artifact_id);
        }
        let is_one_process = super::command::simple_commands(&command).iter().any(|words| {
            words.iter().any(|word| word.contains("offcputime"))
                && words.iter().any(|word| word == "-p" || word == "--pid" || word.starts_with("-p$"))
        });
        if is_one_process && tables.artifacts.get(n).is_some_and(|artifact| artifact.kind.as_ref() == "offcpu-stacks") {
            one_process(tables, artifact_id);
        }
    }
}

fn adopt_samples(tables: &mut Tables, artifact_id: i32) {
    let Some(event) = tables.events.iter_mut().find(|event| event.artifact_id == artifact_id && event.role.as_ref() == "other") else {
        return;
    };
    let event_id = event.event_id;
    event.name = "off-cpu".into();
    event.mechanism = "M4".into();
    event.probe = "bpf_map".into();
    event.role = "off-cpu".into();
    event.unit = "ns".into();
    event.total_weight = event.total_weight.saturating_mul(1_000);
    let (moved, kept) = std::mem::take(&mut tables.samples).into_iter().partition(|sample| sample.event_id == event_id);
    tables.samples = kept;
    let moved: Vec<Sample> = moved;
    tables.waits.extend(moved.into_iter().map(|sample| Wait {
        artifact_id,
        is_aggregate: true,
        thread_id: None.into(),
        start_ns: None.into(),
        dur_ns: sample.weight.saturating_mul(1_000),
        runnable_ns: None.into(),
        state: None,
        reason: "unknown".into(),
        stack_id: sample.stack_id,
        waker_thread_id: None.into(),
        waker_stack_id: None.into(),
        clipped: false,
        record_no: sample.record_no,
    }));
    tables.waits.sort_by_key(|wait| (wait.artifact_id, wait.start_ns, wait.record_no));
}

/// All threads of the artifact belong to its first process.
fn one_process(tables: &mut Tables, artifact_id: i32) {
    if let Some(artifact) = tables.artifacts.get_mut(artifact_id as usize) {
        artifact.system_wide = Some(false);
    }
    let first = tables
        .processes
        .iter()
        .filter(|row| row.artifact_id == artifact_id)
        .min_by_key(|row| row.pid.unsigned_abs())
        .map(|row| row.process_id);
    let Some(first) = first else { return };
    for thread in tables.threads.iter_mut().filter(|row| row.artifact_id == artifact_id) {
        thread.process_id = first;
    }
}

#[cfg(test)]
mod tests;
