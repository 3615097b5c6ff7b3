//! The file from its magic to its last record.

use std::collections::HashMap;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use super::words::Words;
use super::{Event, Sample, Walk};

const EVENT_DESC: u32 = 12;
/// Types of records that the recording tool writes.
const ATTR: u32 = 64;
const TRACING_DATA: u32 = 66;
const AUXTRACE: u32 = 71;
const EVENT_UPDATE: u32 = 78;
const FEATURE: u32 = 80;
const COMPRESSED: u32 = 81;
const COMPRESSED2: u32 = 83;
const SAMPLE: u32 = 9;
/// What one compressed record may grow to.
const PIECE_BYTES_MAX: usize = 64 << 20;

/// Bits of `sample_type` in the order in which a sample has their fields, each a word, up to the period.
const IDENTIFIER: u64 = 1 << 16;
const IP: u64 = 1;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDR: u64 = 1 << 3;
const ID: u64 = 1 << 6;
const STREAM_ID: u64 = 1 << 9;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const FIELDS: [u64; 9] = [IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD];
const READ: u64 = 1 << 4;

/// Reads the file. What lies behind damage is missing in the walk; `Err` where it is no perf.data file at all.
pub fn walk(file: &[u8]) -> Result<Walk, String> {
    let big = file.starts_with(b"2ELIFREP");
    if !big && !file.starts_with(b"PERFILE2") {
        return Err("the walk knows files that begin with PERFILE2 or 2ELIFREP only".to_owned());
    }
    let file = Words { bytes: file, big };
    let mut walk = Walk::default();
    let data = if file.u64(8) == Some(16) { file.part(16, u64::MAX) } else { header(file, &mut walk).ok_or("the header is cut")? };
    if walk.events.is_empty() {
        let mut known = Walk::default();
        Records::new(&mut known, true).some(data, true);
        walk.events = known.events;
    }
    if walk.events.is_empty() {
        return Err("the file describes no event".to_owned());
    }
    Records::new(&mut walk, false).some(data, true);
    Ok(walk)
}

/// File mode: attrs with the sections of their ids, the data section, the table of features behind it.
fn header<'a>(file: Words<'a>, walk: &mut Walk) -> Option<Words<'a>> {
    let entry = file.u64(16).filter(|bytes| (80..1 << 16).contains(bytes))?;
    let attrs = file.part(file.u64(24)?, file.u64(32)?);
    let (data_at, mut data_bytes) = (file.u64(40)?, file.u64(48)?);
    for at in (0..attrs.bytes.len() as u64).step_by(entry as usize) {
        let own = attrs.part(at, entry);
        let Some((ids_at, ids_bytes)) = own.u64(entry as usize - 16).zip(own.u64(entry as usize - 8)) else { break };
        let mut event = event(own)?;
        event.ids = file.part(ids_at, ids_bytes).all_u64(0).collect();
        walk.events.push(event);
    }
    if data_bytes == 0 {
        // Aborted: the records go on to the end, and there are no features.
        data_bytes = u64::MAX;
    } else if let Some(section) = feature_at(file, data_at.saturating_add(data_bytes)) {
        describe(section, walk);
    }
    Some(file.part(data_at, data_bytes))
}

