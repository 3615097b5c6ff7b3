//! Processes and threads over time. A pid or tid means something from FORK to the next FORK of the same number.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::batch::RootAt;
use super::maps::Maps;
use super::unwind::Unwinding;
use crate::ingest::Recorder;
use crate::tables::ThreadName;

/// A process as the stacks need it.
#[derive(Debug, Default)]
pub struct Process {
    pub pid: i32,
    pub maps: Arc<Maps>,
    /// Where the stacks that are being made have these maps; `None` once they change.
    pub root: Option<RootAt>,
    pub unwinding: Unwinding,
    /// It became something else than perf's child by exec.
    execed: bool,
    /// It became the recorded program by exec, or was forked by it.
    is_program: bool,
    /// The file introduces it by COMM, FORK or MMAP. Others only ran when something happened to a recorded thread
    /// (they woke it, say).
    pub introduced: bool,
}

/// All tasks of a file; indexed by surrogate id, which is the row in the recorder's tables.
#[derive(Debug, Default)]
pub struct Tasks {
    processes: Vec<Process>,
    by_pid: FxHashMap<i32, i32>,
    by_tid: FxHashMap<i32, i32>,
    /// The process of each thread.
    process_of: Vec<i32>,
    tids: Vec<i32>,
    /// Per process, the thread that stands for those that were gone when they were sampled.
    gone: FxHashMap<i32, i32>,
    /// Name of the recorded program as the kernel has it: 15 bytes at most.
    program: Option<String>,
}

/// pids of the threads that stand for an idle CPU.
pub const IDLE: i32 = 0;

impl Tasks {
    pub fn new(program: Option<&str>) -> Tasks {
        const COMM_BYTES: usize = 15;
        let cut = |name: &str| name.char_indices().take_while(|(at, c)| at + c.len_utf8() <= COMM_BYTES).map(|(_, c)| c).collect();
        Tasks { program: program.map(cut), ..Tasks::default() }
    }

    /// The process that `pid` means now.
    pub fn process(&mut self, pid: i32, recorder: &mut Recorder) -> i32 {
        match self.by_pid.get(&pid) {
            Some(process) => *process,
            None => self.new_process(pid, None, recorder),
        }
    }

    pub fn state(&mut self, process: i32) -> Option<&mut Process> {
        self.processes.get_mut(usize::try_from(process).ok()?)
    }

    pub fn process_of(&self, thread: i32) -> Option<i32> {
        self.process_of.get(usize::try_from(thread).ok()?).copied()
    }

    pub fn tid_of(&self, thread: i32) -> Option<i32> {
        self.tids.get(usize::try_from(thread).ok()?).copied()
    }

    /// The thread that the tid means now, if it was met before.
    pub fn known_thread(&self, tid: i32) -> Option<i32> {
        self.by_tid.get(&tid).copied()
    }

    /// The thread of a record; `None` for a task that is gone (-1).
    pub fn thread(&mut self, pid: i32, tid: i32, recorder: &mut Recorder) -> Option<i32> {
        if tid < 0 || pid < 0 {
            return None;
        }
        if let Some(thread) = self.by_tid.get(&tid).copied() {
            let process = self.process_of(thread).and_then(|process| self.processes.get(process as usize));
            if process.is_some_and(|process| process.pid == pid) {
                return Some(thread);
            }
        }
        let process = self.process(pid, recorder);
        Some(self.new_thread(process, tid, recorder))
    }

    /// The thread of a sample that [`Tasks::thread`] has none for. The kernel gives one that is about to be gone the tid -1,
    /// but its process's pid: its time is the process's, so all of those share one row.
    pub fn gone(&mut self, pid: i32, recorder: &mut Recorder) -> Option<i32> {
        if pid < 0 {
            return None;
        }
        let process = self.process(pid, recorder);
        if let Some(thread) = self.gone.get(&process) {
            return Some(*thread);
        }
        let thread = self.new_thread(process, -1, recorder);
        self.gone.insert(process, thread);
        Some(thread)
    }

    /// Marks the process of a COMM, FORK or MMAP.
    pub fn introduce(&mut self, pid: i32, recorder: &mut Recorder) -> i32 {
        let process = self.process(pid, recorder);
        if let Some(state) = self.state(process) {
            state.introduced = true;
        }
        process
    }

    /// Whether the thread belongs to what was recorded.
    pub fn is_recorded(&self, thread: i32) -> bool {
        let process = self.process_of(thread).and_then(|process| self.processes.get(process as usize));
        process.is_some_and(|process| process.introduced) && self.tid_of(thread) != Some(IDLE)
    }

    fn new_process(&mut self, pid: i32, parent: Option<i32>, recorder: &mut Recorder) -> i32 {
        let id = recorder.push_process(pid, parent, None);
        self.processes.push(Process { pid, ..Process::default() });
        self.by_pid.insert(pid, id);
        id
    }

    fn new_thread(&mut self, process: i32, tid: i32, recorder: &mut Recorder) -> i32 {
        let id = recorder.push_thread(process, tid, None);
        self.process_of.push(process);
        self.tids.push(tid);
        if tid >= 0 {
            self.by_tid.insert(tid, id);
        }
        if tid == IDLE {
            self.rename(id, "swapper", None, recorder);
        }
        id
    }

