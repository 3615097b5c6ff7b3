//! heaptrack: every allocation of a run, by stack. Interpreted files of format 1 to 3.
//!
//! One record per line, its letter first, all numbers hexadecimal, all indices counted from 1 (0: none) except those of
//! `a` records, which count from 0:
//!
//! ```text
//! v VERSION FORMAT            first line; format 1 may lack FORMAT where VERSION is 10200
//! X COMMAND                   the program; exactly one
//! I PAGE_SIZE PAGES           the machine
//! A                           attached to a running process: earlier allocations are unknown
//! S SUPPRESSION               a leak suppression of the program; not applied here
//! s TEXT | s LENGTH TEXT      a string; with its length from format 3 on
//! i IP MODULE [FUNCTION [FILE LINE]]*   an instruction pointer; several triples are inlined frames, innermost first
//! t IP_INDEX PARENT           a stack node; its parent is the caller
//! a SIZE TRACE                an allocation info: what was asked for, and where
//! + INFO                      an allocation
//! - INFO                      its release
//! c MILLISECONDS              a time stamp
//! R PAGES                     the resident set at that time
//! # COMMENT                   the last two lines say how many strings and ips there are
//! ```
//!
//! A call is *temporary* by heaptrack's own test: the release names the same info as the last allocation, with no other
//! release between. That is neither necessary nor sufficient for a short life, see rules.md finding 4. `peak_bytes` are
//! the bytes of a site that were live when the whole heap was largest. Leak suppressions are not applied.
//!
//! Addresses in the file are absolute and the modules' addresses are not in it, so frames carry names (as given, mangled
//! or not) and no address; nameless frames of one module are one frame. The frames of `operator new` are kept.

mod parse;

use rustc_hash::FxHashMap;

use self::parse::{Parsed, Torn};
use super::{Format, FrameAt, Input, NewEvent, Recorder, Severity, text};
use crate::error::{Error, Result};
use crate::tables::{Allocation, Execution, HeapPoint, HostFact};

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "heaptrack",
    tool: "heaptrack",
    doc: "every allocation by stack: calls, bytes, peak, leaked, temporary",
    record: "heaptrack -o heaptrack PROGRAM",
    sniff,
    read,
};

pub fn sniff(head: &[u8]) -> bool {
    let mut lines = text::lines(head).map(|(_, line)| line);
    let is_version = lines.next().is_some_and(|line| {
        let mut words = line.split(|byte| *byte == b' ');
        let numbers = words.clone().skip(1);
        words.next() == Some(b"v")
            && (1..=2).contains(&numbers.clone().count())
            && numbers.clone().all(|word| !word.is_empty() && word.iter().all(u8::is_ascii_hexdigit))
    });
    is_version && lines.next().is_none_or(|line| matches!(line, [b'X' | b'x' | b'I' | b'A' | b'S' | b's' | b'#', ..]))
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let parsed = parse::parse(input.name, input.bytes)?;
    report_losses(&parsed, recorder);
    if let Some((kind, lines)) = parsed.missing_definitions() {
        return Err(Error::Unusable {
            path: input.name.into(),
            what: format!("{lines} definitions of {kind} are missing, so that stacks would get wrong names"),
            advice: "the file was damaged in the middle; copy it again".into(),
        });
    }
    describe(&parsed, recorder);
    timeline(&parsed, recorder);
    let stacks = intern_stacks(&parsed, recorder);
    allocations(&parsed, &stacks, recorder);
    Ok(())
}

fn report_losses(parsed: &Parsed<'_>, recorder: &mut Recorder) {
    recorder.artifact.records = parsed.lines;
    for Torn { line_no, letter, count } in &parsed.torn {
        let message = format!("a line ({letter:?}) is torn or of an unknown kind");
        recorder.skip_many(
            "heaptrack_torn_line",
            Severity::Warn,
            *count,
            &message,
            "the recording was interrupted while writing; the rest is used",
            &text::place(*line_no),
        );
    }
    if parsed.is_cut {
        recorder.artifact.status = "truncated".into();
        let advice = "heaptrack was killed or the file cut: leaks and the peak describe the part that is there";
        recorder.skip(
            "heaptrack_cut",
            Severity::Warn,
            "the file ends before its last lines (# strings, # ips)",
            advice,
            &text::place(parsed.lines),
        );
    }
    if parsed.is_attached {
        recorder.skip(
            "heaptrack_attached",
            Severity::Info,
            "heaptrack was attached to a running process",
            "earlier allocations are unknown",
            "",
        );
    }
}

fn describe(parsed: &Parsed<'_>, recorder: &mut Recorder) {
    let end_ns = parsed.timeline.last().map(|point| point.ts_ns);
    let artifact = &mut recorder.artifact;
    artifact.tool_version = parsed.tool_version();
    artifact.clock = Some("relative".into());
    artifact.unwinding = Some("libunwind".into());
    artifact.window_ns = end_ns;
    let command = parsed.command.map(|command| String::from_utf8_lossy(command).trim().to_owned());
    artifact.command = command.as_ref().map(|command| format!("heaptrack {command}").into());
    recorder.push_execution(Execution { argv: command.map(Into::into), wall_ns: end_ns, ..Execution::under("heaptrack") });
    if let Some((page_size, pages)) = parsed.machine {
        let mut fact = |key: &str, value: i64| {
            recorder.tables.host.push(HostFact::new(key, &value.to_string()));
        };
        fact("page_size_bytes", page_size);
        fact("memory_bytes", page_size.saturating_mul(pages));
    }
}

