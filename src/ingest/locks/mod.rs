//! Tables of lock waits: `perf lock contention` and `perf lock report` (`perf.rs`), klockstat of bcc and libbpf-tools
//! (`klockstat.rs`), and futex maps of bpftrace (`futex.rs`).
//!
//! perf and klockstat name the caller, hardly ever the lock. Waits are counted and summed by the tool, so a row is a
//! total, as exact as it was printed (perf: two decimals of the unit).

mod futex;
mod klockstat;
mod perf;

use super::{NewEvent, Recorder, Severity, text};
use crate::tables::{LockTotal, Text};

pub use futex::{FORMAT as FUTEX, adopt_commands};
pub use klockstat::FORMAT as KLOCKSTAT;
pub use perf::FORMAT as PERF_LOCK;

/// Rows of one file that are kept; what is beyond is counted.
const ROWS_MAX: usize = 100_000;

/// Longest name that is kept; longer ones are cut.
const NAME_MAX: usize = 512;

fn row(line_no: i64) -> LockTotal {
    LockTotal {
        artifact_id: 0,
        kind: "lock".into(),
        name: None,
        caller: None,
        thread: None,
        contended: None,
        acquired: None,
        wait_ns: None,
        wait_max_ns: None,
        hold_ns: None,
        is_kernel: true,
        line_no,
    }
}

fn push(row: LockTotal, recorder: &mut Recorder) {
    if recorder.tables.locks.len() < ROWS_MAX {
        recorder.tables.locks.push(row);
    } else {
        let message = format!("the file has more than {ROWS_MAX} rows");
        recorder.skip("locks_too_long", Severity::Warn, &message, "the row is left out", &text::place(row.line_no));
    }
}

fn unreadable(line: &str, line_no: i64, recorder: &mut Recorder) {
    let message = format!("no row of the table: {:?}", line.chars().take(80).collect::<String>());
    recorder.skip("locks_line", Severity::Warn, &message, "the row is left out", &text::place(line_no));
}

fn other(line_no: i64, recorder: &mut Recorder) {
    recorder.skip("other_text", Severity::Info, "lines that are no row of the table", "nothing to do", &text::place(line_no));
}

fn event(name: &str, probe: &'static str, recorder: &mut Recorder) {
    let waits = recorder.tables.locks.iter().filter_map(|row| row.contended.or(row.acquired)).fold(0i64, i64::saturating_add);
    let id = recorder.push_event(&NewEvent {
        name: name.into(),
        mechanism: "M6",
        probe,
        role: "other",
        frequency_hz: None,
        period: Some(1),
        unit: "count",
    });
    if let Some(row) = recorder.tables.events.get_mut(id as usize) {
        row.n = waits;
        row.total_weight = waits;
    }
}

/// A name without `+0x17`, so that it is the name of a function.
fn function(name: &str, recorder: &mut Recorder) -> Option<Text> {
    let name = name.trim();
    let plain = name.rsplit_once("+0x").map_or(name, |(plain, _)| plain);
    let cut: String = plain.chars().take(NAME_MAX).collect();
    (!cut.is_empty()).then(|| recorder.text(&cut))
}

/// `12.34 us`, `1.5 m`, or a plain number of nanoseconds.
fn duration(number: &str, unit: &str) -> Option<i64> {
    let factor = match unit {
        "ns" => return text::decimal(number, 0).filter(|ns| *ns >= 0),
        "us" => 3,
        "ms" => 6,
        "s" => 9,
        "m" => return text::decimal(number, 9)?.checked_mul(60).filter(|ns| *ns >= 0),
        "h" => return text::decimal(number, 9)?.checked_mul(3600).filter(|ns| *ns >= 0),
        _ => return None,
    };
    text::decimal(number, factor).filter(|ns| *ns >= 0)
}

#[cfg(test)]
mod tests;