    /// COMM. An exec also takes the old program's maps away.
    pub fn comm(&mut self, (pid, tid): (i32, i32), name: &str, exec: bool, time: Option<i64>, recorder: &mut Recorder) -> Option<i32> {
        let thread = self.thread(pid, tid, recorder)?;
        self.introduce(pid, recorder);
        self.rename(thread, name, time, recorder);
        if exec {
            let process = self.process(pid, recorder);
            let is_program = self.program.as_deref() == Some(name);
            if let Some(state) = self.state(process) {
                state.maps = Arc::default();
                state.root = None;
                state.unwinding = Unwinding::default();
                state.execed = true;
                state.is_program |= is_program;
            }
        }
        Some(thread)
    }

    fn rename(&mut self, thread: i32, name: &str, ts_ns: Option<i64>, recorder: &mut Recorder) {
        let name = recorder.text(name);
        let Some(row) = recorder.tables.threads.get_mut(thread as usize) else { return };
        if row.name.as_ref() == Some(&name) {
            return;
        }
        row.name = Some(name.clone());
        recorder.tables.thread_names.push(ThreadName { thread_id: thread, ts_ns, name });
    }

    /// FORK of (pid, tid) by (ppid, ptid); `copied` where the kernel copied the parent's memory, as opposed to a record
    /// that perf made up for a process that was there before. Returns the new thread.
    pub fn fork(
        &mut self,
        (pid, tid): (i32, i32),
        (ppid, ptid): (i32, i32),
        copied: bool,
        time: Option<i64>,
        recorder: &mut Recorder,
    ) -> Option<i32> {
        if pid < 0 || tid < 0 {
            return None;
        }
        if !copied {
            return self.found_fork((pid, tid), ppid, recorder);
        }
        let process = if pid == ppid {
            self.process(pid, recorder)
        } else {
            let parent = (ppid >= 0).then(|| self.process(ppid, recorder));
            let child = self.new_process(pid, parent, recorder);
            self.inherit(parent, child);
            child
        };
        let thread = self.new_thread(process, tid, recorder);
        self.introduce(pid, recorder);
        let name = self.known_thread(ptid).and_then(|parent| recorder.tables.threads.get(parent as usize)?.name.clone());
        if let Some(name) = name {
            self.rename(thread, &name, time, recorder);
        }
        Some(thread)
    }

    /// A child begins with its parent's memory.
    fn inherit(&mut self, parent: Option<i32>, child: i32) {
        let Some(parent) = parent.and_then(|parent| self.processes.get(parent as usize)) else { return };
        let (maps, unwinding, is_program) = (parent.maps.clone(), parent.unwinding.clone(), parent.is_program);
        if let Some(child) = self.processes.get_mut(child as usize) {
            child.maps = maps;
            child.unwinding = unwinding;
            child.is_program = is_program;
        }
    }

    fn found_fork(&mut self, (pid, tid): (i32, i32), ppid: i32, recorder: &mut Recorder) -> Option<i32> {
        let thread = self.thread(pid, tid, recorder)?;
        let process = self.introduce(pid, recorder);
        if ppid > 0 && ppid != pid {
            let parent = self.process(ppid, recorder);
            if let Some(row) = recorder.tables.processes.get_mut(process as usize) {
                row.parent_process_id.get_or_insert(parent);
            }
        }
        Some(thread)
    }

    /// At the end: a process is called as its main thread is, or as the first of its threads with a name.
    pub fn name_processes(&self, recorder: &mut Recorder) {
        let tables = &mut recorder.tables;
        for (thread, process) in tables.threads.iter().zip(&self.process_of) {
            if let Some(row) = tables.processes.get_mut(*process as usize)
                && (row.pid == thread.tid || row.name.is_none())
            {
                row.name = thread.name.clone().or(row.name.take());
            }
        }
    }

    /// Whether the thread belongs to the recorded program, as far as its exec was seen.
    pub fn is_program(&self, thread: i32) -> bool {
        let process = self.process_of(thread).and_then(|process| self.processes.get(process as usize));
        process.is_some_and(|process| process.is_program)
    }

    /// Marks the recorded program's processes. System-wide: those that became it by exec, and what they forked.
    /// Otherwise the recording follows the program, so all that the file introduces but perf itself before its exec.
    pub fn mark_targets(&self, system_wide: bool, recorder: &mut Recorder) {
        let introduced = self.processes.iter().any(|process| process.introduced);
        let targets = self.processes.iter().zip(&recorder.tables.processes).map(|(process, row)| {
            if system_wide {
                return process.is_program;
            }
            let is_perf =
                !process.execed && row.parent_process_id.is_none() && row.name.as_deref().is_some_and(|name| name.starts_with("perf"));
            process.pid > IDLE && !is_perf && (process.introduced || !introduced)
        });
        let targets: Vec<bool> = targets.collect();
        for (row, target) in recorder.tables.processes.iter_mut().zip(&targets) {
            row.is_target = *target;
        }
        for (row, process) in recorder.tables.threads.iter_mut().zip(&self.process_of) {
            row.is_target = targets.get(*process as usize).copied().unwrap_or(false);
        }
    }
}
