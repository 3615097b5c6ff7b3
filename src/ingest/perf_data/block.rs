//! Block requests: inserted into a queue, issued to the device, completed.
//!
//! The tracepoints name a request by device and first sector only. Two requests for one sector are not in flight at the
//! same time, except flushes, which have none: the kernel runs one of those at a time and tells its begin as sector 0
//! and its end as sector -1. A request may be completed in parts: the rest then begins behind the part. What was asked
//! for only to flush (no data) is completed without having been issued; that is no loss.

use rustc_hash::FxHashMap;

use super::bytes::Order;
use super::call_names;
use super::field::Field;
use super::payload::Moment;
use super::tracing::Format;
use crate::ingest::{Recorder, Severity};
use crate::tables::BlockRequest;

/// Where the block tracepoints keep what.
#[derive(Debug, Clone)]
pub struct Fields {
    device: Field,
    sector: Field,
    sectors: Field,
    operation: Field,
    bytes: Option<Field>,
    error: Option<Field>,
}

impl Fields {
    pub fn of(format: &Format) -> Option<Fields> {
        Some(Fields {
            device: format.field("dev")?,
            sector: format.field("sector")?,
            sectors: format.field("nr_sector")?,
            operation: format.field("rwbs")?,
            bytes: format.field("bytes"),
            // `errors` before Linux 4.12
            error: format.field("error").or_else(|| format.field("errors")),
        })
    }

    pub fn read<'a>(&self, raw: &'a [u8], order: Order) -> Option<Told<'a>> {
        let (sector, sectors) = (self.sector.number(raw, order)?, self.sectors.number(raw, order)?);
        let operation = self.operation.text(raw, order)?;
        let sized = self.bytes.and_then(|field| field.number(raw, order));
        Some(Told {
            key: Key { device: self.device.number(raw, order)?, sector: if sector == -1 { 0 } else { sector }, has_data: sectors != 0 },
            sectors,
            bytes: sized.unwrap_or(sectors.saturating_mul(512)),
            operation,
            error: self.error.and_then(|field| field.number(raw, order)),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    device: i64,
    sector: i64,
    has_data: bool,
}

/// What one record says of a request.
#[derive(Debug)]
pub struct Told<'a> {
    key: Key,
    sectors: i64,
    bytes: i64,
    operation: std::borrow::Cow<'a, str>,
    error: Option<i64>,
}

/// Who put a request into the queue, and when.
#[derive(Debug, Clone, Copy)]
struct Queued {
    ts: i64,
    thread: Option<i32>,
    stack: Option<i32>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    row: usize,
    sectors: i64,
    /// Taken back to be issued again: its time goes on.
    is_requeued: bool,
}

/// The requests of a file.
#[derive(Debug, Default)]
pub struct Blocks {
    queued: FxHashMap<Key, Queued>,
    open: FxHashMap<Key, Open>,
    /// Whether completions were recorded at all.
    pub has_ends: bool,
    unended: i64,
    unbegun: i64,
    first_unmatched: Option<i64>,
}

impl Blocks {
    pub fn insert(&mut self, told: &Told<'_>, at: &Moment, stack: Option<i32>) {
        self.queued.insert(told.key, Queued { ts: at.ts, thread: at.thread, stack });
    }

    pub fn issue(&mut self, told: &Told<'_>, at: &Moment, stack: Option<i32>, recorder: &mut Recorder) {
        let queued = self.queued.remove(&told.key);
        if let Some(open) = self.open.get_mut(&told.key) {
            if open.is_requeued {
                open.is_requeued = false;
                return;
            }
            if self.has_ends {
                self.unended += 1;
                self.first_unmatched.get_or_insert(at.record_no);
            }
        }
        let row = recorder.tables.block_requests.len();
        let device = told.key.device as u32;
        // The kernel's own form of a device number: 12 bits major, 20 bits minor.
        let device = recorder.text(&format!("{},{}", device >> 20, device & 0xf_ffff));
        let operation = recorder.text(&told.operation);
        recorder.tables.block_requests.push(BlockRequest {
            artifact_id: 0,
            thread_id: queued.map_or(at.thread, |queued| queued.thread),
            device,
            sector: told.key.has_data.then_some(told.key.sector),
            bytes: told.bytes,
            operation,
            start_ns: at.ts,
            queued_ns: queued.map(|queued| at.ts.saturating_sub(queued.ts).max(0)),
            dur_ns: None,
            error: None,
            stack_id: queued.map_or(stack, |queued| queued.stack.or(stack)),
            record_no: at.record_no,
        });
        self.open.insert(told.key, Open { row, sectors: told.sectors, is_requeued: false });
    }

    /// Taken back by the driver; it will be issued again.
    pub fn requeue(&mut self, told: &Told<'_>) {
        if let Some(open) = self.open.get_mut(&told.key) {
            open.is_requeued = true;
        }
    }

    pub fn complete(&mut self, told: &Told<'_>, at: &Moment, recorder: &mut Recorder) {
        let Some(open) = self.open.remove(&told.key) else {
            if told.key.has_data {
                self.unbegun += 1;
                self.first_unmatched.get_or_insert(at.record_no);
            }
            return;
        };
        let rest = open.sectors.saturating_sub(told.sectors);
        if told.key.has_data && rest > 0 && told.sectors > 0 {
            let key = Key { sector: told.key.sector.saturating_add(told.sectors), ..told.key };
            self.open.insert(key, Open { sectors: rest, ..open });
            return;
        }
        let error = told.error.filter(|error| *error != 0).map(|error| recorder.text(&call_names::error_name(error)));
        if let Some(row) = recorder.tables.block_requests.get_mut(open.row) {
            row.dur_ns = Some(at.ts.saturating_sub(row.start_ns).max(0));
            row.error = error;
        }
    }

    pub fn finish(self, recorder: &mut Recorder) {
        let in_flight = if self.has_ends { self.open.len() as i64 } else { 0 };
        let count = self.unended + self.unbegun + in_flight;
        if count > 0 {
            let message = format!(
                "block requests of which one side is missing ({} without their completion, {in_flight} of them in flight at the end; {} without \
                 their issue)",
                self.unended + in_flight,
                self.unbegun
            );
            let place = self.first_unmatched.map_or(String::new(), |no| format!("record={no}"));
            let advice = "those without a completion have no duration; record the whole system (-a): completions come in interrupts";
            recorder.skip_many("perf_block_unmatched", Severity::Info, count, &message, advice, &place);
        }
    }
}
