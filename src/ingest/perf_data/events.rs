//! What each attr counts: its name, and the mechanism and probe behind it.

use std::sync::Arc;

use linux_perf_data::linux_perf_event_reader::constants::*;

use super::attr::Attr;
use super::cmdline::PerfCommand;
use super::payload::{self, Payload};
use super::tracing::{Formats, SchedEvent};
use crate::ingest::{NewEvent, Recorder, Severity};

/// One event of the file.
#[derive(Debug)]
pub struct EventInfo {
    /// Its row; `None` for the dummy events that perf opens only to hear of maps and forks.
    pub event_id: Option<i32>,
    /// A scheduler tracepoint that becomes waits instead of samples.
    pub sched: Option<Arc<SchedEvent>>,
    /// Another tracepoint whose payload is understood.
    pub payload: Option<Arc<Payload>>,
    /// Has a table of its own (`sched:*`, system calls, ...): kept out of `samples` unless asked for.
    pub is_apart: bool,
    /// Weight of a sample that does not carry a period.
    pub default_weight: i64,
    /// Frames the kernel records at most; 0 where unknown.
    pub max_stack: usize,
    pub lost: Lost,
}

/// Losses as told in two ways that can be about the same samples.
#[derive(Debug, Default, Clone, Copy)]
pub struct Lost {
    /// LOST records: the ring buffer was full.
    pub ring: u64,
    /// LOST_SAMPLES records: by the hardware, or (with PERF_FORMAT_LOST) the final count of the event.
    pub samples: u64,
}

impl Lost {
    /// With PERF_FORMAT_LOST both count the same losses; without it they are different ones.
    pub fn total(self, format_has_lost: bool) -> i64 {
        let total = if format_has_lost { self.ring.max(self.samples) } else { self.ring.saturating_add(self.samples) };
        i64::try_from(total).unwrap_or(i64::MAX)
    }
}

/// What perf calls its default depth (kernel.perf_event_max_stack).
const MAX_STACK_DEFAULT: usize = 127;

const SW_DUMMY: u64 = 9;

/// Whether the event is perf's dummy, which never samples.
pub fn is_dummy(attr: &Attr) -> bool {
    attr.kind == PERF_TYPE_SOFTWARE && attr.config == SW_DUMMY
}

/// The event as recorded; a name is made from type and config where the file has none.
pub fn describe(attr: &Attr, formats: &Formats) -> (NewEvent, EventInfo) {
    // A clock that the file calls by a counter's name: what was asked for, not what was recorded.
    let is_wrong = |name: &String| attr.kind == PERF_TYPE_SOFTWARE && HARDWARE.contains(&base_name(name));
    let name = attr.name.clone().filter(|name| !is_wrong(name)).unwrap_or_else(|| derived_name(attr, formats));
    let base = base_name(&name);
    let is_clock = attr.kind == PERF_TYPE_SOFTWARE && attr.config <= 1;
    let (mechanism, probe, role) = nature(attr, base);
    let asked = i64::try_from(attr.period_or_frequency).unwrap_or(i64::MAX);
    let is_frequency = attr.has(ATTR_FLAG_BIT_FREQ);
    let event = NewEvent {
        name: name.clone(),
        mechanism,
        probe,
        role,
        frequency_hz: is_frequency.then_some(asked),
        period: (!is_frequency && asked > 0).then_some(asked),
        unit: if is_clock { "ns" } else { "count" },
    };
    let info = EventInfo {
        event_id: None,
        sched: (attr.kind == PERF_TYPE_TRACEPOINT).then(|| formats.sched_event(attr.config)).flatten().map(Arc::new),
        payload: (attr.kind == PERF_TYPE_TRACEPOINT).then(|| payload::of(formats.get(attr.config))).flatten(),
        is_apart: attr.kind == PERF_TYPE_TRACEPOINT && name.starts_with("sched:"),
        default_weight: if is_frequency { 1 } else { asked.max(1) },
        max_stack: if attr.max_stack == 0 { MAX_STACK_DEFAULT } else { usize::from(attr.max_stack) },
        lost: Lost::default(),
    };
    (event, info)
}

