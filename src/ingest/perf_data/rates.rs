//! How often an event was sampled, and what its samples weigh: asked for, seen, suspicious.

use linux_perf_data::linux_perf_event_reader::constants::ATTR_FLAG_BIT_FREQ;
use linux_perf_data::linux_perf_event_reader::constants::PERF_TYPE_SOFTWARE;
use rustc_hash::FxHashMap;

use super::attr::Attr;
use super::events::EventInfo;
use crate::ingest::{Recorder, Severity};
use crate::tables::{Maybe32, Sample};

/// A period above this is no count of anything.
const ABSURD: i64 = 1 << 60;
/// How far above the median a period stands out.
const OUTLIER: i64 = 1000;
/// Gaps between samples that a median needs.
const GAPS_MIN: u64 = 20;
const EVENTS_IN_TABLE: usize = 16;
const CPUS_IN_TABLE: usize = 512;

/// Numbers in 32 steps per doubling: a median that is right within 3 %, in bounded memory.
#[derive(Debug, Clone, Default)]
struct Histogram {
    counts: Vec<u32>,
    n: u64,
}

impl Histogram {
    fn add(&mut self, value: u64) {
        let value = value.max(1);
        let octave = value.ilog2();
        let step = if octave >= 5 { value >> (octave - 5) } else { value << (5 - octave) } & 31;
        let at = octave as usize * 32 + step as usize;
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(at) {
            *count = count.saturating_add(1);
        }
        self.n += 1;
    }

    /// The lower edge of the step that the median lies in.
    fn median(&self) -> u64 {
        let mut before = 0;
        for (at, count) in self.counts.iter().enumerate() {
            before += u64::from(*count);
            if before * 2 >= self.n && before > 0 {
                let (octave, step) = ((at / 32) as u32, (at % 32) as u64 + 32);
                return if octave >= 5 { step << (octave - 5) } else { step >> (5 - octave) };
            }
        }
        0
    }
}

#[derive(Debug, Clone, Default)]
struct Seen {
    periods: Histogram,
    largest: i64,
    gaps: Histogram,
}

/// Looks at all samples once, and again at those of events that have outliers.
pub fn report(attrs: &[Attr], events: &[EventInfo], recorder: &mut Recorder) {
    let seen = look(recorder);
    let mut doubts = Vec::new();
    let mut rates: Vec<(u64, u64)> = Vec::new();
    for (info, attr) in events.iter().zip(attrs) {
        let Some((id, seen)) = info.event_id.and_then(|id| Some((id, seen.get(id as usize)?))) else { continue };
        let Some(row) = recorder.tables.events.get(id as usize) else { continue };
        let (name, is_cpu) = (row.name.clone(), row.role.as_ref() == "cpu");
        if seen.largest > (seen.periods.median() as i64).saturating_mul(OUTLIER / 2) {
            doubts.extend(outliers(&recorder.tables.samples, id, &name));
        }
        if is_cpu && row.n > 0 {
            doubts.extend(lockstep(attr, &name, row.n));
            doubts.extend(missed_rate(attr, seen, &name, row.n));
            rates.extend(asked(attr).zip(rate(seen)).map(|(asked, hz)| (hz, asked)));
        }
    }
    // Of several events, the one that fell behind most.
    if let Some((hz, asked)) =
        rates.into_iter().min_by(|a, b| (u128::from(a.0) * u128::from(b.1)).cmp(&(u128::from(b.0) * u128::from(a.1))))
    {
        recorder.note_fact("sampling_rate", i64::try_from(hz).unwrap_or(i64::MAX), i64::try_from(asked).unwrap_or(i64::MAX));
    }
    for doubt in doubts {
        recorder.skip_many(doubt.kind, doubt.severity, doubt.count, &doubt.message, doubt.advice, &doubt.place);
    }
}

struct Doubt {
    kind: &'static str,
    severity: Severity,
    count: i64,
    message: String,
    advice: &'static str,
    place: String,
}

