//! System calls: the begin and the end of a call, told apart by thread, become one row.
//!
//! `raw_syscalls:sys_enter` has the number and six arguments, `syscalls:sys_enter_NAME` the number and its own
//! arguments, each in a word. At most one call of a thread is open, so an end belongs to the last begin of its thread
//! if the numbers agree. Without an end: what never returns (exit, exit_group), and what was in flight when the
//! recording ended. Without a begin: what was in flight when it began, and the child's side of fork and clone.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::bytes::Order;
use super::call_names::{self, CallNames};
use super::field::Field;
use super::payload::Moment;
use super::tracing::Format;
use crate::ingest::call_shapes::{self, Shape};
use crate::ingest::{Recorder, Severity};
use crate::tables::{Syscall, SyscallEvent, Text};

/// Where the begin of a call keeps what.
#[derive(Debug, Clone)]
pub struct Enter {
    number: Field,
    arguments: Vec<(Field, usize)>,
    /// The path itself, which younger kernels copy.
    path: Option<Field>,
    /// From the tracepoint's own name; `None` for raw_syscalls.
    name: Option<String>,
}

/// Where the end of a call keeps what.
#[derive(Debug, Clone)]
pub struct Exit {
    number: Field,
    returned: Field,
    is_raw: bool,
}

fn number_of(format: &Format) -> Option<Field> {
    // `nr` before Linux 4.3
    format.field("__syscall_nr").or_else(|| format.field("nr"))
}

impl Enter {
    pub fn of(format: &Format) -> Option<Enter> {
        if format.name == "raw_syscalls:sys_enter" {
            let words = format.field("args")?;
            let arguments = (0..words.count().min(6)).map(|at| (words, at)).collect();
            return Some(Enter { number: format.field("id")?, arguments, path: None, name: None });
        }
        let name = format.name.strip_prefix("syscalls:sys_enter_")?;
        let own = |name: &str| !name.starts_with("common_") && name != "__syscall_nr" && name != "nr";
        let arguments = format.fields().filter(|(name, field)| own(name) && !field.is_placed());
        // `__data_loc char[] __filename_val` stands for the argument `filename`.
        let is_path = |name: &str| matches!(name, "__filename_val" | "__pathname_val" | "__path_val" | "__name_val");
        Some(Enter {
            number: number_of(format)?,
            arguments: arguments.map(|(_, field)| (field, 0)).take(6).collect(),
            path: format.fields().find(|(name, field)| field.is_placed() && is_path(name)).map(|(_, field)| field),
            name: Some(call_names::plain_name(name).to_owned()),
        })
    }

    pub fn is_raw(&self) -> bool {
        self.name.is_none()
    }

    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub fn read<'a>(&'a self, raw: &'a [u8], order: Order) -> Option<Begin<'a>> {
        let number = self.number.number(raw, order)?;
        let mut arguments = [None; 6];
        for (slot, (field, at)) in arguments.iter_mut().zip(&self.arguments) {
            *slot = field.item(raw, *at, order);
        }
        let path = self.path.and_then(|field| field.text(raw, order));
        Some(Begin { number, arguments, path, name: self.name.as_deref() })
    }
}

impl Exit {
    pub fn of(format: &Format) -> Option<Exit> {
        let is_raw = format.name == "raw_syscalls:sys_exit";
        let number = match format.name.as_str() {
            _ if is_raw => format.field("id"),
            name if name.starts_with("syscalls:sys_exit_") => number_of(format),
            _ => None,
        };
        Some(Exit { number: number?, returned: format.field("ret")?, is_raw })
    }

    pub fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// The number and what was returned.
    pub fn read(&self, raw: &[u8], order: Order) -> Option<(i64, i64)> {
        Some((self.number.number(raw, order)?, self.returned.number(raw, order)?))
    }
}

/// A call that begins.
#[derive(Debug)]
pub struct Begin<'a> {
    number: i64,
    arguments: [Option<i64>; 6],
    path: Option<Cow<'a, str>>,
    name: Option<&'a str>,
}

/// What all calls of one number have in common.
#[derive(Debug, Clone)]
struct Kind {
    name: Text,
    shape: Option<&'static Shape>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    row: usize,
    number: i64,
}

/// The calls of a file.
#[derive(Debug, Default)]
pub struct Syscalls {
    names: CallNames,
    kinds: FxHashMap<i64, Kind>,
    /// By tid: it survives the exec that gives the thread a new row.
    open: FxHashMap<i32, Open>,
    /// Whether ends were recorded at all.
    pub has_ends: bool,
    unended: i64,
    unbegun: i64,
    first_unmatched: Option<i64>,
}

impl Syscalls {
    pub fn new(names: CallNames) -> Syscalls {
        Syscalls { names, ..Syscalls::default() }
    }

