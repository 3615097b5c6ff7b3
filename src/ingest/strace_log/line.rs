//! One line of an strace log, taken apart from the outside in.
//!
//! ```text
//! line   = [pid] [stamp] body
//! pid    = "[pid" N "]" | N                        -f on a terminal, -f -o FILE
//! stamp  = SECONDS "." MICROS | hh:mm:ss[.MICROS]  -ttt or -r; -t or -tt
//! body   = name "(" arguments ")" "=" result [error] ["<" SECONDS ">"]       -T
//!        | name "(" arguments "<unfinished ...>"
//!        | "<... " name " resumed>" arguments ")" "=" result ...
//!        | "+++ exited with" N "+++" | "+++ killed by ..." | "--- SIGNAL {...} ---"
//! ```
//!
//! Arguments may hold anything, `)` and ` = ` included, so the result is looked for from the right.

use crate::ingest::text;

/// When a line was written, as far as the line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// Nanoseconds since the epoch (`-ttt`).
    Epoch(i64),
    /// Nanoseconds since the line before (`-r`).
    Step(i64),
    /// Nanoseconds since midnight (`-t`, `-tt`).
    Day(i64),
}

/// What a call gave back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome<'a> {
    pub result: Option<i64>,
    pub error: Option<&'a str>,
    pub dur_ns: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body<'a> {
    Call {
        name: &'a str,
        arguments: &'a str,
        outcome: Outcome<'a>,
    },
    /// Begun here, goes on elsewhere. `is_marked`: the line says so; else other output cut it off.
    Begin {
        name: &'a str,
        arguments: &'a str,
        is_marked: bool,
    },
    Resumed {
        name: &'a str,
        arguments: &'a str,
        outcome: Outcome<'a>,
    },
    Exited(Option<i32>),
    Signal,
    /// The end of a call that other output cut off.
    Rest {
        arguments: &'a str,
        outcome: Outcome<'a>,
    },
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    pub tid: Option<i32>,
    pub stamp: Option<Stamp>,
    pub body: Body<'a>,
    /// Threads and processes that strace reports in the middle of the line.
    pub attached: Option<i32>,
}

pub fn parse(line: &str) -> Line<'_> {
    let (line, attached) = without_notice(line);
    let (tid, rest) = pid(line);
    let (stamp, rest) = stamp(rest);
    Line { tid, stamp, body: body(rest), attached }
}

/// Cuts off `strace: Process N attached` where it interrupts a line.
fn without_notice(line: &str) -> (&str, Option<i32>) {
    let notice = line.strip_suffix(" attached").and_then(|rest| rest.rsplit_once("strace: Process "));
    match notice.and_then(|(before, tid)| Some((before, tid.parse().ok()?))) {
        Some((before, tid)) => (before, Some(tid)),
        None => (line, None),
    }
}

