//! A series of memory readings of one process: a header line that names the columns, then one line per reading.
//!
//! ```text
//! ts_ns  rss_bytes  pss_bytes  anon_bytes  swap_bytes
//! ```
//!
//! Columns stand in any order between tabs, commas or spaces; units are in their names: `ts_ns`, `ts_us`, `ts_ms`, `ts_s`
//! (also `time_...`), and `rss_bytes`, `rss_kb` (1,024 bytes, as in /proc) or `rss_mb`. Columns of other names are passed over.

use super::{Format, Input, Recorder, Severity, text};
use crate::error::{Error, Result};
use crate::tables::MemoryPoint;

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "memory-series",
    tool: "procfs",
    doc: "resident set over time, one reading per line",
    record: "PROGRAM & testdata/rss.sh $! > rss.tsv",
    sniff,
    read,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    /// Decimal places between its unit and nanoseconds.
    Time(u32),
    /// Bytes per unit.
    Rss(i64),
    Pss(i64),
    Anon(i64),
    Swap(i64),
    Other,
}

#[derive(Debug)]
struct Header {
    columns: Vec<Column>,
    separator: Option<char>,
}

impl Header {
    fn parse(line: &str) -> Option<Header> {
        let separator = ['\t', ','].into_iter().find(|separator| line.contains(*separator));
        let columns: Vec<Column> = cells(line, separator).iter().map(|name| column(name)).collect();
        let has = |wanted: fn(&Column) -> bool| columns.iter().filter(|column| wanted(column)).count() == 1;
        (has(|column| matches!(column, Column::Time(_))) && has(|column| matches!(column, Column::Rss(_))))
            .then_some(Header { columns, separator })
    }
}

fn cells(line: &str, separator: Option<char>) -> Vec<&str> {
    match separator {
        Some(separator) => line.split(separator).map(str::trim).collect(),
        None => line.split_whitespace().collect(),
    }
}

fn column(name: &str) -> Column {
    let name = name.trim_start_matches('#').trim().to_ascii_lowercase();
    let (kind, unit) = name.rsplit_once('_').unwrap_or((&name, ""));
    if matches!(kind, "ts" | "time" | "timestamp" | "elapsed") {
        return match unit {
            "ns" => Column::Time(0),
            "us" => Column::Time(3),
            "ms" => Column::Time(6),
            "s" | "sec" | "seconds" => Column::Time(9),
            _ => Column::Other,
        };
    }
    let bytes = match unit {
        "bytes" | "b" => 1,
        "kb" | "kib" => 1024,
        "mb" | "mib" => 1024 * 1024,
        _ => return Column::Other,
    };
    match kind {
        "rss" | "vmrss" => Column::Rss(bytes),
        "pss" => Column::Pss(bytes),
        "anon" | "anonymous" | "rssanon" => Column::Anon(bytes),
        "swap" | "vmswap" => Column::Swap(bytes),
        _ => Column::Other,
    }
}

/// The header is the first line that is neither blank nor a comment, or the comment itself.
fn header(bytes: &[u8]) -> Option<(i64, Header)> {
    let lines = text::lines(bytes).filter(|(_, line)| !line.trim_ascii().is_empty()).take(5);
    for (line_no, line) in lines {
        let line = String::from_utf8_lossy(line);
        if let Some(header) = Header::parse(&line) {
            return Some((line_no, header));
        }
        if !line.starts_with('#') {
            return None;
        }
    }
    None
}

