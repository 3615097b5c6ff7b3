//! Sums by the artifact's own text or records, without the run's tables. Of perf samples the tables say which processes
//! are the program's; of off-CPU stacks, which were preempted.

use super::anchor::Sum;
use super::open::Reader;
use super::perf;
use super::store::int;
use super::text::{calls, counters, heap, manifest, series, stacks, summary};

/// The sum, in each unit that the file may mean, and over how many rows it is; `None` where it takes the tables.
pub type OfFile = Option<(Vec<i64>, Option<i64>)>;

impl Reader<'_> {
    /// The sum by the artifact's own text or records; `None` where that takes the tables.
    pub fn of_file(&self, sum: &Sum) -> Result<OfFile, String> {
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
    fn stack_total(&self, sum: &Sum) -> Result<OfFile, String> {
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
            let rows = (0..of.len()).filter(|row| int(&of, *row) == Some(self.artifact.id));
            let rows = rows.filter(|row| int(&is_target, *row) == Some(target));
            rows.filter_map(|row| int(&pids, row)).collect::<Vec<i64>>()
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
