//! Many recorders -> one set of tables: local ids become global, equal dsos, functions, frames and stacks become one.

use rustc_hash::FxHashMap;

use super::Recorder;
use crate::tables::*;

/// Joins the recorders in the order given. Ids are dense but not yet canonical: `derive::canonical` renumbers them.
pub fn merge(recorders: Vec<Recorder>) -> Tables {
    let mut merger = Merger::default();
    for (artifact_id, recorder) in recorders.into_iter().enumerate() {
        merger.add(artifact_id as i32, recorder);
    }
    merger.out
}

type FrameKey = (Option<i32>, Option<i64>, i32, bool, Option<i32>, Option<i32>, Option<i64>);

#[derive(Default)]
struct Merger {
    out: Tables,
    dsos: FxHashMap<(Text, Option<Text>), i32>,
    functions: FxHashMap<(Text, Option<i32>, Option<Text>), i32>,
    /// These two are filled once a second recorder has frames and stacks.
    frames: FxHashMap<FrameKey, i32>,
    stacks: FxHashMap<(i32, i32), i32>,
}

/// Local id -> global id.
struct Ids(Vec<i32>);

impl Ids {
    fn get(&self, local: i32) -> i32 {
        self.0.get(local as usize).copied().unwrap_or(0)
    }

    fn map(&self, local: Option<i32>) -> Option<i32> {
        local.and_then(|local| self.0.get(local as usize).copied())
    }

    fn map32(&self, local: Maybe32) -> Maybe32 {
        self.map(local.get()).into()
    }
}

/// Moves rows over, each changed by `fix`.
fn append<R>(to: &mut Vec<R>, mut from: Vec<R>, mut fix: impl FnMut(&mut R)) {
    from.iter_mut().for_each(&mut fix);
    if to.is_empty() {
        *to = from;
    } else {
        to.append(&mut from);
    }
}

/// Tables that refer to nothing but their artifact.
fn whole_run(out: &mut Tables, artifact: i32, memory: Vec<MemoryPoint>, counters: Vec<Counter>, benchmarks: Vec<Benchmark>) {
    append(&mut out.memory, memory, |r| r.artifact_id = artifact);
    append(&mut out.counters, counters, |r| r.artifact_id = artifact);
    append(&mut out.benchmarks, benchmarks, |r| r.artifact_id = artifact);
}

/// What kernel-side tools leave as text.
fn kernel_texts(out: &mut Tables, artifact: i32, histograms: Vec<HistogramBucket>, locks: Vec<LockTotal>, accounting: Vec<Accounting>) {
    append(&mut out.histograms, histograms, |r| r.artifact_id = artifact);
    append(&mut out.locks, locks, |r| r.artifact_id = artifact);
    append(&mut out.accounting, accounting, |r| r.artifact_id = artifact);
}

/// What a program says of itself.
fn program_log(out: &mut Tables, artifact: i32, spans: Vec<Span>, verdicts: Vec<StatedVerdict>, points: Vec<ScalingPoint>) {
    append(&mut out.spans, spans, |r| r.artifact_id = artifact);
    append(&mut out.stated_verdicts, verdicts, |r| r.artifact_id = artifact);
    append(&mut out.scaling_points, points, |r| r.artifact_id = artifact);
}

/// Rows about the run and its machine.
fn surroundings(
    out: &mut Tables,
    artifact: i32,
    executions: Vec<Execution>,
    ids: &Ids,
    host: Vec<HostFact>,
    readings: Vec<EnvironmentReading>,
) {
    append(&mut out.executions, executions, |r| {
        r.artifact_id = artifact;
        r.execution_id = ids.get(r.execution_id);
    });
    append(&mut out.host, host, |r| r.artifact_id = artifact);
    append(&mut out.environment, readings, |r| r.artifact_id = artifact);
}

