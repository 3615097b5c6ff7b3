//! Opens the place that an anchor names and says which number stands there, and on which basis.

use std::cell::OnceCell;

use serde_json::Value as Json;

use super::anchor::{Part, Sum};
use super::artifacts::Artifact;
use super::content::Content;
use super::number::{Decimal, UNITS, clock, numbers, of_json, scaled};
use super::perf::{self, Walk};
use super::report::Basis;
use super::sums::Sums;
use super::text::{calls, counters, heap};

/// Numbers that the place may mean, and how many observations they are made of where that is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// More than one where the file does not say in which unit it prints.
    pub values: Vec<i64>,
    pub n: Option<i64>,
    pub basis: Basis,
}

/// Why there is no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The place is not there.
    Absent(String),
    /// No reader here can find it.
    Unchecked(String),
}

pub type Outcome = Result<Found, Problem>;

fn found(values: Vec<i64>, basis: Basis) -> Outcome {
    Ok(Found { values, n: None, basis })
}

fn absent(what: impl Into<String>) -> Problem {
    Problem::Absent(what.into())
}

/// One artifact with all that is read of it; what is large is read once and dropped with it.
pub struct Reader<'a> {
    pub artifact: &'a Artifact,
    pub sums: &'a Sums<'a>,
    /// Every manifest of the run, by its name.
    pub manifests: &'a [(String, Json)],
    content: Content,
    json: OnceCell<Option<Json>>,
    walk: OnceCell<Result<Walk, String>>,
    heap: OnceCell<heap::Heap>,
    calls: OnceCell<Vec<calls::Call>>,
}

impl<'a> Reader<'a> {
    pub fn new(artifact: &'a Artifact, content: Content, sums: &'a Sums<'a>, manifests: &'a [(String, Json)]) -> Reader<'a> {
        Reader {
            artifact,
            sums,
            manifests,
            content,
            json: OnceCell::new(),
            walk: OnceCell::new(),
            heap: OnceCell::new(),
            calls: OnceCell::new(),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        self.content.bytes()
    }

    pub fn walk(&self) -> Result<&Walk, String> {
        self.walk.get_or_init(|| perf::walk(self.bytes())).as_ref().map_err(Clone::clone)
    }

    pub fn heap(&self) -> &heap::Heap {
        self.heap.get_or_init(|| heap::totals(self.bytes()))
    }

    pub fn calls(&self) -> &[calls::Call] {
        self.calls.get_or_init(|| calls::calls(self.bytes()))
    }

    fn json(&self) -> Option<&Json> {
        self.json.get_or_init(|| serde_json::from_slice(self.bytes()).ok()).as_ref()
    }

    pub fn open(&self, part: &Part) -> Outcome {
        match part {
            Part::File => Err(Problem::Unchecked("the anchor names a whole file and no place in it".to_owned())),
            Part::Lines(first, last) => self.lines(*first, *last),
            Part::Pointer(pointer) => self.pointer(pointer),
            Part::Record(number) => self.record(*number),
            Part::Sum(sum) => self.sum(sum),
            Part::Unknown(text) => Err(Problem::Unchecked(format!("no documented form of an anchor: {text}"))),
        }
    }

    fn lines(&self, first: usize, last: usize) -> Outcome {
        let mut values = Vec::new();
        for number in first..=last {
            let line = self.content.line(number).ok_or_else(|| absent(format!("the file has no line {number}")))?;
            values.extend(line_values(&self.artifact.kind, line.trim()));
        }
        if values.is_empty() { Err(absent("no number stands in that line")) } else { found(values, Basis::File) }
    }

    fn pointer(&self, pointer: &str) -> Outcome {
        let json = self.json().ok_or_else(|| absent("the file is no JSON"))?;
        let value = json.pointer(pointer).ok_or_else(|| absent(format!("nothing stands at {pointer}")))?;
        let number = of_json(value).ok_or_else(|| absent(format!("no number stands at {pointer}")))?;
        let is_seconds = self.artifact.kind == "hyperfine" || pointer.ends_with("_s");
        let units = if is_seconds { &UNITS[4..] } else { &UNITS[..] };
        found(units.iter().filter_map(|unit| scaled(number, *unit)).collect(), Basis::File)
    }

