//! Contention of the kernel's own locks: `lock:contention_begin` to `lock:contention_end` of one thread and lock.
//!
//! A mutex that spins first and sleeps then begins again without an end between: the first begin counts, as for
//! `perf lock contention`. An interrupt may contend for another lock meanwhile, so a thread can have several open.

use rustc_hash::FxHashMap;

use super::bytes::Order;
use super::call_names;
use super::field::Field;
use super::payload::Moment;
use super::tasks::IDLE;
use super::tracing::Format;
use crate::ingest::{Recorder, Severity};
use crate::tables::{LockContention, Text};

/// Where the two tracepoints keep what.
#[derive(Debug, Clone)]
pub struct Fields {
    address: Field,
    /// `flags` of the begin, `ret` of the end.
    value: Field,
    /// Names of the flags' bits.
    kinds: Vec<(u64, String)>,
}

impl Fields {
    pub fn of(format: &Format, value: &str) -> Option<Fields> {
        let kinds = format.symbols(value).into_iter().map(|(bit, name)| (bit, name.to_owned())).collect();
        Some(Fields { address: format.field("lock_addr")?, value: format.field(value)?, kinds })
    }

    /// The lock, and the flags or what was returned.
    pub fn read(&self, raw: &[u8], order: Order) -> Option<(i64, i64)> {
        Some((self.address.number(raw, order)?, self.value.number(raw, order)?))
    }

    /// `SPIN|MUTEX`, as the kernel prints it; `None` for no flag (semaphores).
    pub fn kind(&self, flags: i64) -> Option<String> {
        let set = self.kinds.iter().filter(|(bit, _)| *bit != 0 && flags as u64 & bit == *bit).map(|(_, name)| name.as_str());
        Some(set.collect::<Vec<_>>().join("|")).filter(|kind| !kind.is_empty())
    }
}

/// The idle task is one per CPU and has one tid.
type Key = (i32, Option<i32>, i64);

fn key(at: &Moment, address: i64) -> Key {
    (at.tid, at.cpu.filter(|_| at.tid == IDLE), address)
}

/// The contentions of a file.
#[derive(Debug, Default)]
pub struct Locks {
    open: FxHashMap<Key, usize>,
    kinds: FxHashMap<i64, Option<Text>>,
    /// Whether ends were recorded at all.
    pub has_ends: bool,
    unbegun: i64,
    first_unbegun: Option<i64>,
}

impl Locks {
    /// Whether this begins a contention; the second begin of a mutex does not.
    pub fn begins(&self, address: i64, at: &Moment) -> bool {
        !self.has_ends || !self.open.contains_key(&key(at, address))
    }

    pub fn begin(&mut self, fields: &Fields, (address, flags): (i64, i64), at: &Moment, stack: Option<i32>, recorder: &mut Recorder) {
        let kind = self.kinds.entry(flags).or_insert_with(|| fields.kind(flags).map(|kind| recorder.text(&kind))).clone();
        self.open.insert(key(at, address), recorder.tables.lock_contentions.len());
        recorder.tables.lock_contentions.push(LockContention {
            artifact_id: 0,
            thread_id: at.thread,
            address,
            kind,
            start_ns: at.ts,
            dur_ns: None,
            error: None,
            stack_id: stack,
            record_no: at.record_no,
        });
    }

    pub fn end(&mut self, (address, returned): (i64, i64), at: &Moment, recorder: &mut Recorder) {
        let Some(row) = self.open.remove(&key(at, address)) else {
            self.unbegun += 1;
            self.first_unbegun.get_or_insert(at.record_no);
            return;
        };
        let error = (returned < 0).then(|| recorder.text(&call_names::error_name(returned)));
        if let Some(row) = recorder.tables.lock_contentions.get_mut(row) {
            row.dur_ns = Some(at.ts.saturating_sub(row.start_ns).max(0));
            row.error = error;
        }
    }

    pub fn finish(self, recorder: &mut Recorder) {
        let in_flight = if self.has_ends { self.open.len() as i64 } else { 0 };
        if self.unbegun + in_flight > 0 {
            let message = format!(
                "contentions of kernel locks of which one side is missing ({in_flight} without their end, {} without their begin): lost, or in \
                 flight at an end of the recording",
                self.unbegun
            );
            let place = self.first_unbegun.map_or(String::new(), |no| format!("record={no}"));
            let advice = "those without an end have no duration; record with larger buffers (-m 16M)";
            recorder.skip_many("perf_lock_unmatched", Severity::Info, self.unbegun + in_flight, &message, advice, &place);
        }
    }
}
