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
use super::text::{calls, counters, heap, manifest, series, stacks, summary};

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

/// Values, and how many observations are behind them.
type Values = (Vec<i64>, Option<i64>);

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

    /// The sum by the artifact's own text or records; `None` where that takes the tables.
    fn of_file(&self, sum: &Sum) -> Result<Option<Values>, String> {
        let one = |value: i64, n: i64| Some((vec![value], Some(n)));
        let kind = self.artifact.kind.as_str();
        let only = |keys: &[&str]| sum.keys.iter().all(|(key, _)| keys.contains(&key.as_str()));
        Ok(match (kind, sum.table.as_str()) {
            ("strace-summary" | "strace-log", "syscalls") if only(&["name"]) => self.summary(sum).and_then(|(value, n)| one(value, n)),
            ("strace-log", "syscall_events") if only(&["name"]) => self.call_sum(sum).and_then(|(value, n)| one(value, n)),
            ("heaptrack", "allocations") if only(&[]) => {
                heap_column(self.heap(), &sum.column).and_then(|value| one(value, self.heap().calls))
            }
            ("offcpu-stacks", "waits") if only(&[]) => self.stack_total(sum)?,
            ("folded-stacks", "samples") if only(&["event"]) => {
                let (value, n) = stacks::total(self.bytes());
                one(value, n)
            }
            ("perf.data", "samples") if only(&["event"]) && sum.column == "weight" => match self.periods(sum)? {
                Some((value, n)) => one(value, n),
                None => None,
            },
            ("perf-stat", "counters") if only(&["event"]) && sum.column == "value" => {
                self.counters(sum.key("event")).and_then(|(value, n)| one(value, n))
            }
            ("perf-stat", "executions") if only(&[]) && sum.column == "minor_faults" => {
                let get = |name: &str| self.counters(Some(name)).map(|(value, _)| value);
                get("page-faults")
                    .or_else(|| get("faults"))
                    .zip(get("major-faults"))
                    .and_then(|(all, major)| one(all.checked_sub(major)?, 1))
            }
            ("memory-series", "series_trends") if only(&[]) => match sum.column.as_str() {
                "max_bytes" => series::largest(self.bytes()).and_then(|value| one(value, 1)),
                "growth_bytes" => series::growth(self.bytes()).and_then(|value| one(value, 1)),
                _ => None,
            },
            (_, "artifacts") if only(&[]) => self.manifest(&sum.column).map(|values| (values, None)),
            _ => None,
        })
    }

    fn summary(&self, sum: &Sum) -> Option<(i64, i64)> {
        let names = sum.list("name");
        let rows = summary::rows(self.bytes());
        let own = rows.iter().filter(|row| names.as_ref().is_none_or(|names| names.contains(&row.name.as_str())));
        let get: fn(&summary::Row) -> i64 = match sum.column.as_str() {
            "calls" => |row| row.calls,
            "errors" => |row| row.errors,
            "total_ns" => |row| row.total_ns,
            _ => return None,
        };
        Some(own.fold((0, 0), |(sum, n), row| (i64::saturating_add(sum, get(row)), n + 1)))
    }

    fn call_sum(&self, sum: &Sum) -> Option<(i64, i64)> {
        let names = sum.list("name");
        let own = self.calls().iter().filter(|call| names.as_ref().is_none_or(|names| names.contains(&call.name.as_str())));
        let get: fn(&calls::Call) -> i64 = match sum.column.as_str() {
            "calls" => |_| 1,
            "dur_ns" => |call| call.dur_ns.unwrap_or(0),
            "length" => |call| call.length.unwrap_or(0),
            _ => return None,
        };
        Some(own.fold((0, 0), |(sum, n), call| (i64::saturating_add(sum, get(call)), n + 1)))
    }

    /// Off-CPU time of all stacks. Preempted stacks are in the file and no waits, and only their frames tell: they are
    /// taken off as the table has them. The unit is the tool's: microseconds, or what the name of its map says.
    fn stack_total(&self, sum: &Sum) -> Result<Option<Values>, String> {
        let (total, n) = stacks::total(self.bytes());
        let preempted = Sum { keys: vec![("reason".to_owned(), "preempted".to_owned())], ..sum.clone() };
        let (apart, apart_n) = self.sums.sum(self.artifact.id, &preempted)?;
        let values = [1_000, 1, 1_000_000].iter().filter_map(|unit| total.checked_mul(*unit)?.checked_sub(apart));
        Ok(Some((values.collect(), Some(n - apart_n))))
    }

    /// Periods of the event's samples of the program's processes. Not where a process id meant the program only for a time.
    fn periods(&self, sum: &Sum) -> Result<Option<(i64, i64)>, String> {
        let store = self.sums.store;
        let Ok(walk) = self.walk() else { return Ok(None) };
        let Some(id) = self.sums.event(self.artifact.id, sum.key("event"))? else { return Ok(None) };
        let events = perf::rows::events(store, self.artifact.id)?;
        let nth = events.iter().position(|(own, _)| *own == id);
        let Some((nth, (_, name))) = nth.and_then(|nth| Some((nth, events.get(nth)?))) else { return Ok(None) };
        let Some(event) = walk.event(name, nth) else { return Ok(None) };
        if walk.events.get(event).is_none_or(|event| event.reads_group) {
            return Ok(None);
        }
        let Some(pids) = self.target_pids()? else { return Ok(None) };
        let own = walk.samples.iter().filter(|sample| sample.event == event && pids.contains(&i64::from(sample.pid)));
        Ok(Some(own.fold((0, 0), |(sum, n), sample| (i64::saturating_add(sum, sample.weight), n + 1))))
    }

    fn target_pids(&self) -> Result<Option<Vec<i64>>, String> {
        let store = self.sums.store;
        let (of, pids) = (store.ints("processes", "artifact_id")?, store.ints("processes", "pid")?);
        let is_target = store.ints("processes", "is_target")?;
        let own = |target: i64| {
            let rows = (0..of.len()).filter(|row| super::store::int(&of, *row) == Some(self.artifact.id));
            let rows = rows.filter(|row| super::store::int(&is_target, *row) == Some(target));
            rows.filter_map(|row| super::store::int(&pids, row)).collect::<Vec<i64>>()
        };
        let (targets, others) = (own(1), own(0));
        Ok(if targets.iter().any(|pid| others.contains(pid)) { None } else { Some(targets) })
    }

    fn counters(&self, event: Option<&str>) -> Option<(i64, i64)> {
        let values = counters::values(self.bytes());
        let own: Vec<i64> =
            values.into_iter().filter(|(name, _)| event.is_none_or(|event| event == name)).map(|(_, value)| value).collect();
        let sum = own.iter().fold(0, |sum, value| i64::saturating_add(sum, *value));
        (!own.is_empty()).then_some((sum, own.len() as i64))
    }

    /// What a manifest says about how long this artifact's tool ran or watched.
    fn manifest(&self, column: &str) -> Option<Vec<i64>> {
        let entry = self.manifests.iter().find_map(|(place, json)| manifest::entry(json, place, &self.artifact.path))?;
        match column {
            "wall_ns" => manifest::wall_ns(entry).map(|value| vec![value]),
            "window_ns" if self.artifact.kind == "offcpu-stacks" => Some(manifest::windows(entry)).filter(|values| !values.is_empty()),
            _ => None,
        }
    }
}

pub fn heap_column(heap: &heap::Heap, column: &str) -> Option<i64> {
    Some(match column {
        "calls" => heap.calls,
        "bytes" => heap.bytes,
        "peak_bytes" => heap.peak_bytes,
        "leaked_bytes" => heap.leaked_bytes,
        "temporary_calls" => heap.temporary_calls,
        _ => return None,
    })
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
    match exact {
        Some(value) => vec![value],
        None if kind == "time-v" => Vec::new(),
        None => numbers(line).into_iter().flat_map(|number| UNITS.map(|unit| number.times(unit))).flatten().collect(),
    }
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
        assert!(line_values("unknown", "it took 1.5 ms, 3 times").contains(&3));
    }
}