    pub fn begin(&mut self, call: &Begin<'_>, at: &Moment, stack: Option<i32>, recorder: &mut Recorder) {
        let kind = self.kind(call.number, call.name, recorder);
        let argument = |n: Option<usize>| n.and_then(|n| call.arguments.get(n).copied()).flatten();
        let shape = |get: fn(&Shape) -> Option<usize>| kind.shape.and_then(get);
        let operation = argument(shape(|shape| shape.operation)).and_then(|value| call_names::operation(&kind.name, value));
        let operation = operation.map(|operation| recorder.text(&operation));
        let path = call.path.as_deref().map(|path| recorder.text(path));
        let row = recorder.tables.syscall_events.len();
        recorder.tables.syscall_events.push(SyscallEvent {
            artifact_id: 0,
            thread_id: at.thread,
            name: kind.name,
            start_ns: Some(at.ts),
            dur_ns: None,
            // A descriptor is an int; AT_FDCWD and -1 are none.
            fd: argument(shape(|shape| shape.fd)).map(|fd| i64::from(fd as i32)).filter(|fd| *fd >= 0),
            fd_kind: None,
            length: argument(shape(|shape| shape.length)),
            address: argument(shape(|shape| shape.address)),
            path,
            operation,
            result: None,
            error: None,
            stack_id: stack,
            line_no: at.record_no,
        });
        if at.tid < 0 {
            return;
        }
        let before = self.open.insert(at.tid, Open { row, number: call.number });
        if before.is_some_and(|before| self.has_ends && !self.never_returns(before.number)) {
            self.unended += 1;
            self.first_unmatched.get_or_insert(at.record_no);
        }
    }

    pub fn end(&mut self, number: i64, returned: i64, at: &Moment, recorder: &mut Recorder) {
        let open = self.open.remove(&at.tid);
        // After rt_sigreturn the registers are those of before the signal: no number is left.
        let Some(open) = open.filter(|open| open.number == number || number == -1) else {
            let is_child =
                returned == 0 && self.names.get(number).is_some_and(|name| matches!(name, "clone" | "clone3" | "fork" | "vfork"));
            let reused = open.is_none_or(|open| self.never_returns(open.number));
            if !(is_child && reused) {
                self.unbegun += 1;
                self.unended += i64::from(!reused);
                self.first_unmatched.get_or_insert(at.record_no);
            }
            return;
        };
        let (result, error) = call_names::outcome(returned);
        let error = error.map(|error| recorder.text(&error));
        if let Some(row) = recorder.tables.syscall_events.get_mut(open.row) {
            row.dur_ns = row.start_ns.map(|start| at.ts.saturating_sub(start).max(0));
            row.result = result;
            row.error = error;
        }
    }

    fn never_returns(&self, number: i64) -> bool {
        self.kinds.get(&number).is_some_and(|kind| matches!(kind.name.as_ref(), "exit" | "exit_group"))
    }

    fn kind(&mut self, number: i64, name: Option<&str>, recorder: &mut Recorder) -> Kind {
        if let Some(kind) = self.kinds.get(&number) {
            return kind.clone();
        }
        let name = match self.names.get(number).or(name) {
            Some(name) => recorder.text(name),
            None => recorder.text(&format!("syscall_{number:#x}")),
        };
        let kind = Kind { shape: call_shapes::shape(&name), name };
        self.kinds.insert(number, kind.clone());
        kind
    }

    /// The sums per thread and call, and what did not fit together.
    pub fn finish(self, recorder: &mut Recorder) {
        if self.unended + self.unbegun > 0 {
            let message = format!(
                "system calls of which one side is missing ({} without their end, {} without their begin): in flight when the recording \
                 began, or lost",
                self.unended, self.unbegun
            );
            let place = self.first_unmatched.map_or(String::new(), |no| format!("record={no}"));
            let advice = "calls without an end have no duration; record with larger buffers (-m 16M)";
            recorder.skip_many("perf_syscall_unmatched", Severity::Info, self.unended + self.unbegun, &message, advice, &place);
        }
        let in_flight = self.open.values().filter(|open| !self.never_returns(open.number)).count() as i64;
        if in_flight > 0 && self.has_ends {
            let message = "system calls that had not returned when the recording ended: they have no duration";
            recorder.skip_many("perf_syscall_in_flight", Severity::Info, in_flight, message, "record until the program ends", "");
        }
        sums(recorder, self.has_ends);
    }
}

fn sums(recorder: &mut Recorder, has_ends: bool) {
    let mut sums: BTreeMap<(Option<i32>, Text), Syscall> = BTreeMap::new();
    for event in &recorder.tables.syscall_events {
        let sum = sums.entry((event.thread_id, event.name.clone())).or_insert_with(|| Syscall {
            artifact_id: 0,
            thread_id: event.thread_id,
            name: event.name.clone(),
            calls: 0,
            errors: has_ends.then_some(0),
            total_ns: has_ends.then_some(0),
            clock: "wall".into(),
            line_no: event.line_no,
        });
        sum.calls += 1;
        sum.errors = sum.errors.map(|errors| errors + i64::from(event.error.is_some()));
        sum.total_ns = sum.total_ns.map(|total| total.saturating_add(event.dur_ns.unwrap_or(0)));
    }
    recorder.tables.syscalls.extend(sums.into_values());
}
