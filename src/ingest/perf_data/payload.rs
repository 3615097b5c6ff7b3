//! Tracepoints whose payload is understood, besides the scheduler's: system calls, block requests, kernel locks,
//! interrupts and exceptions. Each kind goes to its own table; what pairs with what is said there.
//!
//! ```text
//! raw_syscalls:sys_enter, sys_exit; syscalls:sys_enter_*, sys_exit_*   syscalls      syscall_events, syscalls
//! block:block_rq_insert, _issue, _requeue, _complete                   block         block_requests
//! lock:contention_begin, contention_end                                locks         lock_contentions
//! irq:irq_handler_*, softirq_entry, softirq_exit; exceptions:*         interrupts    interrupts, and samples
//! ```
//!
//! Every other tracepoint stays in `samples`: it counts, with its stack, and its payload is passed over.

use std::sync::Arc;

use super::container::Container;
use super::events::EventInfo;
use super::import::{Import, cpu_of, time_of};
use super::order::Record;
use super::sample::Sample;
use super::tracing::Format;
use super::{block, call_names, interrupts, locks, syscalls};
use crate::ingest::Recorder;

/// A tracepoint that is understood, and where its fields lie.
#[derive(Debug)]
pub enum Payload {
    CallBegin(syscalls::Enter),
    CallEnd(syscalls::Exit),
    BlockInsert(block::Fields),
    BlockIssue(block::Fields),
    BlockRequeue(block::Fields),
    BlockComplete(block::Fields),
    LockBegin(locks::Fields),
    LockEnd(locks::Fields),
    Interrupt(interrupts::Entry),
    InterruptEnd(interrupts::Exit),
}

impl Payload {
    pub fn of(format: &Format) -> Option<Payload> {
        match format.name.as_str() {
            "block:block_rq_insert" => block::Fields::of(format).map(Payload::BlockInsert),
            "block:block_rq_issue" => block::Fields::of(format).map(Payload::BlockIssue),
            "block:block_rq_requeue" => block::Fields::of(format).map(Payload::BlockRequeue),
            "block:block_rq_complete" => block::Fields::of(format).map(Payload::BlockComplete),
            "lock:contention_begin" => locks::Fields::of(format, "flags").map(Payload::LockBegin),
            "lock:contention_end" => locks::Fields::of(format, "ret").map(Payload::LockEnd),
            name if name.starts_with("irq:") || name.starts_with("exceptions:") => {
                let entry = interrupts::Entry::of(format).map(Payload::Interrupt);
                entry.or_else(|| interrupts::Exit::of(format).map(Payload::InterruptEnd))
            }
            _ => {
                let begin = syscalls::Enter::of(format).map(Payload::CallBegin);
                begin.or_else(|| syscalls::Exit::of(format).map(Payload::CallEnd))
            }
        }
    }

    /// Whether its table says all that `samples` would.
    fn has_own_table(&self) -> bool {
        !matches!(self, Payload::Interrupt(_) | Payload::InterruptEnd(_))
    }
}

/// When, where and by whom.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub ts: i64,
    pub record_no: i64,
    /// As the sample has it; -1 where it has none.
    pub tid: i32,
    pub thread: Option<i32>,
    pub cpu: Option<i32>,
}

/// Decides which events go to their own tables. A begin makes the row, so ends without any begin in the file stay
/// samples; and where raw_syscalls tell of every call, the tracepoints of single calls would tell of some twice.
pub(super) fn settle(events: &mut [EventInfo]) {
    let any = |events: &[EventInfo], test: fn(&Payload) -> bool| events.iter().filter_map(|event| event.payload.as_deref()).any(test);
    let raw = any(events, |payload| matches!(payload, Payload::CallBegin(enter) if enter.is_raw()));
    let calls = any(events, |payload| matches!(payload, Payload::CallBegin(_)));
    let issues = any(events, |payload| matches!(payload, Payload::BlockIssue(_)));
    let contentions = any(events, |payload| matches!(payload, Payload::LockBegin(_)));
    for event in events {
        let is_used = match event.payload.as_deref() {
            Some(Payload::CallBegin(enter)) => enter.is_raw() || !raw,
            Some(Payload::CallEnd(exit)) => calls && exit.is_raw() == raw,
            Some(Payload::BlockInsert(_) | Payload::BlockRequeue(_) | Payload::BlockComplete(_)) => issues,
            Some(Payload::LockEnd(_)) => contentions,
            _ => true,
        };
        if !is_used {
            event.payload = None;
        }
        event.is_apart |= event.payload.as_deref().is_some_and(Payload::has_own_table);
    }
}