/// The section of EVENT_DESC: one entry per bit of the header's set, in its order.
fn feature_at(file: Words<'_>, table: u64) -> Option<Words<'_>> {
    let set = file.u64(72)?;
    if set & (1 << EVENT_DESC) == 0 {
        return None;
    }
    let before = u64::from((set & ((1 << EVENT_DESC) - 1)).count_ones());
    let entry = file.part(table.checked_add(before * 16)?, 16);
    Some(file.part(entry.u64(0)?, entry.u64(8)?))
}

/// Names by EVENT_DESC: count, size of an attr, then per event attr, number of ids, name, ids.
fn describe(section: Words<'_>, walk: &mut Walk) -> Option<()> {
    let (count, size) = (section.u32(0)? as usize, section.u32(4)? as usize);
    let mut at = 8_usize;
    for nth in 0..count.min(walk.events.len()) {
        at = at.checked_add(size)?;
        let (ids, len) = (section.u32(at)? as usize, section.u32(at.checked_add(4)?)? as usize);
        let name = section.part(at as u64 + 8, len as u64);
        let end = name.bytes.iter().position(|byte| *byte == 0).unwrap_or(name.bytes.len());
        let name = String::from_utf8_lossy(name.bytes.get(..end)?).into_owned();
        walk.events.get_mut(nth)?.name = Some(name).filter(|name| !name.is_empty());
        at = at.checked_add(8)?.checked_add(len)?.checked_add(ids.checked_mul(8)?)?;
    }
    Some(())
}

/// `struct perf_event_attr`.
fn event(attr: Words<'_>) -> Option<Event> {
    let flags = attr.u64(40)?;
    // A bit field begins at the other end on a big-endian machine.
    let flags = if attr.big { flags.reverse_bits() } else { flags };
    let sample_type = attr.u64(24)?;
    Some(Event {
        kind: attr.u32(0)?,
        config: attr.u64(8)?,
        period: attr.u64(16)?,
        is_frequency: flags & (1 << 10) != 0,
        sample_type,
        reads_group: sample_type & READ != 0 && attr.u64(32)? & (1 << 3) != 0,
        ids: Vec::new(),
        name: None,
    })
}

/// The walk over the records, those inside of compressed ones in their place.
struct Records<'w> {
    walk: &'w mut Walk,
    /// Only records that describe events (pipe mode has them among the others).
    only_meta: bool,
    packed: Option<Decoder<'static>>,
    /// The beginning of a record whose rest is in the next compressed one.
    begun: Vec<u8>,
    by_id: HashMap<u64, usize>,
}

