//! Scheduler records -> `sched`: whose they are, and the stacks that go with them.

use linux_perf_data::linux_perf_event_reader::constants::*;

use super::bytes::Bytes;
use super::container::Container;
use super::events::EventInfo;
use super::import::{Import, cpu_of, time_of};
use super::order::Record;
use super::sample::Sample;
use super::sched::{Sched, Sight, Switched};
use super::tasks::IDLE;
use super::tracing::SchedEvent;
use super::waits::Wake;

impl Import<'_, '_> {
    /// Threads whose time is accounted: none that stand for an idle CPU, and in a recording of one program no strangers.
    pub(super) fn is_tracked(&self, thread: i32) -> bool {
        match self.system_wide {
            Some(false) => self.tasks.is_recorded(thread),
            _ if self.filtered => self.tasks.is_program(thread),
            _ => self.tasks.tid_of(thread) != Some(IDLE),
        }
    }

    pub(super) fn sign_of_life(&mut self, thread: Option<i32>, cpu: Option<i32>, time: Option<i64>) {
        let thread = thread.filter(|thread| self.is_tracked(*thread));
        if let (Some(sched), Some(thread), Some(time)) = (&mut self.sched, thread, time) {
            sched.sign_of_life(thread, cpu, time);
        }
    }

    /// A scheduler tracepoint. `stack` is made only where it is needed, unless the sample is kept and has it already.
    pub(super) fn scheduler(
        &mut self,
        record: &Record<'_>,
        index: usize,
        sample: &Sample<'_>,
        thread: Option<i32>,
        stack: Option<Option<i32>>,
    ) -> Option<()> {
        let (Some(event), Some(time)) = (self.events.get(index)?.sched.clone(), time_of(record)) else { return Some(()) };
        match &*event {
            SchedEvent::Switch(fields) => {
                let switch = fields.read(sample.raw, self.order)?;
                let known = |tid: i32| self.tasks.known_thread(tid).filter(|thread| self.is_tracked(*thread));
                let (prev, next) = (known(switch.prev_tid), known(switch.next_tid));
                let stack = match (prev, stack) {
                    (None, _) => None,
                    (Some(_), Some(stack)) => stack,
                    (Some(_), None) => self.stack(record, index, thread),
                };
                let to_idle = switch.next_tid == IDLE;
                let switched = Switched { prev, next, state: switch.state, cpu: cpu_of(sample), to_idle };
                self.sched.as_mut()?.switch(&switched, time, stack, record.no);
            }
            SchedEvent::Wakeup(_) if self.prefer_waking => {}
            SchedEvent::Wakeup(tid) | SchedEvent::Waking(tid) => {
                let tid = tid.tid(sample.raw, self.order)?;
                let woken = self.tasks.known_thread(tid).filter(|thread| self.is_tracked(*thread));
                let Some(woken) = woken.filter(|woken| self.sched.as_ref().is_some_and(|sched| sched.is_waiting(*woken))) else {
                    return Some(());
                };
                let stack = stack.unwrap_or_else(|| self.stack(record, index, thread));
                self.sched.as_mut()?.wakeup(woken, time, Wake { ts: time, thread, stack }, record.no);
            }
        }
        Some(())
    }

    /// SWITCH and SWITCH_CPU_WIDE: the thread of the trailer gets or leaves a CPU.
    pub(super) fn switch_record(&mut self, record: &Record<'_>) -> Option<()> {
        let attr = self.attrs.get(record.attr.unwrap_or(0))?;
        let trailer = record.body.len().checked_sub(attr.trailer_bytes())?;
        if !attr.samples(PERF_SAMPLE_TID) || attr.trailer_bytes() == 0 {
            return Some(());
        }
        let mut ids = Bytes::at(record.body, trailer, self.order);
        let (pid, tid) = (ids.i32()?, ids.i32()?);
        let thread = self.tasks.thread(pid, tid, self.recorder);
        let thread = thread.filter(|thread| self.is_tracked(*thread));
        if let (Some(sched), Some(thread), Some(time)) = (&mut self.sched, thread, time_of(record)) {
            if record.misc & PERF_RECORD_MISC_SWITCH_OUT == 0 {
                sched.switch_in_record(thread, time, record.no);
            } else {
                sched.switch_out_record(thread, time, record.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT != 0, record.no);
            }
        }
        Some(())
    }
}

/// Whether switches are recorded, and how much of them.
pub(super) fn sched_of(container: &Container<'_>, events: &[EventInfo], system_wide: Option<bool>) -> Option<Sched> {
    let has_records = container.attrs.iter().any(|attr| attr.has(ATTR_FLAG_BIT_CONTEXT_SWITCH));
    let has_switches = events.iter().any(|event| event.sched.as_deref().is_some_and(|event| matches!(event, SchedEvent::Switch(_))));
    let sight = if has_records || system_wide != Some(false) { Sight::Both } else { Sight::Leaving };
    (has_records || has_switches).then(|| Sched::new(sight))
}
