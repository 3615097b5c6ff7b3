//! Rows of the tables against the records they say they come from.

use std::collections::BTreeMap;

use super::Walk;
use crate::verify::store::{Store, int, row_of, text};

/// The events of an artifact as tables number them: (event id, name).
pub fn events(store: &Store, artifact: i64) -> Result<Vec<(i64, String)>, String> {
    let (ids, of) = (store.ints("events", "event_id")?, store.ints("events", "artifact_id")?);
    let names = store.texts("events", "name")?;
    let own = (0..ids.len()).filter(|row| int(&of, *row) == Some(artifact));
    let mut found: Vec<(i64, String)> = own.filter_map(|row| Some((int(&ids, row)?, text(&names, row).unwrap_or("").to_owned()))).collect();
    found.sort();
    Ok(found)
}

/// Compares number and weight of each event's samples, whosever they are. Gives how many events were compared.
pub fn events_sums(walk: &Walk, store: &Store, artifact: i64) -> Result<usize, String> {
    // A group's samples bring numbers of several events at once.
    if walk.events.iter().any(|event| event.reads_group) {
        return Ok(0);
    }
    let (ids, n, weight) = (store.ints("events", "event_id")?, store.ints("events", "n")?, store.ints("events", "total_weight")?);
    let mut compared = 0;
    for (nth, (id, name)) in events(store, artifact)?.into_iter().enumerate() {
        let (Some(event), Some(row)) = (walk.event(&name, nth), (0..ids.len()).find(|row| int(&ids, *row) == Some(id))) else { continue };
        let own = walk.samples.iter().filter(|sample| sample.event == event);
        let gives = own.fold((0_i64, 0_i64), |(n, sum), sample| (n + 1, sum.saturating_add(sample.weight)));
        for (column, has, gives) in [("n", int(&n, row), gives.0), ("total_weight", int(&weight, row), gives.1)] {
            if has != Some(gives) {
                return Err(format!("tables/events.parquet: {name}: {column} is {}, in the file {gives}", shown(has)));
            }
        }
        compared += 1;
    }
    Ok(compared)
}

/// Compares every sample of the artifact with its record: weight, time, thread. Gives how many were compared.
pub fn samples(walk: &Walk, store: &Store, artifact: i64) -> Result<usize, String> {
    let own: BTreeMap<i64, Option<usize>> =
        events(store, artifact)?.into_iter().enumerate().map(|(nth, (id, name))| (id, walk.event(&name, nth))).collect();
    let (event, record) = (store.ints("samples", "event_id")?, store.ints("samples", "record_no")?);
    let (weight, time) = (store.ints("samples", "weight")?, store.ints("samples", "ts_ns")?);
    let (thread, tids) = (store.ints("samples", "thread_id")?, store.ints("threads", "tid")?);
    let mut compared = 0;
    for row in 0..event.len() {
        let Some(expected) = int(&event, row).and_then(|id| own.get(&id)) else { continue };
        let Some(number) = int(&record, row) else { continue };
        let place = || format!("tables/samples.parquet: row {} (record {number})", row + 1);
        let found = u64::try_from(number).ok().and_then(|number| walk.sample(number));
        let found = found.ok_or_else(|| format!("{}: the file has no sample there", place()))?;
        // Members of a group are rows of their own, with numbers that the leader's sample brings.
        if walk.events.get(found.event).is_some_and(|event| event.reads_group) {
            continue;
        }
        if expected.is_some_and(|event| event != found.event) {
            return Err(format!("{}: is of another event in the file", place()));
        }
        if int(&weight, row) != Some(found.weight) {
            return Err(format!("{}: weight is {}, in the file {}", place(), shown(int(&weight, row)), found.weight));
        }
        let there = found.time.and_then(|time| i64::try_from(time).ok());
        if int(&time, row) != there {
            return Err(format!("{}: ts_ns is {}, in the file {}", place(), shown(int(&time, row)), shown(there)));
        }
        let tid = int(&thread, row).and_then(|id| int(&tids, row_of(id)));
        if tid.is_some_and(|tid| found.tid >= 0 && tid != i64::from(found.tid)) {
            return Err(format!("{}: is of thread {}, in the file of {}", place(), shown(tid), found.tid));
        }
        compared += 1;
    }
    Ok(compared)
}

/// Compares every wait of the artifact with the record of its switch: it began when that record was made.
pub fn waits(walk: &Walk, store: &Store, artifact: i64) -> Result<usize, String> {
    let (of, record) = (store.ints("waits", "artifact_id")?, store.ints("waits", "record_no")?);
    let (start, clipped) = (store.ints("waits", "start_ns")?, store.ints("waits", "clipped")?);
    let mut compared = 0;
    for row in (0..of.len()).filter(|row| int(&of, *row) == Some(artifact) && int(&clipped, *row) == Some(0)) {
        let number = int(&record, row).and_then(|number| u64::try_from(number).ok());
        let place = || format!("tables/waits.parquet: row {} (record {})", row + 1, shown(int(&record, row)));
        // Switches may be records of their own instead of samples: those have no event.
        let Some(found) = number.and_then(|number| walk.sample(number)) else { continue };
        let there = found.time.and_then(|time| i64::try_from(time).ok());
        if int(&start, row) != there {
            return Err(format!("{}: start_ns is {}, in the file {}", place(), shown(int(&start, row)), shown(there)));
        }
        compared += 1;
    }
    Ok(compared)
}

fn shown(value: Option<i64>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}
