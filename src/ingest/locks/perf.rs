//! `perf lock contention` and `perf lock report`.
//!
//! ```text
//!  contended   total wait     max wait     avg wait         type   caller
//!
//!         81    324.39 ms      8.27 ms      4.00 ms      rwsem:W   __x64_sys_munmap+0x17
//! ```
//!
//! `-t` has pid and comm in place of type and caller, `-l` (from 6.2) address and symbol, `-o` pid and owner. `-F` chooses and reorders
//! the numbers, so columns are taken from the heading. `report` has the name first.

use super::super::{Format, Input, Recorder, Severity, text};
use super::{duration, event, function, other, push, row, unreadable};
use crate::error::Result;
use crate::tables::LockTotal;

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "perf-lock",
    tool: "perf",
    doc: "waits for locks of the kernel by caller, thread or lock: perf lock contention, perf lock report",
    record: "perf lock record -o lock.data -- PROGRAM; perf lock contention -i lock.data 2> lock.txt",
    sniff,
    read,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Contended,
    Acquired,
    Total,
    Max,
    /// Averages and minima.
    Other,
}

/// What stands beside the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    TypeCaller,
    PidComm,
    AddressSymbol,
    /// `perf lock report`: in front of the numbers.
    InFront,
}

#[derive(Debug, Clone)]
struct Heading {
    columns: Vec<Column>,
    names: Names,
}

fn heading(line: &str) -> Option<Heading> {
    let mut words = line.split_whitespace().peekable();
    let mut columns = Vec::new();
    let mut names = words.next_if(|word| *word == "Name").map(|_| Names::InFront);
    while let Some(word) = words.next() {
        let column = match word {
            "contended" => Column::Contended,
            "acquired" => Column::Acquired,
            "total" if words.next_if_eq(&"wait").is_some() => Column::Total,
            "max" if words.next_if_eq(&"wait").is_some() => Column::Max,
            "avg" | "min" if words.next_if_eq(&"wait").is_some() => Column::Other,
            "type" if names.is_none() && words.next() == Some("caller") => {
                names = Some(Names::TypeCaller);
                break;
            }
            "pid" if names.is_none() && matches!(words.next(), Some("comm" | "owner")) => {
                names = Some(Names::PidComm);
                break;
            }
            "address" if names.is_none() && words.next() == Some("symbol") => {
                names = Some(Names::AddressSymbol);
                break;
            }
            _ => return None,
        };
        columns.push(column);
    }
    let is_table = words.next().is_none() && columns.contains(&Column::Total);
    names.filter(|_| is_table).map(|names| Heading { columns, names })
}

pub fn sniff(head: &[u8]) -> bool {
    text::lines(&text::decode(head)).any(|(_, line)| heading(&String::from_utf8_lossy(line)).is_some())
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let bytes = text::decode(input.bytes);
    let mut current: Option<Heading> = None;
    let mut rows_of_this = 0;
    for (line_no, line) in text::lines(&bytes) {
        let line = String::from_utf8_lossy(line);
        if let Some(found) = heading(&line) {
            (current, rows_of_this) = (Some(found), 0);
            continue;
        }
        if line.trim().is_empty() {
            if rows_of_this > 0 {
                current = None;
            }
            continue;
        }
        let Some(heading) = &current else {
            trailer(&line, line_no, recorder);
            continue;
        };
        // -v: the stack of the row above
        if line.trim_start().starts_with("0x") {
            continue;
        }
        recorder.artifact.records += 1;
        rows_of_this += 1;
        match total(heading, &line, line_no, recorder) {
            Some(row) => push(row, recorder),
            None => unreadable(&line, line_no, recorder),
        }
    }
    event("lock:contention", "lock_tp", recorder);
    Ok(())
}

/// `bad: 3, total: 140`: sequences of lock events that perf could not put together.
fn trailer(line: &str, line_no: i64, recorder: &mut Recorder) {
    let counts = line.trim().strip_prefix("bad: ").and_then(|rest| rest.split_once(", total: "));
    match counts.and_then(|(bad, total)| Some((bad.parse::<i64>().ok()?, total.parse::<i64>().ok()?))) {
        Some((bad, total)) if bad > 0 && total >= bad => {
            let message = format!("perf could not put together {bad} of {total} sequences of lock events");
            let advice = "waits are missing from the table; record with larger buffers (-m 8M)";
            recorder.skip_many("perf_lock_bad", Severity::Warn, bad, &message, advice, &text::place(line_no));
        }
        _ => other(line_no, recorder),
    }
}

fn total(heading: &Heading, line: &str, line_no: i64, recorder: &mut Recorder) -> Option<LockTotal> {
    let mut row = row(line_no);
    if heading.names == Names::InFront {
        // the name may hold spaces, the numbers do not: as many words from the end as the columns have
        let words_of = |column: &Column| if matches!(column, Column::Contended | Column::Acquired) { 1 } else { 2 };
        let mut rest = line.trim_end();
        for _ in 0..heading.columns.iter().map(words_of).sum::<usize>() {
            rest = rest.get(..rest.rfind(char::is_whitespace)?)?.trim_end();
        }
        let numbers = line.get(rest.len()..)?;
        let (row, left) = numbers_of(&heading.columns, numbers, row)?;
        let caller = function(rest, recorder);
        return left.trim().is_empty().then_some(LockTotal { caller, ..row });
    }
    let (numbers, left) = numbers_of(&heading.columns, line, row)?;
    row = numbers;
    let (first, second) = left.trim().split_once(char::is_whitespace).unwrap_or((left.trim(), ""));
    let second = second.trim();
    match heading.names {
        Names::TypeCaller => {
            row.kind = recorder.text(first);
            row.caller = function(second, recorder);
        }
        Names::PidComm => {
            row.kind = "thread".into();
            row.thread = Some(first.parse().ok()?);
            row.caller = function(second, recorder);
        }
        Names::AddressSymbol | Names::InFront => {
            text::hex(first)?;
            // `pack_mutex (mutex)`; older ones print the symbol alone, which may be empty
            let (symbol, kind) = match second.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
                Some((symbol, kind)) => (symbol.trim(), kind),
                None => (second, "lock"),
            };
            row.kind = recorder.text(kind);
            row.name = function(if symbol.is_empty() { first } else { symbol }, recorder);
        }
    }
    Some(row)
}

/// The numbers at the begin of the text, and what is behind them.
fn numbers_of<'a>(columns: &[Column], text: &'a str, mut row: LockTotal) -> Option<(LockTotal, &'a str)> {
    let mut rest = text;
    let mut word = || {
        let trimmed = rest.trim_start();
        let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
        let (word, left) = trimmed.split_at_checked(end)?;
        rest = left;
        (!word.is_empty()).then_some(word)
    };
    for column in columns {
        let number = word()?;
        match column {
            Column::Contended => row.contended = Some(count(number)?),
            Column::Acquired => row.acquired = Some(count(number)?),
            Column::Total => row.wait_ns = Some(duration(number, word()?)?),
            Column::Max => row.wait_max_ns = Some(duration(number, word()?)?),
            Column::Other => {
                duration(number, word()?)?;
            }
        }
    }
    Some((row, rest))
}

fn count(number: &str) -> Option<i64> {
    number.parse().ok().filter(|count| *count >= 0)
}
