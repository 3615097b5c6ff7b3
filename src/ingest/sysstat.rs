//! Tables of vmstat, mpstat, sar (-u, -q) and iostat (-x): one row per interval.
//!
//! ```text
//!  r  b   swpd   free ... us sy id wa st                                    vmstat; its first row is about the time since boot
//! 22:57:49     CPU    %usr   %nice    %sys %iowait ... %steal ... %idle     mpstat, sar -u
//! avg-cpu:  %user   %nice %system %iowait  %steal   %idle                   iostat; its first report likewise
//! Device            r/s     rkB/s ...  r_await ... aqu-sz  %util
//! ```
//!
//! Columns are found by their heading, cells from the right, so that `Average:` and 12-hour times do not matter. Columns
//! that no rule reads are passed over.

use super::{Format, Input, NewEvent, Recorder, Severity, text};
use crate::error::Result;
use crate::tables::Accounting;

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "sysstat",
    tool: "procfs",
    doc: "steal, run queue, disk waits per interval: vmstat, mpstat, sar, iostat -x",
    record: "vmstat 1 > vmstat.txt; mpstat 1 > mpstat.txt; iostat -x 1 > iostat.txt",
    sniff,
    read,
};

/// Numbers of one file that are kept; what is beyond is counted.
const ROWS_MAX: usize = 500_000;

/// Longest name of a device that is kept.
const NAME_MAX: usize = 64;

/// Column, our key, decimal places to our unit, our unit.
const COLUMNS: &[(&str, &str, u32, &str)] = &[
    ("%usr", "cpu_user", 4, "ppm"),
    ("%user", "cpu_user", 4, "ppm"),
    ("us", "cpu_user", 4, "ppm"),
    ("%sys", "cpu_system", 4, "ppm"),
    ("%system", "cpu_system", 4, "ppm"),
    ("sy", "cpu_system", 4, "ppm"),
    ("%iowait", "cpu_iowait", 4, "ppm"),
    ("wa", "cpu_iowait", 4, "ppm"),
    ("%steal", "cpu_steal", 4, "ppm"),
    ("st", "cpu_steal", 4, "ppm"),
    ("%idle", "cpu_idle", 4, "ppm"),
    ("id", "cpu_idle", 4, "ppm"),
    ("r", "run_queue", 0, "count"),
    ("runq-sz", "run_queue", 0, "count"),
    ("b", "blocked", 0, "count"),
    ("blocked", "blocked", 0, "count"),
    ("cs", "context_switches_per_s", 0, "count"),
    ("ldavg-1", "load1", 6, "ppm"),
    ("r/s", "reads_per_s", 6, "ppm"),
    ("w/s", "writes_per_s", 6, "ppm"),
    ("f/s", "flushes_per_s", 6, "ppm"),
    ("await", "await", 6, "ns"),
    ("r_await", "await_read", 6, "ns"),
    ("w_await", "await_write", 6, "ns"),
    ("f_await", "await_flush", 6, "ns"),
    ("aqu-sz", "queue_length", 6, "ppm"),
    ("avgqu-sz", "queue_length", 6, "ppm"),
    ("%util", "busy", 4, "ppm"),
];

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// One row per interval for the whole machine.
    System,
    /// mpstat, sar: the column CPU says which.
    Cpu,
    /// iostat: the first cell is the device.
    Device,
}

#[derive(Debug, Clone)]
struct Heading {
    about: About,
    /// Names of all columns, without the time in front.
    columns: Vec<String>,
    /// vmstat and iostat begin with the time since boot.
    since_boot: bool,
}

fn heading(line: &str) -> Option<Heading> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let has = |name: &str| words.contains(&name);
    // pidstat: one row per process
    if has("PID") || has("UID") {
        return None;
    }
    let from = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at..)).unwrap_or_default();
    let (about, columns, since_boot) = match words.first() {
        Some(&"avg-cpu:") => (About::System, words.get(1..)?, true),
        Some(&("Device" | "Device:")) if has("%util") => (About::Device, words.as_slice(), true),
        Some(&"r") if has("swpd") => (About::System, words.as_slice(), true),
        _ if has("CPU") && has("%idle") => (About::Cpu, from("CPU"), false),
        _ if has("runq-sz") && has("ldavg-1") => (About::System, from("runq-sz"), false),
        _ => return None,
    };
    let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
    columns.iter().any(|name| known(name).is_some()).then_some(Heading { about, columns, since_boot })
}

