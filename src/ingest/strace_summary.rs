//! `strace -c`: a table with one row per system call.
//!
//! Columns are found by the header, cells by the divider below it (`-U` chooses and reorders columns). The table does
//! not say whether its seconds are system CPU time (`-c`) or wall time (`-c -w`): the header is the same. So the clock
//! stays `unknown` here, unless strace 7.1's `wall-*` columns are there, until [`decide_clocks`] knows the command.

use std::collections::BTreeSet;

use super::{Format, Input, NewEvent, Recorder, Severity, command, text};
use crate::error::Result;
use crate::tables::{Syscall, Tables};

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "strace-summary",
    tool: "strace",
    doc: "calls, errors and time per system call",
    record: "strace -f -c -w -o strace-cw.txt PROGRAM",
    sniff,
    read,
};

pub fn sniff(head: &[u8]) -> bool {
    let mut header = false;
    text::lines(head).any(|(_, line)| {
        let line = String::from_utf8_lossy(line);
        let found = header && is_divider(&line);
        header = columns(&line).is_some();
        found
    })
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let mut reader = TableReader::default();
    for (line_no, line) in text::lines(input.bytes) {
        let line = String::from_utf8_lossy(line);
        if !reader.feed(line_no, &line, recorder) && !line.trim().is_empty() {
            other_line(&line, line_no, recorder);
        }
    }
    reader.finish(recorder);
    event(recorder);
    Ok(())
}

/// The lineage of strace's counts: every call stops the thread twice under ptrace.
fn event(recorder: &mut Recorder) {
    let calls = recorder.tables.syscalls.iter().fold(0i64, |sum, row| sum.saturating_add(row.calls));
    push_event(recorder, calls);
}

/// The event row of an strace recording of `calls` calls.
pub(super) fn push_event(recorder: &mut Recorder, calls: i64) {
    let event = NewEvent {
        name: "syscalls".into(),
        mechanism: "M5",
        probe: "ptrace_stop",
        role: "other",
        frequency_hz: None,
        period: Some(1),
        unit: "count",
    };
    let id = recorder.push_event(&event);
    if let Some(row) = recorder.tables.events.get_mut(id as usize) {
        row.n = calls;
        row.total_weight = calls;
    }
}

/// strace's own notices and the program's output. `Process N attached` matters: then there was more than one thread.
pub(super) fn other_line(line: &str, line_no: i64, recorder: &mut Recorder) {
    let is_notice = line.contains("strace: ");
    let (kind, message) = match line {
        _ if is_notice && line.trim_end().ends_with(" attached") => {
            ("strace_attach_notice", "strace attached to another thread or process")
        }
        _ if is_notice => ("strace_notice", "a notice of strace itself"),
        _ => ("other_text", "lines that are not strace's (output of the program)"),
    };
    recorder.skip(kind, Severity::Info, message, "nothing to do; record with -o to keep them apart", &text::place(line_no));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Percent,
    Seconds,
    PerCall,
    Calls,
    Errors,
    Name,
    WallTotal,
    Other,
}

/// The columns that a header line names; `None` where it is no header.
fn columns(line: &str) -> Option<Vec<Column>> {
    let mut found = Vec::new();
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        found.push(match word {
            "%" if words.next() == Some("time") => Column::Percent,
            "seconds" => Column::Seconds,
            "usecs/call" => Column::PerCall,
            "calls" => Column::Calls,
            "errors" => Column::Errors,
            "syscall" => Column::Name,
            "wall-total" => Column::WallTotal,
            "shortest" | "longest" | "wall-min" | "wall-max" | "wall-avg" => Column::Other,
            _ => return None,
        });
    }
    (found.contains(&Column::Name) && found.len() > 1).then_some(found)
}

/// Whether a line begins a summary.
pub(super) fn is_header(line: &str) -> bool {
    columns(line).is_some()
}

fn is_divider(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 8 && line.bytes().all(|byte| byte == b'-' || byte == b' ')
}

/// Reads the tables of a text line by line.
#[derive(Debug, Default)]
pub(super) struct TableReader {
    state: State,
    tables: i64,
    sum_calls: i64,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Outside,
    Header(Vec<Column>),
    Rows(Layout),
    Total(Layout),
}

#[derive(Debug, Clone)]
struct Layout {
    columns: Vec<Column>,
    /// Bytes of each column, as the divider draws them.
    spans: Vec<(usize, usize)>,
}

