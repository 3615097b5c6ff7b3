//! The records of a jitdump file: code that was loaded or moved, and its lines.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Piece, Timeline, hit, text};

const MAGIC: u32 = 0x4A69_5444;
/// The times are those of the machine's cycle counter: not comparable with a recording's.
const ARCH_TIMESTAMP: u64 = 1;
const LOAD: u32 = 0;
const MOVE: u32 = 1;
const DEBUG_INFO: u32 = 2;
/// A function with more lines than this is generated nonsense.
const LINES_MAX: usize = 1 << 16;

pub fn is_dump(bytes: &[u8]) -> bool {
    matches!(bytes.get(..4), Some(b"JiTD" | b"DTiJ"))
}

/// Reads fields one after the other; nothing behind the end.
#[derive(Clone, Copy)]
struct Fields<'a> {
    rest: &'a [u8],
    little: bool,
}

impl<'a> Fields<'a> {
    fn u32(&mut self) -> Option<u32> {
        let (head, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(if self.little { u32::from_le_bytes(*head) } else { u32::from_be_bytes(*head) })
    }

    fn u64(&mut self) -> Option<u64> {
        let (head, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(if self.little { u64::from_le_bytes(*head) } else { u64::from_be_bytes(*head) })
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(head)
    }

    fn c_string(&mut self) -> Option<&'a [u8]> {
        let len = self.rest.iter().position(|byte| *byte == 0)?;
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest.get(1..)?;
        Some(head)
    }
}

#[derive(Clone, Copy)]
struct Record<'a> {
    kind: u32,
    time: u64,
    body: Fields<'a>,
}

/// Magic, version, size of the header, machine, padding, pid, time, flags.
fn header(bytes: &[u8]) -> Option<(bool, Fields<'_>)> {
    let little = u32::from_le_bytes(*bytes.first_chunk::<4>()?) == MAGIC;
    let mut head = Fields { rest: bytes, little };
    let (_magic, _version, size) = (head.u32()?, head.u32()?, head.u32()?);
    head.take(20)?;
    let flags = head.u64()?;
    let rest = bytes.get(usize::try_from(size).ok()?.max(40)..)?;
    Some((flags & ARCH_TIMESTAMP == 0, Fields { rest, little }))
}

fn next<'a>(records: &mut Fields<'a>) -> Option<Record<'a>> {
    const PREFIX: usize = 16;
    let (kind, size, time) = (records.u32()?, records.u32()?, records.u64()?);
    let body = records.take(usize::try_from(size).ok()?.checked_sub(PREFIX)?)?;
    Some(Record { kind, time, body: Fields { rest: body, little: records.little } })
}

/// Where each piece of code was described, by its number; only for files in which code moves.
type Loads<'a> = FxHashMap<u64, (Record<'a>, Option<Fields<'a>>)>;

pub fn read(bytes: &[u8], addresses: &[u64]) -> Timeline {
    let mut timeline = Timeline::new(addresses.len());
    let Some((timed, records)) = header(bytes) else {
        timeline.damaged = Some("its header is cut".to_owned());
        return timeline;
    };
    timeline.timed = timed;
    let moves = each(records, |record, _| record.kind != MOVE) == Some(0);
    let mut loads = Loads::default();
    let mut short = None;
    let stopped = each(records, |record, lines| {
        let done = match record.kind {
            LOAD => load(&mut timeline, addresses, record, lines, moves.then_some(&mut loads)),
            MOVE => moved(&mut timeline, addresses, record, &loads),
            _ => Some(true),
        };
        short = short.or_else(|| done.is_none().then_some(record.time));
        done.unwrap_or(true)
    });
    let cut = || stopped.filter(|left| *left > 0).map(|left| format!("the record at offset {} is cut", bytes.len().saturating_sub(left)));
    let short = || short.map(|time| format!("the record of time {time} is too short"));
    timeline.damaged = timeline.damaged.take().or_else(cut).or_else(short);
    timeline
}

/// Gives every record, with the lines that came before it, to `take` until it says no or the file ends. What is left
/// where it stopped early: some bytes of a cut record, or 0 where `take` said no.
fn each<'a>(mut records: Fields<'a>, mut take: impl FnMut(Record<'a>, Option<Fields<'a>>) -> bool) -> Option<usize> {
    let mut lines = None;
    while !records.rest.is_empty() {
        let left = records.rest.len();
        let Some(record) = next(&mut records) else { return Some(left) };
        if record.kind == DEBUG_INFO {
            lines = Some(record.body);
        } else if !take(record, if record.kind == LOAD { lines.take() } else { None }) {
            return Some(0);
        }
    }
    None
}

fn load<'a>(
    timeline: &mut Timeline,
    addresses: &[u64],
    record: Record<'a>,
    lines: Option<Fields<'a>>,
    loads: Option<&mut Loads<'a>>,
) -> Option<bool> {
    let mut body = record.body;
    let (_pid, _tid) = (body.u32()?, body.u32()?);
    let (_vma, start, size, index) = (body.u64()?, body.u64()?, body.u64()?, body.u64()?);
    let name = body.c_string()?;
    if let Some(loads) = loads {
        loads.insert(index, (record, lines));
    }
    let piece = || Piece { name: text(name), start, lines: lines.map(debug_info).unwrap_or_default() };
    Some(timeline.load(addresses, start, start.saturating_add(size), record.time, piece))
}

fn moved(timeline: &mut Timeline, addresses: &[u64], record: Record<'_>, loads: &Loads<'_>) -> Option<bool> {
    let mut body = record.body;
    let (_pid, _tid, _vma) = (body.u32()?, body.u32()?, body.u64()?);
    let (old, new, size, index) = (body.u64()?, body.u64()?, body.u64()?, body.u64()?);
    if !timeline.change(hit(addresses, old, old.saturating_add(size)), record.time, None) {
        return Some(false);
    }
    let Some((loaded, lines)) = loads.get(&index) else { return Some(true) };
    let mut loaded = loaded.body;
    loaded.take(16)?;
    let (first, _size, _index) = (loaded.u64()?, loaded.u64()?, loaded.u64()?);
    let name = loaded.c_string()?;
    let piece = || {
        let mut lines = lines.map(debug_info).unwrap_or_default();
        lines.iter_mut().for_each(|line| line.0 = line.0.wrapping_sub(first).wrapping_add(new));
        lines.sort_by_key(|line| line.0);
        Piece { name: text(name), start: new, lines }
    };
    Some(timeline.load(addresses, new, new.saturating_add(size), record.time, piece))
}

/// Address of the code, number of entries; then address, line, discriminator and file each. A file name of one byte 255
/// is that of the entry before.
fn debug_info(mut body: Fields<'_>) -> Vec<(u64, u32, Arc<str>)> {
    let mut out: Vec<(u64, u32, Arc<str>)> = Vec::new();
    let Some((_code, count)) = body.u64().zip(body.u64()) else { return out };
    for _ in 0..count.min(LINES_MAX as u64) {
        let Some(((address, line), _discriminator)) = body.u64().zip(body.u32()).zip(body.u32()) else { break };
        let Some(name) = body.c_string() else { break };
        let file = match (name, out.last()) {
            ([0xff], Some((.., last))) => last.clone(),
            _ => Arc::from(text(name)),
        };
        out.push((address, line, file));
    }
    out.sort_by_key(|line| line.0);
    out
}