fn known(name: &str) -> Option<(&'static str, u32, &'static str)> {
    COLUMNS.iter().find(|(own, ..)| *own == name).map(|(_, key, places, unit)| (*key, *places, *unit))
}

pub fn sniff(head: &[u8]) -> bool {
    text::lines(&text::decode(head)).any(|(_, line)| heading(&String::from_utf8_lossy(line)).is_some())
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let bytes = text::decode(input.bytes);
    let mut reader = Reader::default();
    for (line_no, line) in text::lines(&bytes) {
        reader.line(&String::from_utf8_lossy(line), line_no, recorder);
    }
    let count = recorder.tables.accounting.len() as i64;
    let id = recorder.push_event(&NewEvent {
        name: "procfs".into(),
        mechanism: "M8",
        probe: "procfs",
        role: "other",
        frequency_hz: None,
        period: None,
        unit: "count",
    });
    if let Some(row) = recorder.tables.events.get_mut(id as usize) {
        row.n = count;
    }
    Ok(())
}

#[derive(Default)]
struct Reader {
    heading: Option<Heading>,
    /// Reports of vmstat and iostat that began, by what they are about.
    seen_system: bool,
    seen_devices: bool,
    /// The heading now is the first of its kind.
    is_first: bool,
}

impl Reader {
    fn line(&mut self, line: &str, line_no: i64, recorder: &mut Recorder) {
        if line.trim().is_empty() {
            self.heading = None;
            return;
        }
        if let Some(found) = heading(line) {
            let seen = if found.about == About::Device { &mut self.seen_devices } else { &mut self.seen_system };
            // vmstat repeats its heading every screen: only the very first row is since boot
            self.is_first = found.since_boot && !*seen;
            *seen = true;
            self.heading = Some(found);
            return;
        }
        let Some(heading) = self.heading.clone() else {
            recorder.skip("other_text", Severity::Info, "lines that are no row of a table", "nothing to do", &text::place(line_no));
            return;
        };
        recorder.artifact.records += 1;
        let is_mean = line.trim_start().starts_with("Average:");
        let at = if self.is_first {
            "since_boot"
        } else if is_mean {
            "mean"
        } else {
            "interval"
        };
        if self.row(&heading, line, at, line_no, recorder).is_none() {
            let message = format!("no row of the table: {:?}", line.chars().take(80).collect::<String>());
            recorder.skip("sysstat_row", Severity::Warn, &message, "the row is left out", &text::place(line_no));
        }
        if heading.about == About::System {
            self.is_first = false;
        }
    }

    fn row(&self, heading: &Heading, line: &str, at: &str, line_no: i64, recorder: &mut Recorder) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        // vmstat -t appends the time under one heading (UTC) in two words
        let stamps =
            usize::from(heading.columns.last().is_some_and(|last| known(last).is_none() && last.chars().all(|c| c.is_ascii_uppercase())));
        let start = words.len().checked_sub(heading.columns.len() + stamps)?;
        let cells = words.get(start..)?;
        let scope: String = match heading.about {
            About::System => "system".to_owned(),
            About::Device => (*cells.first()?).chars().take(NAME_MAX).collect(),
            About::Cpu => match *cells.first()? {
                "all" => "system".to_owned(),
                number => format!("cpu{}", number.parse::<u32>().ok()?),
            },
        };
        let mut values = Vec::new();
        for (name, cell) in heading.columns.iter().zip(cells) {
            let Some((key, places, unit)) = known(name) else { continue };
            values.push((key, text::decimal(cell, places).filter(|value| *value >= 0)?, unit));
        }
        if recorder.tables.accounting.len().saturating_add(values.len()) > ROWS_MAX {
            return None;
        }
        for (key, value, unit) in values {
            let row = Accounting {
                artifact_id: 0,
                scope: recorder.text(&scope),
                key: key.into(),
                value,
                unit: unit.into(),
                moment: at.into(),
                stands_in: None,
                line_no,
            };
            recorder.tables.accounting.push(row);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::testing::{kinds, read_text, survives_damage};

    fn rows<'a>(recorder: &'a Recorder, key: &str) -> Vec<(&'a str, i64, &'a str, i64)> {
        let own = recorder.tables.accounting.iter().filter(|row| row.key.as_ref() == key);
        own.map(|row| (row.scope.as_ref(), row.value, row.moment.as_ref(), row.line_no)).collect()
    }