impl TableReader {
    /// True where the line belongs to a table.
    pub fn feed(&mut self, line_no: i64, line: &str, recorder: &mut Recorder) -> bool {
        if let Some(columns) = columns(line) {
            self.unfinished(recorder);
            self.state = State::Header(columns);
            return true;
        }
        match std::mem::take(&mut self.state) {
            State::Header(columns) if is_divider(line) => {
                self.tables += 1;
                self.sum_calls = 0;
                self.state = State::Rows(Layout { columns, spans: spans(line) });
            }
            State::Rows(layout) if is_divider(line) => self.state = State::Total(layout),
            State::Rows(layout) => {
                self.row(&layout, line_no, line, recorder);
                self.state = State::Rows(layout);
            }
            State::Total(layout) => self.total(&layout, line_no, line, recorder),
            State::Outside | State::Header(_) => return false,
        }
        true
    }

    fn row(&mut self, layout: &Layout, line_no: i64, line: &str, recorder: &mut Recorder) {
        if line.trim().is_empty() {
            return;
        }
        recorder.artifact.records += 1;
        let Some(row) = layout.row(line, line_no, recorder) else {
            let message = format!("no row of the summary: {:?}", line.chars().take(80).collect::<String>());
            recorder.skip("strace_summary_row", Severity::Warn, &message, "the row is left out", &text::place(line_no));
            return;
        };
        self.sum_calls = self.sum_calls.saturating_add(row.calls);
        recorder.tables.syscalls.push(row);
    }

    fn total(&mut self, layout: &Layout, line_no: i64, line: &str, recorder: &mut Recorder) {
        let Some(total) = layout.row(line, line_no, recorder).filter(|row| row.name.as_ref() == "total") else { return };
        if total.calls != self.sum_calls {
            let message = format!("the total says {} calls, the rows sum to {}", total.calls, self.sum_calls);
            recorder.skip(
                "strace_rows_and_total",
                Severity::Info,
                &message,
                "calls that strace cannot name are in the total only",
                &text::place(line_no),
            );
        }
    }

    fn unfinished(&mut self, recorder: &mut Recorder) {
        if matches!(self.state, State::Rows(_)) {
            recorder.artifact.status = "truncated".into();
            recorder.skip(
                "strace_no_total",
                Severity::Warn,
                "the table ends without its total line",
                "strace was killed or the file cut; calls may be missing",
                "",
            );
        }
    }

    pub fn finish(&mut self, recorder: &mut Recorder) {
        self.unfinished(recorder);
        self.state = State::Outside;
        if self.tables > 1 {
            recorder.skip_many(
                "strace_several_tables",
                Severity::Info,
                self.tables,
                "the file holds several summaries",
                "their rows stand side by side",
                "",
            );
        }
    }
}

fn spans(divider: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut last = b' ';
    for (at, byte) in divider.bytes().enumerate() {
        match (last, byte) {
            (b' ', b'-') => found.push((at, at + 1)),
            (b'-', b'-') => {
                if let Some(span) = found.last_mut() {
                    span.1 = at + 1;
                }
            }
            _ => {}
        }
        last = byte;
    }
    found
}

impl Layout {
    /// The cells of a row by position; by words where the row does not keep to the columns.
    fn cells<'a>(&self, line: &'a str) -> Option<Vec<&'a str>> {
        self.aligned(line).or_else(|| self.words(line))
    }

    fn aligned<'a>(&self, line: &'a str) -> Option<Vec<&'a str>> {
        if self.spans.len() != self.columns.len() {
            return None;
        }
        let mut cells = Vec::new();
        let last = self.spans.len().saturating_sub(1);
        let mut before = 0;
        for (n, (start, end)) in self.spans.iter().enumerate() {
            let gap = line.get(before.min(line.len())..(*start).min(line.len()))?;
            if !gap.trim().is_empty() {
                return None;
            }
            let end = if n == last { line.len() } else { (*end).min(line.len()) };
            cells.push(line.get((*start).min(end)..end)?.trim());
            before = end;
        }
        let one_word = cells.iter().all(|cell| !cell.contains(char::is_whitespace));
        one_word.then_some(cells)
    }

    fn words<'a>(&self, line: &'a str) -> Option<Vec<&'a str>> {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if words.len() + 1 == self.columns.len() {
            // only the number of errors may be absent
            let errors = self.columns.iter().position(|column| *column == Column::Errors)?;
            words.insert(errors, "");
        }
        (words.len() == self.columns.len()).then_some(words)
    }

    fn row(&self, line: &str, line_no: i64, recorder: &mut Recorder) -> Option<Syscall> {
        let cells = self.cells(line)?;
        let cell = |wanted: Column| self.columns.iter().zip(&cells).find(|(column, _)| **column == wanted).map(|(_, cell)| *cell);
        let name = cell(Column::Name).filter(|name| !name.is_empty())?;
        let calls = match cell(Column::Calls) {
            Some(calls) => calls.parse().ok().filter(|calls| *calls >= 0)?,
            // `-U` may leave the column out: the row still says that the call was made
            None => 1,
        };
        let errors = match cell(Column::Errors) {
            None | Some("") => None,
            Some(errors) => Some(errors.parse().ok()?),
        };
        let wall = cell(Column::WallTotal);
        let total_ns = match wall.or_else(|| cell(Column::Seconds)) {
            None => None,
            Some(seconds) => Some(text::seconds(seconds)?),
        };
        let clock = if wall.is_some() { "wall" } else { "unknown" };
        let (name, clock) = (recorder.text(name), recorder.text(clock));
        Some(Syscall { artifact_id: 0, thread_id: None, name, calls, errors, total_ns, clock, line_no })
    }
}