fn look(recorder: &Recorder) -> Vec<Seen> {
    let mut seen = vec![Seen::default(); recorder.tables.events.len()];
    // The last sample of an event on a CPU (of a thread, where the CPU is not recorded): its time and thread. CPUs are few
    // and small numbers: those of the first events have a table.
    let mut of_cpu = vec![None::<(i64, Maybe32)>; EVENTS_IN_TABLE * CPUS_IN_TABLE];
    let mut last: FxHashMap<(i32, Maybe32, Maybe32), (i64, Maybe32)> = FxHashMap::default();
    for sample in &recorder.tables.samples {
        let Some(event) = seen.get_mut(sample.event_id as usize) else { continue };
        event.periods.add(sample.weight.max(0) as u64);
        event.largest = event.largest.max(sample.weight);
        let Some(ts) = sample.ts_ns.get() else { continue };
        let (event_no, cpu) = (sample.event_id as usize, sample.cpu.get().map_or(usize::MAX, |cpu| cpu as usize));
        let in_table = event_no < EVENTS_IN_TABLE && cpu < CPUS_IN_TABLE;
        let before = match of_cpu.get_mut(event_no.wrapping_mul(CPUS_IN_TABLE).wrapping_add(cpu)).filter(|_| in_table) {
            Some(place) => place.replace((ts, sample.thread_id)),
            None => {
                let thread = if sample.cpu == Maybe32::NONE { sample.thread_id } else { Maybe32::NONE };
                last.insert((sample.event_id, sample.cpu, thread), (ts, sample.thread_id))
            }
        };
        // Between two samples of one thread in a row it was most likely on its CPU.
        if let Some((before, _)) = before.filter(|(before, thread)| *before < ts && *thread == sample.thread_id) {
            event.gaps.add(ts.abs_diff(before));
        }
    }
    seen
}

/// Samples whose period stands far above the others'. Many such are how an event of uneven rate looks, few a fault.
fn outliers(samples: &[Sample], event: i32, name: &str) -> Option<Doubt> {
    let of_event = || samples.iter().filter(move |sample| sample.event_id == event);
    let mut periods: Vec<i64> = of_event().map(|sample| sample.weight).collect();
    let middle = periods.len() / 2;
    let median = *periods.select_nth_unstable(middle).1;
    let limit = median.max(1).saturating_mul(OUTLIER).min(ABSURD);
    let found: Vec<&Sample> = of_event().filter(|sample| sample.weight > limit).collect();
    let largest = found.iter().map(|sample| sample.weight).max()?;
    if largest <= ABSURD && found.len() * 100 > periods.len() {
        return None;
    }
    let whole = of_event().fold(0i64, |sum, sample| sum.saturating_add(sample.weight));
    let part = found.iter().fold(0i64, |sum, sample| sum.saturating_add(sample.weight));
    let places: Vec<String> = found.iter().take(3).map(|sample| format!("record={}", sample.record_no)).collect();
    Some(Doubt {
        kind: "perf_period_outlier",
        severity: if largest > ABSURD { Severity::Warn } else { Severity::Info },
        count: found.len() as i64,
        message: format!(
            "{name}: samples with periods of up to {largest}, where the median is {median}; they hold {} of the event's weight",
            percent(part, whole)
        ),
        advice: "rank by the number of samples (self_count, total_count) instead; if it stays, report the recorder's and the kernel's version",
        place: places.join(", "),
    })
}

/// The rate asked for, in Hz, where it is one in time.
fn asked(attr: &Attr) -> Option<u64> {
    let asked = attr.period_or_frequency;
    if attr.has(ATTR_FLAG_BIT_FREQ) {
        return Some(asked).filter(|asked| *asked > 0);
    }
    // cpu-clock and task-clock count nanoseconds
    let is_clock = attr.kind == PERF_TYPE_SOFTWARE && attr.config <= 1;
    (is_clock && asked > 0 && 1_000_000_000 % asked == 0).then(|| 1_000_000_000 / asked)
}

/// Sampling in step with the timers that most periodic work follows.
fn lockstep(attr: &Attr, name: &str, n: i64) -> Option<Doubt> {
    let hz = asked(attr)?;
    let base = [1000u64, 250, 100].into_iter().find(|base| hz.is_multiple_of(*base) || base.is_multiple_of(hz))?;
    Some(Doubt {
        kind: "perf_lockstep",
        severity: Severity::Info,
        count: n,
        message: format!("{name} was sampled at {hz} Hz, in step with timers of {base} Hz: work of that rhythm is seen too often or never"),
        advice: "record with an odd frequency (-F 997, -F 199)",
        place: String::new(),
    })
}

/// Samples a second of a thread that is sampled again and again.
fn rate(seen: &Seen) -> Option<u64> {
    let median = seen.gaps.median();
    (seen.gaps.n >= GAPS_MIN && median > 0).then(|| 1_000_000_000 / median)
}