impl Merger {
    fn add(&mut self, artifact: i32, recorder: Recorder) {
        let Recorder { artifact: mut row, tables: local, .. } = recorder;
        row.artifact_id = artifact;
        let dsos = self.dsos(&local.dsos);
        let functions = self.functions(&local.functions, &dsos);
        let frames = self.frames(local.frames, &dsos, &functions);
        let stacks = self.stacks(local.stacks, &frames);
        let offset = |len: usize, count: usize| Ids((0..count).map(|id| (len + id) as i32).collect());
        let processes = offset(self.out.processes.len(), local.processes.len());
        let threads = offset(self.out.threads.len(), local.threads.len());
        let events = offset(self.out.events.len(), local.events.len());
        let executions = offset(self.out.executions.len(), local.executions.len());
        let out = &mut self.out;
        row.execution_id = executions.map(row.execution_id);
        out.artifacts.push(row);
        surroundings(out, artifact, local.executions, &executions, local.host, local.environment);
        append(&mut out.recording_facts, local.recording_facts, |r| r.artifact_id = artifact);
        append(&mut out.losses, local.losses, |r| r.artifact_id = artifact);
        append(&mut out.diagnostics, local.diagnostics, |r| r.artifact_id = r.artifact_id.map(|_| artifact));
        append(&mut out.events, local.events, |r| {
            r.artifact_id = artifact;
            r.event_id = events.get(r.event_id);
        });
        append(&mut out.processes, local.processes, |r| {
            r.artifact_id = artifact;
            r.process_id = processes.get(r.process_id);
            r.parent_process_id = processes.map(r.parent_process_id);
        });
        append(&mut out.threads, local.threads, |r| {
            r.artifact_id = artifact;
            r.thread_id = threads.get(r.thread_id);
            r.process_id = processes.get(r.process_id);
        });
        append(&mut out.thread_names, local.thread_names, |r| r.thread_id = threads.get(r.thread_id));
        append(&mut out.mappings, local.mappings, |r| {
            r.artifact_id = artifact;
            r.process_id = processes.map(r.process_id);
            r.dso_id = dsos.get(r.dso_id);
        });
        append(&mut out.samples, local.samples, |r| {
            r.event_id = events.get(r.event_id);
            r.thread_id = threads.map32(r.thread_id);
            r.stack_id = stacks.map32(r.stack_id);
        });
        append(&mut out.waits, local.waits, |r| {
            r.artifact_id = artifact;
            r.thread_id = threads.map32(r.thread_id);
            r.waker_thread_id = threads.map32(r.waker_thread_id);
            r.stack_id = stacks.map32(r.stack_id);
            r.waker_stack_id = stacks.map32(r.waker_stack_id);
        });
        append(&mut out.thread_states, local.thread_states, |r| {
            r.artifact_id = artifact;
            r.thread_id = threads.get(r.thread_id);
        });
        append(&mut out.syscalls, local.syscalls, |r| {
            r.artifact_id = artifact;
            r.thread_id = threads.map(r.thread_id);
        });
        append(&mut out.syscall_events, local.syscall_events, |r| {
            r.artifact_id = artifact;
            r.thread_id = threads.map(r.thread_id);
            r.stack_id = stacks.map(r.stack_id);
        });
        append(&mut out.block_requests, local.block_requests, |r| {
            r.artifact_id = artifact;
            r.thread_id = threads.map(r.thread_id);
            r.stack_id = stacks.map(r.stack_id);
        });
        append(&mut out.lock_contentions, local.lock_contentions, |r| {
            r.artifact_id = artifact;
            r.thread_id = threads.map(r.thread_id);
            r.stack_id = stacks.map(r.stack_id);
        });
        append(&mut out.interrupts, local.interrupts, |r| r.artifact_id = artifact);
        append(&mut out.allocations, local.allocations, |r| {
            r.artifact_id = artifact;
            r.stack_id = stacks.map(r.stack_id);
        });
        append(&mut out.heap_timeline, local.heap_timeline, |r| r.artifact_id = artifact);
        kernel_texts(out, artifact, local.histograms, local.locks, local.accounting);
        program_log(out, artifact, local.spans, local.stated_verdicts, local.scaling_points);
        whole_run(out, artifact, local.memory, local.counters, local.benchmarks);
    }

    fn dsos(&mut self, local: &[Dso]) -> Ids {
        let out = &mut self.out.dsos;
        let ids = local.iter().map(|row| {
            *self.dsos.entry((row.path.clone(), row.build_id.clone())).or_insert_with(|| {
                let id = out.len() as i32;
                out.push(Dso { dso_id: id, ..row.clone() });
                id
            })
        });
        Ids(ids.collect())
    }

    fn functions(&mut self, local: &[Function], dsos: &Ids) -> Ids {
        let out = &mut self.out.functions;
        let ids = local.iter().map(|row| {
            let dso_id = dsos.map(row.dso_id);
            *self.functions.entry((row.name.clone(), dso_id, row.file.clone())).or_insert_with(|| {
                let id = out.len() as i32;
                out.push(Function { function_id: id, dso_id, ..row.clone() });
                id
            })
        });
        Ids(ids.collect())
    }

    fn frames(&mut self, local: Vec<Frame>, dsos: &Ids, functions: &Ids) -> Ids {
        let rename = |row: &mut Frame| {
            row.dso_id = dsos.map(row.dso_id);
            row.function_id = functions.map(row.function_id);
        };
        if self.out.frames.is_empty() {
            // Nothing to compare with: within one recorder they are different already.
            let ids = Ids((0..local.len() as i32).collect());
            append(&mut self.out.frames, local, rename);
            return ids;
        }
        let key = |row: &Frame| (row.dso_id, row.rel, row.inline_depth, row.is_kernel, row.function_id, row.line, row.symbol_rel);
        if self.frames.is_empty() {
            self.frames = self.out.frames.iter().map(|row| (key(row), row.frame_id)).collect();
        }
        let out = &mut self.out.frames;
        let ids = local.into_iter().map(|mut row| {
            rename(&mut row);
            *self.frames.entry(key(&row)).or_insert_with(|| {
                let id = out.len() as i32;
                out.push(Frame { frame_id: id, ..row });
                id
            })
        });
        Ids(ids.collect())
    }

    fn stacks(&mut self, mut local: Stacks, frames: &Ids) -> Ids {
        if local.is_empty() {
            return Ids(Vec::new());
        }
        if self.out.stacks.is_empty() {
            // Nothing to compare with: within one recorder they are different already.
            let ids = Ids((0..local.len() as i32).collect());
            local.frames_mut().iter_mut().for_each(|frame| *frame = frames.get(*frame));
            self.out.stacks = local;
            return ids;
        }
        let out = &mut self.out.stacks;
        if self.stacks.is_empty() {
            self.stacks = out.nodes().zip(0..).map(|((parent, frame), id)| ((parent.unwrap_or(-1), frame), id)).collect();
        }
        let mut ids = Ids(Vec::with_capacity(local.len()));
        for (parent, frame) in local.nodes() {
            // Parents come first in a recorder, so theirs is known.
            let parent = ids.map(parent);
            let frame = frames.get(frame);
            let id = *self.stacks.entry((parent.unwrap_or(-1), frame)).or_insert_with(|| out.push(parent, frame));
            ids.0.push(id);
        }
        ids
    }
}
