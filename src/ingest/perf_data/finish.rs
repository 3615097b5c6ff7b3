//! What the file says as a whole, once all records are read.

use linux_perf_data::Feature;
use linux_perf_data::linux_perf_event_reader::constants::*;

use super::attr::{Attr, FORMAT_LOST};
use super::batch::StackCounts;
use super::cmdline::PerfCommand;
use super::container::Container;
use super::events;
use super::forest::Forest;
use super::import::Import;
use super::losses::report_walk;
use super::naming::meta_info;
use super::order::Walk;
use super::rates::{self, percent};
use crate::ingest::Severity;
use crate::ingest::command::quote;
use crate::tables::{Execution, Frame};

/// Events whose losses one message names.
const LOSSES_TOLD: usize = 4;

/// All stacks, the node of each slot, and what was noticed.
pub type Stacks = (Forest, Vec<u32>, StackCounts);

impl Import<'_, '_> {
    pub fn finish(mut self, container: &Container<'_>, walk: &Walk, stacks: Stacks, argv: &[String], command: &PerfCommand) {
        let system_wide = self.system_wide.unwrap_or(self.counts.swapper);
        self.tasks.name_processes(self.recorder);
        self.tasks.mark_targets(system_wide, self.recorder);
        if let Some(sched) = self.sched.take() {
            sched.finish(self.recorder);
        }
        std::mem::take(&mut self.payloads).finish(&self.events, self.recorder);
        self.finish_stacks(stacks);
        self.losses();
        self.groups.report(self.recorder);
        rates::report(&self.attrs, &self.events, self.recorder);
        events::report_fallback(command, self.recorder);
        self.hidden_kernel();
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
        let simpleperf = meta_info(container).remove("simpleperf_version");
        if simpleperf.is_some() {
            recorder.artifact.tool = recorder.text("simpleperf");
        }
        let version = container.string(Feature::VERSION).or(simpleperf).map(|version| recorder.text(&version));
        let command = (!argv.is_empty()).then(|| recorder.text(&quote(argv)));
        let any = |test: &dyn Fn(&Attr) -> bool| container.attrs.iter().any(test);
        let unwinding = if any(&|attr| attr.samples(PERF_SAMPLE_STACK_USER)) {
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

    /// Kernel frames without any map of the kernel.
    fn hidden_kernel(&mut self) {
        let is_bare = |frame: &&Frame| frame.is_kernel && frame.dso_id.is_none();
        let count = self.recorder.tables.frames.iter().filter(is_bare).count() as i64;
        if count > 0 && self.kernel.image.is_none() {
            let message = "kernel addresses without a map of the kernel: hidden by kernel.kptr_restrict or left out by --synth";
            let advice = "set kernel.kptr_restrict=0 (sysctl) and record as root; this file cannot be repaired";
            self.recorder.skip_many("perf_kernel_hidden", Severity::Info, count, message, advice, "");
        }
    }

    /// The losses the kernel states; an event without any has 0, since the file could say so.
    fn losses(&mut self) {
        let mut total: i64 = 0;
        let mut parts = Vec::new();
        for (info, attr) in self.events.iter().zip(&self.attrs) {
            let lost = info.lost.total(attr.read_format & FORMAT_LOST != 0);
            total = total.saturating_add(lost);
            if let Some(row) = info.event_id.and_then(|id| self.recorder.tables.events.get_mut(id as usize)) {
                row.lost = Some(lost);
                row.excludes = excluded(attr).map(Into::into);
                if lost > 0 {
                    let whole = row.n.saturating_add(lost);
                    parts.push(format!("{} {lost} of {whole} ({})", row.name, percent(lost, whole)));
                }
            }
        }
        if total > 0 {
            let more = parts.len().saturating_sub(LOSSES_TOLD);
            let more = if more > 0 { format!(", and {more} more events") } else { String::new() };
            let parts = parts.iter().take(LOSSES_TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
            let message = format!("samples that the kernel says it lost: {parts}{more}");
            let advice = "record with larger buffers (-m 16M) or a lower frequency; shares carry this as uncertainty";
            self.recorder.skip_many("perf_lost_samples", Severity::Warn, total, &message, advice, "");
        }
    }
}

/// What the event was told to leave out.
fn excluded(attr: &Attr) -> Option<&'static str> {
    match (attr.has(ATTR_FLAG_BIT_EXCLUDE_KERNEL), attr.has(ATTR_FLAG_BIT_EXCLUDE_USER)) {
        (true, true) => Some("kernel,user"),
        (true, false) => Some("kernel"),
        (false, true) => Some("user"),
        (false, false) => None,
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