    /// A record is there or not; of a sample, its weight and its time stand there too.
    fn record(&self, number: u64) -> Outcome {
        let walk = self.walk().map_err(Problem::Unchecked)?;
        if number >= walk.records {
            return Err(absent(format!("the file has {} records", walk.records)));
        }
        let Some(sample) = walk.sample(number) else {
            return Err(Problem::Unchecked("the record is no sample: no number of it is known".to_owned()));
        };
        let time = sample.time.and_then(|time| i64::try_from(time).ok());
        found([Some(sample.weight), time].into_iter().flatten().collect(), Basis::File)
    }

    fn sum(&self, sum: &Sum) -> Outcome {
        if let Some((values, n)) = self.of_file(sum).map_err(absent)? {
            return Ok(Found { values, n, basis: Basis::File });
        }
        let (value, n) = self.sums.sum(self.artifact.id, sum).map_err(Problem::Unchecked)?;
        Ok(Found { values: vec![value], n: Some(n), basis: Basis::Tables })
    }
}

/// The number of a line, in the unit that the line's tool prints; of a line of an unknown tool any number in any unit.
fn line_values(kind: &str, line: &str) -> Vec<i64> {
    let of_time = || {
        let (key, value) = line.rsplit_once(": ")?;
        if key.starts_with("Elapsed") {
            return clock(value);
        }
        let unit = if key.ends_with("(seconds)") {
            1_000_000_000
        } else if key.ends_with("(kbytes)") {
            1_024
        } else {
            1
        };
        Decimal::parse(value)?.times(unit)
    };
    let exact = match kind {
        "time-v" => of_time(),
        "perf-stat" => counters::of_json(line).map(|(_, value)| value),
        _ => None,
    };
    if let Some(ticks) = line.strip_prefix("cpu").filter(|_| kind == "accounting") {
        return ticks_of(ticks);
    }
    match exact {
        Some(value) => vec![value],
        None if kind == "time-v" => Vec::new(),
        None => numbers(line).into_iter().flat_map(|number| UNITS.map(|unit| number.times(unit))).flatten().collect(),
    }
}

/// A line of /proc/stat: hundredths of a second (USER_HZ, proc(5)), user to steal, and their sum.
fn ticks_of(line: &str) -> Vec<i64> {
    const STATES: usize = 8;
    let fields = line.split_whitespace().filter_map(|field| field.parse::<i64>().ok()?.checked_mul(10_000_000));
    // The name of one CPU is a number, too.
    let own = if line.starts_with(' ') { 0 } else { 1 };
    let mut ticks: Vec<i64> = fields.skip(own).take(STATES).collect();
    ticks.push(ticks.iter().fold(0, |sum, one| i64::saturating_add(sum, *one)));
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_known_tools_have_one_number() {
        assert_eq!(line_values("time-v", "Elapsed (wall clock) time (h:mm:ss or m:ss): 0:02.02"), [2_020_000_000]);
        assert_eq!(line_values("time-v", "Maximum resident set size (kbytes): 1576"), [1_613_824]);
        assert_eq!(line_values("time-v", "Minor (reclaiming a frame) page faults: 177"), [177]);
        assert!(line_values("time-v", "done").is_empty());
        // proc(5): 100 ticks of user time are a second; the ninth field (guest) is in the first already.
        assert_eq!(line_values("accounting", "cpu  100 0 50 0 0 0 0 7 100 0")[..3], [1_000_000_000, 0, 500_000_000]);
        assert_eq!(line_values("accounting", "cpu0 100 0 50 0 0 0 0 7 100 0").last(), Some(&1_570_000_000));
        assert!(line_values("unknown", "it took 1.5 ms, 3 times").contains(&3));
    }
}
