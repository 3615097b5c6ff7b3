//! syscount of bcc and libbpf-tools, and bpftrace's count by tracepoint.
//!
//! ```text
//! Tracing syscalls, printing top 10... Ctrl+C to quit.
//! [22:56:50]
//! SYSCALL                   COUNT        TIME (us)       TIME with -L: wall time in the call
//! futex                       174      4386376.068
//!
//! @[tracepoint:syscalls:sys_enter_read]: 2061            bpftrace -e 'tracepoint:syscalls:sys_enter_* { @[probe] = count(); }'
//! ```
//!
//! syscount prints the busiest calls only: where a table is full, calls that are not in it are unknown, not zero.

use super::{Format, Input, NewEvent, Recorder, Severity, histogram, text};
use crate::error::Result;
use crate::tables::Syscall;

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "syscount",
    tool: "bpf",
    doc: "calls and, with -L, wall time per system call: syscount, bpftrace counts by tracepoint",
    record: "syscount -p PID -L -T 400 -d 5 > syscount.txt",
    sniff,
    read,
};

/// Rows of one file that are kept; a kernel has some 400 calls.
const ROWS_MAX: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    /// Decimal places between the unit of TIME and nanoseconds, where it has one.
    Calls(Option<u32>),
    Processes,
}

fn heading(line: &str) -> Option<Heading> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["SYSCALL", "COUNT"] => Some(Heading::Calls(None)),
        ["SYSCALL", "COUNT", "TIME", "(us)"] => Some(Heading::Calls(Some(3))),
        ["SYSCALL", "COUNT", "TIME", "(ms)"] => Some(Heading::Calls(Some(6))),
        ["PID", "COMM", "COUNT"] | ["PID", "COMM", "COUNT", "TIME", _] => Some(Heading::Processes),
        _ => None,
    }
}

/// `@calls[tracepoint:syscalls:sys_enter_read]: 12` -> name and number as text.
fn map_entry(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.trim_end().strip_prefix('@')?.split_once('[')?;
    let (key, number) = rest.rsplit_once("]:")?;
    Some((key.strip_prefix("tracepoint:syscalls:sys_enter_")?, number.trim()))
}

pub fn sniff(head: &[u8]) -> bool {
    let mut title = false;
    text::lines(&text::decode(head)).any(|(_, line)| {
        let line = String::from_utf8_lossy(line);
        title |= line.starts_with("Tracing ") && line.contains("syscalls, printing top ");
        match heading(&line) {
            Some(Heading::Calls(_)) => true,
            Some(Heading::Processes) => title,
            None => map_entry(&line).is_some_and(|(_, number)| number.parse::<i64>().is_ok()),
        }
    })
}

/// Where in the text we are.
#[derive(Default)]
struct State {
    heading: Option<Heading>,
    /// Rows that a table has at most.
    top: Option<usize>,
    rows: usize,
    is_full: bool,
    failed_only: bool,
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let bytes = text::decode(input.bytes);
    let mut state = State::default();
    let mut stamps = Vec::new();
    for (line_no, line) in text::lines(&bytes) {
        let line = String::from_utf8_lossy(line);
        let trimmed = line.trim();
        if let Some(found) = heading(trimmed) {
            state.heading = Some(found);
            state.rows = 0;
        } else if let Some((name, number)) = map_entry(trimmed) {
            recorder.artifact.records += 1;
            push(name, number, None, line_no, &state, recorder).unwrap_or_else(|| unreadable(&line, line_no, recorder));
        } else if let Some(time) = histogram::stamp(trimmed) {
            stamps.push(time);
        } else if trimmed.is_empty() || trimmed == "^C" {
            state.heading = None;
        } else if let Some(heading) = state.heading {
            table_row(heading, trimmed, line_no, &mut state, recorder);
        } else {
            title(trimmed, line_no, &mut state, recorder);
        }
    }
    recorder.artifact.window_ns = histogram::of_stamps(&stamps);
    finish(&state, recorder);
    Ok(())
}

fn title(line: &str, line_no: i64, state: &mut State, recorder: &mut Recorder) {
    let top = line.split_once("syscalls, printing top ").and_then(|(front, rest)| {
        state.failed_only |= front.contains("failed");
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    });
    state.top = top.or(state.top);
    if top.is_none() {
        recorder.skip("other_text", Severity::Info, "lines that are no row of the table", "nothing to do", &text::place(line_no));
    }
}

fn table_row(heading: Heading, line: &str, line_no: i64, state: &mut State, recorder: &mut Recorder) {
    recorder.artifact.records += 1;
    let Heading::Calls(places) = heading else {
        recorder.skip(
            "syscount_by_process",
            Severity::Warn,
            "-P counts by process, not by system call",
            "record without -P",
            &text::place(line_no),
        );
        return;
    };
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let time = places.and_then(|places| text::decimal(words.pop()?, places)).filter(|time| *time >= 0);
    let count = words.pop().unwrap_or_default();
    let name = words.join(" ");
    let is_whole = time.is_some() == places.is_some() && !name.is_empty();
    let pushed = is_whole.then(|| push(&name, count, time, line_no, state, recorder)).flatten();
    pushed.unwrap_or_else(|| unreadable(line, line_no, recorder));
    state.rows += 1;
    state.is_full |= state.top.is_some_and(|top| state.rows >= top);
}

