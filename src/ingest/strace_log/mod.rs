//! strace's log: one row per system call, with `-f`, `-t`, `-tt`, `-ttt`, `-r`, `-T`, `-y` and `-k` in any combination, and
//! the summary that `-C` appends.
//!
//! A call that another thread's line interrupts (`<unfinished ...>`, `<... resumed>`) is one row, placed where it began.
//! Durations come from `-T` only. Notices of strace and output of the program between the lines are passed over and
//! counted.

mod call;
mod line;
mod stack;
mod threads;

use rustc_hash::FxHashMap;

use self::line::{Body, Line, Outcome, Stamp};
use self::stack::Stacks;
use self::threads::Threads;
use super::strace_summary::{self, TableReader};
use super::{Format, Input, Recorder, Severity, command, text};
use crate::error::Result;
use crate::tables::{Execution, SyscallEvent};

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "strace-log",
    tool: "strace",
    doc: "every system call with time, duration, arguments and stack",
    record: "strace -k -f -ttt -T -e trace=write,fsync,futex,clock_nanosleep -o calls.strace PROGRAM",
    sniff,
    read,
};

/// Two calls with a time stamp, or a text that is mostly calls.
pub fn sniff(head: &[u8]) -> bool {
    let (mut stamped, mut calls, mut others) = (0, 0, 0);
    for (_, line) in text::lines(head).take(4000) {
        let line = String::from_utf8_lossy(line);
        if line.trim().is_empty() || line.starts_with(" > ") || line.contains("strace: ") {
            continue;
        }
        if calls + stamped > 0 && strace_summary::is_header(&line) {
            break;
        }
        let parsed = line::parse(&line);
        match parsed.body {
            Body::Call { .. } | Body::Resumed { .. } | Body::Begin { is_marked: true, .. } if parsed.stamp.is_some() => stamped += 1,
            Body::Call { .. } | Body::Resumed { .. } | Body::Begin { is_marked: true, .. } => calls += 1,
            Body::Exited(_) | Body::Signal | Body::Rest { .. } => {}
            Body::Begin { .. } | Body::Other => others += 1,
        }
    }
    stamped >= 2 || stamped == 1 && others == 0 || calls >= 2 && calls > others || calls == 1 && others == 0
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let mut log = Log { bytes: input.bytes, ..Log::default() };
    let mut at = 0usize;
    for (line_no, line) in text::lines(input.bytes) {
        let start = at;
        at = input
            .bytes
            .get(start + line.len()..)
            .and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
            .map_or(input.bytes.len(), |n| start + line.len() + n + 1);
        if line.starts_with(b" > ") {
            log.stack_line(start, at, line_no);
        } else {
            log.end_stack(recorder);
            log.line(&String::from_utf8_lossy(line), line_no, recorder);
        }
    }
    log.end_stack(recorder);
    log.finish(recorder);
    if input.bytes.last().is_some_and(|byte| *byte != b'\n') {
        let place = text::place(text::lines(input.bytes).last().map_or(1, |(line_no, _)| line_no));
        let message = "the last line has no end: the log goes on elsewhere";
        recorder.skip("strace_cut_log", Severity::Warn, message, "what came before was read; copy the file again", &place);
        recorder.artifact.status = "truncated".into();
    }
    Ok(())
}

/// A call that has begun and not returned.
struct Open {
    row: usize,
    name: String,
    arguments: String,
}

#[derive(Default)]
struct Log<'a> {
    bytes: &'a [u8],
    threads: Threads,
    stacks: Stacks<'a>,
    table: TableReader,
    open: FxHashMap<Option<i32>, Open>,
    /// The thread whose call other output cut off.
    cut: Option<Option<i32>>,
    /// The row that stack lines belong to.
    last_row: Option<usize>,
    /// First byte, end and first line of the stack lines being collected.
    block: Option<(usize, usize, i64)>,
    clock: Clock,
    execve_ns: Option<i64>,
    execution: Option<Execution>,
    resumed_alone: i64,
}

impl<'a> Log<'a> {
    fn stack_line(&mut self, start: usize, end: usize, line_no: i64) {
        match &mut self.block {
            Some((_, block_end, _)) => *block_end = end,
            None => self.block = Some((start, end, line_no)),
        }
    }

    fn end_stack(&mut self, recorder: &mut Recorder) {
        let (Some((start, end, line_no)), row) = (self.block.take(), self.last_row.take()) else { return };
        let block: &'a [u8] = self.bytes.get(start..end).unwrap_or_default();
        // the stack below a signal or an exit belongs to no call
        let Some(row) = row else { return };
        let stack = self.stacks.intern(block, line_no, recorder);
        if let Some(event) = recorder.tables.syscall_events.get_mut(row) {
            event.stack_id = stack;
        }
    }

