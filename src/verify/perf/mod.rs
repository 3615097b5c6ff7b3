//! A plain walk over a perf.data file: which records there are, and of every sample its event, weight, time and thread.
//!
//! Written from tools/perf/Documentation/perf.data-file-format.txt and perf_event_open(2). Stacks are not looked at: sums
//! over places use the run's tables, whose rows are compared with these records one by one ([`rows`]).

mod file;
pub mod rows;
mod words;

pub use file::walk;

/// An event of the file.
#[derive(Debug, Clone, Default)]
pub struct Event {
    pub kind: u32,
    pub config: u64,
    /// Events per sample, or with `is_frequency` samples per second.
    pub period: u64,
    pub is_frequency: bool,
    pub sample_type: u64,
    /// Counters of a group are read with the sample: its weight is not the only number that it brings.
    pub reads_group: bool,
    pub ids: Vec<u64>,
    /// As the file names it, if it does.
    pub name: Option<String>,
}

impl Event {
    /// The dummy that perf opens to hear of maps and forks.
    pub fn is_dummy(&self) -> bool {
        self.kind == 1 && self.config == 9
    }
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Number of its record in the file, from 0, those inside of compressed records counted in their place.
    pub record: u64,
    pub event: usize,
    pub pid: i32,
    pub tid: i32,
    pub time: Option<u64>,
    pub weight: i64,
}

/// The whole file.
#[derive(Debug, Default)]
pub struct Walk {
    pub events: Vec<Event>,
    pub samples: Vec<Sample>,
    /// How many records there are.
    pub records: u64,
}

impl Walk {
    pub fn sample(&self, record: u64) -> Option<&Sample> {
        let at = self.samples.binary_search_by_key(&record, |sample| sample.record).ok()?;
        self.samples.get(at)
    }

    /// The event of a name; else the `nth` that is no dummy, which is how tables number events.
    pub fn event(&self, name: &str, nth: usize) -> Option<usize> {
        let named = || self.events.iter().enumerate().filter(|(_, event)| event.name.as_deref() == Some(name));
        match (named().next(), named().nth(1)) {
            (Some((at, _)), None) => Some(at),
            _ => self.events.iter().enumerate().filter(|(_, event)| !event.is_dummy()).nth(nth).map(|(at, _)| at),
        }
    }
}
