//! The records of a run of bytes, one after the other, as they lie in the file.

pub use linux_perf_data::linux_perf_event_reader::constants::{
    PERF_RECORD_COMM as COMM, PERF_RECORD_EXIT as EXIT, PERF_RECORD_FORK as FORK, PERF_RECORD_KSYMBOL as KSYMBOL, PERF_RECORD_LOST as LOST,
    PERF_RECORD_LOST_SAMPLES as LOST_SAMPLES, PERF_RECORD_MMAP as MMAP, PERF_RECORD_MMAP2 as MMAP2, PERF_RECORD_SAMPLE as SAMPLE,
    PERF_RECORD_SWITCH as SWITCH, PERF_RECORD_SWITCH_CPU_WIDE as SWITCH_CPU_WIDE, PERF_RECORD_THROTTLE as THROTTLE,
    PERF_RECORD_UNTHROTTLE as UNTHROTTLE,
};

use super::bytes::{Bytes, Order};

/// Records below this come from the kernel, the others from the recording tool.
pub const USER_TYPE_START: u32 = 64;
/// The youngest type of the kernel that is known here (CALLCHAIN_DEFERRED).
pub const KERNEL_TYPE_LAST: u32 = 22;

pub const HEADER_ATTR: u32 = 64;
pub const HEADER_EVENT_TYPE: u32 = 65;
pub const HEADER_TRACING_DATA: u32 = 66;
pub const HEADER_BUILD_ID: u32 = 67;
pub const FINISHED_ROUND: u32 = 68;
pub const ID_INDEX: u32 = 69;
pub const AUXTRACE: u32 = 71;
pub const EVENT_UPDATE: u32 = 78;
pub const HEADER_FEATURE: u32 = 80;
pub const COMPRESSED: u32 = 81;
pub const COMPRESSED2: u32 = 83;

/// simpleperf's own types. They can be larger than 64 KiB: `misc` is the upper half of their size.
pub const SIMPLEPERF_TYPES: std::ops::RangeInclusive<u32> = 32_768..=32_777;

/// `struct perf_event_header`: type, misc, size.
pub const HEADER_BYTES: usize = 8;

/// One record as it lies in the file.
#[derive(Debug, Clone, Copy)]
pub struct RawRecord<'a> {
    pub kind: u32,
    pub misc: u16,
    /// Where its header begins.
    pub offset: usize,
    /// Header and body.
    pub whole: &'a [u8],
    pub body: &'a [u8],
    /// What AUXTRACE and HEADER_TRACING_DATA announce behind themselves.
    pub appendix: &'a [u8],
}

/// Why the walk stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At the last byte.
    Complete,
    /// Inside a record: the rest is missing.
    Cut,
    /// At a record whose size is smaller than its header. There is no way to find the next one.
    BadSize,
}

/// Walks records until the bytes end or stop making sense.
#[derive(Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    order: Order,
    pub end: End,
}

impl<'a> Records<'a> {
    pub fn new(bytes: &'a [u8], order: Order) -> Records<'a> {
        Records { bytes, at: 0, order, end: End::Complete }
    }

    /// Offset of the next header: after the walk, of what could not be read.
    pub fn offset(&self) -> usize {
        self.at
    }

    fn read(&mut self) -> Option<RawRecord<'a>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let Some(mut record) = self.parse(rest) else {
            self.end = if self.end == End::Complete { End::Cut } else { self.end };
            return None;
        };
        record.offset = self.at;
        self.at = self.at.saturating_add(record.whole.len()).saturating_add(record.appendix.len());
        Some(record)
    }

    fn parse(&mut self, rest: &'a [u8]) -> Option<RawRecord<'a>> {
        let mut header = Bytes::new(rest, self.order);
        let (kind, misc, size) = (header.u32()?, header.u16()?, header.u16()?);
        let size = if SIMPLEPERF_TYPES.contains(&kind) { usize::from(misc) << 16 | usize::from(size) } else { usize::from(size) };
        if size < HEADER_BYTES {
            self.end = End::BadSize;
            return None;
        }
        let whole = rest.get(..size)?;
        let body = whole.get(HEADER_BYTES..)?;
        let appendix = match kind {
            AUXTRACE => Bytes::new(body, self.order).u64(),
            HEADER_TRACING_DATA => Bytes::new(body, self.order).u32().map(u64::from),
            _ => None,
        };
        let appendix = Bytes::at(rest, whole.len(), self.order).take(appendix.unwrap_or(0))?;
        Some(RawRecord { kind, misc, offset: 0, whole, body, appendix })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = RawRecord<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawRecord<'a>> {
        self.read()
    }
}
