//! Snapshots of the kernel's accounting, one or several in a file: /proc/pressure (and the cpu.pressure of a cgroup), cpu.stat of a
//! cgroup (both versions), /proc/stat, /proc/PID/io, /proc/PID/status.
//!
//! ```text
//! tail -n +1 /proc/uptime /proc/pressure/* /proc/stat > before.txt; PROGRAM; tail -n +1 /proc/uptime /proc/pressure/* /proc/stat > after.txt
//! ```
//!
//! Running totals are compared: the first of a key with the last, in one file or in two that are named `before` and `after` (`pairs.rs`).
//! How much time lies between comes from lines of `date +%s.%N`, from /proc/uptime, or from the ticks of /proc/stat.

mod line;
mod pairs;
mod surroundings;

use std::collections::BTreeMap;

use self::line::{Place, Said};
use super::{Format, Input, NewEvent, Recorder, Severity, text};
use crate::error::Result;
use crate::tables::{Accounting, Tables};

/// Joins files named before and after, and tells the surroundings. Called after the merge, when windows are known.
pub fn adopt(tables: &mut Tables) {
    pairs::join(tables);
    surroundings::note(tables);
}

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "accounting",
    tool: "procfs",
    doc: "snapshots of pressure, cgroup cpu.stat, /proc/stat, /proc/PID/io: before and after a run",
    record: "for at in before after; do tail -n +1 /proc/uptime /proc/pressure/* /proc/stat /sys/fs/cgroup/cpu.stat > $at.txt; \
        [ $at = after ] || PROGRAM; done",
    sniff,
    read,
};

/// Numbers of one file that are kept; what is beyond is counted.
const ROWS_MAX: usize = 200_000;

pub fn sniff(head: &[u8]) -> bool {
    text::lines(&text::decode(head)).any(|(_, line)| line::is_telling(&String::from_utf8_lossy(line)))
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let bytes = text::decode(input.bytes);
    let mut reader = Reader { place: Place::of_file_name(input.name), ..Reader::default() };
    for (line_no, line) in text::lines(&bytes) {
        let line = String::from_utf8_lossy(line);
        if line.trim().is_empty() {
            continue;
        }
        recorder.artifact.records += 1;
        reader.line(&line, line_no, recorder);
    }
    order(&mut recorder.tables.accounting);
    recorder.artifact.window_ns = window(&reader, &recorder.tables.accounting);
    recorder.artifact.clock = Some("relative".into());
    events(recorder);
    Ok(())
}

#[derive(Debug, Default)]
struct Reader {
    place: Place,
    /// Epoch or uptime, by line.
    clock: Vec<i64>,
    uptime: Vec<i64>,
}

impl Reader {
    fn line(&mut self, line: &str, line_no: i64, recorder: &mut Recorder) {
        let content = match line::head(line) {
            Some((place, content)) => {
                self.place = place;
                content
            }
            None => line,
        };
        if content.trim().is_empty() {
            return;
        }
        match line::parse(&self.place, content) {
            Said::Values(scope, values) => {
                for value in values {
                    push(&scope, value, line_no, recorder);
                }
            }
            Said::Clock(ns) => {
                self.clock.push(ns);
                push("system", time("realtime", ns), line_no, recorder);
            }
            Said::Uptime(ns) => {
                self.uptime.push(ns);
                push("system", time("uptime", ns), line_no, recorder);
            }
            Said::Broken => {
                let message = format!("a number is missing: {:?}", content.chars().take(80).collect::<String>());
                recorder.skip("accounting_line", Severity::Warn, &message, "the line is left out", &text::place(line_no));
            }
            Said::NoResource => recorder.skip(
                "pressure_of_what",
                Severity::Warn,
                "a line of pressure, but nothing says whether of cpu, io or memory",
                "use `tail -n +1 /proc/pressure/*`, which prints the names, or put cpu, io or memory into the file's name",
                &text::place(line_no),
            ),
            Said::Nothing => recorder.skip(
                "other_text",
                Severity::Info,
                "lines of the accounting that no rule reads",
                "nothing to do",
                &text::place(line_no),
            ),
        }
    }
}

/// A number, before it is known which snapshot it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Value {
    key: String,
    value: i64,
    unit: &'static str,
    is_average: bool,
}

fn time(key: &str, ns: i64) -> Value {
    Value { key: key.to_owned(), value: ns, unit: "ns", is_average: false }
}

fn push(scope: &str, value: Value, line_no: i64, recorder: &mut Recorder) {
    if recorder.tables.accounting.len() >= ROWS_MAX {
        let message = format!("the file has more than {ROWS_MAX} numbers");
        recorder.skip("accounting_too_long", Severity::Warn, &message, "the line is left out", &text::place(line_no));
        return;
    }
    let row = Accounting {
        artifact_id: 0,
        scope: recorder.text(scope),
        key: recorder.text(&value.key),
        value: value.value,
        unit: value.unit.into(),
        moment: if value.is_average { "average".into() } else { "last".into() },
        stands_in: None,
        line_no,
    };
    recorder.tables.accounting.push(row);
}

/// The first, last and other snapshots of each key. A single one is the last: what was before is 0 or unknown.
fn order(rows: &mut [Accounting]) {
    let mut of_key: BTreeMap<(crate::tables::Text, crate::tables::Text), Vec<usize>> = BTreeMap::new();
    for (n, row) in rows.iter().enumerate() {
        of_key.entry((row.scope.clone(), row.key.clone())).or_default().push(n);
    }
    for places in of_key.values() {
        let count = places.len();
        for (nth, n) in places.iter().enumerate().take(count.saturating_sub(1)) {
            if let Some(row) = rows.get_mut(*n) {
                let is_average = row.moment.as_ref() == "average";
                row.moment = if is_average || nth > 0 { "between".into() } else { "first".into() };
            }
        }
    }
}

/// From the first to the last snapshot.
fn window(reader: &Reader, rows: &[Accounting]) -> Option<i64> {
    let span = |times: &[i64]| times.first().zip(times.last()).and_then(|(first, last)| last.checked_sub(*first)).filter(|ns| *ns > 0);
    span(&reader.clock).or_else(|| span(&reader.uptime)).or_else(|| ticks(rows))
}

/// Every CPU ticks all the time: what passed on one of them is the time between the snapshots.
fn ticks(rows: &[Accounting]) -> Option<i64> {
    let at =
        |at: &str| rows.iter().find(|row| row.key.as_ref() == "cpu_total" && row.moment.as_ref() == at && row.scope.starts_with("cpu"));
    let first = at("first")?;
    let last = rows.iter().find(|row| row.key == first.key && row.scope == first.scope && row.moment.as_ref() == "last")?;
    last.value.checked_sub(first.value).filter(|ns| *ns > 0)
}

/// Pressure and cgroups are one source, the files of /proc another.
fn events(recorder: &mut Recorder) {
    let is_psi = |row: &Accounting| row.key.starts_with("psi_") || row.scope.starts_with("cgroup");
    for (name, probe, wanted) in [("pressure and cgroup", "psi_cgroup", true), ("procfs", "procfs", false)] {
        let count = recorder.tables.accounting.iter().filter(|row| is_psi(row) == wanted).count() as i64;
        if count == 0 {
            continue;
        }
        let id = recorder.push_event(&NewEvent {
            name: name.into(),
            mechanism: "M8",
            probe,
            role: "other",
            frequency_hz: None,
            period: None,
            unit: "count",
        });
        if let Some(row) = recorder.tables.events.get_mut(id as usize) {
            row.n = count;
        }
    }
}

#[cfg(test)]
mod tests;
