//! THROTTLE and UNTHROTTLE: spans in which the kernel took no samples, because they came too often. A span ends when the
//! kernel looks again, which for a thread that sleeps meanwhile is when it runs again: the sum is an upper bound.

use rustc_hash::{FxHashMap, FxHashSet};

use super::import::Import;
use super::order::Record;
use super::records;
use crate::ingest::{Recorder, Severity};

/// The spans of a file. An event is throttled per stream: on one CPU, or of one thread.
#[derive(Debug, Default)]
pub struct Throttle {
    open: FxHashMap<u64, u64>,
    streams: FxHashSet<u64>,
    begun: i64,
    ended: i64,
    total_ns: u64,
    first: Option<i64>,
}

impl Throttle {
    pub fn begin(&mut self, stream: u64, time: u64, record_no: i64) {
        self.begun += 1;
        self.first.get_or_insert(record_no);
        self.open.entry(stream).or_insert(time);
        self.streams.insert(stream);
    }

    pub fn end(&mut self, stream: u64, time: u64) {
        if let Some(begin) = self.open.remove(&stream) {
            self.ended += 1;
            self.total_ns = self.total_ns.saturating_add(time.saturating_sub(begin));
        }
    }

    /// `window` is the first and the last time of the recording.
    pub fn report(mut self, window: Option<(i64, i64)>, recorder: &mut Recorder) {
        let whole = window.map_or(0, |(first, last)| last.saturating_sub(first).max(0));
        if self.begun == 0 {
            recorder.note_fact("throttled", 0, whole);
            return;
        }
        let last = window.and_then(|(_, last)| u64::try_from(last).ok());
        for begin in std::mem::take(&mut self.open).into_values() {
            self.total_ns = self.total_ns.saturating_add(last.map_or(0, |last| last.saturating_sub(begin)));
        }
        // Of the time of those streams that were throttled at all.
        let streams = i64::try_from(self.streams.len()).unwrap_or(i64::MAX);
        recorder.note_fact("throttled", i64::try_from(self.total_ns).unwrap_or(i64::MAX), whole.saturating_mul(streams));
        let share = if whole > 0 { format!(", the recording lasted {}", milliseconds(whole as u64)) } else { String::new() };
        let message = format!(
            "the kernel throttled sampling: {} THROTTLE and {} UNTHROTTLE records, {} between them, summed over CPUs and events{share}",
            self.begun,
            self.ended,
            milliseconds(self.total_ns),
        );
        let place = self.first.map_or(String::new(), |no| format!("record={no}"));
        let advice = "record with a lower frequency (-F)";
        recorder.skip_many("perf_throttled", Severity::Info, self.begun, &message, advice, &place);
    }
}

/// `12.345 ms`
fn milliseconds(ns: u64) -> String {
    format!("{}.{:03} ms", ns / 1_000_000, ns / 1_000 % 1_000)
}

impl Import<'_, '_> {
    /// THROTTLE and UNTHROTTLE: time, id, stream.
    pub(super) fn throttle(&mut self, record: &Record<'_>) -> Option<()> {
        let mut body = self.body(record);
        let (time, _id, stream) = (body.u64()?, body.u64()?, body.u64()?);
        match record.kind {
            records::THROTTLE => self.counts.throttle.begin(stream, time, record.no),
            _ => self.counts.throttle.end(stream, time),
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::testing::try_read;

    // By hand: stream 1 from 100 to 350 us, stream 2 from 200 us to the end at 1000 us; the second THROTTLE of stream 1
    // changes nothing.
    #[test]
    fn spans_are_summed_and_open_ones_end_with_the_recording() {
        let mut throttle = Throttle::default();
        throttle.begin(1, 100_000, 5);
        throttle.begin(1, 150_000, 6);
        throttle.begin(2, 200_000, 7);
        throttle.end(1, 350_000);
        throttle.end(3, 400_000);
        let mut row = try_read(|_, _| Ok(()), b"").unwrap();
        throttle.report(Some((0, 1_000_000)), &mut row);
        let row = row.finish().tables.diagnostics.remove(0);
        assert_eq!((row.kind.as_ref(), row.count, row.places.as_ref()), ("perf_throttled", 3, "record=5"));
        assert!(row.message.contains("3 THROTTLE and 1 UNTHROTTLE records, 1.050 ms between them"), "{}", row.message);
        assert!(row.message.ends_with("the recording lasted 1.000 ms"), "{}", row.message);
    }
}
