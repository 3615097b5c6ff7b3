//! The report on the terminal: the wall line, hotspots, threads, the ledger in short, quality, what to record next.
//!
//! Everything is said in words; colour only repeats it. Styles are marked with invisible characters that no escaped
//! name can hold, so that columns are measured right, and become escape sequences (or nothing) at the end.

use std::fmt::Write;
use std::path::Path;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, presets};

use super::view::{Entry, REJECTS, SUPPORTS, Slot};
use super::{Stage, View, anchor, escape, number, quality, unresolved, wall};
use crate::tables::{Thread, ThreadState};

const HOTSPOTS_MAX: usize = 10;
const THREADS_MAX: usize = 12;
const COMMANDS_MAX: usize = 8;
const LOSSES_MAX: usize = 4;
/// Leaves without a name below this share of an event change no hotspot, nor do callers below the next.
const NAMELESS_MIN: f64 = 0.005;
const NAMELESS_ABOVE_MIN: f64 = 0.02;

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub colour: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { colour: false, width: 120 }
    }
}

/// Begin of bold, green, red, yellow, and the end of any. `escape::plain` leaves none of them in a name.
const MARKS: [(char, &str); 5] = [
    ('\u{2060}', "\u{1b}[1m"),
    ('\u{2061}', "\u{1b}[32m"),
    ('\u{2062}', "\u{1b}[31m"),
    ('\u{2063}', "\u{1b}[33m"),
    ('\u{2064}', "\u{1b}[0m"),
];

fn bold(text: &str) -> String {
    format!("\u{2060}{text}\u{2064}")
}

fn green(text: &str) -> String {
    format!("\u{2061}{text}\u{2064}")
}

fn red(text: &str) -> String {
    format!("\u{2062}{text}\u{2064}")
}

fn yellow(text: &str) -> String {
    format!("\u{2063}{text}\u{2064}")
}

/// Marks become escape sequences, or vanish.
pub fn paint(text: &str, colour: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match MARKS.iter().find(|(mark, _)| *mark == c) {
            Some((_, sequence)) if colour => out.push_str(sequence),
            Some(_) => {}
            None => out.push(c),
        }
    }
    out
}

/// The report. `dir` is where the run directory lies, if it was written; `timings` what the stages cost, if that was asked for.
pub fn render(view: &View<'_>, style: Style, dir: Option<&Path>, timings: &[Stage]) -> String {
    let run = view.run;
    let mut out = format!("{}\n", bold(&wall::sentence(&run.wall_line, &|text| escape::plain(text).into_owned())));
    if !run.target.is_empty() {
        let _ = writeln!(out, "Target: {}", escape::plain(&run.target));
    }
    hotspots(&mut out, view, style);
    threads(&mut out, view, style);
    ledger(&mut out, view, style);
    let _ = writeln!(out, "\n{}", escape::plain(&quality::sentence(&run.tables.quality, &run.tables.readings)));
    nameless(&mut out, view, style);
    losses(&mut out, view);
    record_next(&mut out, view);
    if !timings.is_empty() {
        stages(&mut out, timings, style);
    }
    if let Some(dir) = dir {
        let shown = escape::plain(&dir.to_string_lossy()).into_owned();
        let _ = writeln!(out, "\nRun directory: {shown} (start with hypothesis.md; `tripod explain {shown}` says why)");
    }
    paint(&out, style.colour)
}

/// A table without vertical lines, as wide as the terminal at most.
pub fn table(style: Style, header: &[&str]) -> Table {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('-');
    table.load_style(presets::NOTHING.header_separator(rule)).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(style.width).unwrap_or(u16::MAX).max(40));
    table.set_header(header.iter().map(|name| bold(name)).collect::<Vec<_>>());
    table
}

