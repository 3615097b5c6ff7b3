//! The stacks of many samples, on all threads.
//!
//! Records are taken one after the other, since each changes what the next one means; but a stack only needs the maps
//! of its process at that moment. So a sample's stack is asked for by a [`Job`] that remembers them ([`Root`]); jobs are
//! handed over by the thousand to [`Makers`], which run beside the thread that takes the records, each with stacks of
//! its own; at the end that thread helps them. The makers' stacks are joined then. Which maker did what changes numbers
//! only, and those are made canonical later.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::attr::Attr;
use super::bytes::Order;
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

/// Jobs that are handed over together, and what they need.
#[derive(Default)]
pub struct Jobs {
    number: u32,
    list: Vec<Job>,
    bytes: usize,
    arena: Vec<u8>,
    roots: Vec<Root>,
}

/// Where a process's maps are in the jobs that wait.
#[derive(Debug, Clone, Copy)]
pub struct RootAt {
    no: u32,
    kernel_no: u32,
    batch: u32,
    pub index: u32,
}

/// Where stacks are asked for.
pub struct Batch<'m> {
    makers: &'m Makers<'m>,
    /// `None` once all is handed over.
    sender: Option<Sender<Jobs>>,
    jobs: Jobs,
    jobs_max: usize,
    slots: usize,
}

/// Jobs in one hand-over.
const JOBS: usize = 4096;
/// And records of this size in all: 16 KiB of stack each, or some hundred bytes of addresses.
const BYTES: usize = 4 << 20;
/// Hand-overs that may wait; then the thread that takes the records makes stacks itself. Chains of addresses in the file
/// take little to remember and little to make: it is better to take all records first, and to have most stacks made in one
/// place, than to join the stacks of two.
const WAITING: usize = 128;
/// The same for dumps, which take long to unwind, and for records or many maps that must be kept until then.
const WAITING_LARGE: usize = 8;
/// Maps of more processes than this, or at more moments, are many.
const ROOTS: usize = 64;

impl<'m> Batch<'m> {
    /// `jobs_max`: see [`crate::ingest::ImportOptions::stacks_at_once`].
    pub fn new(makers: &'m Makers<'m>, jobs_max: Option<usize>) -> (Batch<'m>, Receiver<Jobs>) {
        let (sender, receiver) = channel();
        (Batch { makers, sender: Some(sender), jobs: Jobs::default(), jobs_max: jobs_max.unwrap_or(JOBS), slots: 0 }, receiver)
    }

    /// The machine that stacks are unwound for.
    pub fn arch(&self) -> Option<Arch> {
        self.makers.arch
    }

    /// Hands over what waits, if that is enough.
    pub fn hand_over_if_full(&mut self) {
        if self.jobs.list.len() >= self.jobs_max || self.jobs.bytes >= BYTES {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let next = Jobs { number: self.jobs.number.wrapping_add(1), ..Jobs::default() };
        let full = std::mem::replace(&mut self.jobs, next);
        let is_large = self.makers.arch.is_some() || !full.arena.is_empty() || full.roots.len() > ROOTS;
        let limit = if is_large { WAITING_LARGE } else { WAITING };
        let Some(sender) = self.sender.as_ref().filter(|_| self.makers.waiting.load(Ordering::Relaxed) < limit) else {
            return self.makers.make(&full);
        };
        // Counted first: the maker may have taken it before the call returns.
        self.makers.waiting.fetch_add(1, Ordering::Relaxed);
        if let Err(SendError(jobs)) = sender.send(full) {
            self.makers.make(&jobs);
        }
    }

    /// Hands over the last: nothing may be asked for any more.
    pub fn close(&mut self) {
        self.hand_over();
        self.sender = None;
    }

    /// The maps that `known` stands for, if they are those of now and among the jobs that wait.
    pub fn root(&self, known: Option<RootAt>, kernel_no: u32) -> Option<u32> {
        known.filter(|at| at.batch == self.jobs.number && at.kernel_no == kernel_no).map(|at| at.index)
    }

    /// The number by which the makers remember these maps, if they had one before.
    pub fn number_of(known: Option<RootAt>, kernel_no: u32) -> Option<u32> {
        known.filter(|at| at.kernel_no == kernel_no).map(|at| at.no)
    }

    pub fn add_root(&mut self, root: Root) -> RootAt {
        let index = self.jobs.roots.len() as u32;
        let at = RootAt { no: root.no, kernel_no: root.kernel_no, batch: self.jobs.number, index };
        self.jobs.roots.push(root);
        at
    }

    /// Asks for the stack of a sample. Gives its slot.
    pub fn push(&mut self, record: &Record<'_>, attr: usize, root: u32, thread: Option<i32>) -> i32 {
        let (start, in_file) = match record.body_at {
            Some(at) => (at, true),
            None => {
                let at = self.jobs.arena.len();
                self.jobs.arena.extend_from_slice(record.body);
                (at, false)
            }
        };
        let len = record.body.len();
        self.jobs.bytes = self.jobs.bytes.saturating_add(len);
        let thread = thread.map_or(u32::MAX, |thread| thread as u32);
        self.jobs.list.push(Job { start, len, in_file, misc: record.misc, attr: attr as u32, root, thread });
        let slot = self.slots;
        self.slots += 1;
        slot as i32
    }
}

/// What makes the stacks.
pub struct Makers<'a> {
    file: &'a [u8],
    order: Order,
    /// User stacks are unwound, for this machine.
    arch: Option<Arch>,
    attrs: Vec<Attr>,
    /// Frames the kernel records at most, per attr.
    max_stacks: Vec<usize>,
    state: Mutex<State>,
    /// Hand-overs that nobody has taken yet.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// Those that nobody uses at the moment.
    idle: Vec<Worker>,
    made: u32,
    /// The stacks of each hand-over, by its number.
    done: Vec<(u32, Vec<Slot>)>,
}