fn missed_rate(attr: &Attr, seen: &Seen, name: &str, n: i64) -> Option<Doubt> {
    let asked = asked(attr)?;
    let (hz, median) = (rate(seen)?, seen.gaps.median());
    if hz.saturating_mul(10) >= asked.saturating_mul(8) && hz.saturating_mul(8) <= asked.saturating_mul(10) {
        return None;
    }
    Some(Doubt {
        kind: "perf_frequency_missed",
        severity: Severity::Info,
        count: n,
        message: format!(
            "{name}: {asked} samples a second were asked for, about {hz} were taken of threads on a CPU (median gap {median} ns)"
        ),
        advice: "shares hold, but there are fewer or more samples than planned; look for throttling, a busy host or a limit (kernel.perf_event_max_sample_rate)",
        place: String::new(),
    })
}

/// `12.3 %`, rounded down; of a whole that is 0, 0.
pub fn percent(part: i64, whole: i64) -> String {
    let tenths = i128::from(part) * 1000 / i128::from(whole.max(1));
    format!("{}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::testing::try_read;

    #[test]
    fn the_median_is_close_in_every_octave() {
        for value in [1u64, 2, 3, 31, 32, 33, 1_003_009, 1 << 40, u64::MAX] {
            let mut histogram = Histogram::default();
            [1, value, value, value, u64::MAX].into_iter().for_each(|value| histogram.add(value));
            let median = histogram.median();
            assert!(median <= value && value - median <= value / 32, "{value}: {median}");
        }
        assert_eq!(Histogram::default().median(), 0);
    }

    fn samples(weights: &[i64]) -> Vec<Sample> {
        let row = |(no, weight): (usize, &i64)| Sample {
            event_id: 0,
            ts_ns: Some(no as i64).into(),
            thread_id: None.into(),
            cpu: None.into(),
            stack_id: None.into(),
            weight: *weight,
            record_no: no as i64,
        };
        weights.iter().enumerate().map(row).collect()
    }

    // field-reports.md A029: three periods of 2^40 among a thousand of 1e6.
    #[test]
    fn few_large_periods_are_told_and_many_are_not() {
        let mut weights = vec![1_000_000; 1000];
        for at in [10, 500, 900] {
            weights[at] = 1 << 40;
        }
        let doubt = outliers(&samples(&weights), 0, "cycles").unwrap();
        assert_eq!((doubt.count, doubt.place.as_str()), (3, "record=10, record=500, record=900"));
        // 3 * 2^40 of 3 * 2^40 + 997e6: 99.97 %
        assert!(doubt.message.contains("99.9 %") && doubt.severity == Severity::Info, "{}", doubt.message);
        weights[10] = i64::MAX;
        assert!(outliers(&samples(&weights), 0, "cycles").unwrap().severity == Severity::Warn);
        let uneven: Vec<i64> = (0..1000).map(|no| if no % 10 == 0 { 5_000 } else { 1 }).collect();
        assert!(outliers(&samples(&uneven), 0, "page-faults").is_none());
    }

    // rules.md Q03: 99, 997 and 999 are fine.
    #[test]
    fn round_frequencies_are_in_step() {
        let attr = |hz| Attr { flags: ATTR_FLAG_BIT_FREQ, period_or_frequency: hz, ..Attr::default() };
        for (hz, is_told) in
            [(99, false), (997, false), (999, false), (199, false), (4000, true), (1000, true), (500, true), (750, true), (50, true)]
        {
            assert_eq!(lockstep(&attr(hz), "cycles", 1).is_some(), is_told, "{hz}");
        }
        let clock = |period| Attr { kind: PERF_TYPE_SOFTWARE, period_or_frequency: period, ..Attr::default() };
        assert!(lockstep(&clock(1_000_000), "cpu-clock", 1).is_some());
        assert!(lockstep(&clock(1_003_009), "cpu-clock", 1).is_none());
    }

    #[test]
    fn a_rate_that_was_not_reached_is_told() {
        let attr = Attr { flags: ATTR_FLAG_BIT_FREQ, period_or_frequency: 1999, ..Attr::default() };
        let mut recorder = try_read(|_, _| Ok(()), b"").unwrap();
        for (gap, is_told) in [(500_000, false), (1_000_000, true), (100_000, true)] {
            recorder.tables.samples = samples(&[1; 40]);
            recorder.tables.samples.iter_mut().for_each(|row| row.ts_ns = Some(row.record_no * gap).into());
            recorder.push_event(&crate::ingest::NewEvent {
                name: "cycles".into(),
                mechanism: "M1",
                probe: "pmu_overflow",
                role: "cpu",
                frequency_hz: Some(1999),
                period: None,
                unit: "count",
            });
            let seen = look(&recorder);
            assert_eq!(missed_rate(&attr, &seen[0], "cycles", 40).is_some(), is_told, "{gap}");
        }
    }
}