fn align_right(table: &mut Table, columns: &[usize]) {
    for index in columns {
        if let Some(column) = table.column_mut(*index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn push(out: &mut String, title: &str, table: &Table) {
    let _ = writeln!(out, "\n{}\n{}", bold(title), table.trim_fmt());
}

fn hotspots(out: &mut String, view: &View<'_>, style: Style) {
    let rows = &view.run.tables.hotspots;
    if rows.is_empty() {
        out.push_str("\nNo artifact gave a place that could be ranked.\n");
        return;
    }
    // The share and the file are enough here; hotspot_table.md has the line's own words and the whole anchor.
    let short: Vec<[String; 6]> = rows
        .iter()
        .take(HOTSPOTS_MAX)
        .map(|row| {
            [
                row.rank.to_string(),
                escape::plain(&row.location).into_owned(),
                escape::terminal(&row.metric, 24),
                format!("{} (at least {})", number::share(row.value), number::share(row.value_lo)),
                escape::terminal(&row.category, 12),
                escape::plain(&place(&row.anchor)).into_owned(),
            ]
        })
        .collect();
    let header = ["Rank", "Location", "Metric", "Value", "Category", "Evidence"];
    let free = free(style, &header, &short, &[1, 5]);
    let evidence_max = widest(&header, &short, 5).min(free / 2).max(12);
    let location_max = free.saturating_sub(evidence_max).max(12);
    let mut table = table(style, &header);
    for [rank, location, metric, value, category, evidence] in &short {
        let (location, evidence) = (escape::shorten(location, location_max), escape::shorten(evidence, evidence_max));
        table.add_row([rank, &*location, metric, value, category, &*evidence]);
    }
    align_right(&mut table, &[0]);
    push(out, "Hotspots", &table);
    more(out, rows.len(), HOTSPOTS_MAX, "hotspot_table.md");
}

/// Characters of the widest cell of a column.
fn widest<const N: usize>(header: &[&str; N], rows: &[[String; N]], column: usize) -> usize {
    // Marks of style take no room.
    let width = |cell: &String| cell.chars().filter(|c| MARKS.iter().all(|(mark, _)| mark != c)).count();
    let cells = rows.iter().filter_map(|row| row.get(column)).map(width);
    cells.chain(header.get(column).map(|name| name.chars().count())).max().unwrap_or(0)
}

/// What the other columns leave of a line for those that can be shortened; two characters of padding each.
fn free<const N: usize>(style: Style, header: &[&str; N], rows: &[[String; N]], flexible: &[usize]) -> usize {
    let fixed: usize = (0..N).filter(|column| !flexible.contains(column)).map(|column| widest(header, rows, column)).sum();
    style.width.saturating_sub(fixed + 2 * N)
}

/// Path and line of an anchor; the sums and pointers stay in the files.
fn place(anchor: &str) -> String {
    let shown = anchor::shown(anchor);
    if shown.contains('#') { anchor::path(anchor) } else { shown }
}

fn more(out: &mut String, rows: usize, shown: usize, place: &str) {
    if rows > shown {
        let _ = writeln!(out, "... {} more in {place}", rows - shown);
    }
}

fn threads(out: &mut String, view: &View<'_>, style: Style) {
    let tables = &view.run.tables;
    let thread = |id: i32| tables.threads.iter().find(|row| row.thread_id == id);
    let mut rows: Vec<(&ThreadState, Option<&Thread>)> = tables
        .thread_states
        .iter()
        .map(|row| (row, thread(row.thread_id)))
        .filter(|(_, thread)| thread.is_none_or(|row| row.is_target))
        .collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by_key(|(row, thread)| {
        (view.path(Some(row.artifact_id)), std::cmp::Reverse(row.window_ns), thread.map_or(i32::MAX, |row| row.tid), row.thread_id)
    });
    let header = ["Thread", "Role", "Window", "On CPU", "Runnable", "Lock", "Sleep", "Fsync", "Disk", "Other", "Unknown", "File"];
    let mut table = table(style, &header);
    for (row, thread) in rows.iter().take(THREADS_MAX) {
        let name = thread
            .map_or_else(|| "?".to_owned(), |row| format!("{} {}", escape::terminal(row.name.as_deref().unwrap_or("?"), 20), row.tid));
        let share = |ns: i64| if row.window_ns > 0 { number::share(ns as f64 / row.window_ns as f64) } else { number::ABSENT.to_owned() };
        table.add_row([
            name,
            escape::terminal(&row.role, 12),
            number::duration(row.window_ns),
            share(row.on_cpu_ns),
            share(row.runnable_ns),
            share(row.lock_ns),
            share(row.sleep_ns),
            share(row.fsync_ns),
            share(row.disk_ns),
            share(row.other_ns),
            share(row.unknown_ns),
            escape::terminal(view.path(Some(row.artifact_id)), 24),
        ]);
    }
    align_right(&mut table, &[2, 3, 4, 5, 6, 7, 8, 9, 10]);
    push(out, "Threads (shares of each thread's window)", &table);
    more(out, rows.len(), THREADS_MAX, "tables/thread_states.parquet");
}

fn ledger(out: &mut String, view: &View<'_>, style: Style) {
    let entries = view.ledger();
    if entries.is_empty() {
        return;
    }
    let header = ["Id", "Name", "Result", "A", "B", "C", "Site"];
    let rows: Vec<[String; 7]> = entries
        .iter()
        .map(|entry| {
            let mut verdicts = entry.slots.iter().map(verdict);
            let mut next = || verdicts.next().unwrap_or_default();
            [
                escape::terminal(&entry.row.hypothesis, 12),
                escape::terminal(&entry.row.name, 28),
                label(entry),
                next(),
                next(),
                next(),
                String::new(),
            ]
        })
        .collect();
    let site_max = free(style, &header, &rows, &[6]).max(12);
    let mut table = table(style, &header);
    for (mut row, entry) in rows.into_iter().zip(&entries) {
        if let Some(cell) = row.last_mut() {
            *cell = site(entry, site_max);
        }
        table.add_row(row);
    }
    push(out, "Hypotheses (+ supports, - rejects, ? neither)", &table);
}

fn label(entry: &Entry<'_>) -> String {
    let text = escape::terminal(&entry.result(), 28);
    match super::view::rank(&entry.row.label) {
        0 => bold(&red(&text)),
        1 | 2 => yellow(&text),
        _ => text,
    }
}

/// The verdict in a word with its sign; the slot is named where it is not the column's (a fallback).
fn verdict(slot: &Slot<'_>) -> String {
    let text = match slot.verdict {
        SUPPORTS => green("+ supports"),
        REJECTS => red("- rejects"),
        _ if slot.metrics.is_empty() => "? absent".to_owned(),
        _ if slot.reason.is_some_and(|reason| reason.starts_with("inconclusive")) => "? inconclusive".to_owned(),
        _ => "? not measured".to_owned(),
    };
    if ["A", "B", "C"].contains(&slot.name) { text } else { format!("{}: {text}", escape::terminal(slot.name, 4)) }
}

/// The place, with a question mark where one angle alone names it, and what explains it away.
fn site(entry: &Entry<'_>, max: usize) -> String {
    let special = entry.row.explained_by.as_deref().map_or_else(String::new, |id| format!(" (explained by {})", escape::terminal(id, 12)));
    let room = max.saturating_sub(special.chars().count() + 1).max(8);
    let place = match entry.site() {
        Some((site, true)) => escape::terminal(site, room),
        Some((site, false)) => format!("{}?", escape::terminal(site, room)),
        None => String::new(),
    };
    format!("{place}{special}").trim().to_owned()
}

/// What has no name, where it is worth a word.
fn nameless(out: &mut String, view: &View<'_>, style: Style) {
    let all = view.unresolved();
    let rows: Vec<_> = all.iter().filter(|row| row.own_share() >= NAMELESS_MIN || row.total_share() >= NAMELESS_ABOVE_MIN).collect();
    if rows.is_empty() {
        return;
    }
    let mut table = table(style, &["Without a name", "Event", "Leaf", "On stack", "What would name it"]);
    for row in rows.iter().take(unresolved::ROWS_MAX) {
        let [dso, event, _, own, total, remedy] = unresolved::cells(view, row);
        table.add_row([escape::terminal(&dso, 28), escape::terminal(&event, 16), own, total, escape::terminal(&remedy, 160)]);
    }
    align_right(&mut table, &[2, 3]);
    push(out, "Names that are missing (shares of the event's weight)", &table);
    more(out, rows.len(), unresolved::ROWS_MAX, "quality.md");
}

fn losses(out: &mut String, view: &View<'_>) {
    let bad: Vec<_> = view.run.tables.diagnostics.iter().filter(|row| &*row.severity != "info").collect();
    for row in bad.iter().take(LOSSES_MAX) {
        let path = view.path(row.artifact_id);
        // Some messages begin with the path themselves.
        let message = row.message.strip_prefix(path).map_or(&*row.message, |rest| rest.trim_start_matches([':', ' ']));
        let times = if row.count > 1 { format!(" ({} times)", number::count(row.count)) } else { String::new() };
        let _ = writeln!(
            out,
            "{}: {}: {}{times}; {}",
            escape::plain(&row.severity),
            escape::terminal(path, 60),
            escape::terminal(message, 160),
            escape::terminal(&row.advice, 160)
        );
    }
    more(out, bad.len(), LOSSES_MAX, "quality.md");
}

/// One line per command, with all the slots it would fill.
fn record_next(out: &mut String, view: &View<'_>) {
    let recordings = view.record_next();
    if recordings.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", bold("Record next"));
    for recording in recordings.iter().take(COMMANDS_MAX) {
        let slots: Vec<String> = recording.slots.iter().map(|row| format!("{} {}", row.hypothesis, row.slot)).collect();
        let command = escape::plain(recording.command);
        let _ = writeln!(out, "  {command}\n      would settle {}", escape::terminal(&slots.join(", "), 100));
    }
    more(out, recordings.len(), COMMANDS_MAX, "hypothesis.md");
}

fn stages(out: &mut String, timings: &[Stage], style: Style) {
    let mut table = table(style, &["Stage", "Wall ms", "CPU ms", "Peak"]);
    for stage in timings {
        table.add_row([stage.name.clone(), number::count(stage.wall_ms), number::count(stage.cpu_ms), number::bytes(stage.peak_bytes)]);
    }
    align_right(&mut table, &[1, 2, 3]);
    push(out, "Stages", &table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::sample_run;

    #[test]
    fn words_without_colour_and_nothing_that_moves_the_cursor() {
        let run = sample_run::hostile();
        let text = render(&View::new(&run), Style::default(), Some(Path::new("tripod-out/x")), &run.timings);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
        assert!(!text.contains('\u{202e}'));
        for part in [
            "= 100.0 %",
            "3/3 -> KERNEL",
            "+ supports",
            "? absent",
            "50.0 %",
            "quality: 1 ok",
            "heaptrack -o out ./prog | cat",
            "tripod-out/x",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        let run = sample_run::hostile();
        let plain = render(&View::new(&run), Style::default(), None, &[]);
        let colour = render(&View::new(&run), Style { colour: true, ..Style::default() }, None, &[]);
        assert!(colour.contains("\u{1b}[31m"));
        let mut stripped = colour;
        for (_, sequence) in MARKS {
            stripped = stripped.replace(sequence, "");
        }
        assert_eq!(stripped, plain);
    }

    #[test]
    fn lines_of_tables_fit() {
        let text = render(&View::new(&sample_run::hostile()), Style { colour: false, width: 80 }, None, &[]);
        let wide: Vec<&str> = text.lines().filter(|line| line.starts_with(' ') && line.chars().count() > 82).collect();
        assert!(wide.is_empty(), "{wide:#?}");
    }
}
