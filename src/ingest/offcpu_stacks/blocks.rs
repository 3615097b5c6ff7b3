//! `offcputime` of bcc and libbpf-tools: a block per stack.
//!
//! ```text
//!     schedule                     frames, innermost first, indented
//!     do_nanosleep
//!     --                           bcc -d: between kernel and user frames
//!     main
//!     -                sl (9830)   thread; old bcc: only the name, as the last frame
//!         1976517                  microseconds
//! ```
//!
//! bcc's `profile` prints the same shape with counts of samples. So a text counts as off-CPU only where its heading says
//! so or most stacks end in the scheduler.

use super::frames::{self, Name};
use super::{Aggregate, Found};
use crate::ingest::text;

pub fn is_offcputime(bytes: &[u8]) -> bool {
    let mut heading = None;
    for (_, line) in text::lines(bytes) {
        if line.starts_with(b"Tracing off-CPU time (us)") {
            heading = Some(true);
            break;
        }
        if line.starts_with(b"Sampling at ") {
            heading = Some(false);
            break;
        }
    }
    let found = read(bytes);
    let switched = found.aggregates.iter().filter(|aggregate| frames::ends_in_scheduler(&aggregate.frames)).count();
    match heading {
        Some(is_offcpu) => is_offcpu && switched > 0,
        None => switched > 0 && switched * 2 >= found.aggregates.len(),
    }
}

/// What one line is.
enum Line<'a> {
    Blank,
    Thread(&'a str, i32),
    Value(i64),
    Delimiter,
    Frame(&'a str),
    Other,
}

fn parse(line: &str) -> Line<'_> {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Line::Blank;
    }
    if !line.starts_with([' ', '\t']) {
        return Line::Other;
    }
    if let Some(thread) = trimmed.strip_prefix("- ") {
        let parts = thread.trim_start().strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
        if let Some((comm, tid)) = parts.and_then(|(comm, tid)| Some((comm, tid.parse().ok()?))) {
            return Line::Thread(comm, tid);
        }
    }
    if trimmed == "--" {
        return Line::Delimiter;
    }
    if let Ok(value) = trimmed.parse() {
        return Line::Value(value);
    }
    Line::Frame(trimmed)
}

pub fn read(bytes: &[u8]) -> Found {
    let mut found = Found::default();
    let mut block = Aggregate::default();
    let mut has_threads = false;
    for (line_no, line) in text::lines(bytes) {
        let line = String::from_utf8_lossy(line);
        match parse(&line) {
            Line::Thread(comm, tid) => {
                has_threads = true;
                block.comm = Some(comm.to_owned());
                block.tid = Some(tid);
            }
            Line::Value(value) if value >= 0 && (!block.frames.is_empty() || block.comm.is_some()) => {
                block.value = value;
                block.line_no = line_no;
                block.frames = frames::fold_letters(std::mem::take(&mut block.frames));
                found.aggregates.push(std::mem::take(&mut block));
            }
            Line::Delimiter => block.frames.iter_mut().for_each(|frame| frame.is_kernel = Some(true)),
            Line::Frame(name) => {
                // libbpf-tools prints the kernel frames of a stack it then gives up; the next stack follows at once
                if frames::is_tool(name) && block.frames.iter().any(|frame| !frames::is_tool(frame.text())) {
                    block = Aggregate::default();
                    found.losses.push(("offcpu_lost_stack", 1, line_no));
                }
                block.frames.push(Name::new(verbose(name)));
            }
            // prose between captures is no loss, but what is left of a stack before it is
            Line::Blank | Line::Other | Line::Value(_) => {
                if frames::ends_in_scheduler(&block.frames) {
                    found.losses.push(("offcpu_lost_stack", 1, line_no));
                }
                block = Aggregate::default();
            }
        }
    }
    if frames::ends_in_scheduler(&block.frames) {
        found.losses.push(("offcpu_lost_stack", 1, text::lines(bytes).count() as i64));
    }
    if !has_threads {
        for aggregate in &mut found.aggregates {
            aggregate.comm = aggregate.frames.pop().map(|name| name.text().to_owned());
        }
    }
    found
}

/// `#3  0xffffffff81 schedule+0x46 (file+0x1)` of `-v` -> `schedule+0x46`.
fn verbose(frame: &str) -> &str {
    let mut words = frame.split_whitespace();
    match (words.next(), words.next()) {
        (Some(number), Some(address)) if number.starts_with('#') && address.starts_with("0x") => words.next().unwrap_or(address),
        _ => frame,
    }
}
