//! klockstat: mutexes and semaphores of the kernel, by the function that takes them.
//!
//! ```text
//!                                Caller  Avg Wait    Count   Max Wait   Total Wait      libbpf-tools
//!                        pipe_read+0x3f    420 ns   334120    17.0 us     140.6 ms
//!                              Max PID 4711, COMM cat, Lock no-ksym (0xffff8881)          -s 2 and more
//!                                Caller   Avg Spin  Count   Max spin Total spin          bcc, in ns
//!                        pipe_read+0x3f        420 334120      16964  140632284
//! ```
//!
//! A second table is about holding (`Avg Hold`). It counts every acquisition, not only those that waited.

use super::super::{Format, Input, Recorder, text};
use super::{duration, event, function, other, push, row, unreadable};
use crate::error::Result;
use crate::tables::LockTotal;

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "klockstat",
    tool: "bpf",
    doc: "waits for mutexes of the kernel by caller, and how long they are held: klockstat",
    record: "klockstat -p PID -d 5 > klockstat.txt",
    sniff,
    read,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Heading {
    is_hold: bool,
    by_thread: bool,
}

fn heading(line: &str) -> Option<Heading> {
    let words: Vec<String> = line.split_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (by_thread, rest) = match words[..] {
        ["caller", ref rest @ ..] => (false, rest),
        ["tid", "comm", ref rest @ ..] => (true, rest),
        _ => return None,
    };
    let is_hold = match *rest {
        ["avg", "wait" | "spin", "count", "max", "wait" | "spin", "total", "wait" | "spin"] => false,
        ["avg", "hold", "count", "max", "hold", "total", "hold"] => true,
        _ => return None,
    };
    Some(Heading { is_hold, by_thread })
}

pub fn sniff(head: &[u8]) -> bool {
    text::lines(&text::decode(head)).any(|(_, line)| heading(&String::from_utf8_lossy(line)).is_some())
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let bytes = text::decode(input.bytes);
    let mut current: Option<Heading> = None;
    for (line_no, line) in text::lines(&bytes) {
        let line = String::from_utf8_lossy(line);
        let trimmed = line.trim();
        if let Some(found) = heading(trimmed) {
            current = Some(found);
            continue;
        }
        if trimmed.is_empty() {
            current = None;
            continue;
        }
        let Some(heading) = current else {
            other(line_no, recorder);
            continue;
        };
        // -s: the callers of the row above, one name per line, and who waited longest
        if !trimmed.contains(char::is_whitespace) || trimmed.starts_with("Max PID ") {
            continue;
        }
        recorder.artifact.records += 1;
        match total(heading, trimmed, line_no, recorder) {
            Some(row) => push(row, recorder),
            None => unreadable(&line, line_no, recorder),
        }
    }
    event("klockstat", "bpf_map", recorder);
    Ok(())
}

/// Four numbers from the end (average, count, longest, total), each time with or without its unit; the name is in front.
fn total(heading: Heading, line: &str, line_no: i64, recorder: &mut Recorder) -> Option<LockTotal> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let sum = time(&mut words)?;
    let longest = time(&mut words)?;
    let acquired: i64 = words.pop()?.parse().ok().filter(|count| *count >= 0)?;
    time(&mut words)?;
    let mut row = LockTotal { acquired: Some(acquired), ..row(line_no) };
    if heading.is_hold {
        row.hold_ns = Some(sum);
    } else {
        (row.wait_ns, row.wait_max_ns) = (Some(sum), Some(longest));
    }
    if heading.by_thread {
        row.kind = "thread".into();
        row.thread = Some((!words.is_empty()).then(|| words.remove(0))?.parse().ok()?);
    }
    row.caller = function(&words.join(" "), recorder);
    row.caller.is_some().then_some(row)
}

fn time(words: &mut Vec<&str>) -> Option<i64> {
    let last = words.pop()?;
    if last.starts_with(|c: char| c.is_ascii_digit()) {
        return duration(last, "ns");
    }
    duration(words.pop()?, last)
}
