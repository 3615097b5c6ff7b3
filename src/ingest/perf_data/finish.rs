//! What the file says as a whole, once all records are read.

use linux_perf_data::Feature;
use linux_perf_data::linux_perf_event_reader::constants::*;

use super::attr::{Attr, FORMAT_LOST};
use super::cmdline::PerfCommand;
use super::container::Container;
use super::import::Import;
use super::order::Walk;
use super::records::{End, KERNEL_TYPE_LAST, USER_TYPE_START};
use crate::ingest::command::{base_name, quote};
use crate::ingest::{Recorder, Severity};
use crate::tables::Execution;

/// The recording tool's record types that are known (BPF_METADATA).
const USER_TYPE_LAST: u32 = 84;
/// Types of simpleperf begin here.
const SIMPLEPERF_TYPES: std::ops::RangeInclusive<u32> = 32_768..=32_777;

impl Import<'_, '_> {
    pub fn finish(mut self, container: &Container<'_>, walk: &Walk, argv: &[String], command: &PerfCommand) {
        let system_wide = self.system_wide.unwrap_or(self.counts.swapper);
        self.tasks.name_processes(self.recorder);
        let program = command.argv.first().map(|word| base_name(word));
        self.tasks.mark_targets(program, system_wide, self.recorder);
        if let Some(sched) = self.sched.take() {
            sched.finish(self.recorder);
        }
        self.losses();
        self.counts.report(self.recorder);
        report_walk(container, walk, self.recorder);
        self.describe_artifact(container, argv, system_wide);
        self.recorder.artifact.records = walk.records;
        let argv = (!command.argv.is_empty()).then(|| self.recorder.text(&quote(&command.argv)));
        let mut execution = Execution { argv, ..Execution::under("perf") };
        execution.sign();
        self.recorder.push_execution(execution);
    }

    fn describe_artifact(&mut self, container: &Container<'_>, argv: &[String], system_wide: bool) {
        let recorder = &mut *self.recorder;
        let version = container.string(Feature::VERSION).map(|version| recorder.text(&version));
        let command = (!argv.is_empty()).then(|| recorder.text(&quote(argv)));
        let any = |test: &dyn Fn(&Attr) -> bool| container.attrs.iter().any(test);
        let unwinding = if self.arch.is_some() || any(&|attr| attr.samples(PERF_SAMPLE_STACK_USER)) {
            "dwarf"
        } else if any(&|attr| attr.samples(PERF_SAMPLE_BRANCH_STACK) && attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK != 0) {
            "lbr"
        } else if any(&|attr| attr.samples(PERF_SAMPLE_CALLCHAIN)) {
            "fp"
        } else {
            "none"
        };
        let unwinding = recorder.text(unwinding);
        let clock = recorder.text(container.attrs.iter().find_map(clock_name).unwrap_or("perf"));
        let artifact = &mut recorder.artifact;
        artifact.tool_version = version;
        artifact.command = command;
        artifact.clock = Some(clock);
        artifact.unwinding = Some(unwinding);
        artifact.follows_children = Some(system_wide || any(&|attr| attr.has(ATTR_FLAG_BIT_INHERIT)));
        artifact.system_wide = Some(system_wide);
        let window = self.counts.first_time.zip(self.counts.last_time);
        artifact.window_ns = window.map(|(first, last)| last.saturating_sub(first));
    }

    /// The losses the kernel states; an event without any has 0, since the file could say so.
    fn losses(&mut self) {
        let mut total: i64 = 0;
        for (info, attr) in self.events.iter().zip(&self.attrs) {
            let lost = info.lost.total(attr.read_format & FORMAT_LOST != 0);
            total = total.saturating_add(lost);
            if let Some(row) = info.event_id.and_then(|id| self.recorder.tables.events.get_mut(id as usize)) {
                row.lost = Some(lost);
            }
        }
        if total > 0 {
            let message = "samples that the kernel says it lost";
            let advice = "record with larger buffers (-m 16M) or a lower frequency; shares carry this as uncertainty";
            self.recorder.skip_many("perf_lost_samples", Severity::Warn, total, message, advice, "");
        }
    }
}

fn clock_name(attr: &Attr) -> Option<&'static str> {
    attr.has(ATTR_FLAG_BIT_USE_CLOCKID).then_some(match attr.clock_id {
        0 => "realtime",
        1 => "monotonic",
        4 => "monotonic_raw",
        7 => "boottime",
        _ => "other",
    })
}

/// What the walk over the records could not use.
fn report_walk(container: &Container<'_>, walk: &Walk, recorder: &mut Recorder) {
    let known = |kind: u32| {
        (1..=KERNEL_TYPE_LAST).contains(&kind) || (USER_TYPE_START..=USER_TYPE_LAST).contains(&kind) || SIMPLEPERF_TYPES.contains(&kind)
    };
    for (kind, count) in walk.by_type.iter().filter(|(kind, _)| !known(**kind)) {
        let message = format!("records of type {kind}, which this version does not know");
        recorder.skip_many(&format!("perf_unknown_type_{kind}"), Severity::Info, *count, &message, "they were passed over", "");
    }
    let place = format!("record={}", walk.records);
    if let Some(error) = &walk.inflate_error {
        let message = format!("a compressed record could not be read: {error}");
        recorder.artifact.status = "truncated".into();
        recorder.skip("perf_bad_compression", Severity::Error, &message, "what came before was read; copy the file again", &place);
    }
    if walk.out_of_order > 0 {
        let first = walk.first_out_of_order.map_or(String::new(), |no| format!("record={no}"));
        let message = "records older than one that had been handed on";
        recorder.skip_many("perf_out_of_order", Severity::Info, walk.out_of_order, message, "they were used where they stand", &first);
    }
    report_stop(container, walk, &place, recorder);
}

/// Where the walk stopped early, and what that leaves out.
fn report_stop(container: &Container<'_>, walk: &Walk, place: &str, recorder: &mut Recorder) {
    if let Some((offset, end)) = walk.stopped {
        if container.data.get(offset..).is_some_and(|rest| rest.starts_with(b"[ perf record: ")) {
            let message = "perf's own messages were written behind the records";
            recorder.skip("perf_trailing_text", Severity::Info, message, "they were passed over", place);
            return;
        }
        let at = container.data_offset.saturating_add(offset);
        let missing = container.data.len().saturating_sub(offset);
        let message = match end {
            End::BadSize => format!("the record at byte {at} has no size: {missing} bytes from there on were not read"),
            _ => format!("the file ends inside the record at byte {at}"),
        };
        recorder.artifact.status = "truncated".into();
        recorder.skip("perf_truncated", Severity::Error, &message, "what came before was read; copy the file again", place);
    }
}
