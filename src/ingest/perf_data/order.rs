//! Records in the order in which things happened, from a file that is ordered per CPU only.
//!
//! `perf record` copies one ring buffer per CPU after the other and then writes FINISHED_ROUND. No record of a later
//! round is older than the newest record of the round before the previous one, so at each FINISHED_ROUND everything up
//! to the newest time of the *previous* round can be handed on, sorted:
//!
//! ```text
//! round 1   |=========|             newest: a
//! round 2        |==========|       newest: b      at its end: hand on everything up to a
//! round 3              |=========|                 at its end: hand on everything up to b
//! ```
//!
//! Only an index entry per record is held, never the record: it is read again from the mapped file when its turn
//! comes. The sort is stable (equal times keep their order in the file) and finds the ascending runs of the CPUs.
//! A record without a time (made up by perf from /proc, or of an old kernel) takes the time of the one before it.

use std::collections::{BTreeMap, VecDeque};

use super::attr::Attr;
use super::bytes::{Bytes, Order};
use super::compressed::Inflater;
use super::records::{self, End, HEADER_BYTES, RawRecord, Records};
use rustc_hash::FxHashMap;

/// A record whose turn has come.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    pub kind: u32,
    pub misc: u16,
    pub body: &'a [u8],
    /// Where the body lies in the data section; `None` for a compressed record.
    pub body_at: Option<usize>,
    /// Its number in file order, from 0, compressed records expanded.
    pub no: i64,
    /// As recorded; `None` where it has none.
    pub time: Option<u64>,
    /// Its event; `None` where its id is unknown.
    pub attr: Option<usize>,
}

/// What the walk found besides the records.
#[derive(Debug, Default)]
pub struct Walk {
    /// Records, compressed ones expanded.
    pub records: i64,
    pub by_type: BTreeMap<u32, i64>,
    /// Records that were older than one handed on before.
    pub out_of_order: i64,
    pub first_out_of_order: Option<i64>,
    /// Offset in the data section at which the walk stopped early, and why.
    pub stopped: Option<(usize, End)>,
    /// Why decompression stopped, where it did.
    pub inflate_error: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    time: u64,
    no: i64,
    /// 0: the file itself; else one more than the number of an inflated piece.
    piece: u32,
    offset: usize,
    attr: u32,
    timed: bool,
}

const NO_ATTR: u32 = u32::MAX;
/// Inflated bytes that may be held back for sorting; past this a round is closed early.
const HELD_BYTES_MAX: usize = 512 << 20;

/// Where records keep their event id and time; the same place for all events of a file, or it could not be read.
struct Layout {
    sample_id_at: Option<usize>,
    trailer_id_from_end: Option<usize>,
    by_id: FxHashMap<u64, u32>,
    /// Time in a SAMPLE from the start, in others from the end, per event.
    times: Vec<(Option<usize>, Option<usize>)>,
}

impl Layout {
    fn new(attrs: &[Attr]) -> Layout {
        let ids = attrs.iter().enumerate().flat_map(|(index, attr)| attr.ids.iter().map(move |id| (*id, index as u32)));
        Layout {
            sample_id_at: attrs.first().and_then(Attr::sample_id_at),
            trailer_id_from_end: attrs.first().and_then(Attr::trailer_id_from_end),
            by_id: ids.collect(),
            times: attrs.iter().map(|attr| (attr.sample_time_at(), attr.trailer_time_from_end())).collect(),
        }
    }

    fn attr_of(&self, record: &RawRecord<'_>, order: Order) -> Option<u32> {
        if self.times.len() == 1 {
            return Some(0);
        }
        let is_sample = record.kind == records::SAMPLE;
        let place =
            if is_sample { self.sample_id_at } else { self.trailer_id_from_end.and_then(|back| record.body.len().checked_sub(back)) };
        // Without ids in the records all belong to the first event, as perf has it.
        let Some(place) = place else { return Some(0) };
        let id = Bytes::at(record.body, place, order).u64()?;
        match self.by_id.get(&id) {
            Some(index) => Some(*index),
            None if id == 0 && !is_sample => Some(0),
            None => None,
        }
    }

    fn time_of(&self, record: &RawRecord<'_>, attr: u32, order: Order) -> Option<u64> {
        let (in_sample, from_end) = self.times.get(attr as usize).copied()?;
        let place = if record.kind == records::SAMPLE { in_sample? } else { record.body.len().checked_sub(from_end?)? };
        Bytes::at(record.body, place, order).u64().filter(|time| *time != 0 && *time != u64::MAX)
    }
}