/// perf records cpu-clock where the machine has no counter for cycles, and says so on the terminal only.
pub fn report_fallback(command: &PerfCommand, recorder: &mut Recorder) {
    let Some(asked) = &command.events else { return };
    let has = |name: &str| asked.iter().any(|event| event.contains(name));
    let recorded = |name: &str| recorder.tables.events.iter().find(|event| base_name(&event.name) == name);
    let (Some(clock), None) = (recorded("cpu-clock"), recorded("cycles")) else { return };
    // Without -e it is cycles.
    if !(asked.is_empty() || has("cycles")) || has("cpu-clock") {
        return;
    }
    let asked = if asked.is_empty() { "cycles (the default)".to_owned() } else { asked.join(",") };
    let (count, message) = (clock.n, format!("{asked} was asked for and {} recorded: the machine has no such counter", clock.name));
    let advice = "the weights are nanoseconds of CPU time; samples of code that runs with interrupts off come late";
    recorder.skip_many("perf_event_fallback", Severity::Info, count, &message, advice, "");
}

/// `cycles:uH` -> `cycles`, `cpu/cycles/u` stays; tracepoints keep both parts.
fn base_name(name: &str) -> &str {
    match name.split_once(':') {
        Some((base, modifiers)) if modifiers.chars().all(|c| "ukhIGHpPSDWeb".contains(c)) => base,
        _ => name,
    }
}

/// (mechanism, probe, role), see rules.md 2.4.
fn nature(attr: &Attr, base: &str) -> (&'static str, &'static str, &'static str) {
    match attr.kind {
        PERF_TYPE_SOFTWARE => match attr.config {
            // cpu-clock, task-clock
            0 | 1 => ("M1", "hrtimer", "cpu"),
            // context-switches, cpu-migrations
            3 | 4 => ("M4", "sw_event", "other"),
            _ => ("M8", "sw_event", "other"),
        },
        PERF_TYPE_TRACEPOINT => match base.split(':').next().unwrap_or("") {
            "sched" => ("M4", "tp_sched", "off-cpu"),
            "syscalls" | "raw_syscalls" => ("M5", "tp_syscall", "other"),
            "lock" => ("M8", "lock_tp", "other"),
            _ => ("M8", "tracepoint", "other"),
        },
        PERF_TYPE_BREAKPOINT => ("M8", "breakpoint", "other"),
        // Time on a CPU, in whatever unit; the others count what happens while there.
        _ if ["cycles", "instructions", "ref-cycles", "bus-cycles", "cpu-cycles"].iter().any(|name| base.contains(name)) => {
            ("M1", "pmu_overflow", "cpu")
        }
        _ => ("M7", "pmu_overflow", "other"),
    }
}

const HARDWARE: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];
const SOFTWARE: [&str; 12] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
];

fn derived_name(attr: &Attr, formats: &Formats) -> String {
    let at = |list: &[&'static str]| usize::try_from(attr.config).ok().and_then(|at| list.get(at)).copied();
    let known = match attr.kind {
        PERF_TYPE_HARDWARE => at(&HARDWARE),
        PERF_TYPE_SOFTWARE => at(&SOFTWARE),
        PERF_TYPE_TRACEPOINT => return formats.name(attr.config).unwrap_or_else(|| format!("tracepoint:{}", attr.config)),
        _ => None,
    };
    match (known, attr.kind) {
        (Some(name), _) => format!("{name}{}", modifiers(attr)),
        (None, PERF_TYPE_RAW) => format!("raw:r{:x}{}", attr.config, modifiers(attr)),
        (None, kind) => format!("type{kind}:{:x}{}", attr.config, modifiers(attr)),
    }
}

/// `:u`, `:ppH` ... as perf appends them (tools/perf/util/evsel.c).
fn modifiers(attr: &Attr) -> String {
    let excludes = |flag| attr.has(flag);
    let (kernel, user) = (excludes(ATTR_FLAG_BIT_EXCLUDE_KERNEL), excludes(ATTR_FLAG_BIT_EXCLUDE_USER));
    let hypervisor = excludes(ATTR_FLAG_BIT_EXCLUDE_HV);
    let mut text = String::new();
    let mut guest_by_default = false;
    if kernel || user || hypervisor {
        let kept = [(!kernel, 'k'), (!user, 'u'), (!hypervisor, 'h')];
        text.extend(kept.iter().filter(|(kept, _)| *kept).map(|(_, letter)| *letter));
        guest_by_default = true;
    }
    let precise = (attr.flags & ATTR_FLAG_BITMASK_PRECISE_IP) >> 15;
    if precise > 0 {
        text.extend(std::iter::repeat_n('p', precise as usize));
        guest_by_default = true;
    }
    let (host, guest) = (excludes(ATTR_FLAG_BIT_EXCLUDE_HOST), excludes(ATTR_FLAG_BIT_EXCLUDE_GUEST));
    if host || guest == guest_by_default {
        text.extend([(!host, 'H'), (!guest, 'G')].iter().filter(|(kept, _)| *kept).map(|(_, letter)| *letter));
    }
    if text.is_empty() { text } else { format!(":{text}") }
}