    /// procps 4.0, `vmstat 1 3`; `vmstat -w -t 1 2`, shortened.
    #[test]
    fn vmstat_begins_with_the_time_since_boot() {
        let text = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 3  0      0 20851208  23920 2818040    0    0  1447  1965 1128 2643 49 12 37  1  1\n 3  0      0 20851208  23920 2818040    0    0     4     0 2164  213 95  4  2  0  7\n";
        let recorder = read_text(read, text);
        assert_eq!(rows(&recorder, "cpu_steal"), [("system", 10_000, "since_boot", 3), ("system", 70_000, "interval", 4)]);
        assert_eq!(rows(&recorder, "run_queue"), [("system", 3, "since_boot", 3), ("system", 3, "interval", 4)]);
        assert_eq!(kinds(&recorder), ["other_text"]);
        let text = "   r    b         swpd         free         buff        cache   si   so    bi    bo   in   cs  us  sy  id  wa  st  gu                 UTC\n   3    0            0     20873880        24312      2831168    0    0     4 14396 2211  292  89   6   5   0   1   0 2026-11-29 22:57:58\n";
        assert_eq!(rows(&read_text(read, text), "cpu_user"), [("system", 890_000, "since_boot", 2)]);
        survives_damage(read, text.as_bytes());
    }

    /// sysstat 12.6: `mpstat -P ALL 1 1`, `sar -q 1 1`, shortened; a 12-hour clock is sysstat's in other locales.
    #[test]
    fn means_and_cpus() {
        let text = "Linux 6.1.0 (vm) \t11/29/26 \t_x86_64_\t(2 CPU)\n\n08:57:49 AM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n08:57:50 AM  all   92.93    0.00    4.55    0.00    0.00    0.00    0.50    0.00    0.00    2.03\n08:57:50 AM    1   90.10    0.00    5.94    0.00    0.00    0.00    0.99    0.00    0.00    2.97\n\nAverage:     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\nAverage:     all   91.46    0.00    5.78    0.00    0.00    0.00    0.25    0.00    0.00    2.51\n";
        let recorder = read_text(read, text);
        let expected = [("system", 5_000, "interval", 4), ("cpu1", 9_900, "interval", 5), ("system", 2_500, "mean", 8)];
        assert_eq!(rows(&recorder, "cpu_steal"), expected);
        let text = "22:57:53      runq-sz  plist-sz   ldavg-1   ldavg-5  ldavg-15   blocked\n22:57:54            2       117      2.22      1.41      1.41         0\n";
        let recorder = read_text(read, text);
        assert_eq!(rows(&recorder, "run_queue"), [("system", 2, "interval", 2)]);
        assert_eq!(rows(&recorder, "load1"), [("system", 2_220_000, "interval", 2)]);
    }

    /// sysstat 12.6, `iostat -x 1 2`, shortened to one device and the columns that are read.
    #[test]
    fn disks() {
        let text = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          48.59    0.49   12.09    1.02    1.15   36.66\n\nDevice            r/s r_await     w/s w_await     f/s f_await  aqu-sz  %util\nvda            141.67    2.67  171.69    0.30   60.67    0.07    0.44   2.38\n\n\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          92.93    0.00    4.04    0.00    0.00    3.03\n\nDevice            r/s r_await     w/s w_await     f/s f_await  aqu-sz  %util\nvda              1.00    2.50    0.00    0.00    0.00    0.00    1.25  99.90\nsdb broken\n";
        let recorder = read_text(read, text);
        assert_eq!(rows(&recorder, "await_read"), [("vda", 2_670_000, "since_boot", 5), ("vda", 2_500_000, "interval", 12)]);
        assert_eq!(rows(&recorder, "busy"), [("vda", 23_800, "since_boot", 5), ("vda", 999_000, "interval", 12)]);
        assert_eq!(rows(&recorder, "cpu_steal"), [("system", 11_500, "since_boot", 2), ("system", 0, "interval", 9)]);
        assert_eq!(kinds(&recorder), ["sysstat_row"]);
    }

    #[test]
    fn pidstat_is_none_of_them() {
        assert!(!sniff(b"22:57:56      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"));
        assert!(!sniff(b"a b r\n1 2 3\n"));
    }
}