/// What has begun and not ended, per kind, and what was counted.
#[derive(Debug, Default)]
pub(super) struct Payloads {
    calls: syscalls::Syscalls,
    blocks: block::Blocks,
    locks: locks::Locks,
    interrupts: interrupts::Interrupts,
}

impl Payloads {
    pub fn new(container: &Container<'_>, events: &[EventInfo]) -> Payloads {
        let any = |test: fn(&Payload) -> bool| events.iter().filter_map(|event| event.payload.as_deref()).any(test);
        let mut payloads = Payloads { calls: syscalls::Syscalls::new(call_names::CallNames::of(container)), ..Payloads::default() };
        payloads.calls.has_ends = any(|payload| matches!(payload, Payload::CallEnd(_)));
        payloads.blocks.has_ends = any(|payload| matches!(payload, Payload::BlockComplete(_)));
        payloads.locks.has_ends = any(|payload| matches!(payload, Payload::LockEnd(_)));
        payloads
    }

    /// Writes the sums, and tells what did not fit together.
    pub fn finish(self, events: &[EventInfo], recorder: &mut Recorder) {
        let single = events.iter().filter_map(|event| match event.payload.as_deref() {
            Some(Payload::CallBegin(enter)) => enter.name(),
            _ => None,
        });
        let mut single: Vec<&str> = single.collect();
        single.sort_unstable();
        if !single.is_empty() {
            recorder.artifact.syscall_filter = Some(single.join(",").into());
        }
        self.calls.finish(recorder);
        self.blocks.finish(recorder);
        self.locks.finish(recorder);
        self.interrupts.finish(recorder);
    }
}

impl Import<'_, '_> {
    /// A tracepoint. `stack` is made only where it is needed, unless the sample is kept and has it already. `None` where
    /// the payload is shorter than its format says.
    pub(super) fn payload(
        &mut self,
        record: &Record<'_>,
        index: usize,
        sample: &Sample<'_>,
        thread: Option<i32>,
        stack: Option<Option<i32>>,
    ) -> Option<()> {
        let Some(payload) = self.events.get(index)?.payload.clone() else { return Some(()) };
        let Some(ts) = time_of(record) else {
            self.counts.untimed_samples += i64::from(stack.is_none());
            return Some(());
        };
        let at = Moment { ts, record_no: record.no, tid: sample.ids.map_or(-1, |(_, tid)| tid), thread, cpu: cpu_of(sample) };
        let (raw, order) = (sample.raw, self.order);
        // A lambda cannot borrow the whole import, so the stack is made where a row begins.
        match &*payload {
            Payload::CallBegin(enter) => {
                let call = enter.read(raw, order)?;
                let stack = stack.unwrap_or_else(|| self.stack(record, index, thread));
                self.payloads.calls.begin(&call, &at, stack, self.recorder);
            }
            Payload::CallEnd(exit) => {
                let (number, returned) = exit.read(raw, order)?;
                self.payloads.calls.end(number, returned, &at, self.recorder);
            }
            Payload::BlockInsert(fields) => {
                let told = fields.read(raw, order)?;
                let stack = stack.unwrap_or_else(|| self.stack(record, index, thread));
                self.payloads.blocks.insert(&told, &at, stack);
            }
            Payload::BlockIssue(fields) => {
                let told = fields.read(raw, order)?;
                let stack = stack.unwrap_or_else(|| self.stack(record, index, thread));
                self.payloads.blocks.issue(&told, &at, stack, self.recorder);
            }
            Payload::BlockRequeue(fields) => self.payloads.blocks.requeue(&fields.read(raw, order)?),
            Payload::BlockComplete(fields) => self.payloads.blocks.complete(&fields.read(raw, order)?, &at, self.recorder),
            Payload::LockBegin(fields) => {
                let lock = fields.read(raw, order)?;
                if self.payloads.locks.begins(lock.0, &at) {
                    let stack = stack.unwrap_or_else(|| self.stack(record, index, thread));
                    self.payloads.locks.begin(fields, lock, &at, stack, self.recorder);
                }
            }
            Payload::LockEnd(fields) => self.payloads.locks.end(fields.read(raw, order)?, &at, self.recorder),
            Payload::Interrupt(entry) => {
                let (number, name) = entry.read(raw, order, self.recorder)?;
                self.payloads.interrupts.enter(entry.kind(), number, name, &at);
            }
            Payload::InterruptEnd(exit) => {
                let number = exit.read(raw, order)?;
                self.payloads.interrupts.exit(exit.kind(), number, &at);
            }
        }
        Some(())
    }
}

/// The payload of an event, for [`EventInfo`].
pub(super) fn of(format: Option<&Format>) -> Option<Arc<Payload>> {
    format.and_then(Payload::of).map(Arc::new)
}