fn timeline(parsed: &Parsed<'_>, recorder: &mut Recorder) {
    let page_size = parsed.machine.map(|(page_size, _)| page_size);
    recorder.tables.heap_timeline = parsed
        .timeline
        .iter()
        .map(|point| HeapPoint {
            artifact_id: 0,
            ts_ns: point.ts_ns,
            live_bytes: point.live_bytes,
            rss_bytes: point.rss_pages.zip(page_size).map(|(pages, size)| pages.saturating_mul(size)),
            line_no: point.line_no,
        })
        .collect();
}

/// The innermost stack node of every trace.
fn intern_stacks(parsed: &Parsed<'_>, recorder: &mut Recorder) -> Vec<Option<i32>> {
    let frames: Vec<Vec<i32>> = (0..parsed.ips.len()).map(|ip| intern_frames(parsed, ip, recorder)).collect();
    let mut stacks: Vec<Option<i32>> = Vec::with_capacity(parsed.traces.len());
    for trace in &parsed.traces {
        let mut node = parse::index(trace.parent).and_then(|parent| stacks.get(parent).copied().flatten());
        for frame in parse::index(trace.ip).and_then(|ip| frames.get(ip)).into_iter().flatten() {
            node = Some(recorder.intern_stack(node, *frame));
        }
        stacks.push(node);
    }
    stacks
}

/// The frames of one instruction pointer from the physical function to the innermost inlined one.
fn intern_frames(parsed: &Parsed<'_>, ip: usize, recorder: &mut Recorder) -> Vec<i32> {
    let Some(ip) = parsed.ips.get(ip) else { return Vec::new() };
    let dso = parsed.text(ip.module).map(|path| {
        let kind = if path.starts_with("linux-vdso") { "vdso" } else { "user" };
        recorder.intern_dso(&path, None, kind)
    });
    let triples = parsed.triples.get(ip.triples.clone()).unwrap_or_default();
    if triples.is_empty() {
        return vec![recorder.intern_frame(&FrameAt { dso, ..FrameAt::default() })];
    }
    let outermost_first = triples.iter().rev().enumerate();
    outermost_first
        .map(|(depth, triple)| {
            let file = parsed.text(triple.file);
            let function = parsed.text(triple.function).map(|name| recorder.intern_function(&name, dso, file.as_deref()));
            let line = i32::try_from(triple.line).ok().filter(|line| *line > 0);
            recorder.intern_frame(&FrameAt { dso, function, line, inline_depth: depth as i32, ..FrameAt::default() })
        })
        .collect()
}

fn allocations(parsed: &Parsed<'_>, stacks: &[Option<i32>], recorder: &mut Recorder) {
    let mut rows: Vec<Allocation> = Vec::new();
    let mut by_stack: FxHashMap<Option<i32>, usize> = FxHashMap::default();
    let mut calls = 0i64;
    for site in parsed.sites().iter().filter(|site| site.calls > 0) {
        calls = calls.saturating_add(site.calls);
        let trace = parse::index(site.trace);
        let stack_id = trace.and_then(|trace| stacks.get(trace).copied().flatten());
        let row = *by_stack.entry(stack_id).or_insert_with(|| {
            let line_no = trace.and_then(|trace| parsed.traces.get(trace)).map_or(site.line_no, |trace| trace.line_no);
            let empty =
                Allocation { artifact_id: 0, stack_id, calls: 0, bytes: 0, peak_bytes: 0, leaked_bytes: 0, temporary_calls: 0, line_no };
            rows.push(empty);
            rows.len() - 1
        });
        // two traces that differ only in addresses are one stack here
        if let Some(row) = rows.get_mut(row) {
            row.calls = row.calls.saturating_add(site.calls);
            row.bytes = row.bytes.saturating_add(site.bytes);
            row.peak_bytes = row.peak_bytes.saturating_add(site.peak_bytes);
            row.leaked_bytes = row.leaked_bytes.saturating_add(site.live_bytes);
            row.temporary_calls = row.temporary_calls.saturating_add(site.temporary_calls);
        }
    }
    recorder.tables.allocations = rows;
    // n and the total weight are both calls; bytes are in `allocations`
    let event = NewEvent {
        name: "malloc".into(),
        mechanism: "M3",
        probe: "malloc_hook",
        role: "alloc",
        frequency_hz: None,
        period: Some(1),
        unit: "count",
    };
    let id = recorder.push_event(&event);
    if let Some(event) = recorder.tables.events.get_mut(id as usize) {
        event.n = calls;
        event.total_weight = calls;
    }
}

#[cfg(test)]
mod tests;
