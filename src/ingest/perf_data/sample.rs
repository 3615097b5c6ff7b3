//! One SAMPLE, field by field in the fixed order of the kernel ABI (`perf_event_open(2)`, PERF_RECORD_SAMPLE).
//!
//! Nothing is copied: chain, raw data, registers and stack are slices of the record. Decoding stops after the last field
//! that is used, so a younger kernel's fields behind it do no harm. Not done with linux-perf-event-reader: it takes
//! the two forms of a READ field for each other, and parsing through it costs more than the rest of the import.

use linux_perf_data::linux_perf_event_reader::constants::*;

use super::attr::{Attr, BRANCH_COUNTERS, FORMAT_LOST};
use super::bytes::{Bytes, Order};

/// What a sample says; `None` and empty where its event does not record it.
#[derive(Debug, Default)]
pub struct Sample<'a> {
    pub ip: Option<u64>,
    /// Process and thread; -1 for a task that is gone.
    pub ids: Option<(i32, i32)>,
    pub cpu: Option<u32>,
    pub period: Option<u64>,
    /// Counters read with the sample, in the event's `read_format`.
    pub read: &'a [u8],
    /// Call chain, words, innermost first, with context markers.
    pub chain: &'a [u8],
    pub raw: &'a [u8],
    /// Last branches (`struct perf_branch_entry`: from, to, flags), youngest first, where the CPU kept them as a call
    /// stack (`--call-graph lbr`).
    pub branches: &'a [u8],
    /// User registers, words in the order of the bits in `attr.regs_user`, and their ABI (1: 32 bit, 2: 64 bit).
    pub regs: Option<(u64, &'a [u8])>,
    /// The user stack from the stack pointer up.
    pub stack: &'a [u8],
}

/// `struct perf_branch_entry`.
pub const BRANCH_BYTES: usize = 24;

/// `None` where the record is too short for what its event promises.
pub fn decode<'a>(attr: &Attr, body: &'a [u8], order: Order) -> Option<Sample<'a>> {
    let mut bytes = Bytes::new(body, order);
    let mut sample = Sample::default();
    if attr.samples(PERF_SAMPLE_IDENTIFIER) {
        bytes.u64()?;
    }
    if attr.samples(PERF_SAMPLE_IP) {
        sample.ip = Some(bytes.u64()?);
    }
    if attr.samples(PERF_SAMPLE_TID) {
        sample.ids = Some((bytes.i32()?, bytes.i32()?));
    }
    for field in [PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID] {
        if attr.samples(field) {
            bytes.u64()?;
        }
    }
    if attr.samples(PERF_SAMPLE_CPU) {
        sample.cpu = Some(bytes.u32()?);
        bytes.u32()?;
    }
    if attr.samples(PERF_SAMPLE_PERIOD) {
        sample.period = Some(bytes.u64()?);
    }
    if attr.samples(PERF_SAMPLE_READ) {
        let from = bytes.rest();
        skip_read(&mut bytes, attr.read_format)?;
        sample.read = from.get(..from.len().saturating_sub(bytes.rest().len())).unwrap_or(&[]);
    }
    if attr.samples(PERF_SAMPLE_CALLCHAIN) {
        let count = bytes.u64()?;
        sample.chain = bytes.items(count, 8)?;
    }
    if attr.samples(PERF_SAMPLE_RAW) {
        let len = bytes.u32()?;
        sample.raw = bytes.take(u64::from(len))?;
    }
    let is_call_stack = attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK != 0;
    if attr.samples(PERF_SAMPLE_BRANCH_STACK) && (is_call_stack || attr.samples(PERF_SAMPLE_STACK_USER)) {
        let branches = branch_stack(attr, &mut bytes)?;
        sample.branches = if is_call_stack { branches } else { &[] };
    }
    if attr.samples(PERF_SAMPLE_STACK_USER) {
        stack_dump(attr, &mut bytes, &mut sample)?;
    }
    Some(sample)
}

/// Counter values that were read with the sample (`struct read_format`).
fn skip_read(bytes: &mut Bytes<'_>, format: u64) -> Option<()> {
    let times = (format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)).count_ones();
    let per_value = 1 + (format & (PERF_FORMAT_ID | FORMAT_LOST)).count_ones();
    if format & PERF_FORMAT_GROUP == 0 {
        return bytes.items(u64::from(times + per_value), 8).map(|_| ());
    }
    let count = bytes.u64()?;
    bytes.items(u64::from(times), 8)?;
    bytes.items(count, u64::from(per_value) * 8).map(|_| ())
}

/// Number, the hardware's index if asked for, entries, counters if asked for.
fn branch_stack<'a>(attr: &Attr, bytes: &mut Bytes<'a>) -> Option<&'a [u8]> {
    let count = bytes.u64()?;
    if attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX != 0 {
        bytes.u64()?;
    }
    let entries = bytes.items(count, BRANCH_BYTES as u64)?;
    if attr.branch_sample_type & BRANCH_COUNTERS != 0 {
        bytes.items(count, 8)?;
    }
    Some(entries)
}

/// User registers, user stack.
fn stack_dump<'a>(attr: &Attr, bytes: &mut Bytes<'a>, sample: &mut Sample<'a>) -> Option<()> {
    if attr.samples(PERF_SAMPLE_REGS_USER) {
        let abi = bytes.u64()?;
        if abi != 0 {
            sample.regs = Some((abi, bytes.items(u64::from(attr.regs_user.count_ones()), 8)?));
        }
    }
    let dumped = bytes.u64()?;
    if dumped != 0 {
        let stack = bytes.take(dumped)?;
        // The space is reserved in full; this many bytes of it were filled.
        let filled = usize::try_from(bytes.u64()?).unwrap_or(usize::MAX);
        sample.stack = stack.get(..filled).unwrap_or(stack);
    }
    Some(())
}

/// A register of the dump by its number in the kernel's list.
pub fn register(attr: &Attr, regs: &[u8], number: u32, order: Order) -> Option<u64> {
    let bit = 1u64.checked_shl(number)?;
    if attr.regs_user & bit == 0 {
        return None;
    }
    let before = (attr.regs_user & (bit - 1)).count_ones() as usize;
    Bytes::at(regs, before * 8, order).u64()
}
