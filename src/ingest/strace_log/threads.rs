//! Threads, processes and their descriptors, as far as the log shows them.
//!
//! A thread id that appears without the call that made it counts as a thread of the first process. The main thread has no
//! number in front of its lines until a second thread exists (`strace -f` on a terminal); its number is learned later.

use rustc_hash::FxHashMap;

use super::call;
use crate::ingest::Recorder;

/// The number of a thread or process that the log never says.
pub const UNKNOWN: i32 = -1;

#[derive(Debug, Clone, Default)]
struct Descriptor {
    kind: Option<&'static str>,
    path: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    thread: i32,
    process: i32,
}

#[derive(Debug, Default)]
pub struct Threads {
    by_tid: FxHashMap<i32, Known>,
    main: Option<Known>,
    main_tid: Option<i32>,
    /// Threads and children that strace attached to or a call made: not the main thread.
    children: std::collections::BTreeSet<i32>,
    descriptors: FxHashMap<(i32, i64), Descriptor>,
    has_numbers: bool,
}

impl Threads {
    pub fn has_numbers(&self) -> bool {
        self.has_numbers
    }

    pub fn is_main(&self, tid: Option<i32>) -> bool {
        tid.is_none() || tid == self.main_tid
    }

    pub fn attached(&mut self, tid: i32) {
        self.children.insert(tid);
    }

    /// One name for a thread whose lines come with and without its number.
    pub fn key(&self, tid: Option<i32>) -> Option<i32> {
        if self.is_main(tid) { None } else { tid }
    }

    /// The thread of a line, and its process.
    pub fn get(&mut self, tid: Option<i32>, recorder: &mut Recorder) -> (i32, i32) {
        self.has_numbers |= tid.is_some();
        let known = match tid {
            None => self.main(UNKNOWN, recorder),
            Some(tid) => match self.by_tid.get(&tid) {
                Some(known) => *known,
                None => self.meet(tid, recorder),
            },
        };
        (known.thread, known.process)
    }

    fn main(&mut self, tid: i32, recorder: &mut Recorder) -> Known {
        *self.main.get_or_insert_with(|| {
            let process = recorder.push_process(tid, None, None);
            Known { process, thread: recorder.push_thread(process, tid, None) }
        })
    }

    fn meet(&mut self, tid: i32, recorder: &mut Recorder) -> Known {
        let is_main = self.main_tid.is_none() && !self.children.contains(&tid);
        let main = self.main(if is_main { tid } else { UNKNOWN }, recorder);
        let known = if is_main {
            self.name_main(tid, recorder);
            main
        } else {
            Known { process: main.process, thread: recorder.push_thread(main.process, tid, None) }
        };
        self.by_tid.insert(tid, known);
        known
    }

    /// The main thread's number, once something tells it.
    fn name_main(&mut self, tid: i32, recorder: &mut Recorder) {
        let Some(main) = self.main.filter(|_| self.main_tid.is_none()) else { return };
        self.main_tid = Some(tid);
        self.by_tid.entry(tid).or_insert(main);
        if let Some(row) = recorder.tables.threads.get_mut(main.thread as usize) {
            row.tid = tid;
        }
        if let Some(row) = recorder.tables.processes.get_mut(main.process as usize) {
            row.pid = tid;
        }
    }

    /// Learns from a finished call. `target` is what `-y` says about a new descriptor.
    pub fn learn(&mut self, tid: Option<i32>, name: &str, arguments: &str, result: i64, recorder: &mut Recorder) {
        let (_, process) = self.get(tid, recorder);
        match name {
            "clone" | "clone3" | "fork" | "vfork" if result > 0 => self.made(process, arguments, result, recorder),
            "set_tid_address" | "gettid" if tid.is_none() && result > 0 => {
                if let Ok(own) = i32::try_from(result) {
                    self.name_main(own, recorder);
                }
            }
            "open" | "openat" | "openat2" | "creat" if result >= 0 => {
                let path = call::split(arguments).iter().find_map(|argument| call::quoted(argument)).map(|(path, _)| path);
                let kind = path.as_deref().and_then(call::by_path);
                self.descriptors.insert((process, result), Descriptor { kind, path });
            }
            "socket" | "accept" | "accept4" if result >= 0 => self.opened(process, result, "socket"),
            "eventfd" | "eventfd2" if result >= 0 => self.opened(process, result, "eventfd"),
            "memfd_create" if result >= 0 => self.opened(process, result, "file"),
            "pipe" | "pipe2" if result == 0 => self.pair(process, arguments, "pipe"),
            "socketpair" if result == 0 => self.pair(process, arguments, "socket"),
            "dup" | "dup2" | "dup3" if result >= 0 => {
                let old = call::split(arguments).first().and_then(|old| call::descriptor(old)).map_or(-1, |(fd, _)| fd);
                if let Some(descriptor) = self.descriptors.get(&(process, old)).cloned() {
                    self.descriptors.insert((process, result), descriptor);
                }
            }
            "close" if result == 0 => {
                if let Some((fd, _)) = call::split(arguments).first().and_then(|fd| call::descriptor(fd)) {
                    self.descriptors.remove(&(process, fd));
                }
            }
            _ => {}
        }
    }

    /// A new thread of the same process, or a child with a copy of the descriptors.
    fn made(&mut self, process: i32, arguments: &str, result: i64, recorder: &mut Recorder) {
        let Ok(tid) = i32::try_from(result) else { return };
        self.children.insert(tid);
        if arguments.contains("CLONE_THREAD") {
            self.by_tid.entry(tid).or_insert_with(|| Known { process, thread: recorder.push_thread(process, tid, None) });
            return;
        }
        let child = recorder.push_process(tid, Some(process), None);
        match self.by_tid.get_mut(&tid) {
            Some(known) => {
                // it ran before its parent's call returned and was taken for a thread
                known.process = child;
                if let Some(row) = recorder.tables.threads.get_mut(known.thread as usize) {
                    row.process_id = child;
                }
            }
            None => {
                let thread = recorder.push_thread(child, tid, None);
                self.by_tid.insert(tid, Known { thread, process: child });
            }
        }
        let inherited: Vec<(i64, Descriptor)> =
            self.descriptors.iter().filter(|((of, _), _)| *of == process).map(|((_, fd), d)| (*fd, d.clone())).collect();
        self.descriptors.extend(inherited.into_iter().map(|(fd, descriptor)| ((child, fd), descriptor)));
    }

    fn opened(&mut self, process: i32, fd: i64, kind: &'static str) {
        self.descriptors.insert((process, fd), Descriptor { kind: Some(kind), path: None });
    }

    /// `pipe2([3, 4], O_CLOEXEC)`
    fn pair(&mut self, process: i32, arguments: &str, kind: &'static str) {
        let inside = arguments.split_once('[').and_then(|(_, rest)| rest.rsplit_once(']')).map_or("", |(inside, _)| inside);
        for (fd, _) in call::split(inside).iter().filter_map(|fd| call::descriptor(fd)) {
            self.opened(process, fd, kind);
        }
    }

    /// What the log has shown about a descriptor.
    pub fn descriptor(&self, process: i32, fd: i64) -> (Option<&'static str>, Option<&str>) {
        self.descriptors.get(&(process, fd)).map_or((None, None), |found| (found.kind, found.path.as_deref()))
    }
}
