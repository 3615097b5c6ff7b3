//! Records, oldest first -> rows.

use std::sync::Arc;

use linux_perf_data::Feature;
use linux_perf_data::linux_perf_event_reader::constants::*;
use rustc_hash::FxHashMap;

use super::attr::Attr;
use super::batch::{Batch, StackCounts};
use super::bytes::{Bytes, Order, words};
use super::cmdline::PerfCommand;
use super::container::Container;
use super::events::{self, EventInfo};
use super::features::{self, BuildIds};
use super::forest::{self, Forest};
use super::groups::Groups;
use super::losses::Counts;
use super::order::Record;
use super::payload::{self, Payloads};
use super::records::{self, Records};
use super::sample::{self, Sample};
use super::sched::Sched;
use super::scheduler;
use super::stacks::{Kernel, Root};
use super::tasks::{Process, Tasks};
use super::tracing::{Formats, SchedEvent};
use super::unwind::Arch;
use crate::ingest::command::base_name;
use crate::ingest::{Input, Recorder};
use crate::tables;

/// Everything that is known while the records go by.
pub struct Import<'a, 'r> {
    pub(super) input: &'a Input<'a>,
    pub(super) order: Order,
    pub(super) attrs: Vec<Attr>,
    /// Events by the ids of their counters.
    by_id: FxHashMap<u64, usize>,
    pub(super) recorder: &'r mut Recorder,
    pub(super) events: Vec<EventInfo>,
    pub(super) tasks: Tasks,
    pub(super) kernel: Arc<Kernel>,
    /// Changes with the kernel's maps.
    pub(super) kernel_no: u32,
    pub(super) build_ids: BuildIds,
    /// Stacks that are asked for.
    pub(super) batch: Batch<'a>,
    roots: u32,
    /// Stands for the process of samples without one.
    nobody: Process,
    pub(super) counts: Counts,
    pub(super) system_wide: Option<bool>,
    /// Where switches are recorded.
    pub(super) sched: Option<Sched>,
    /// Other tracepoints that have tables of their own.
    pub(super) payloads: Payloads,
    pub(super) groups: Groups,
    /// sched_waking is recorded: its waker is right where sched_wakeup's may be an interrupt on another CPU.
    pub(super) prefer_waking: bool,
    /// Scheduler events of other tasks than the program were filtered out.
    pub(super) filtered: bool,
}

/// A record's time as it goes into the tables.
pub(super) fn time_of(record: &Record<'_>) -> Option<i64> {
    record.time.and_then(|time| i64::try_from(time).ok())
}

pub(super) fn cpu_of(sample: &Sample<'_>) -> Option<i32> {
    sample.cpu.and_then(|cpu| i32::try_from(cpu).ok())
}

/// The events of the file; those that may sample get their rows.
pub(super) fn events(container: &Container<'_>, recorder: &mut Recorder) -> Vec<EventInfo> {
    let formats = Formats::read(container);
    let mut events = Vec::with_capacity(container.attrs.len());
    for attr in &container.attrs {
        let (event, mut info) = events::describe(attr, &formats);
        if !events::is_dummy(attr) {
            info.event_id = Some(recorder.push_event(&event));
        }
        events.push(info);
    }
    payload::settle(&mut events);
    events
}

impl<'a, 'r> Import<'a, 'r> {
    pub fn new(
        input: &'a Input<'a>,
        container: &Container<'_>,
        command: &PerfCommand,
        events: Vec<EventInfo>,
        batch: Batch<'a>,
        recorder: &'r mut Recorder,
    ) -> Self {
        let system_wide = id_index_says(container).or((!command.is_blank()).then_some(command.system_wide));
        let build_ids = features::build_ids(container);
        features::host_facts(container, &build_ids, recorder);
        // Of two events with one id the first counts.
        let ids = container.attrs.iter().enumerate().rev().flat_map(|(index, attr)| attr.ids.iter().map(move |id| (*id, index)));
        Import {
            input,
            order: container.order,
            attrs: container.attrs.clone(),
            by_id: ids.collect(),
            recorder,
            tasks: Tasks::new(command.argv.first().map(|word| base_name(word))),
            filtered: command.filtered && !command.argv.is_empty(),
            kernel: Arc::default(),
            kernel_no: 0,
            build_ids,
            batch,
            roots: 0,
            nobody: Process::default(),
            counts: Counts::default(),
            system_wide,
            sched: scheduler::sched_of(container, &events, system_wide),
            payloads: Payloads::new(container, &events),
            groups: Groups::new(&container.attrs),
            prefer_waking: events.iter().any(|event| matches!(event.sched.as_deref(), Some(SchedEvent::Waking(_)))),
            events,
        }
    }