    fn line(&mut self, text: &str, line_no: i64, recorder: &mut Recorder) {
        let Line { tid, stamp, body, attached } = line::parse(text);
        if let Some(tid) = attached {
            self.threads.attached(tid);
        }
        let ts_ns = match &body {
            Body::Other | Body::Rest { .. } => None,
            _ => stamp.and_then(|stamp| self.clock.read(stamp)),
        };
        match body {
            Body::Call { name, arguments, outcome } => {
                let row = self.begin(tid, name, ts_ns, line_no, recorder);
                self.end(tid, row, name, arguments, &outcome, recorder);
            }
            Body::Begin { name, arguments, is_marked } if is_marked || ts_ns.is_some() || tid.is_some() || attached.is_some() => {
                let row = self.begin(tid, name, ts_ns, line_no, recorder);
                let key = self.threads.key(tid);
                self.cut = (!is_marked).then_some(key);
                let open = Open { row, name: name.to_owned(), arguments: arguments.to_owned() };
                if self.open.insert(key, open).is_some() {
                    let message = "a call whose end other output cut off";
                    recorder.skip(
                        "strace_cut_call",
                        Severity::Warn,
                        message,
                        "record with -o to keep strace's lines whole",
                        &text::place(line_no),
                    );
                }
            }
            Body::Resumed { name, arguments, outcome } => self.resume(tid, name, arguments, &outcome, (ts_ns, line_no), recorder),
            Body::Rest { arguments, outcome } => match self.cut.take().and_then(|tid| Some((tid, self.open.remove(&tid)?))) {
                Some((tid, open)) => self.end(tid, open.row, &open.name, &format!("{}{arguments}", open.arguments), &outcome, recorder),
                None => strace_summary::other_line(text, line_no, recorder),
            },
            Body::Exited(code) => self.exited(tid, code, ts_ns),
            Body::Signal => {}
            Body::Begin { .. } | Body::Other => {
                let is_tail = text.trim() == "<unfinished ...>";
                if is_tail {
                    self.cut = None;
                } else if !self.table.feed(line_no, text, recorder) && !text.trim().is_empty() {
                    strace_summary::other_line(text, line_no, recorder);
                }
            }
        }
    }

    /// A row for a call that begins here.
    fn begin(&mut self, tid: Option<i32>, name: &str, start_ns: Option<i64>, line_no: i64, recorder: &mut Recorder) -> usize {
        let (thread, _) = self.threads.get(tid, recorder);
        recorder.artifact.records += 1;
        let name = recorder.text(name);
        recorder.tables.syscall_events.push(SyscallEvent {
            artifact_id: 0,
            thread_id: Some(thread),
            name,
            start_ns,
            dur_ns: None,
            fd: None,
            fd_kind: None,
            length: None,
            address: None,
            path: None,
            operation: None,
            result: None,
            error: None,
            stack_id: None,
            line_no,
        });
        recorder.tables.syscall_events.len() - 1
    }

    fn end(&mut self, tid: Option<i32>, row: usize, name: &str, arguments: &str, outcome: &Outcome<'_>, recorder: &mut Recorder) {
        let (_, process) = self.threads.get(tid, recorder);
        let fields = call::fields(name, arguments);
        let (kind, path) = fields.fd.map_or((None, None), |fd| self.threads.descriptor(process, fd));
        let kind = fields.fd_kind.or(kind).map(|kind| recorder.text(kind));
        let path = fields.path.as_deref().or(path).map(|path| recorder.text(path));
        let operation = fields.operation.as_deref().map(|operation| recorder.text(operation));
        let error = outcome.error.map(|error| recorder.text(error));
        if let Some(event) = recorder.tables.syscall_events.get_mut(row) {
            event.dur_ns = outcome.dur_ns;
            event.fd = fields.fd;
            event.fd_kind = kind;
            event.length = fields.length;
            event.address = fields.address;
            event.path = path;
            event.operation = operation;
            event.result = outcome.result;
            event.error = error;
            if name == "execve" && outcome.result == Some(0) && self.execution.is_none() {
                self.execve_ns = event.start_ns;
                self.execution = Some(Execution { argv: argv(arguments).map(Into::into), ..Execution::under("strace") });
            }
        }
        self.last_row = Some(row);
        if let Some(result) = outcome.result {
            self.threads.learn(tid, name, arguments, result, recorder);
        }
    }

