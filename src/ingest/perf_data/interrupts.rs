//! What interrupted the programs: interrupts, soft interrupts and exceptions, summed per name and CPU.
//!
//! Handlers of one kind do not nest on a CPU, so an exit belongs to the last entry of its kind on its CPU. Exceptions
//! have no end: they are counted. The samples themselves stay in `samples`, with their stacks.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::bytes::Order;
use super::field::Field;
use super::payload::Moment;
use super::tracing::Format;
use crate::ingest::{Recorder, Severity};
use crate::tables::{Interrupt, Text};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Irq,
    Softirq,
    Exception,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Irq => "irq",
            Kind::Softirq => "softirq",
            Kind::Exception => "exception",
        }
    }
}

/// Where the entry keeps which handler it is.
#[derive(Debug, Clone)]
pub enum Entry {
    /// The number and the handler's name.
    Irq(Field, Field),
    /// The vector, and the vectors' names.
    Softirq(Field, Vec<(u64, String)>),
    /// The tracepoint's name says it.
    Exception(String),
}

impl Entry {
    pub fn of(format: &Format) -> Option<Entry> {
        match format.name.as_str() {
            "irq:irq_handler_entry" => Some(Entry::Irq(format.field("irq")?, format.field("name")?)),
            "irq:softirq_entry" => {
                let names = format.symbols("vec").into_iter().map(|(vector, name)| (vector, name.to_owned())).collect();
                Some(Entry::Softirq(format.field("vec")?, names))
            }
            name => name.strip_prefix("exceptions:").map(|name| Entry::Exception(name.to_owned())),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Entry::Irq(..) => Kind::Irq,
            Entry::Softirq(..) => Kind::Softirq,
            Entry::Exception(_) => Kind::Exception,
        }
    }

    /// The handler's number, 0 for exceptions, and its name.
    pub fn read(&self, raw: &[u8], order: Order, recorder: &mut Recorder) -> Option<(i64, Text)> {
        match self {
            Entry::Irq(irq, name) => Some((irq.number(raw, order)?, recorder.text(&name.text(raw, order)?))),
            Entry::Softirq(vector, names) => {
                let vector = vector.number(raw, order)?;
                let name = names.iter().find(|(known, _)| *known == vector as u64);
                let name = match name {
                    Some((_, name)) => recorder.text(name),
                    None => recorder.text(&format!("vector {vector}")),
                };
                Some((vector, name))
            }
            Entry::Exception(name) => Some((0, recorder.text(name))),
        }
    }
}

/// The exit of a handler: its number.
#[derive(Debug, Clone)]
pub struct Exit(Kind, Field);

impl Exit {
    pub fn of(format: &Format) -> Option<Exit> {
        match format.name.as_str() {
            "irq:irq_handler_exit" => Some(Exit(Kind::Irq, format.field("irq")?)),
            "irq:softirq_exit" => Some(Exit(Kind::Softirq, format.field("vec")?)),
            _ => None,
        }
    }

    pub fn kind(&self) -> Kind {
        self.0
    }

    pub fn read(&self, raw: &[u8], order: Order) -> Option<i64> {
        self.1.number(raw, order)
    }
}

#[derive(Debug, Default)]
struct Sum {
    count: i64,
    timed: i64,
    total_ns: i64,
    longest_ns: i64,
    record_no: i64,
}

#[derive(Debug)]
struct Open {
    number: i64,
    name: Text,
    ts: i64,
}

/// The interrupts of a file.
#[derive(Debug, Default)]
pub struct Interrupts {
    open: FxHashMap<(Kind, i32), Open>,
    sums: BTreeMap<(Kind, Text, Option<i32>), Sum>,
    unmatched: i64,
    first_unmatched: Option<i64>,
}

impl Interrupts {
    pub fn enter(&mut self, kind: Kind, number: i64, name: Text, at: &Moment) {
        let sum = self.sums.entry((kind, name.clone(), at.cpu)).or_insert_with(|| Sum { record_no: at.record_no, ..Sum::default() });
        sum.count += 1;
        if let (Some(cpu), true) = (at.cpu, kind != Kind::Exception) {
            self.open.insert((kind, cpu), Open { number, name, ts: at.ts });
        }
    }

    pub fn exit(&mut self, kind: Kind, number: i64, at: &Moment) {
        let Some(cpu) = at.cpu else { return };
        let open = self.open.remove(&(kind, cpu)).filter(|open| open.number == number);
        let Some(sum) = open.as_ref().and_then(|open| self.sums.get_mut(&(kind, open.name.clone(), at.cpu))) else {
            self.unmatched += 1;
            self.first_unmatched.get_or_insert(at.record_no);
            return;
        };
        let ns = open.map_or(0, |open| at.ts.saturating_sub(open.ts).max(0));
        sum.timed += 1;
        sum.total_ns = sum.total_ns.saturating_add(ns);
        sum.longest_ns = sum.longest_ns.max(ns);
    }

    pub fn finish(self, recorder: &mut Recorder) {
        if self.unmatched > 0 {
            let place = self.first_unmatched.map_or(String::new(), |no| format!("record={no}"));
            let message = "interrupt handlers that returned without having been entered: lost, or running when the recording began";
            let advice = "their time is not in the sums; record with larger buffers (-m 16M)";
            recorder.skip_many("perf_interrupt_unmatched", Severity::Info, self.unmatched, message, advice, &place);
        }
        for ((kind, name, cpu), sum) in self.sums {
            let kind = recorder.text(kind.name());
            recorder.tables.interrupts.push(Interrupt {
                artifact_id: 0,
                kind,
                name,
                cpu,
                count: sum.count,
                timed: sum.timed,
                total_ns: (sum.timed > 0).then_some(sum.total_ns),
                longest_ns: (sum.timed > 0).then_some(sum.longest_ns),
                record_no: sum.record_no,
            });
        }
    }
}