/// Hands every record of the kernel to `sink`, oldest first.
pub fn walk<F: FnMut(&Record<'_>)>(data: &[u8], order: Order, attrs: &[Attr], sink: F) -> Walk {
    let mut walker = Walker {
        data,
        order,
        layout: Layout::new(attrs),
        sink,
        walk: Walk::default(),
        pending: Vec::new(),
        last_time: 0,
        newest: 0,
        newest_before: 0,
        handed_on: 0,
        pieces: VecDeque::new(),
        pieces_gone: 0,
        held_bytes: 0,
        inflater: Inflater::default(),
        common: [0; 128],
    };
    walker.run();
    let common = walker.common.iter().enumerate().filter(|(_, count)| **count > 0);
    walker.walk.by_type.extend(common.map(|(kind, count)| (kind as u32, *count)));
    walker.walk
}

struct Walker<'a, F> {
    data: &'a [u8],
    order: Order,
    layout: Layout,
    sink: F,
    walk: Walk,
    pending: Vec<Entry>,
    last_time: u64,
    newest: u64,
    newest_before: u64,
    handed_on: u64,
    /// Inflated pieces that pending entries still point into.
    pieces: VecDeque<Vec<u8>>,
    pieces_gone: u32,
    held_bytes: usize,
    inflater: Inflater,
    /// Records of the types below its length.
    common: [i64; 128],
}