    pub fn record(&mut self, record: &Record<'_>) {
        if let Some(time) = time_of(record) {
            self.counts.first_time.get_or_insert(time);
            self.counts.last_time = self.counts.last_time.max(Some(time));
            if let Some(sched) = &mut self.sched {
                sched.tick(time);
            }
        }
        let done = match record.kind {
            records::SAMPLE => self.sample(record),
            records::MMAP | records::MMAP2 => self.mmap(record),
            records::COMM => self.comm(record),
            records::FORK => self.fork(record),
            records::EXIT => self.exit(record),
            records::LOST => self.lost(record),
            records::LOST_SAMPLES => self.lost_samples(record),
            records::KSYMBOL => self.ksymbol(record),
            records::SWITCH | records::SWITCH_CPU_WIDE => self.switch_record(record),
            records::THROTTLE | records::UNTHROTTLE => self.throttle(record),
            _ => Some(()),
        };
        if done.is_none() {
            self.counts.bad += 1;
            self.counts.first_bad.get_or_insert(record.no);
        }
    }

    /// The record's own fields, without the trailer of its event's id and time.
    pub(super) fn body<'b>(&self, record: &Record<'b>) -> Bytes<'b> {
        let trailer = self.attrs.get(record.attr.unwrap_or(0)).map_or(0, Attr::trailer_bytes);
        let own = record.body.len().checked_sub(trailer).and_then(|len| record.body.get(..len));
        Bytes::new(own.unwrap_or(record.body), self.order)
    }

    fn comm(&mut self, record: &Record<'_>) -> Option<()> {
        let mut body = self.body(record);
        let ids = (body.i32()?, body.i32()?);
        let name = body.c_string();
        // Kernels before 3.16 did not flag execs: there a name that comes during the recording stands for one.
        let flagged = self.attrs.iter().any(|attr| attr.has(ATTR_FLAG_BIT_COMM_EXEC));
        let exec = record.misc & PERF_RECORD_MISC_COMM_EXEC != 0 || !flagged && record.time.is_some() && ids.0 == ids.1;
        let thread = self.tasks.comm(ids, &name, exec, time_of(record), self.recorder);
        let thread = thread.filter(|thread| exec && self.is_tracked(*thread));
        if let (Some(sched), Some(thread), Some(time)) = (&mut self.sched, thread, time_of(record)) {
            sched.exec(thread, time);
        }
        Some(())
    }

    fn fork(&mut self, record: &Record<'_>) -> Option<()> {
        let mut body = self.body(record);
        let (pid, ppid) = (body.i32()?, body.i32()?);
        let (tid, ptid) = (body.i32()?, body.i32()?);
        // perf marks the forks that it makes up; before 4.20 it did not, but gave them no time.
        let copied = record.misc & PERF_RECORD_MISC_FORK_EXEC == 0 && record.time.is_some();
        let thread = self.tasks.fork((pid, tid), (ppid, ptid), copied, time_of(record), self.recorder);
        let thread = thread.filter(|thread| copied && self.is_tracked(*thread));
        if let (Some(sched), Some(thread), Some(time)) = (&mut self.sched, thread, time_of(record)) {
            sched.born(thread, time);
        }
        Some(())
    }

    fn exit(&mut self, record: &Record<'_>) -> Option<()> {
        let mut body = self.body(record);
        let (pid, _ppid, tid) = (body.i32()?, body.i32()?, body.i32()?);
        let thread = self.tasks.thread(pid, tid, self.recorder);
        if let (Some(sched), Some(thread), Some(time)) = (&mut self.sched, thread, time_of(record)) {
            sched.exit(thread, time);
        }
        Some(())
    }

    /// LOST: id first, count second.
    fn lost(&mut self, record: &Record<'_>) -> Option<()> {
        let mut body = self.body(record);
        let (id, lost) = (body.u64()?, body.u64()?);
        let by_id = self.by_id.get(&id).copied();
        let event = self.events.get_mut(by_id.or(record.attr).unwrap_or(0))?;
        event.lost.ring = event.lost.ring.saturating_add(lost);
        self.counts.worst_second.add(time_of(record), lost, 0);
        Some(())
    }

    fn lost_samples(&mut self, record: &Record<'_>) -> Option<()> {
        let lost = self.body(record).u64()?;
        let event = self.events.get_mut(record.attr.unwrap_or(0))?;
        event.lost.samples = event.lost.samples.saturating_add(lost);
        Some(())
    }

    fn sample(&mut self, record: &Record<'_>) -> Option<()> {
        let Some(index) = record.attr else {
            self.counts.unknown_event += 1;
            return Some(());
        };
        let sample = sample::decode(self.attrs.get(index)?, record.body, self.order)?;
        self.counts.worst_second.add(time_of(record), 0, 1);
        let (pid, tid) = sample.ids.unwrap_or((-1, -1));
        self.counts.swapper |= pid == 0 && tid == 0;
        let thread = self.tasks.thread(pid, tid, self.recorder);
        let event_id = self.event_id(index)?;
        let event = self.events.get(index)?;
        let weight = sample.period.map_or(event.default_weight, |period| i64::try_from(period).unwrap_or(i64::MAX));
        let is_kept = !event.is_apart || self.input.options.keep_tracepoints;
        let is_switch = matches!(event.sched.as_deref(), Some(SchedEvent::Switch(_)));
        if !is_switch {
            self.sign_of_life(thread, cpu_of(&sample), time_of(record));
        }
        let sampled = thread.or_else(|| self.tasks.gone(pid, self.recorder));
        let stack = if is_kept { self.stack(record, index, sampled) } else { None };
        let known = if is_kept { Some(stack) } else { None };
        self.scheduler(record, index, &sample, thread, known)?;
        self.payload(record, index, &sample, thread, known)?;
        if !is_kept {
            let row = self.recorder.tables.events.get_mut(event_id as usize)?;
            row.n += 1;
            row.total_weight = row.total_weight.saturating_add(weight);
            return Some(());
        }
        let time = time_of(record);
        self.counts.untimed_samples += i64::from(time.is_none());
        let row = tables::Sample {
            event_id,
            ts_ns: time.into(),
            thread_id: sampled.into(),
            cpu: cpu_of(&sample).into(),
            stack_id: stack.into(),
            weight,
            record_no: record.no,
        };
        if !self.counters(index, &sample, &row) {
            self.recorder.push_sample(row);
        }
        Some(())
    }

    /// The event's row; perf's dummy gets one only when it does sample.
    pub(super) fn event_id(&mut self, index: usize) -> Option<i32> {
        let info = self.events.get_mut(index)?;
        if info.event_id.is_none() {
            let (event, _) = events::describe(self.attrs.get(index)?, &Formats::default());
            info.event_id = Some(self.recorder.push_event(&event));
        }
        info.event_id
    }

    /// Asks for the sample's stack; what it gets is the number of a slot until [`Import::finish_stacks`].
    pub(super) fn stack(&mut self, record: &Record<'_>, index: usize, thread: Option<i32>) -> Option<i32> {
        self.batch.hand_over_if_full();
        let root = self.root(thread);
        Some(self.batch.push(record, index, root, thread))
    }

    /// The maps of the thread's process at this moment.
    fn root(&mut self, thread: Option<i32>) -> u32 {
        let process = thread.and_then(|thread| self.tasks.process_of(thread));
        let process = process.and_then(|process| self.tasks.state(process)).unwrap_or(&mut self.nobody);
        if let Some(root) = self.batch.root(process.root, self.kernel_no) {
            return root;
        }
        let no = Batch::number_of(process.root, self.kernel_no).unwrap_or_else(|| {
            self.roots = self.roots.wrapping_add(1);
            self.roots
        });
        let unwinder = self.batch.arch().map(|_| process.unwinding.unwinder(self.input.library));
        let (maps, kernel) = (process.maps.clone(), self.kernel.clone());
        let at = self.batch.add_root(Root { no, maps, kernel_no: self.kernel_no, kernel, unwinder });
        process.root = Some(at);
        at.index
    }

    /// Puts the stacks into the tables, in place of their slots.
    pub(super) fn finish_stacks(&mut self, (forest, nodes, counts): (Forest, Vec<u32>, StackCounts)) {
        self.counts.stacks = counts;
        let parent = |parent: u32| (parent != forest::NONE).then_some(parent as i32);
        let guest = forest.frames.iter().any(forest::Frame::is_guest).then(|| self.recorder.intern_dso("[guest]", None, "none"));
        let frames = forest.frames.iter().map(|frame| frame.at(guest));
        let ids = self.recorder.adopt_stacks(frames, forest.nodes().map(|(node, frame)| (parent(node), frame as i32)));
        let id = |node: u32| match &ids {
            Some(ids) => ids.get(node as usize).copied(),
            None => (node != forest::NONE).then_some(node as i32),
        };
        self.recorder.tables.map_stacks(|slot| id(*nodes.get(slot? as usize)?));
    }
}

