//! `perf stat -x SEP`: fields between a separator of the user's choice.
//!
//! ```text
//! [interval SEP] [CPU0 | S0-D0-C0 SEP count | thread SEP] value SEP unit SEP event [SEP variance%] SEP runtime SEP percent [SEP metric SEP unit]
//! ```
//!
//! In a locale with a decimal comma, `-x,` splits every decimal number into two fields. The running percentage shows
//! which it is: `100.00`, or `100` and `00`. Separator and decimal mark are found apart from each other.

use super::{Run, Value, metric};
use crate::ingest::{Recorder, Severity, text};

const SEPARATORS: [char; 6] = [';', ',', '|', '\t', ':', ' '];

/// The separator that makes sense of the first line that any makes sense of.
pub fn separator(bytes: &[u8]) -> Option<char> {
    text::lines(bytes).find_map(|(line_no, line)| {
        let line = String::from_utf8_lossy(line);
        SEPARATORS.into_iter().find(|separator| parse(&line, *separator, line_no).is_some())
    })
}

pub fn read(bytes: &[u8], separator: char, recorder: &mut Recorder) -> Run {
    let mut run = Run::default();
    for (line_no, line) in text::lines(bytes) {
        let line = String::from_utf8_lossy(line);
        match parse(&line, separator, line_no) {
            Some(value) => run.values.push(value),
            None if line.trim().is_empty() || line.starts_with('#') => {}
            // program output, metric-only lines: only what looks like a counter is a loss
            None if line.matches(separator).count() < 4 => {}
            None => {
                let message = format!("no counter with separator {separator:?}: {:?}", line.chars().take(80).collect::<String>());
                recorder.skip("perf_stat_line", Severity::Warn, &message, "the line is left out", &text::place(line_no));
            }
        }
    }
    run
}

fn is_digits(field: &str) -> bool {
    !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(field: &str) -> bool {
    text::decimal(field, 0).is_some() || matches!(field, "<not counted>" | "<not supported>")
}

fn is_unit(field: &str) -> bool {
    field.is_empty() || field.len() <= 12 && field.chars().all(|c| c.is_ascii_alphabetic() || "/%^".contains(c) || c == '-')
}

fn is_event(field: &str) -> bool {
    field.len() > 1 && field.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !field.contains(char::is_whitespace)
}

fn parse(line: &str, separator: char, line_no: i64) -> Option<Value> {
    let fields: Vec<&str> = line.split(separator).map(str::trim).collect();
    let at = |n: usize| fields.get(n).copied();
    // event: the first name behind a number and a unit whose next field is the variance or the run time
    let event = (2..fields.len()).find(|n| {
        let run_time = at(n + 1).is_some_and(|next| is_digits(next) || next.ends_with('%'));
        at(*n).is_some_and(is_event) && at(n - 1).is_some_and(is_unit) && at(n - 2).is_some_and(is_number) && run_time
    })?;
    let unit = at(event - 1)?;
    let number = at(event - 2)?;
    let mut next = event + 1;
    let mut is_mean = false;
    // `8.52%`, or `8` and `52%`
    for step in 0..2 {
        if at(next + step).is_some_and(|field| field.ends_with('%')) {
            is_mean = true;
            next += step + 1;
            break;
        }
    }
    let _run_time = at(next).filter(|field| is_digits(field))?;
    let percent = at(next + 1).filter(|field| text::decimal(field, 2).is_some())?;
    let split_decimals = separator == ',' && is_digits(percent) && at(next + 2).is_some_and(|field| field.len() == 2 && is_digits(field));
    let running = if split_decimals { format!("{percent}.{}", at(next + 2)?) } else { percent.to_owned() };
    if text::decimal(&running, 2).is_none_or(|hundredths| hundredths > 10_000) {
        return None;
    }
    let whole = event.checked_sub(3).and_then(at).filter(|field| is_digits(field));
    let is_time = !unit.is_empty() && unit != "ns";
    let (number, value_at) = match whole {
        Some(whole) if split_decimals && is_time && is_digits(number) => (format!("{whole}.{number}"), event - 3),
        _ => (number.to_owned(), event - 2),
    };
    let (interval, scope) = prefix(fields.get(..value_at).unwrap_or_default(), split_decimals);
    let metric = at(next + 2).zip(at(next + 3)).and_then(|(number, unit)| metric(number, unit));
    Some(Value {
        event: at(event)?.to_owned(),
        number,
        unit: unit.to_owned(),
        running: Some(running),
        scope,
        interval,
        is_mean,
        metric,
        line_no,
    })
}

/// What stands in front of the value: the interval's time stamp, then CPU, core or thread.
fn prefix(fields: &[&str], split_decimals: bool) -> (Option<String>, Option<String>) {
    let (interval, rest) = match fields {
        [seconds, fraction, rest @ ..] if split_decimals && is_digits(seconds) && is_digits(fraction) && fraction.len() == 9 => {
            (Some(format!("{seconds}.{fraction}")), rest)
        }
        [stamp, rest @ ..] if stamp.contains(['.', ',']) && text::seconds(stamp).is_some() => (Some((*stamp).to_owned()), rest),
        rest => (None, rest),
    };
    let scope = rest.first().filter(|scope| !scope.is_empty());
    (interval, scope.map(|scope| (*scope).to_owned()))
}