fn pid(line: &str) -> (Option<i32>, &str) {
    let bracketed = line.strip_prefix("[pid").and_then(|rest| rest.split_once(']'));
    if let Some((number, rest)) = bracketed.and_then(|(number, rest)| Some((number.trim().parse().ok()?, rest))) {
        return (Some(number), rest.trim_start());
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(digits).unwrap_or(("", line));
    match number.parse() {
        Ok(number) if rest.starts_with(' ') => (Some(number), rest.trim_start()),
        _ => (None, line),
    }
}

fn stamp(line: &str) -> (Option<Stamp>, &str) {
    let (word, rest) = line.trim_start().split_once(' ').unwrap_or((line, ""));
    let found = if word.contains(':') { day(word).map(Stamp::Day) } else { fractional(word) };
    match found {
        // `-r` together with `-t`: `(+     0.000524)` follows
        Some(stamp) => {
            (Some(stamp), rest.strip_prefix("(+").and_then(|rest| rest.split_once(") ")).map_or(rest, |(_, rest)| rest).trim_start())
        }
        None => (None, line),
    }
}

fn fractional(word: &str) -> Option<Stamp> {
    let (whole, _) = word.split_once('.')?;
    let ns = text::seconds(word).filter(|ns| *ns >= 0)?;
    // steps between lines have up to eight digits, seconds since the epoch nine or more
    Some(if whole.len() >= 9 { Stamp::Epoch(ns) } else { Stamp::Step(ns) })
}

fn day(word: &str) -> Option<i64> {
    let mut parts = word.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let minutes = hours.parse::<u32>().ok()?.checked_mul(60)?.checked_add(minutes.parse().ok()?)?;
    i64::from(minutes).checked_mul(60_000_000_000)?.checked_add(text::seconds(seconds)?)
}

fn body(rest: &str) -> Body<'_> {
    if let Some(resumed) = rest.strip_prefix("<... ") {
        if let Some((name, after)) = resumed.split_once(" resumed>") {
            return match outcome(after) {
                Some((arguments, outcome)) => Body::Resumed { name, arguments, outcome },
                None => Body::Other,
            };
        }
        return Body::Other;
    }
    if let Some(end) = rest.strip_prefix("+++ ") {
        let code = end.strip_prefix("exited with ").and_then(|rest| rest.split(' ').next()?.parse().ok());
        return Body::Exited(code);
    }
    if rest.starts_with("--- ") {
        return Body::Signal;
    }
    let name = rest.split('(').next().unwrap_or_default();
    let is_name =
        !name.is_empty() && name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'?');
    if is_name && name.len() < rest.len() {
        let after = rest.get(name.len() + 1..).unwrap_or_default();
        if let Some((arguments, outcome)) = outcome(after) {
            return Body::Call { name, arguments, outcome };
        }
        let unfinished = after.trim_end().strip_suffix("<unfinished ...>").or_else(|| after.trim_end().strip_suffix("<detached ...>"));
        return Body::Begin { name, arguments: unfinished.unwrap_or(after).trim_end(), is_marked: unfinished.is_some() };
    }
    match outcome(rest) {
        Some((arguments, outcome)) => Body::Rest { arguments, outcome },
        None => Body::Other,
    }
}

/// Splits `arguments) = result ...`, from the right.
fn outcome(text: &str) -> Option<(&str, Outcome<'_>)> {
    let trimmed = text.trim_end();
    let timed = trimmed.strip_suffix('>').and_then(|rest| rest.rsplit_once(" <"));
    let (rest, dur_ns) = match timed.and_then(|(rest, seconds)| Some((rest, text::seconds(seconds)?))) {
        Some((rest, ns)) => (rest, Some(ns)),
        None => (trimmed, None),
    };
    rest.rmatch_indices(" = ").find_map(|(at, _)| {
        let before = rest.get(..at)?.trim_end();
        let arguments = before.strip_suffix(')')?;
        let after = rest.get(at + 3..)?;
        let (result, error) = result(after)?;
        Some((arguments, Outcome { result, error, dur_ns }))
    })
}

/// Outer `None`: no result at all; inner: a result without a value (`?`).
/// `-1 ENOENT (No such file or directory)`, `0x7f..`, `4</etc/passwd>`, `?`, `1 ([{fd=5, revents=POLLIN}])`.
fn value(word: &str) -> Option<Option<i64>> {
    match word {
        "?" => Some(None),
        _ if word.starts_with("0x") => text::hex(word).map(Some),
        _ => word.parse().ok().map(Some),
    }
}

fn result(after: &str) -> Option<(Option<i64>, Option<&str>)> {
    let end = after.find([' ', '<']).unwrap_or(after.len());
    let (word, rest) = after.split_at_checked(end)?;
    let value = value(word)?;
    let error = rest.strip_prefix(' ').and_then(|rest| rest.split(' ').next());
    let is_errno = |word: &&str| {
        word.len() > 1 && word.starts_with('E') && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    Some((value, error.filter(is_errno)))
}
