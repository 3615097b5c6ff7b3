//! `/usr/bin/time -v`: one execution per report.
//!
//! The report may follow the program's own output in the same file, and a file may hold several (`-a`). It begins at
//! `Command being timed: "..."`; GNU time joins the arguments with spaces, so quoting is lost.

use super::{Format, Input, Recorder, Severity, text};
use crate::error::Result;
use crate::tables::Execution;

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "time-v",
    tool: "time",
    doc: "wall, user and system time, largest resident set, faults and switches of one run",
    record: "/usr/bin/time -v -o time-v.txt PROGRAM",
    sniff,
    read,
};

const COMMAND: &str = "Command being timed: ";

pub fn sniff(head: &[u8]) -> bool {
    let mut has_command = false;
    text::lines(head).any(|(_, line)| {
        let line = String::from_utf8_lossy(line);
        has_command |= line.trim_start().starts_with(COMMAND);
        has_command && line.trim_start().starts_with("User time (seconds): ")
    })
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let mut current: Option<Execution> = None;
    for (line_no, line) in text::lines(input.bytes) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if let Some(command) = line.strip_prefix(COMMAND) {
            finish(current.take(), recorder);
            let argv = command.trim_matches('"');
            recorder.artifact.command.get_or_insert_with(|| format!("/usr/bin/time -v {argv}").into());
            current = Some(Execution { argv: Some(argv.into()), ..Execution::under("bare") });
        } else if let (Some(execution), Some((key, value))) = (&mut current, line.rsplit_once(": ")) {
            recorder.artifact.records += 1;
            let read = field(execution, key, value);
            if let Some(Some(name)) = read {
                execution.note_place(name, &text::place(line_no));
            }
            if read.is_none() {
                recorder.skip(
                    "time_v_number",
                    Severity::Warn,
                    &format!("{key}: {value:?} is no number"),
                    "the field is left empty",
                    &text::place(line_no),
                );
            }
        }
    }
    finish(current, recorder);
    Ok(())
}

fn finish(execution: Option<Execution>, recorder: &mut Recorder) {
    if let Some(execution) = execution {
        if execution.exit_code.is_none() {
            recorder.artifact.status = "truncated".into();
            recorder.skip("truncated", Severity::Warn, "the report ends before its last line (Exit status)", "copy the file again", "");
        }
        recorder.push_execution(execution);
    }
}

/// The column that the line fills. `None` where the value is not what the key promises; other keys are passed over.
fn field(execution: &mut Execution, key: &str, value: &str) -> Option<Option<&'static str>> {
    let count = |value: &str| value.parse::<i64>().ok();
    let (name, slot, value) = match key {
        "User time (seconds)" => ("user_ns", &mut execution.user_ns, text::seconds(value)?),
        "System time (seconds)" => ("system_ns", &mut execution.system_ns, text::seconds(value)?),
        "Elapsed (wall clock) time (h:mm:ss or m:ss)" => ("wall_ns", &mut execution.wall_ns, clock(value)?),
        "Maximum resident set size (kbytes)" => ("max_rss_bytes", &mut execution.max_rss_bytes, count(value)?.checked_mul(1024)?),
        "Major (requiring I/O) page faults" => ("major_faults", &mut execution.major_faults, count(value)?),
        "Minor (reclaiming a frame) page faults" => ("minor_faults", &mut execution.minor_faults, count(value)?),
        "Voluntary context switches" => ("voluntary_switches", &mut execution.voluntary_switches, count(value)?),
        "Involuntary context switches" => ("involuntary_switches", &mut execution.involuntary_switches, count(value)?),
        "Exit status" => {
            execution.exit_code = Some(value.parse().ok()?);
            return Some(None);
        }
        _ => return Some(None),
    };
    *slot = Some(value);
    Some(Some(name))
}

/// `h:mm:ss` or `m:ss.cc`.
fn clock(value: &str) -> Option<i64> {
    let (rest, last) = value.rsplit_once(':')?;
    let mut minutes = 0i64;
    for part in rest.split(':') {
        minutes = minutes.checked_mul(60)?.checked_add(part.parse::<u32>().ok()?.into())?;
    }
    minutes.checked_mul(60_000_000_000)?.checked_add(text::seconds(last)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::testing::read_text;

    /// GNU time 1.9, as printed for a program that exits with 3; the numbers were changed by hand to differ.
    const REPORT: &str = "done: 12\r\nCommand exited with non-zero status 3\r\n\tCommand being timed: \"./p 1\"\r\n\tUser time (seconds): 1.25\r\n\tSystem time (seconds): 0.07\r\n\
        \tPercent of CPU this job got: 25%\r\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:02.02\r\n\tMaximum resident set size (kbytes): 1576\r\n\
        \tMajor (requiring I/O) page faults: 2\r\n\tMinor (reclaiming a frame) page faults: 177\r\n\tVoluntary context switches: 112\r\n\
        \tInvoluntary context switches: 28\r\n\tPage size (bytes): 4096\r\n\tExit status: 3\r\n";

    #[test]
    fn a_report_behind_program_output() {
        let recorder = read_text(read, REPORT);
        let [execution] = &recorder.tables.executions[..] else { panic!() };
        assert_eq!(execution.argv.as_deref(), Some("./p 1"));
        assert_eq!(execution.wrapper.as_ref(), "bare");
        assert_eq!(
            (execution.wall_ns, execution.user_ns, execution.system_ns),
            (Some(2_020_000_000), Some(1_250_000_000), Some(70_000_000))
        );
        assert_eq!(execution.max_rss_bytes, Some(1_613_824));
        assert_eq!((execution.minor_faults, execution.major_faults), (Some(177), Some(2)));
        assert_eq!((execution.voluntary_switches, execution.involuntary_switches), (Some(112), Some(28)));
        assert_eq!(execution.exit_code, Some(3));
        // Lines counted in the text above.
        let places = ["user_ns", "wall_ns", "max_rss_bytes", "minor_faults", "wor"].map(|field| execution.place_of(field));
        assert_eq!(places, [Some("L=4"), Some("L=7"), Some("L=8"), Some("L=10"), None]);
        assert!(recorder.tables.diagnostics.is_empty());
    }

    #[test]
    fn hours_and_appended_reports() {
        assert_eq!(clock("1:02:03"), Some(3_723_000_000_000));
        assert_eq!(clock("0:00.01"), Some(10_000_000));
        assert_eq!(clock("x:1"), None);
        assert_eq!(read_text(read, &REPORT.repeat(2)).tables.executions.len(), 2);
    }

    #[test]
    fn only_reports_are_claimed() {
        assert!(sniff(REPORT.as_bytes()));
        assert!(!sniff(b"Command being timed: nothing\n"));
        assert!(!sniff(b""));
    }
}
