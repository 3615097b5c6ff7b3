//! Rows of `quality` as a reader counts them: a check is as bad as the worst of its rows.

use std::collections::BTreeSet;

use crate::tables::{Quality, Reading};

/// Statuses, the worst first.
const STATUSES: [&str; 6] = ["block", "demote", "warn", "silenced", "ok", "not checkable"];

/// One row per check, in order of id: of its worst rows the one furthest from its limit.
pub fn worst(rows: &[Quality]) -> Vec<&Quality> {
    let rank = |row: &Quality| STATUSES.iter().position(|own| *own == &*row.status).unwrap_or(STATUSES.len());
    let mut out: Vec<&Quality> = Vec::new();
    for row in rows {
        match out.iter_mut().find(|own| own.check == row.check) {
            Some(own) if rank(row) < rank(own) || rank(row) == rank(own) && is_further(row, own) => *own = row,
            Some(_) => {}
            None => out.push(row),
        }
    }
    out.sort_by(|a, b| a.check.cmp(&b.check));
    out
}

fn is_further(row: &Quality, than: &Quality) -> bool {
    let is_floor = row.limits.as_deref().is_some_and(|limits| limits.contains(" below "));
    match (row.value, than.value) {
        (Some(one), Some(other)) if row.measure == than.measure => {
            if is_floor {
                one < other
            } else {
                one > other
            }
        }
        _ => false,
    }
}

/// How many angles lost their word to a check, as their readings say it.
pub fn taken_slots(readings: &[Reading]) -> usize {
    let by_check = |reason: &str| reason.starts_with("demoted by Q") || reason.starts_with("blocked by Q");
    let taken = readings.iter().filter(|row| &*row.role != "site" && row.reason.as_deref().is_some_and(by_check));
    taken.map(|row| (&row.hypothesis, &row.slot)).collect::<BTreeSet<_>>().len()
}
