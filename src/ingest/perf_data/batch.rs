//! The stacks of many samples at once, on all threads.
//!
//! Records are taken one after the other, since each changes what the next one means; but a stack only needs the maps
//! of its process at that moment. So a sample's stack is asked for by a [`Job`] that remembers them ([`Root`]), the jobs
//! of some ten thousand samples are done in parallel, each worker with stacks of its own, and the workers' stacks are
//! joined at the end. Which worker did what changes numbers only, and those are made canonical later.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::attr::Attr;
use super::bytes::Order;
use super::events::EventInfo;
use super::forest::{Forest, Interner, NONE};
use super::order::Record;
use super::sample;
use super::stacks::{self, Place, Root};
use super::unwind::{Arch, Ends, UnwindCache, user_regs};

/// A stack that is asked for.
#[derive(Debug, Clone, Copy)]
struct Job {
    /// Where the record's body is, in the file or (compressed records) in the arena.
    start: usize,
    len: usize,
    in_file: bool,
    misc: u16,
    attr: u32,
    root: u32,
    thread: u32,
}

/// The jobs that wait, and the stacks that are done.
pub struct Batch<'a> {
    file: &'a [u8],
    order: Order,
    /// User stacks are unwound, for this machine.
    pub arch: Option<Arch>,
    jobs: Vec<Job>,
    bytes: usize,
    arena: Vec<u8>,
    /// The maps that waiting jobs need.
    roots: Vec<Root>,
    number: u32,
    slots: Vec<Slot>,
    workers: Mutex<Workers>,
}

/// The stack of a job that is done: whose, and which.
#[derive(Debug, Clone, Copy)]
struct Slot {
    worker: u32,
    node: u32,
}

/// Those that nobody uses at the moment, and how many there are.
#[derive(Default)]
struct Workers {
    idle: Vec<Worker>,
    made: u32,
}

/// Stacks of one thread of execution at a time.
struct Worker {
    number: u32,
    interner: Interner,
    places: Vec<Place>,
    unwound: Vec<u64>,
    cache: Option<UnwindCache>,
    counts: StackCounts,
}

/// What was noticed on the way.
#[derive(Debug, Default, Clone, Copy)]
pub struct StackCounts {
    /// Stacks as deep as the kernel records.
    pub deep: i64,
    pub ends: Ends,
}

/// Where a process's maps are in the batch.
#[derive(Debug, Clone, Copy)]
pub struct RootAt {
    no: u32,
    kernel_no: u32,
    batch: u32,
    pub index: u32,
}

const JOBS: usize = 1 << 16;
/// Records of this size in all are touched before their stacks are made: 16 KiB of stack each, or a page of addresses.
const BYTES: usize = 64 << 20;
/// Jobs that one worker does at a time, at most.
const CHUNK: usize = 2048;

impl<'a> Batch<'a> {
    pub fn new(file: &'a [u8], order: Order, arch: Option<Arch>) -> Batch<'a> {
        Batch {
            file,
            order,
            arch,
            jobs: Vec::new(),
            bytes: 0,
            arena: Vec::new(),
            roots: Vec::new(),
            number: 0,
            slots: Vec::new(),
            workers: Mutex::default(),
        }
    }

    /// Whether the jobs that wait should be done now.
    pub fn is_full(&self) -> bool {
        self.jobs.len() >= JOBS || self.bytes >= BYTES
    }

    /// The maps that `known` stands for, if they are those of now and part of this batch.
    pub fn root(&self, known: Option<RootAt>, kernel_no: u32) -> Option<u32> {
        known.filter(|at| at.batch == self.number && at.kernel_no == kernel_no).map(|at| at.index)
    }

    /// The number by which workers remember these maps, if they had one before.
    pub fn number_of(known: Option<RootAt>, kernel_no: u32) -> Option<u32> {
        known.filter(|at| at.kernel_no == kernel_no).map(|at| at.no)
    }

    pub fn add_root(&mut self, root: Root) -> RootAt {
        let at = RootAt { no: root.no, kernel_no: root.kernel_no, batch: self.number, index: self.roots.len() as u32 };
        self.roots.push(root);
        at
    }

    /// Asks for the stack of a sample. Gives its slot.
    pub fn push(&mut self, record: &Record<'_>, attr: usize, root: u32, thread: Option<i32>) -> i32 {
        let (start, in_file) = match record.body_at {
            Some(at) => (at, true),
            None => {
                let at = self.arena.len();
                self.arena.extend_from_slice(record.body);
                (at, false)
            }
        };
        let len = record.body.len();
        self.bytes = self.bytes.saturating_add(len);
        let slot = self.slots.len() + self.jobs.len();
        let thread = thread.map_or(u32::MAX, |thread| thread as u32);
        self.jobs.push(Job { start, len, in_file, misc: record.misc, attr: attr as u32, root, thread });
        slot as i32
    }

    /// Makes the stacks that wait.
    pub fn run(&mut self, attrs: &[Attr], events: &[EventInfo]) {
        let chunk = (self.jobs.len() / (rayon::current_num_threads() * 8)).clamp(64, CHUNK);
        let this = &*self;
        let done: Vec<Vec<Slot>> = this.jobs.par_chunks(chunk).map(|jobs| this.chunk(jobs, attrs, events)).collect();
        done.iter().for_each(|slots| self.slots.extend_from_slice(slots));
        self.jobs.clear();
        self.arena.clear();
        self.roots.clear();
        self.bytes = 0;
        self.number = self.number.wrapping_add(1);
    }

    fn chunk(&self, jobs: &[Job], attrs: &[Attr], events: &[EventInfo]) -> Vec<Slot> {
        let mut worker = self.take_worker();
        let slots = jobs.iter().map(|job| Slot { worker: worker.number, node: self.stack(&mut worker, job, attrs, events) });
        let slots = slots.collect();
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).idle.push(worker);
        slots
    }