pub fn sniff(head: &[u8]) -> bool {
    header(text::decode(head).as_ref()).is_some()
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let bytes = text::decode(input.bytes);
    let Some((header_no, header)) = header(&bytes) else {
        return Err(Error::Unusable {
            path: input.name.into(),
            what: "no header that names time and rss".into(),
            advice: "write one with rss.sh".into(),
        });
    };
    let source = if header.columns.iter().any(|column| matches!(column, Column::Pss(_))) { "smaps_rollup" } else { "status" };
    let mut first = None;
    let mut last = i64::MIN;
    for (line_no, line) in text::lines(&bytes).filter(|(line_no, _)| *line_no > header_no) {
        let line = String::from_utf8_lossy(line);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        recorder.artifact.records += 1;
        let Some(mut point) = point(&header, &line) else {
            let message = format!("no reading: {:?}", line.chars().take(80).collect::<String>());
            recorder.skip("memory_series_line", Severity::Warn, &message, "the reading is left out", &text::place(line_no));
            continue;
        };
        if point.ts_ns < last {
            recorder.skip(
                "memory_series_order",
                Severity::Warn,
                "a reading is older than the one before",
                "the clock was set back; trends are doubtful",
                &text::place(line_no),
            );
        }
        last = point.ts_ns;
        point.ts_ns = point.ts_ns.saturating_sub(*first.get_or_insert(point.ts_ns));
        point.line_no = line_no;
        point.source = source.into();
        recorder.artifact.window_ns = Some(point.ts_ns);
        recorder.tables.memory.push(point);
    }
    recorder.artifact.clock = Some("relative".into());
    Ok(())
}

/// `None` where a cell is missing or no number; empty cells of optional columns are null.
fn point(header: &Header, line: &str) -> Option<MemoryPoint> {
    let cells = cells(line, header.separator);
    if cells.len() != header.columns.len() {
        return None;
    }
    let (mut ts_ns, mut rss) = (None, None);
    let mut point = MemoryPoint {
        artifact_id: 0,
        ts_ns: 0,
        rss_bytes: 0,
        pss_bytes: None,
        anon_bytes: None,
        swap_bytes: None,
        source: "".into(),
        line_no: 0,
    };
    for (column, cell) in header.columns.iter().zip(cells) {
        let size = |unit: &i64| {
            if cell.is_empty() { Some(None) } else { Some(Some(cell.parse::<i64>().ok().filter(|value| *value >= 0)?.checked_mul(*unit)?)) }
        };
        match column {
            Column::Time(places) => ts_ns = text::decimal(cell, *places),
            Column::Rss(unit) => rss = size(unit)?,
            Column::Pss(unit) => point.pss_bytes = size(unit)?,
            Column::Anon(unit) => point.anon_bytes = size(unit)?,
            Column::Swap(unit) => point.swap_bytes = size(unit)?,
            Column::Other => {}
        }
    }
    (point.ts_ns, point.rss_bytes) = (ts_ns?, rss?);
    Some(point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::testing::{kinds, read_text, survives_damage};

    /// As testdata/record.sh writes it.
    const SERIES: &str = "ts_ns\trss_bytes\tpss_bytes\tanon_bytes\tswap_bytes\n1795972830427142000\t1163264\t179200\t102400\t0\n1795972830479841000\t1163264\t179200\t\t0\n179597283048\t11\n";

    #[test]
    fn readings_with_their_units() {
        let recorder = read_text(read, SERIES);
        let [a, b] = &recorder.tables.memory[..] else { panic!() };
        assert_eq!(
            (a.ts_ns, a.rss_bytes, a.pss_bytes, a.anon_bytes, a.swap_bytes, a.line_no),
            (0, 1_163_264, Some(179_200), Some(102_400), Some(0), 2)
        );
        assert_eq!((b.ts_ns, b.anon_bytes, b.source.as_ref()), (52_699_000, None, "smaps_rollup"));
        assert_eq!(kinds(&recorder), ["memory_series_line"]);
        let recorder = read_text(read, "# time_s,rss_kb,threads\n1.5,4,9\n1.75,8,9\n");
        let points: Vec<_> = recorder.tables.memory.iter().map(|p| (p.ts_ns, p.rss_bytes, p.source.to_string())).collect();
        assert_eq!(points, [(0, 4096, "status".into()), (250_000_000, 8192, "status".into())]);
        survives_damage(read, SERIES.as_bytes());
    }

    #[test]
    fn a_header_must_name_time_and_rss() {
        assert!(sniff(SERIES.as_bytes()));
        for other in ["procs r b swpd free\n0 0 0 1\n", "ts_ns\tvalue\n1\t2\n", "rss_kb\n1\n", ""] {
            assert!(!sniff(other.as_bytes()), "{other}");
        }
    }
}
