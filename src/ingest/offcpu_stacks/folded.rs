//! Folded stacks: `outermost;...;innermost N`, one stack per line; `#` and `//` begin comments.

use super::frames::{self, Name};
use super::{Aggregate, Found, Unit};
use crate::ingest::text;

/// Names that begin a stack: where the first element is one of them, it is a function and not a command name.
const ROOTS: [&str; 12] = [
    "main",
    "_start",
    "__libc_start_main",
    "start_thread",
    "clone",
    "clone3",
    "__clone3",
    "__clone",
    "ret_from_fork",
    "[unknown]",
    "all",
    "start_kernel",
];

/// Three quarters of the lines that are no comments must be folded stacks, and one must have more than one frame.
pub fn is_folded(bytes: &[u8], is_cut: bool) -> bool {
    let (mut good, mut bad, mut deep) = (0u32, 0u32, false);
    let mut lines = text::lines(bytes).peekable();
    while let Some((_, line)) = lines.next() {
        if is_cut && lines.peek().is_none() {
            break;
        }
        match parse(&String::from_utf8_lossy(line)) {
            Parsed::Stack(stack, _) => {
                good += 1;
                deep |= stack.contains(';');
            }
            Parsed::Nothing => {}
            Parsed::Broken => bad += 1,
        }
    }
    deep && good >= bad.saturating_mul(3)
}

enum Parsed<'a> {
    Stack(&'a str, i64),
    Nothing,
    Broken,
}

fn parse(line: &str) -> Parsed<'_> {
    let line = line.trim_end();
    if line.is_empty() || line.starts_with('#') || line.starts_with("//") {
        return Parsed::Nothing;
    }
    match line.rsplit_once(' ') {
        Some((stack, value)) if !stack.trim().is_empty() && !stack.contains('\t') => match value.parse::<u64>() {
            // the sum is clamped and reported where it leaves the range
            Ok(value) => Parsed::Stack(stack.trim_end(), i64::try_from(value).unwrap_or(i64::MAX)),
            Err(_) => Parsed::Broken,
        },
        _ => Parsed::Broken,
    }
}

pub fn read(bytes: &[u8]) -> (Found, Unit) {
    let mut found = Found::default();
    for (line_no, line) in text::lines(bytes) {
        match parse(&String::from_utf8_lossy(line)) {
            Parsed::Stack(stack, value) => {
                let names = stack.split(';').rev().map(Name::new).collect();
                let frames = frames::fold_letters(names);
                found.aggregates.push(Aggregate { frames, value, line_no, ..Aggregate::default() });
            }
            Parsed::Nothing => {}
            Parsed::Broken => match found.losses.first_mut() {
                Some((_, count, _)) => *count += 1,
                None => found.losses.push(("folded_line", 1, line_no)),
            },
        }
    }
    let weight = |switched: bool| {
        let of = found.aggregates.iter().filter(|aggregate| !switched || frames::ends_in_scheduler(&aggregate.frames));
        of.fold(0i128, |sum, aggregate| sum + i128::from(aggregate.value))
    };
    // Samples of a program that sleeps end there too, and the others where it computes.
    if weight(true) == 0 || weight(true) * 20 < weight(false) * 19 {
        return (found, Unit::Unknown);
    }
    for aggregate in &mut found.aggregates {
        let is_comm = aggregate.frames.len() > 1
            && aggregate.frames.last().is_some_and(|root| !ROOTS.contains(&root.text()) && !root.text().starts_with("0x"));
        if is_comm {
            aggregate.comm = aggregate.frames.pop().map(|name| name.text().to_owned());
        }
        if let Some(at) = aggregate.frames.iter().position(|frame| frame.text() == "-" || frame.text() == "--") {
            // bcc -d: kernel frames are on the inner side of the delimiter
            aggregate.frames.iter_mut().take(at).for_each(|frame| frame.is_kernel = Some(true));
            aggregate.frames.remove(at);
        }
    }
    (found, Unit::Off(1_000))
}
