//! `perf_event_attr`: how one event was recorded, and where its records keep id and time.
//!
//! Read by hand, because files come with attrs of any size: a shorter one is filled with zeros, of a longer one the
//! known part is read. linux-perf-event-reader refuses the whole file over an event type or clock that it does not know.

use linux_perf_data::linux_perf_event_reader::constants::*;

use super::bytes::{Bytes, Order};

/// The fields of `perf_event_attr` that decide how records are read, and what the file says about the event.
#[derive(Debug, Clone, Default)]
pub struct Attr {
    pub kind: u32,
    pub config: u64,
    /// Hz if `flags` has FREQ, else events per sample.
    pub period_or_frequency: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub branch_sample_type: u64,
    pub regs_user: u64,
    pub clock_id: u32,
    /// 0 where the file does not say.
    pub max_stack: u16,
    pub ids: Vec<u64>,
    /// As recorded; derived from type and config where the file has none.
    pub name: Option<String>,
}

/// `PERF_ATTR_SIZE_VER0`: no kernel has written less.
const SIZE_MIN: usize = 64;

/// PERF_FORMAT_LOST and PERF_SAMPLE_BRANCH_COUNTERS are younger than linux-perf-event-reader's constants.
pub const FORMAT_LOST: u64 = 1 << 4;
pub const BRANCH_COUNTERS: u64 = 1 << 19;

impl Attr {
    /// Reads an attr from the bytes it may occupy; what lies past its own `size` is not looked at.
    pub fn parse(bytes: &[u8], order: Order) -> Attr {
        let size = Bytes::at(bytes, 4, order).u32().unwrap_or(0) as usize;
        let size = if size < SIZE_MIN { SIZE_MIN } else { size };
        let bytes = bytes.get(..size).unwrap_or(bytes);
        let word = |offset: usize| Bytes::at(bytes, offset, order).u64().unwrap_or(0);
        let half = |offset: usize| Bytes::at(bytes, offset, order).u32().unwrap_or(0);
        Attr {
            kind: half(0),
            config: word(8),
            period_or_frequency: word(16),
            sample_type: word(24),
            read_format: word(32),
            flags: match order {
                Order::Little => word(40),
                // A C bit field begins at the other end on a big-endian machine.
                Order::Big => word(40).reverse_bits(),
            },
            branch_sample_type: word(72),
            regs_user: word(80),
            clock_id: half(92),
            max_stack: Bytes::at(bytes, 108, order).u16().unwrap_or(0),
            ids: Vec::new(),
            name: None,
        }
    }

    pub fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    pub fn samples(&self, field: u64) -> bool {
        self.sample_type & field != 0
    }

    /// Words of the sample that come before its time: identifier, ip, pid and tid.
    fn sample_words_before(&self, fields: u64) -> usize {
        (self.sample_type & fields).count_ones() as usize * 8
    }

    /// Where a SAMPLE keeps its time.
    pub fn sample_time_at(&self) -> Option<usize> {
        let before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
        self.samples(PERF_SAMPLE_TIME).then(|| self.sample_words_before(before))
    }

    /// Where a SAMPLE keeps the id of its event.
    pub fn sample_id_at(&self) -> Option<usize> {
        if self.samples(PERF_SAMPLE_IDENTIFIER) {
            return Some(0);
        }
        let before = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
        self.samples(PERF_SAMPLE_ID).then(|| self.sample_words_before(before))
    }

    /// Bytes of `struct sample_id` at the end of all other records; 0 without `sample_id_all`.
    pub fn trailer_bytes(&self) -> usize {
        self.trailer_from(PERF_SAMPLE_TID)
    }

    /// How far from the end the trailer's time is.
    pub fn trailer_time_from_end(&self) -> Option<usize> {
        (self.has(ATTR_FLAG_BIT_SAMPLE_ID_ALL) && self.samples(PERF_SAMPLE_TIME)).then(|| self.trailer_from(PERF_SAMPLE_TIME))
    }

    /// How far from the end the trailer's event id is.
    pub fn trailer_id_from_end(&self) -> Option<usize> {
        if !self.has(ATTR_FLAG_BIT_SAMPLE_ID_ALL) {
            return None;
        }
        if self.samples(PERF_SAMPLE_IDENTIFIER) {
            return Some(8);
        }
        self.samples(PERF_SAMPLE_ID).then(|| self.trailer_from(PERF_SAMPLE_ID))
    }

    /// Bytes of the trailer from a field to its end. Order: tid, time, id, stream id, cpu, identifier.
    fn trailer_from(&self, first: u64) -> usize {
        if !self.has(ATTR_FLAG_BIT_SAMPLE_ID_ALL) {
            return 0;
        }
        let fields = [PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER];
        let from = fields.iter().position(|field| *field == first).unwrap_or(0);
        fields.iter().skip(from).filter(|field| self.samples(**field)).count() * 8
    }
}
