//! Counters that a sample reads: the members of a group (`-e '{cycles,page-faults}:S'`).
//!
//! With PERF_SAMPLE_READ a sample carries the values of its event, or with PERF_FORMAT_GROUP of the whole group. The
//! members have no samples of their own. As `perf report` does, each sample of the leader becomes one of every counter
//! whose value has grown since it was read last, weighing what it has grown by; the leader's own period gives way.
//!
//! Values count per id, which stands for an event on one CPU or of one thread; inherited counters (Linux 6.12) per id and
//! thread.

use linux_perf_data::linux_perf_event_reader::constants::*;
use rustc_hash::FxHashMap;

use super::attr::{Attr, FORMAT_LOST};
use super::bytes::{Bytes, Order};
use super::import::Import;
use super::sample::Sample;
use crate::ingest::{Recorder, Severity};
use crate::tables;

/// What counters had when they were read last.
#[derive(Debug, Default)]
pub struct Groups {
    /// Events by id; empty where no event reads counters.
    by_id: FxHashMap<u64, usize>,
    last: FxHashMap<(u64, i32), u64>,
    /// Values of counters that the header does not have.
    unknown: i64,
}

impl Groups {
    pub fn new(attrs: &[Attr]) -> Groups {
        let mut groups = Groups::default();
        if attrs.iter().any(reads) {
            let ids = attrs.iter().enumerate().flat_map(|(index, attr)| attr.ids.iter().map(move |id| (*id, index)));
            groups.by_id.extend(ids);
        }
        groups
    }

    /// (event, growth) for every counter of the sample that has grown; `None` where the sample stands for itself alone.
    /// `read` is what the sample has in the format of its event.
    pub fn growth(&mut self, attr: &Attr, read: &[u8], tid: i32, order: Order) -> Option<Vec<(usize, u64)>> {
        if !reads(attr) || self.by_id.is_empty() {
            return None;
        }
        let tid = if attr.has(ATTR_FLAG_BIT_INHERIT) { tid } else { -1 };
        let mut grown = Vec::new();
        for (value, id) in values(attr.read_format, read, order)? {
            let Some(event) = self.by_id.get(&id) else {
                self.unknown += 1;
                continue;
            };
            let last = self.last.insert((id, tid), value).unwrap_or(0);
            // A counter that went back was reset: what it shows is new.
            let by = value.checked_sub(last).unwrap_or(value);
            if by > 0 {
                grown.push((*event, by));
            }
        }
        Some(grown)
    }

    pub fn report(&self, recorder: &mut Recorder) {
        if self.unknown > 0 {
            let message = "values of counters that the header does not have were read with samples";
            recorder.skip_many("perf_unknown_counter", Severity::Warn, self.unknown, message, "copy the file again", "");
        }
    }
}

/// Whether samples of the event carry values whose counters they name.
fn reads(attr: &Attr) -> bool {
    attr.samples(PERF_SAMPLE_READ) && attr.read_format & PERF_FORMAT_ID != 0
}

/// (value, id) of a `struct read_format`, of one event or a group.
fn values(format: u64, read: &[u8], order: Order) -> Option<Vec<(u64, u64)>> {
    let mut bytes = Bytes::new(read, order);
    let times = (format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)).count_ones();
    let first = bytes.u64()?;
    bytes.items(u64::from(times), 8)?;
    if format & PERF_FORMAT_GROUP == 0 {
        return Some(vec![(first, bytes.u64()?)]);
    }
    let count = first;
    let has_lost = format & FORMAT_LOST != 0;
    let mut values = Vec::new();
    // Bounded by the sample: the first value that is not there ends it.
    for _ in 0..count {
        let pair = (bytes.u64()?, bytes.u64()?);
        if has_lost {
            bytes.u64()?;
        }
        values.push(pair);
    }
    Some(values)
}

impl Import<'_, '_> {
    /// The samples that stand for the counters of one sample; `row` is that sample. False where it stands for itself.
    pub(super) fn counters(&mut self, index: usize, sample: &Sample<'_>, row: &tables::Sample) -> bool {
        let tid = sample.ids.map_or(-1, |(_, tid)| tid);
        let Some(attr) = self.attrs.get(index) else { return false };
        let Some(grown) = self.groups.growth(attr, sample.read, tid, self.order) else { return false };
        for (event, by) in grown {
            let Some(event_id) = self.event_id(event) else { continue };
            self.recorder.push_sample(tables::Sample { event_id, weight: i64::try_from(by).unwrap_or(i64::MAX), ..*row });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attr(ids: &[u64], flags: u64) -> Attr {
        Attr {
            sample_type: PERF_SAMPLE_READ,
            read_format: PERF_FORMAT_GROUP | PERF_FORMAT_ID | FORMAT_LOST,
            flags,
            ids: ids.to_vec(),
            ..Attr::default()
        }
    }

    fn read(pairs: &[(u64, u64)]) -> Vec<u8> {
        let mut bytes = (pairs.len() as u64).to_le_bytes().to_vec();
        for (value, id) in pairs {
            [*value, *id, 0].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        }
        bytes
    }

    // By hand: perf_event_open(2), struct read_format of a group.
    #[test]
    fn counters_weigh_what_they_have_grown_by() {
        let attrs = [attr(&[7, 8], 0), attr(&[9], 0)];
        let mut groups = Groups::new(&attrs);
        let mut grow = |pairs: &[(u64, u64)], tid| groups.growth(&attrs[0], &read(pairs), tid, Order::Little);
        assert_eq!(grow(&[(100, 7), (0, 9)], 1), Some(vec![(0, 100)]));
        assert_eq!(grow(&[(150, 7), (3, 9), (5, 99)], 2), Some(vec![(0, 50), (1, 3)]));
        assert_eq!(grow(&[(20, 8), (3, 9)], 2), Some(vec![(0, 20)]));
        assert_eq!(groups.unknown, 1);
        assert_eq!(groups.growth(&attrs[0], &[255; 16], 1, Order::Little), None);
        assert_eq!(Groups::new(&[Attr::default()]).growth(&Attr::default(), &[], 1, Order::Little), None);
    }

    #[test]
    fn inherited_counters_count_per_thread() {
        let attrs = [attr(&[7], ATTR_FLAG_BIT_INHERIT)];
        let mut groups = Groups::new(&attrs);
        let found: Vec<_> = [(100, 1), (40, 2), (110, 1)]
            .iter()
            .map(|(value, tid)| groups.growth(&attrs[0], &read(&[(*value, 7)]), *tid, Order::Little))
            .collect();
        assert_eq!(found, [Some(vec![(0, 100)]), Some(vec![(0, 40)]), Some(vec![(0, 10)])]);
    }
}