/// Calls that wait for something else; their system time per call is far below a millisecond.
const BLOCKING: [&str; 18] = [
    "nanosleep",
    "clock_nanosleep",
    "futex",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "wait4",
    "waitid",
    "accept",
    "accept4",
    "recvfrom",
    "recvmsg",
    "pause",
    "rt_sigtimedwait",
];

/// Decides for every strace summary what its seconds are, after the merge and after the manifests.
///
/// In this order: the format itself (`wall-*` columns), the command line (`-w` or not), and, for a single thread only, two
/// heuristics: a blocking call that takes over 1,000 us per call means wall time; a sum of at most 1.2 times the system
/// time of a bare run with the very same argv means system time. With `-f` and several threads strace charges each
/// blocked thread the system time of the whole group, so neither heuristic holds there and the clock stays unknown.
pub fn decide_clocks(tables: &mut Tables) {
    let with_rows: BTreeSet<i32> = tables.syscalls.iter().map(|row| row.artifact_id).collect();
    for artifact_id in with_rows {
        let decided = decide(tables, artifact_id);
        let (clock, source) = decided.unwrap_or(("unknown", None));
        for row in tables.syscalls.iter_mut().filter(|row| row.artifact_id == artifact_id && row.clock.as_ref() == "unknown") {
            row.clock = clock.into();
        }
        if let Some(artifact) = tables.artifacts.get_mut(artifact_id as usize) {
            artifact.call_clock = Some(clock.into());
            artifact.clock_source = source.map(Into::into);
        }
    }
}

fn decide(tables: &Tables, artifact_id: i32) -> Option<(&'static str, Option<&'static str>)> {
    let artifact = tables.artifacts.get(artifact_id as usize)?;
    let rows = || tables.syscalls.iter().filter(|row| row.artifact_id == artifact_id);
    if rows().all(|row| row.clock.as_ref() == "wall") {
        return Some(("wall", Some("format")));
    }
    if let Some(options) = artifact.command.as_deref().and_then(command::strace_options) {
        // strace's output never holds its own command line, so it came from a manifest
        return Some((if options.wall_clock { "wall" } else { "system" }, Some("manifest")));
    }
    if !is_single_thread(tables, artifact_id) {
        return None;
    }
    let waits = |row: &&Syscall| BLOCKING.contains(&row.name.as_ref()) && row.total_ns.is_some_and(|ns| ns / row.calls.max(1) > 1_000_000);
    if rows().find(waits).is_some() {
        return Some(("wall", Some("heuristic")));
    }
    let argv = tables.executions.iter().find(|row| row.artifact_id == artifact_id)?.argv.clone()?;
    let same = tables.executions.iter().filter(|row| row.wrapper.as_ref() == "bare" && row.argv.as_ref() == Some(&argv));
    let system_ns = same.filter_map(|row| row.system_ns).max()?;
    let sum = rows().filter_map(|row| row.total_ns).fold(0i64, i64::saturating_add);
    (i128::from(sum) * 10 <= i128::from(system_ns) * 12).then_some(("system", Some("heuristic")))
}

/// True only where the summary shows the program from its start (`execve`) and nothing that makes threads or children.
fn is_single_thread(tables: &Tables, artifact_id: i32) -> bool {
    let named = |names: &[&str]| tables.syscalls.iter().any(|row| row.artifact_id == artifact_id && names.contains(&row.name.as_ref()));
    let attached = |row: &crate::tables::Diagnostic| row.artifact_id == Some(artifact_id) && row.kind.as_ref() == "strace_attach_notice";
    named(&["execve"]) && !named(&["clone", "clone3", "fork", "vfork"]) && !tables.diagnostics.iter().any(attached)
}

#[cfg(test)]
mod tests;