    fn resume(
        &mut self,
        tid: Option<i32>,
        name: &str,
        arguments: &str,
        outcome: &Outcome<'_>,
        at: (Option<i64>, i64),
        recorder: &mut Recorder,
    ) {
        self.threads.get(tid, recorder);
        let key = self.threads.key(tid);
        let is_same = self.open.get(&key).is_some_and(|open| open.name == name);
        match self.open.remove(&key).filter(|_| is_same) {
            Some(open) => self.end(tid, open.row, name, &format!("{}{arguments}", open.arguments), outcome, recorder),
            None => {
                let (end_ns, line_no) = at;
                let start_ns = end_ns.zip(outcome.dur_ns).and_then(|(end, dur)| end.checked_sub(dur));
                let row = self.begin(tid, name, start_ns, line_no, recorder);
                self.resumed_alone += 1;
                self.end(tid, row, name, arguments, outcome, recorder);
            }
        }
    }

    fn exited(&mut self, tid: Option<i32>, code: Option<i32>, ts_ns: Option<i64>) {
        if !self.threads.is_main(tid) {
            return;
        }
        if let Some(execution) = &mut self.execution {
            execution.exit_code = code;
            execution.wall_ns = ts_ns.zip(self.execve_ns).and_then(|(end, start)| end.checked_sub(start));
        }
    }

    fn finish(mut self, recorder: &mut Recorder) {
        self.table.finish(recorder);
        let events = &mut recorder.tables.syscall_events;
        events.sort_by_key(|event| (event.start_ns, event.line_no));
        let first = events.iter().filter_map(|event| event.start_ns).min();
        let last = events.iter().filter_map(|event| event.start_ns.map(|start| start.saturating_add(event.dur_ns.unwrap_or(0)))).max();
        let calls = events.len() as i64;
        recorder.artifact.window_ns = first.zip(last).and_then(|(first, last)| last.checked_sub(first));
        recorder.artifact.clock = self.clock.name().map(Into::into);
        recorder.artifact.follows_children = self.threads.has_numbers().then_some(true);
        if !recorder.tables.stacks.is_empty() {
            recorder.artifact.unwinding = Some("libunwind".into());
        }
        strace_summary::push_event(recorder, calls);
        if let Some(execution) = self.execution.take() {
            recorder.push_execution(execution);
        }
        let open = self.open.len() as i64;
        if open > 0 {
            recorder.skip_many(
                "strace_never_returned",
                Severity::Info,
                open,
                "calls that had not returned when the log ended",
                "their rows have no duration",
                "",
            );
        }
        if self.resumed_alone > 0 {
            let message = "calls that were under way when the log began";
            recorder.skip_many("strace_began_before", Severity::Info, self.resumed_alone, message, "their arguments are incomplete", "");
        }
    }
}

/// The arguments of an execve, quoted; `None` where strace cut one of them (`-s`).
fn argv(arguments: &str) -> Option<String> {
    let list = call::split(arguments);
    let inside = list.get(1)?.strip_prefix('[')?.strip_suffix(']')?;
    let words: Option<Vec<String>> =
        call::split(inside).into_iter().map(|word| call::quoted(word).filter(|(_, is_cut)| !is_cut).map(|(word, _)| word)).collect();
    words.filter(|words| !words.is_empty()).map(|words| command::quote(&words))
}

/// Turns the stamps of one log into times of one clock.
#[derive(Debug, Default)]
struct Clock {
    kind: Option<Stamp>,
    now_ns: i64,
    first_ns: Option<i64>,
    days: i64,
}

const DAY_NS: i64 = 86_400_000_000_000;

impl Clock {
    fn read(&mut self, stamp: Stamp) -> Option<i64> {
        let same = self.kind.is_none_or(|kind| std::mem::discriminant(&kind) == std::mem::discriminant(&stamp));
        if !same {
            return None;
        }
        self.kind = Some(stamp);
        self.now_ns = match stamp {
            Stamp::Epoch(ns) => ns,
            Stamp::Step(ns) => self.now_ns.checked_add(ns)?,
            Stamp::Day(ns) => {
                let first = *self.first_ns.get_or_insert(ns);
                let now = ns.checked_sub(first)?.checked_add(self.days.checked_mul(DAY_NS)?)?;
                // past midnight
                if now < self.now_ns.checked_sub(DAY_NS / 2)? {
                    self.days += 1;
                }
                ns.checked_sub(first)?.checked_add(self.days.checked_mul(DAY_NS)?)?
            }
        };
        Some(self.now_ns)
    }

    /// realtime for `-ttt`; relative for `-r` (from the first line) and `-t`, `-tt` (from the first stamp).
    fn name(&self) -> Option<&'static str> {
        self.kind.map(|kind| if matches!(kind, Stamp::Epoch(_)) { "realtime" } else { "relative" })
    }
}

#[cfg(test)]
mod tests;