    fn take_worker(&self) -> Worker {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(worker) = workers.idle.pop() {
            return worker;
        }
        let number = workers.made;
        workers.made += 1;
        Worker {
            number,
            interner: Interner::default(),
            places: Vec::new(),
            unwound: Vec::new(),
            cache: None,
            counts: StackCounts::default(),
        }
    }

    fn stack(&self, worker: &mut Worker, job: &Job, attrs: &[Attr], events: &[EventInfo]) -> u32 {
        let store = if job.in_file { self.file } else { &self.arena };
        let body = job.start.checked_add(job.len).and_then(|end| store.get(job.start..end)).unwrap_or(&[]);
        let (Some(attr), Some(root)) = (attrs.get(job.attr as usize), self.roots.get(job.root as usize)) else { return NONE };
        let Some(sample) = sample::decode(attr, body, self.order) else { return NONE };
        stacks::chain(&sample, job.misc, self.order, &mut worker.places);
        let deep = events.get(job.attr as usize).is_some_and(|event| worker.places.len() >= event.max_stack);
        worker.counts.deep += i64::from(deep);
        if let (Some(arch), Some(unwinder)) = (self.arch, &root.unwinder)
            && !sample.stack.is_empty()
        {
            match user_regs(arch, attr, &sample, self.order) {
                Some(regs) => {
                    worker.unwound.clear();
                    let cache = worker.cache.get_or_insert_with(|| UnwindCache::new(arch));
                    worker.counts.ends.count(unwinder.unwind(cache, &regs, sample.stack, &mut worker.unwound));
                    stacks::join_unwound(&mut worker.places, &worker.unwound);
                }
                None => worker.counts.ends.foreign += 1,
            }
        }
        worker.interner.intern(&worker.places, root, job.thread)
    }

    /// All stacks in one forest, the node of each slot, and the sums of what was noticed.
    pub fn finish(self) -> (Forest, Vec<u32>, StackCounts) {
        let mut workers = self.workers.into_inner().unwrap_or_else(PoisonError::into_inner).idle;
        workers.sort_by_key(|worker| worker.number);
        let mut counts = StackCounts::default();
        for worker in &workers {
            counts.deep += worker.counts.deep;
            counts.ends.add(worker.counts.ends);
        }
        let mut forests = workers.into_iter().map(|worker| worker.interner.forest);
        let mut forest = forests.next().unwrap_or_default();
        let ids: Vec<Vec<u32>> = forests.map(|other| forest.absorb(&other)).collect();
        let node = |slot: &Slot| match slot.worker.checked_sub(1) {
            None => slot.node,
            Some(other) => ids.get(other as usize).and_then(|ids| ids.get(slot.node as usize)).copied().unwrap_or(NONE),
        };
        let nodes = self.slots.iter().map(node).collect();
        forest.forget();
        (forest, nodes, counts)
    }
}
