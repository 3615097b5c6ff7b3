//! Maps of bpftrace whose key holds stacks:
//!
//! ```text
//! @usecs[
//!     schedule+70              kernel stack, innermost first
//!     do_nanosleep+120
//! ,
//!     clock_nanosleep+101      user stack
//!     main+29
//! , sl]: 1976517
//! ```
//!
//! The unit comes from the map's name: a word `ns`, `nsecs`, `us`, `usecs`, `ms` or `msecs` in it. Maps of another name are
//! passed over where some map of the file has a unit.

use super::frames::{self, Name};
use super::{Aggregate, Found, Unit};
use crate::ingest::text;

/// At least one whole entry with a stack, and either a unit or the scheduler on the stacks.
pub fn is_stack_map(bytes: &[u8]) -> bool {
    let (entries, _) = entries(bytes);
    entries.iter().any(|(unit, entry)| !entry.frames.is_empty() && (unit.is_some() || frames::ends_in_scheduler(&entry.frames)))
}

pub fn read(bytes: &[u8]) -> (Found, Unit) {
    let (entries, other) = entries(bytes);
    let unit = entries.iter().find_map(|(unit, _)| *unit);
    let aggregates = entries.into_iter().filter(|(own, entry)| *own == unit && !entry.frames.is_empty()).map(|(_, entry)| entry).collect();
    let losses = if other.0 > 0 { vec![("other_text", other.0, other.1)] } else { Vec::new() };
    (Found { aggregates, losses }, unit.map_or(Unit::Unknown, Unit::Off))
}

fn unit(map: &str) -> Option<i64> {
    map.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|word| match word {
        "ns" | "nsecs" => Some(1),
        "us" | "usecs" => Some(1_000),
        "ms" | "msecs" => Some(1_000_000),
        _ => None,
    })
}

type Entry = (Option<i64>, Aggregate);

/// The entries, and how many lines belong to none, with the first of them.
fn entries(bytes: &[u8]) -> (Vec<Entry>, (i64, i64)) {
    let mut found = Vec::new();
    let mut other = (0i64, 0i64);
    let mut open: Option<Entry> = None;
    // keys after the first stack: the kernel's stack is the first where there are two
    let mut stacks = 0;
    for (line_no, line) in text::lines(bytes) {
        let line = String::from_utf8_lossy(line);
        if let Some((map, key)) = line.strip_prefix('@').and_then(|rest| rest.split_once('[')) {
            open = key.trim().is_empty().then(|| (unit(map), Aggregate { line_no, ..Aggregate::default() }));
            stacks = 0;
            continue;
        }
        let Some((_, entry)) = &mut open else {
            if !line.trim().is_empty() {
                other = (other.0 + 1, if other.0 == 0 { line_no } else { other.1 });
            }
            continue;
        };
        let trimmed = line.trim();
        if let Some((keys, value)) = trimmed.rsplit_once("]:") {
            for key in keys.split(',').map(str::trim).filter(|key| !key.is_empty()) {
                match key.parse() {
                    Ok(tid) => entry.tid = Some(tid),
                    Err(_) => entry.comm = Some(key.to_owned()),
                }
            }
            // a histogram or a statistic begins here: not a sum
            if let (Ok(value), Some((unit, mut entry))) = (value.trim().parse(), open.take())
                && value >= 0
            {
                entry.value = value;
                found.push((unit, entry));
            }
        } else if let Some(rest) = trimmed.strip_prefix(',') {
            stacks += 1;
            if stacks == 1 {
                entry.frames.iter_mut().for_each(|frame| frame.is_kernel = Some(true));
            }
            if !rest.trim().is_empty() {
                entry.comm = Some(rest.trim_end_matches(',').trim().to_owned());
            }
        } else if !trimmed.is_empty() && line.starts_with([' ', '\t']) {
            let mut name = Name::new(trimmed);
            if stacks > 0 {
                name.is_kernel = Some(false);
            }
            entry.frames.push(name);
        }
    }
    (found, other)
}