impl Records<'_> {
    fn new(walk: &mut Walk, only_meta: bool) -> Records<'_> {
        let ids = walk.events.iter().enumerate().rev().flat_map(|(at, event)| event.ids.iter().map(move |id| (*id, at)));
        let by_id = ids.collect();
        Records { walk, only_meta, packed: None, begun: Vec::new(), by_id }
    }

    /// Walks as far as whole records go; gives where that is.
    fn some(&mut self, data: Words<'_>, outer: bool) -> usize {
        let mut at = 0_usize;
        while let Some((kind, size, behind)) = size_of(data, at) {
            let body = data.part(at as u64 + 8, size as u64 - 8);
            if outer && matches!(kind, COMPRESSED | COMPRESSED2) {
                if !self.only_meta && self.inflate(kind, body).is_none() {
                    self.packed = None;
                    self.begun.clear();
                }
            } else {
                self.one(kind, body);
                self.walk.records += 1;
            }
            at += size + behind;
        }
        at
    }

    fn inflate(&mut self, kind: u32, body: Words<'_>) -> Option<()> {
        let body = if kind == COMPRESSED2 { body.part(8, body.u64(0)?) } else { body };
        let decoder = match &mut self.packed {
            Some(decoder) => decoder,
            None => self.packed.insert(Decoder::new().ok()?),
        };
        let mut piece = std::mem::take(&mut self.begun);
        let mut block = vec![0; 1 << 17];
        let mut input = InBuffer::around(body.bytes);
        loop {
            let mut output = OutBuffer::around(block.as_mut_slice());
            decoder.run(&mut input, &mut output).ok()?;
            let full = output.pos() == 1 << 17;
            piece.extend_from_slice(output.as_slice());
            if piece.len() > PIECE_BYTES_MAX {
                return None;
            }
            if !full && input.pos() >= body.bytes.len() {
                break;
            }
        }
        let end = self.some(Words { bytes: &piece, big: body.big }, false);
        self.begun = piece.get(end..).unwrap_or(&[]).to_vec();
        Some(())
    }

    fn one(&mut self, kind: u32, body: Words<'_>) {
        match kind {
            SAMPLE if !self.only_meta => self.sample(body),
            ATTR if self.only_meta => {
                if let Some(mut event) = event(body) {
                    let size = body.u32(4).filter(|size| *size >= 64).unwrap_or(64);
                    event.ids = body.all_u64(size as usize).collect();
                    self.walk.events.push(event);
                }
            }
            FEATURE if self.only_meta && body.u64(0) == Some(u64::from(EVENT_DESC)) => {
                describe(body.part(8, u64::MAX), self.walk);
            }
            EVENT_UPDATE if self.only_meta && body.u64(0) == Some(2) => {
                let id = body.u64(8);
                let name: Vec<u8> = body.part(16, u64::MAX).bytes.iter().copied().take_while(|byte| *byte != 0).collect();
                if let Some(event) = self.walk.events.iter_mut().find(|event| id.is_some_and(|id| event.ids.contains(&id))) {
                    event.name = Some(String::from_utf8_lossy(&name).into_owned());
                }
            }
            _ => {}
        }
    }

    fn sample(&mut self, body: Words<'_>) {
        let Some(event) = self.event_of(body) else { return };
        let Some(attr) = self.walk.events.get(event) else { return };
        let field = |wanted: u64| word_of(attr.sample_type, wanted).filter(|_| attr.sample_type & wanted != 0);
        let half = |at: usize| body.u32(at).map_or(-1, |half| half as i32);
        let (pid, tid) = field(TID).map_or((-1, -1), |at| (half(at), half(at + 4)));
        let default = if attr.is_frequency { 1 } else { i64::try_from(attr.period).unwrap_or(i64::MAX).max(1) };
        let weight = match field(PERIOD) {
            Some(at) => match body.u64(at) {
                Some(period) => i64::try_from(period).unwrap_or(i64::MAX),
                // Too short for what its event promises.
                None => return,
            },
            None => default,
        };
        let time = field(TIME).and_then(|at| body.u64(at)).filter(|time| *time != 0 && *time != u64::MAX);
        self.walk.samples.push(Sample { record: self.walk.records, event, pid, tid, time, weight });
    }

    /// Which event a sample is of, by the id in it; the only one needs none.
    fn event_of(&self, body: Words<'_>) -> Option<usize> {
        let events = &self.walk.events;
        if events.len() == 1 {
            return Some(0);
        }
        let with_id = events.iter().find(|event| event.sample_type & (IDENTIFIER | ID) != 0);
        let Some(with_id) = with_id else { return Some(0) };
        let wanted = if with_id.sample_type & IDENTIFIER != 0 { IDENTIFIER } else { ID };
        let id = body.u64(word_of(with_id.sample_type, wanted)?)?;
        self.by_id.get(&id).copied()
    }
}

/// Where a field is in a sample of that type.
fn word_of(sample_type: u64, wanted: u64) -> Option<usize> {
    let before = FIELDS.iter().position(|field| *field == wanted)?;
    Some(FIELDS.iter().take(before).filter(|field| sample_type & **field != 0).count() * 8)
}

/// Type and size of the record at `at`, and how many bytes it announces behind itself; `None` where no whole one is.
fn size_of(data: Words<'_>, at: usize) -> Option<(u32, usize, usize)> {
    let (kind, misc, low) = (data.u32(at)?, data.u16(at.checked_add(4)?)?, data.u16(at.checked_add(6)?)?);
    // simpleperf's own records keep the upper half of their size in `misc`.
    let size = if (32_768..=32_777).contains(&kind) { usize::from(misc) << 16 | usize::from(low) } else { usize::from(low) };
    let body = at.checked_add(8)?;
    let behind = match kind {
        AUXTRACE => usize::try_from(data.u64(body)?).ok()?,
        TRACING_DATA => data.u32(body)? as usize,
        _ => 0,
    };
    let end = at.checked_add(size)?.checked_add(behind)?;
    (size >= 8 && end <= data.bytes.len()).then_some((kind, size, behind))
}
