//! The table of bcc and libbpf-tools:
//!
//! ```text
//! disk = vda  flags = PreFlush-Flush         what it is of, where there are several
//!      usecs               : count    distribution
//!          0 -> 1          : 0        |                    |
//!          2 -> 3          : 12       |****                |
//! ```
//!
//! The bounds are whole numbers in the unit of the heading and both included, so `2 -> 3` is [2, 4). A linear histogram
//! has one number where the range stands.

use super::{Buckets, Of, Sections, Unit, cut, metric_of_title, window};
use crate::ingest::text;

/// The metric of a text whose first line is missing: the manifest's command may say it.
pub const UNTITLED: &str = "untitled";

/// The unit of a heading; `None` where the line is none.
fn heading(line: &str) -> Option<&str> {
    let (unit, rest) = line.split_once(':')?;
    let mut words = rest.split_whitespace();
    let fits = words.next() == Some("count") && words.next() == Some("distribution") && words.next().is_none();
    let unit = unit.trim();
    (fits && !unit.is_empty() && !unit.contains(char::is_whitespace)).then_some(unit)
}

enum Row {
    Bucket { lo: i64, hi: i64, count: i64 },
    Broken,
    None,
}

/// `64 -> 127 : 31 |*****   |`
fn row(line: &str) -> Row {
    let Some((range, rest)) = line.split_once(':') else { return Row::None };
    let range = range.trim();
    if !range.starts_with(|c: char| c.is_ascii_digit()) {
        return Row::None;
    }
    let Some((count, bar)) = rest.split_once('|') else { return if range.contains("->") { Row::Broken } else { Row::None } };
    if !bar.trim_end().ends_with('|') {
        return Row::Broken;
    }
    let (from, to) = range.split_once("->").unwrap_or((range, range));
    let number = |text: &str| text.trim().parse::<i64>().ok().filter(|number| *number >= 0);
    match (number(from), number(to), number(count)) {
        (Some(lo), Some(to), Some(count)) if to >= lo => Row::Bucket { lo, hi: to.saturating_add(1), count },
        _ => Row::Broken,
    }
}

/// A heading with a bucket right below it.
pub fn is_table(bytes: &[u8]) -> bool {
    let mut after_heading = false;
    text::lines(bytes).any(|(_, line)| {
        let line = String::from_utf8_lossy(line);
        let found = after_heading && !matches!(row(&line), Row::None);
        after_heading = heading(&line).is_some();
        found
    })
}

/// Reads the buckets; gives the times that the tool printed.
pub fn read(bytes: &[u8], buckets: &mut Buckets<'_>) -> Vec<i64> {
    let (mut metric, mut head) = (UNTITLED, String::new());
    let mut of: Option<Of> = None;
    let (mut sections, mut stamps) = (Sections::default(), Vec::new());
    for (line_no, line) in text::lines(bytes) {
        let line = String::from_utf8_lossy(line);
        if let Some(unit) = heading(&line) {
            let section = sections.next(metric, &head);
            let (key, operation) = section_of(&std::mem::take(&mut head));
            of = Some(Of { metric: metric.to_owned(), key, operation, section, unit: Unit::named(unit) });
            continue;
        }
        match (row(&line), &of) {
            (Row::Bucket { lo, hi, count }, Some(of)) => {
                buckets.push(of, Some(lo), Some(hi), count, line_no);
                continue;
            }
            (Row::Broken, Some(_)) => {
                buckets.unreadable(&line, line_no);
                continue;
            }
            _ => {}
        }
        let line = line.trim();
        if line.is_empty() {
            of = None;
        } else if let Some(title) = metric_of_title(line) {
            metric = title;
        } else if let Some(time) = window::stamp(line) {
            stamps.push(time);
        } else if line.contains(" = ") {
            head = cut(line);
        } else if of.is_some() {
            buckets.unreadable(line, line_no);
        } else {
            buckets.other(line_no);
        }
    }
    stamps
}

/// `Bucket disk = 'xvdb'` and `disk = vda<tab>flags = Read`: what it is of, and what kind of request.
fn section_of(head: &str) -> (Option<String>, Option<&'static str>) {
    let (mut key, mut operation) = (Vec::new(), None);
    for part in head.strip_prefix("Bucket ").unwrap_or(head).split('\t').map(str::trim).filter(|part| !part.is_empty()) {
        match part.strip_prefix("flags = ") {
            Some(flags) => operation = Some(operation_of(flags)),
            // what would end a part of an anchor is no part of a key
            None => key.push(part.replace(" = ", " ").replace('\'', "").replace(['&', '=', '#', '%'], "_")),
        }
    }
    ((!key.is_empty()).then(|| key.join(", ")), operation)
}

/// `ForcedUnitAccess-Metadata-Sync-Write`, `PreFlush-Flush`, `ReadAhead-Read`
fn operation_of(flags: &str) -> &'static str {
    let has = |word: &str| flags.trim_matches('\'').split('-').any(|own| own == word);
    match () {
        () if has("Flush") => "flush",
        () if has("Read") => "read",
        () if has("Write") && (has("Sync") || has("ForcedUnitAccess")) => "sync write",
        () if has("Write") => "write",
        () if has("Discard") => "discard",
        () => "other",
    }
}
