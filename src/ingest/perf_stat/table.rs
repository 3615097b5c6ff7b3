//! `perf stat` as printed for people. Several reports may follow each other in one file.

use super::{Run, Value, metric};
use crate::ingest::{Recorder, Severity, text};

const TITLE: &str = "Performance counter stats for ";

pub fn is_title(line: &str) -> bool {
    line.trim_start().starts_with(TITLE)
}

pub fn read(bytes: &[u8], recorder: &mut Recorder) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (line_no, line) in text::lines(bytes) {
        let line = String::from_utf8_lossy(line);
        if is_title(&line) {
            runs.push(Run { command: command(&line), values: Vec::new() });
            continue;
        }
        let Some(run) = runs.last_mut() else { continue };
        match parse(&line, line_no) {
            Parsed::Value(value) => run.values.push(*value),
            Parsed::Nothing => {}
            Parsed::Broken => recorder.skip(
                "perf_stat_line",
                Severity::Warn,
                &format!("no counter: {:?}", line.chars().take(80).collect::<String>()),
                "the line is left out",
                &text::place(line_no),
            ),
        }
    }
    runs
}

/// `... for './p 1' (3 runs):` -> `./p 1`; nothing for `system wide` and `process id '1'`.
fn command(title: &str) -> Option<String> {
    let rest = title.trim_start().strip_prefix(TITLE)?;
    let (command, _) = rest.strip_prefix('\'')?.rsplit_once('\'')?;
    Some(command.to_owned())
}

enum Parsed {
    Value(Box<Value>),
    Nothing,
    Broken,
}

fn parse(line: &str, line_no: i64) -> Parsed {
    let (left, right) = line.split_once(" # ").unwrap_or((line, ""));
    let is_mean = line.contains("( +-") || line.contains(" +- ");
    let metric = right.trim_start().split_once(' ').and_then(|(number, rest)| metric(number, rest.split('(').next().unwrap_or("").trim()));
    if left.trim().is_empty() && metric.is_some() {
        return Parsed::Value(Box::new(Value { is_mean, metric, line_no, ..Value::default() }));
    }
    let mut words: Vec<&str> = left.split_whitespace().take_while(|word| *word != "(" && *word != "+-" && !word.starts_with('(')).collect();
    let number = match words.as_slice() {
        ["<not", "counted>" | "supported>", ..] => words.drain(..2).collect::<Vec<_>>().join(" "),
        [first, ..] if first.starts_with(|c: char| c.is_ascii_digit()) => without_thousands(words.remove(0)),
        _ => return Parsed::Nothing,
    };
    // `(66.7%)` at the end of the line is the running share
    let running = [left, right]
        .iter()
        .find_map(|part| part.trim_end().strip_suffix("%)")?.rsplit_once('(').map(|(_, share)| share.trim().to_owned()));
    let (unit, event) = match words.as_slice() {
        ["seconds", "time", "elapsed"] => ("seconds", "duration_time"),
        ["seconds", "user"] => ("seconds", "user_time"),
        ["seconds", "sys"] => ("seconds", "system_time"),
        [unit @ ("msec" | "ns" | "Joules" | "MiB" | "usec"), event] => (*unit, *event),
        [event] => ("", *event),
        _ => return Parsed::Broken,
    };
    Parsed::Value(Box::new(Value { event: event.into(), number, unit: unit.into(), running, is_mean, metric, line_no, ..Value::default() }))
}

/// `60,243.87` -> `60243.87`; `1.234.567` and `1 234` in other locales. The last mark counts as decimal only where
/// it differs from an earlier one or is not followed by exactly three digits.
fn without_thousands(number: &str) -> String {
    let is_mark = |c: char| matches!(c, ',' | '.' | '\'' | '\u{a0}' | '\u{202f}');
    let Some((at, last)) = number.char_indices().rev().find(|(_, c)| is_mark(*c)) else { return number.to_owned() };
    let (whole, fraction) = (number.get(..at).unwrap_or_default(), number.get(at + last.len_utf8()..).unwrap_or_default());
    let groups: String = whole.chars().filter(|c| !is_mark(*c)).collect();
    let earlier = whole.chars().find(|c| is_mark(*c));
    let is_decimal = match earlier {
        Some(mark) => mark != last,
        None => fraction.len() != 3 || last == '.',
    };
    if is_decimal { format!("{groups}.{fraction}") } else { format!("{groups}{fraction}") }
}