/// The stack of a job that is done: whose, and which.
#[derive(Debug, Clone, Copy)]
struct Slot {
    worker: u32,
    node: u32,
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
    pub made: i64,
    /// Those of them that are as deep as the kernel records.
    pub deep: i64,
    pub ends: Ends,
}

impl<'a> Makers<'a> {
    pub fn new(file: &'a [u8], order: Order, arch: Option<Arch>, attrs: &[Attr], max_stacks: Vec<usize>) -> Makers<'a> {
        Makers { file, order, arch, attrs: attrs.to_vec(), max_stacks, state: Mutex::default(), waiting: AtomicUsize::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes stacks until nobody hands over any more. The lock is held while waiting, so only one may call this before that
    /// is so.
    pub fn serve(&self, receiver: &Mutex<Receiver<Jobs>>) {
        let next = || receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        while let Ok(jobs) = next() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.make(&jobs);
        }
    }

    fn make(&self, jobs: &Jobs) {
        // Where there are more than two threads, this is how the others help.
        let chunk = jobs.list.len().div_ceil(rayon::current_num_threads().saturating_sub(1).max(1)).max(64);
        let done: Vec<Vec<Slot>> = jobs.list.par_chunks(chunk).map(|list| self.chunk(list, jobs)).collect();
        self.state().done.push((jobs.number, done.concat()));
    }

    fn chunk(&self, list: &[Job], jobs: &Jobs) -> Vec<Slot> {
        let mut worker = self.take_worker();
        let slots = list.iter().map(|job| Slot { worker: worker.number, node: self.stack(&mut worker, job, jobs) });
        let slots = slots.collect();
        self.state().idle.push(worker);
        slots
    }

    fn take_worker(&self) -> Worker {
        let mut state = self.state();
        if let Some(worker) = state.idle.pop() {
            return worker;
        }
        let number = state.made;
        state.made += 1;
        Worker {
            number,
            interner: Interner::default(),
            places: Vec::new(),
            unwound: Vec::new(),
            cache: None,
            counts: StackCounts::default(),
        }
    }

    fn stack(&self, worker: &mut Worker, job: &Job, jobs: &Jobs) -> u32 {
        let store = if job.in_file { self.file } else { &jobs.arena };
        let body = job.start.checked_add(job.len).and_then(|end| store.get(job.start..end)).unwrap_or(&[]);
        let (Some(attr), Some(root)) = (self.attrs.get(job.attr as usize), jobs.roots.get(job.root as usize)) else { return NONE };
        let Some(sample) = sample::decode(attr, body, self.order) else { return NONE };
        stacks::chain(&sample, job.misc, self.order, &mut worker.places);
        let deep = self.max_stacks.get(job.attr as usize).is_some_and(|max| worker.places.len() >= *max);
        worker.counts.made += 1;
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
    pub fn finish(&self) -> (Forest, Vec<u32>, StackCounts) {
        let State { idle: mut workers, mut done, .. } = std::mem::take(&mut *self.state());
        workers.sort_by_key(|worker| worker.number);
        done.sort_by_key(|(number, _)| *number);
        let mut counts = StackCounts::default();
        for worker in &workers {
            counts.made += worker.counts.made;
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
        let nodes = done.iter().flat_map(|(_, slots)| slots).map(node).collect();
        forest.forget();
        (forest, nodes, counts)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::ingest::{ImportOptions, Inputs, Recorder, read_all};
    use crate::objects::{Library, Roots};

    fn read(path: &Path, stacks_at_once: Option<usize>) -> Recorder {
        let inputs = Inputs::find(&[path.to_owned()]).unwrap();
        let library = Library::open(&Roots::default());
        read_all(&inputs, &library, &ImportOptions { stacks_at_once, ..ImportOptions::default() }).remove(0)
    }

    /// Every stack of samples and waits in full, without ids.
    fn stacks(recorder: &Recorder) -> Vec<Vec<(String, Option<i64>)>> {
        let tables = &recorder.tables;
        let asked = tables.samples.iter().map(|row| row.stack_id.get());
        let asked = asked.chain(tables.waits.iter().flat_map(|row| [row.stack_id.get(), row.waker_stack_id.get()]));
        let whole = |stack: Option<i32>| {
            std::iter::successors(stack, |id| tables.stacks.parent(*id)).map(|id| {
                let frame = &tables.frames[tables.stacks.frame(id).unwrap() as usize];
                (frame.dso_id.map_or_else(String::new, |dso| tables.dsos[dso as usize].path.to_string()), frame.rel)
            })
        };
        asked.map(|stack| whole(stack).collect()).collect()
    }

    #[test]
    fn stacks_do_not_depend_on_how_many_are_made_at_once() {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/scenarios");
        for file in ["system-wide/cpu.perf.data.zst", "s2-lock-convoy/sched.perf.data.zst", "s1-unbuffered-writes/cpu-dwarf.perf.data.zst"]
        {
            let path = scenarios.join(file);
            let expected = stacks(&read(&path, None));
            assert!(expected.iter().filter(|stack| stack.len() > 3).count() > 300, "{file} has stacks");
            for at_once in [1, 97] {
                assert!(stacks(&read(&path, Some(at_once))) == expected, "{file}: {at_once} at once");
            }
        }
    }
}