fn push(name: &str, count: &str, total_ns: Option<i64>, line_no: i64, state: &State, recorder: &mut Recorder) -> Option<()> {
    let calls: i64 = count.parse().ok().filter(|count| *count >= 0)?;
    if recorder.tables.syscalls.len() >= ROWS_MAX {
        return None;
    }
    let name: String = name.chars().take(64).collect();
    let row = Syscall {
        artifact_id: 0,
        thread_id: None,
        name: recorder.text(&name),
        calls,
        errors: state.failed_only.then_some(calls),
        total_ns,
        clock: if total_ns.is_some() { "wall".into() } else { "unknown".into() },
        line_no,
    };
    recorder.tables.syscalls.push(row);
    Some(())
}

fn unreadable(line: &str, line_no: i64, recorder: &mut Recorder) {
    let message = format!("no row of the table: {:?}", line.chars().take(80).collect::<String>());
    recorder.skip("syscount_line", Severity::Warn, &message, "the row is left out", &text::place(line_no));
}

fn finish(state: &State, recorder: &mut Recorder) {
    if state.failed_only {
        // what did not fail is not in it, so nothing in it is a whole count
        recorder.artifact.syscall_filter = Some("failed calls only".into());
    } else if state.is_full {
        recorder.artifact.syscall_filter = Some("the most frequent only".into());
    }
    let calls = recorder.tables.syscalls.iter().fold(0i64, |sum, row| sum.saturating_add(row.calls));
    let id = recorder.push_event(&NewEvent {
        name: "syscalls".into(),
        mechanism: "M8",
        probe: "tp_syscall",
        role: "other",
        frequency_hz: None,
        period: Some(1),
        unit: "count",
    });
    if let Some(row) = recorder.tables.events.get_mut(id as usize) {
        row.n = calls;
        row.total_weight = calls;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::testing::{kinds, read_text, survives_damage};

    /// libbpf-tools of Debian 12, `syscount -d 1 -L -T 3`; the last row is made up.
    const LATENCY: &str = "Tracing syscalls, printing top 3... Ctrl+C to quit.\n[22:56:50]\nSYSCALL                   COUNT        TIME (us)\nfutex                       174      4386376.068\n[unknown: 321]               32            4.965\nwait4                       x27       506488.282\n\n";

    #[test]
    fn calls_with_and_without_time() {
        let recorder = read_text(read, LATENCY);
        let rows: Vec<_> = recorder
            .tables
            .syscalls
            .iter()
            .map(|row| (row.name.as_ref(), row.calls, row.total_ns, row.clock.as_ref(), row.line_no))
            .collect();
        assert_eq!(rows, [("futex", 174, Some(4_386_376_068), "wall", 4), ("[unknown: 321]", 32, Some(4_965), "wall", 5)]);
        assert_eq!(kinds(&recorder), ["syscount_line"]);
        assert_eq!(recorder.artifact.syscall_filter.as_deref(), Some("the most frequent only"));
        // bcc's syscount_example.txt: two intervals of failed calls, fewer than ten.
        let failed = "Tracing failed syscalls, printing top 10... Ctrl+C to quit.\n[09:44:16]\nSYSCALL             COUNT\nfutex                  13\n\n[09:44:21]\nSYSCALL             COUNT\nfutex                  12\n^C\n";
        let recorder = read_text(read, failed);
        let rows: Vec<_> = recorder.tables.syscalls.iter().map(|row| (row.calls, row.errors, row.total_ns)).collect();
        assert_eq!(rows, [(13, Some(13), None), (12, Some(12), None)]);
        assert_eq!(recorder.artifact.syscall_filter.as_deref(), Some("failed calls only"));
        // Two intervals of five seconds by their times.
        assert_eq!((recorder.artifact.window_ns, kinds(&recorder).is_empty()), (Some(10_000_000_000), true));
        survives_damage(read, LATENCY.as_bytes());
    }

    #[test]
    fn maps_and_processes() {
        let recorder = read_text(
            read,
            "Attaching 341 probes...\n\n@[tracepoint:syscalls:sys_enter_read]: 2061\n@[tracepoint:syscalls:sys_enter_sched_yield]: 7\n",
        );
        let rows: Vec<_> = recorder.tables.syscalls.iter().map(|row| (row.name.as_ref(), row.calls)).collect();
        assert_eq!(rows, [("read", 2061), ("sched_yield", 7)]);
        assert_eq!(recorder.artifact.syscall_filter, None);
        let processes = "Tracing syscalls, printing top 8... Ctrl+C to quit.\n[22:56:51]\nPID    COMM               COUNT\n20154  rustc                463\n";
        assert!(sniff(processes.as_bytes()) && sniff(LATENCY.as_bytes()));
        assert!(!sniff(b"PID    COMM               COUNT\n1 a 2\n") && !sniff(b"@calls[a]: 3\n"));
        assert_eq!(kinds(&read_text(read, processes)), ["syscount_by_process"]);
    }
}
