//! Where two files of a run differ: the line of a text, the cell of a table.

use polars::prelude::{AnyValue, DataFrame};

use super::report::Part;

/// Differences told of one file.
const TOLD_MAX: usize = 3;
/// Characters shown around what differs.
const AROUND: usize = 24;
const SHOWN_MAX: usize = 100;

/// Compares line by line. Lines that were added or removed in one place shift the rest, which is compared from the end.
pub fn texts(path: &str, has: &str, gives: &str, part: &mut Part) {
    let (has, gives): (Vec<&str>, Vec<&str>) = (has.split('\n').collect(), gives.split('\n').collect());
    let before = has.iter().zip(&gives).take_while(|(a, b)| a == b).count();
    let rest = has.len().min(gives.len()) - before;
    let behind = has.iter().rev().zip(gives.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let middle = |lines: &[&str]| lines.get(before..lines.len() - behind).unwrap_or(&[]).iter().map(ToString::to_string).collect();
    let (has, gives): (Vec<String>, Vec<String>) = (middle(&has), middle(&gives));
    let mut told = 0;
    for at in 0..has.len().max(gives.len()) {
        let (own, other) = (has.get(at), gives.get(at));
        if own == other {
            continue;
        }
        told += 1;
        if told > TOLD_MAX {
            continue;
        }
        let place = format!("{path}:{}", before + at + 1);
        match (own, other) {
            (Some(own), Some(other)) => {
                let (own, other) = narrow(own, other);
                part.fail(place, format!("has {own}, replay gives {other}"));
            }
            (Some(own), None) => part.fail(place, format!("has {}, replay has no such line", quoted(own))),
            (None, Some(other)) => part.fail(place, format!("lacks a line, replay gives {}", quoted(other))),
            (None, None) => {}
        }
    }
    if told > TOLD_MAX {
        part.fail(path, format!("{} more lines differ", told - TOLD_MAX));
    }
}

fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN_MAX).collect();
    format!("{:?}{}", shown, if shown.len() < text.len() { " ..." } else { "" })
}

/// The part of two lines that differs, whole words, with some text around it.
fn narrow(a: &str, b: &str) -> (String, String) {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let rest = a.len().min(b.len()) - same;
    let tail = a.iter().rev().zip(b.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let window = |own: &[char]| {
        let (mut from, mut to) = (same, own.len() - tail);
        let is_space = |at: usize| own.get(at).is_none_or(|c| c.is_whitespace());
        while from > 0 && same - from < AROUND && (same - from < 4 || !is_space(from - 1)) {
            from -= 1;
        }
        let end = to;
        while to < own.len() && to - end < AROUND && (to - end < 4 || !is_space(to)) {
            to += 1;
        }
        own.get(from..to).unwrap_or(&[]).iter().collect::<String>()
    };
    (quoted(window(&a).trim()), quoted(window(&b).trim()))
}

/// Compares cell by cell; true where both hold the same rows.
pub fn frames(path: &str, has: &DataFrame, gives: &DataFrame, part: &mut Part) -> bool {
    let names = |frame: &DataFrame| frame.columns().iter().map(|column| column.name().to_string()).collect::<Vec<String>>();
    if names(has) != names(gives) {
        part.fail(path, format!("has columns {}, replay gives {}", names(has).join(", "), names(gives).join(", ")));
        return false;
    }
    let mut told = 0;
    if has.height() != gives.height() {
        part.fail(path, format!("has {} rows, replay gives {}", has.height(), gives.height()));
        told += 1;
    }
    'rows: for row in 0..has.height().min(gives.height()) {
        for (own, other) in has.columns().iter().zip(gives.columns()) {
            let (own_value, other_value) = (own.get(row), other.get(row));
            let (Ok(own_value), Ok(other_value)) = (own_value, other_value) else { continue };
            if equal(&own_value, &other_value) {
                continue;
            }
            told += 1;
            if told > TOLD_MAX {
                part.fail(path, "and more cells differ");
                break 'rows;
            }
            let (a, b) = (cell(&own_value), cell(&other_value));
            part.fail(format!("{path}: row {}, column {}", row + 1, own.name()), format!("has {a}, replay gives {b}"));
        }
    }
    told == 0
}

/// Bit for bit, so that NaN equals itself; integers of two widths by their number.
fn equal(a: &AnyValue<'_>, b: &AnyValue<'_>) -> bool {
    match (a, b) {
        (AnyValue::Float64(a), AnyValue::Float64(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

fn cell(value: &AnyValue<'_>) -> String {
    match value {
        AnyValue::String(text) => quoted(text),
        AnyValue::StringOwned(text) => quoted(text.as_str()),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(has: &str, gives: &str) -> Vec<String> {
        let mut part = Part::new("replay");
        texts("a.md", has, gives, &mut part);
        part.failures.into_iter().map(|failure| format!("{}: {}", failure.place, failure.what)).collect()
    }

    #[test]
    fn a_changed_number_is_shown_in_its_place() {
        let has = "one\ntwo is 17.3 % of it\nthree";
        assert_eq!(told(has, "one\ntwo is 18.3 % of it\nthree"), ["a.md:2: has \"is 17.3 %\", replay gives \"is 18.3 %\""]);
        assert_eq!(told("a\nb\nc", "a\nc"), ["a.md:2: has \"b\", replay has no such line"]);
        assert_eq!(told("a\nc", "a\nb\nc"), ["a.md:2: lacks a line, replay gives \"b\""]);
        assert!(told(has, has).is_empty());
        let many = told(&"x\n".repeat(50), &"y\n".repeat(50));
        assert_eq!((many.len(), many[3].as_str()), (4, "a.md: 47 more lines differ"));
    }
}