impl<F: FnMut(&Record<'_>)> Walker<'_, F> {
    fn run(&mut self) {
        let mut outer = Records::new(self.data, self.order);
        for record in outer.by_ref() {
            match record.kind {
                records::COMPRESSED | records::COMPRESSED2 => self.inflate(&record),
                _ => self.take(&record, 0),
            }
        }
        if outer.end != End::Complete {
            self.walk.stopped = Some((outer.offset(), outer.end));
        }
        self.hand_on(u64::MAX);
    }

    #[inline]
    fn count(&mut self, kind: u32) {
        match self.common.get_mut(kind as usize) {
            Some(count) => *count += 1,
            None => *self.walk.by_type.entry(kind).or_default() += 1,
        }
    }

    fn inflate(&mut self, record: &RawRecord<'_>) {
        self.count(record.kind);
        if self.walk.inflate_error.is_some() {
            return;
        }
        let piece = match self.inflater.inflate(record, self.order) {
            Ok(piece) => piece,
            Err(error) => {
                self.walk.inflate_error = Some(error);
                return;
            }
        };
        let number = self.pieces_gone.saturating_add(self.pieces.len() as u32).saturating_add(1);
        let mut inner = Records::new(&piece, self.order);
        for record in inner.by_ref() {
            self.take(&record, number);
        }
        let rest = piece.get(inner.offset()..).unwrap_or(&[]);
        match inner.end {
            End::BadSize => self.walk.inflate_error = Some("a record in it has no size".to_owned()),
            _ => self.inflater.keep(rest),
        }
        self.held_bytes = self.held_bytes.saturating_add(piece.len());
        self.pieces.push_back(piece);
        if self.held_bytes > HELD_BYTES_MAX {
            self.hand_on(u64::MAX);
        }
    }

    #[inline]
    fn take(&mut self, record: &RawRecord<'_>, piece: u32) {
        let no = self.walk.records;
        self.walk.records += 1;
        self.count(record.kind);
        if record.kind == records::FINISHED_ROUND {
            let limit = self.newest_before;
            self.newest_before = self.newest;
            self.hand_on(limit);
            return;
        }
        if record.kind >= records::USER_TYPE_START {
            return;
        }
        let attr = self.layout.attr_of(record, self.order);
        let time = self.layout.time_of(record, attr.unwrap_or(0), self.order);
        let key = time.unwrap_or(self.last_time);
        self.last_time = key;
        self.newest = self.newest.max(key);
        let entry = Entry { time: key, no, piece, offset: record.offset, attr: attr.unwrap_or(NO_ATTR), timed: time.is_some() };
        self.pending.push(entry);
    }

    /// Sorts and hands on what is not younger than `limit`.
    fn hand_on(&mut self, limit: u64) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_by_key(|entry| entry.time);
        let ready = pending.partition_point(|entry| entry.time <= limit);
        for entry in pending.drain(..ready) {
            self.emit(&entry);
        }
        // What is left keeps its order in the file, which the next sort needs for equal times.
        pending.sort_unstable_by_key(|entry| entry.no);
        self.pending = pending;
        self.release();
    }

    fn emit(&mut self, entry: &Entry) {
        let bytes = match entry.piece.checked_sub(self.pieces_gone.saturating_add(1)) {
            Some(place) if entry.piece > 0 => self.pieces.get(place as usize).map(Vec::as_slice),
            _ => Some(self.data),
        };
        let bytes = bytes.and_then(|bytes| bytes.get(entry.offset..)).unwrap_or(&[]);
        let Some(record) = Records::new(bytes, self.order).next() else { return };
        if entry.timed && entry.time < self.handed_on {
            self.walk.out_of_order += 1;
            self.walk.first_out_of_order.get_or_insert(entry.no);
        }
        self.handed_on = self.handed_on.max(entry.time);
        let attr = (entry.attr != NO_ATTR).then_some(entry.attr as usize);
        let time = entry.timed.then_some(entry.time);
        let body_at = (entry.piece == 0).then_some(entry.offset.saturating_add(HEADER_BYTES));
        (self.sink)(&Record { kind: record.kind, misc: record.misc, body: record.body, body_at, no: entry.no, time, attr });
    }

    /// Drops inflated pieces that no entry points into.
    fn release(&mut self) {
        let needed = self.pending.iter().map(|entry| entry.piece).filter(|piece| *piece > 0).min();
        while !self.pieces.is_empty() && needed.is_none_or(|needed| self.pieces_gone.saturating_add(1) < needed) {
            if let Some(piece) = self.pieces.pop_front() {
                self.held_bytes = self.held_bytes.saturating_sub(piece.len());
            }
            self.pieces_gone = self.pieces_gone.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use linux_perf_data::linux_perf_event_reader::constants::*;

    use super::*;

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend_from_slice(&[0, 0]);
        bytes.extend_from_slice(&(8 + body.len() as u16).to_le_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    fn times(data: &[u8]) -> (Vec<(i64, u64)>, Walk) {
        let attr = Attr { sample_type: PERF_SAMPLE_TIME, ..Attr::default() };
        let mut seen = Vec::new();
        let walk = walk(data, Order::Little, &[attr], |record| seen.push((record.no, record.time.unwrap_or(0))));
        (seen, walk)
    }

    // The example in perf's own comment on FINISHED_ROUND (tools/perf/util/ordered-events.c): per round first what one
    // CPU wrote, then the other.
    #[test]
    fn rounds_are_merged_by_time() {
        let rounds: [&[u64]; 3] = [&[1, 2, 2, 3, 4], &[3, 4, 5, 6, 7], &[6, 7, 8, 9, 10]];
        let mut data = Vec::new();
        for round in rounds {
            round.iter().for_each(|time| data.extend(record(records::SAMPLE, &time.to_le_bytes())));
            data.extend(record(records::FINISHED_ROUND, &[]));
        }
        let (seen, walk) = times(&data);
        let found: Vec<u64> = seen.iter().map(|(_, time)| *time).collect();
        assert_eq!(found, [1, 2, 2, 3, 3, 4, 4, 5, 6, 6, 7, 7, 8, 9, 10]);
        assert!(seen.windows(2).all(|pair| pair[0].1 < pair[1].1 || pair[0].0 < pair[1].0), "equal times keep their order");
        assert_eq!((walk.records, walk.out_of_order), (18, 0));
    }

    #[test]
    fn what_comes_too_late_is_counted() {
        let mut data = Vec::new();
        for round in [[10u64, 20], [30, 40], [50, 5], [60, 70]] {
            round.iter().for_each(|time| data.extend(record(records::SAMPLE, &time.to_le_bytes())));
            data.extend(record(records::FINISHED_ROUND, &[]));
        }
        let (seen, walk) = times(&data);
        assert_eq!(seen.len(), 8);
        assert_eq!((walk.out_of_order, walk.first_out_of_order), (1, Some(7)));
    }

    #[test]
    fn a_record_without_size_ends_the_walk() {
        let mut data = record(records::SAMPLE, &7u64.to_le_bytes());
        data.extend([9, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]);
        let (seen, walk) = times(&data);
        assert_eq!(seen, [(0, 7)]);
        assert_eq!(walk.stopped, Some((16, End::BadSize)));
    }
}
