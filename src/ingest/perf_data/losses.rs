//! What could not be used, or is in doubt: counted on the way, told once at the end.

use super::batch::StackCounts;
use super::container::Container;
use super::order::Walk;
use super::rates::percent;
use super::records::{self, End, KERNEL_TYPE_LAST, SIMPLEPERF_TYPES, USER_TYPE_START};
use super::throttle::Throttle;
use crate::ingest::{Recorder, Severity};

/// The recording tool's record types that are known (BPF_METADATA).
const USER_TYPE_LAST: u32 = 84;

/// What was lost second by second, and in which most: the ring overflows when most happens. Records come in order of time.
#[derive(Debug, Default)]
pub(super) struct WorstSecond {
    second: i64,
    lost: u64,
    seen: u64,
    worst: (u64, u64),
    /// Seconds with a loss: (second, lost, seen).
    losses: Vec<(i64, u64, u64)>,
}

impl WorstSecond {
    pub fn add(&mut self, time: Option<i64>, lost: u64, seen: u64) {
        let Some(second) = time.map(|time| time / 1_000_000_000) else { return };
        if second != self.second {
            self.close();
            (self.second, self.lost, self.seen) = (second, 0, 0);
        }
        self.lost = self.lost.saturating_add(lost);
        self.seen = self.seen.saturating_add(seen);
    }

    fn close(&mut self) {
        let whole = self.lost.saturating_add(self.seen);
        if whole > 0 && u128::from(self.lost) * u128::from(self.worst.1.max(1)) > u128::from(self.worst.0) * u128::from(whole) {
            self.worst = (self.lost, whole);
        }
        if self.lost > 0 {
            self.losses.push((self.second, self.lost, self.seen));
        }
    }

    /// (lost, lost and seen) of the worst second, 0 of 1 where nothing was lost; and every second with a loss.
    pub fn worst(mut self) -> (i64, i64, Vec<(i64, u64, u64)>) {
        self.close();
        (whole(self.worst.0), whole(self.worst.1.max(1)), self.losses)
    }
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// What becomes diagnostics at the end.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub bad: i64,
    pub first_bad: Option<i64>,
    pub unknown_event: i64,
    pub throttle: Throttle,
    pub worst_second: WorstSecond,
    pub untimed_samples: i64,
    pub stacks: StackCounts,
    pub swapper: bool,
    pub first_time: Option<i64>,
    pub last_time: Option<i64>,
}

impl Counts {
    pub(super) fn report(&mut self, recorder: &mut Recorder) {
        let (lost, all, losses) = std::mem::take(&mut self.worst_second).worst();
        recorder.note_fact("lost_worst_second", lost, all);
        for (second, lost, seen) in losses {
            recorder.push_loss(second.saturating_mul(1_000_000_000), whole(lost), whole(seen));
        }
        // Cut at the dump's size or as deep as the kernel records: either way the outer end is missing.
        recorder.note_fact("stacks_cut", self.stacks.deep.saturating_add(self.stacks.ends.cut).min(self.stacks.made), self.stacks.made);
        std::mem::take(&mut self.throttle).report(self.first_time.zip(self.last_time), recorder);
        let mut tell = |kind: &str, severity, count: i64, message: &str, advice: &str, place: &str| {
            if count > 0 {
                recorder.skip_many(kind, severity, count, message, advice, place);
            }
        };
        let first = self.first_bad.map_or(String::new(), |no| format!("record={no}"));
        let copy = "copy the file again; if it stays, report the recorder's version";
        tell("perf_bad_record", Severity::Warn, self.bad, "records shorter than their event promises", copy, &first);
        let message = "samples whose event id the header does not have";
        tell("perf_unknown_event", Severity::Warn, self.unknown_event, message, copy, "");
        let message = "samples without a time";
        tell(
            "perf_untimed_samples",
            Severity::Info,
            self.untimed_samples,
            message,
            "record with -T; rates over time are not available",
            "",
        );
        let message = format!(
            "stacks as deep as the kernel records, {} of {}: their outer end is missing",
            percent(self.stacks.deep, self.stacks.made),
            self.stacks.made
        );
        tell("perf_max_stack", Severity::Info, self.stacks.deep, &message, "raise kernel.perf_event_max_stack", "");
        let message = "stacks that were cut at the dump size: the frames so far are kept";
        tell("perf_stack_cut", Severity::Info, self.stacks.ends.cut, message, "record with larger dumps (--call-graph dwarf,32768)", "");
        let message = "stacks that reach code without unwind tables: the frames so far are kept";
        tell("perf_unwind_no_table", Severity::Info, self.stacks.ends.no_table, message, "give the binaries with --symbol-dir", "");
        let message = "stacks whose unwinding failed: the frames so far are kept";
        tell("perf_unwind_failed", Severity::Info, self.stacks.ends.failed, message, "give the binaries with --symbol-dir", "");
        let message = "stack dumps of a machine that is not unwound: kernel frames and the address are kept";
        tell("perf_unwind_foreign", Severity::Info, self.stacks.ends.foreign, message, "record frame-pointer stacks (--call-graph fp)", "");
    }
}

/// What the walk over the records could not use.
pub(super) fn report_walk(container: &Container<'_>, walk: &Walk, recorder: &mut Recorder) {
    let known = |kind: u32| {
        (1..=KERNEL_TYPE_LAST).contains(&kind) || (USER_TYPE_START..=USER_TYPE_LAST).contains(&kind) || SIMPLEPERF_TYPES.contains(&kind)
    };
    for (kind, count) in walk.by_type.iter().filter(|(kind, _)| !known(**kind)) {
        let message = format!("records of type {kind}, which this version does not know");
        recorder.skip_many(&format!("perf_unknown_type_{kind}"), Severity::Info, *count, &message, "they were passed over", "");
    }
    if let Some(count) = walk.by_type.get(&records::AUXTRACE) {
        let message = "pieces of a hardware trace (intel_pt, SPE, CoreSight)";
        let advice = "they were passed over; `perf inject --itrace` turns them into samples";
        recorder.skip_many("perf_hardware_trace", Severity::Info, *count, message, advice, "");
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

#[cfg(test)]
mod tests {
    use super::WorstSecond;

    #[test]
    fn every_second_with_a_loss_is_told() {
        let mut seconds = WorstSecond::default();
        for (time, lost, seen) in
            [(500_000_000, 0, 4), (1_200_000_000, 3, 0), (1_900_000_000, 1, 12), (2_000_000_000, 0, 9), (3_100_000_000, 7, 1)]
        {
            seconds.add(Some(time), lost, seen);
        }
        seconds.add(None, 5, 0);
        assert_eq!(seconds.worst(), (7, 8, vec![(1, 4, 12), (3, 7, 1)]));
        assert_eq!(WorstSecond::default().worst(), (0, 1, Vec::new()));
    }
}