/// The machine whose stacks were dumped, if stacks were dumped.
pub(super) fn dump_arch(container: &Container<'_>) -> Option<Arch> {
    let dumps = |attr: &Attr| attr.samples(PERF_SAMPLE_STACK_USER) && attr.samples(PERF_SAMPLE_REGS_USER);
    if !container.attrs.iter().any(dumps) {
        return None;
    }
    match container.string(Feature::ARCH).as_deref() {
        Some("aarch64" | "arm64") => Some(Arch::Aarch64),
        // A file that was cut has no ARCH; x86-64 dumps its segment registers apart from 32 and 33 others of arm64.
        Some("x86_64") => Some(Arch::X86_64),
        Some(_) => None,
        None => container.attrs.iter().find(|attr| dumps(attr)).map(|attr| match attr.regs_user >> 32 {
            0 => Arch::X86_64,
            _ => Arch::Aarch64,
        }),
    }
}

/// Whether the whole system was recorded: ID_INDEX names the thread that each event was opened on, -1 for all.
fn id_index_says(container: &Container<'_>) -> Option<bool> {
    let index = Records::new(container.data, container.order)
        .take_while(|record| record.kind != records::SAMPLE)
        .find(|record| record.kind == records::ID_INDEX)?;
    let mut body = Bytes::new(index.body, container.order);
    let count = body.u64()?;
    // Per entry: id, index, cpu, tid.
    let entries = body.items(count, 32)?;
    let tids: Vec<u64> = words(entries, container.order).skip(3).step_by(4).collect();
    (!tids.is_empty()).then(|| tids.iter().all(|tid| *tid as u32 == u32::MAX))
}
