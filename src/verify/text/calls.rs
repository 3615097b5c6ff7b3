//! strace's log: name, duration and length of every call.
//!
//! A call that is cut by another thread's line (`<unfinished ...>`) ends with that thread's `<... name resumed>`.

use std::collections::HashMap;

use crate::verify::content::lines;
use crate::verify::number::Decimal;

/// One call.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    pub dur_ns: Option<i64>,
    /// Bytes it asks for, where it says so in one argument or in `iov_len=`.
    pub length: Option<i64>,
}

/// The argument that holds the number of bytes (man pages of section 2).
const LENGTH_AT: [(&str, usize); 17] = [
    ("read", 2),
    ("write", 2),
    ("pread64", 2),
    ("pwrite64", 2),
    ("sendto", 2),
    ("recvfrom", 2),
    ("getdents64", 2),
    ("sendfile", 3),
    ("sendfile64", 3),
    ("copy_file_range", 4),
    ("splice", 4),
    ("mmap", 1),
    ("mmap2", 1),
    ("munmap", 1),
    ("madvise", 1),
    ("mprotect", 1),
    ("mremap", 2),
];

/// The process id in front of a line, `[pid 12] ` or `12 `, and the rest.
fn pid(line: &str) -> (Option<&str>, &str) {
    if let Some((pid, rest)) = line.strip_prefix("[pid").and_then(|rest| rest.split_once(']')) {
        return (Some(pid.trim()), rest.trim_start());
    }
    match line.split_once(' ') {
        Some((pid, rest)) if !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit()) => (Some(pid), rest.trim_start()),
        _ => (None, line),
    }
}

/// The line without its time stamp.
fn unstamped(line: &str) -> &str {
    let is_stamp = |word: &str| word.contains(['.', ':']) && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b':');
    match line.split_once(' ') {
        Some((stamp, rest)) if is_stamp(stamp) => rest.trim_start(),
        _ => line,
    }
}

/// The calls of a log, those that never returned among them.
pub fn calls(bytes: &[u8]) -> Vec<Call> {
    let mut open: HashMap<String, String> = HashMap::new();
    let mut found = Vec::new();
    for (_, line) in lines(bytes) {
        if line.starts_with(" > ") || line.contains("strace: ") {
            continue;
        }
        let (pid, rest) = pid(&line);
        let (key, rest) = (pid.unwrap_or("").to_owned(), unstamped(rest).trim_end());
        if let Some(resumed) = rest.strip_prefix("<... ") {
            let Some((name, tail)) = resumed.split_once(" resumed>") else { continue };
            let begun = open.remove(&key).unwrap_or_else(|| format!("{name}("));
            found.extend(call(&format!("{begun}{tail}")));
        } else if let Some(begun) = rest.strip_suffix("<unfinished ...>") {
            if let Some(lost) = open.insert(key, begun.trim_end().to_owned()) {
                found.extend(call(&lost));
            }
        } else if rest.contains(" = ") {
            found.extend(call(rest));
        }
    }
    found.extend(open.into_values().filter_map(|begun| call(&begun)));
    found
}

fn call(text: &str) -> Option<Call> {
    let (name, arguments) = text.split_once('(')?;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    let took = text.strip_suffix('>').and_then(|rest| rest.rsplit_once(" <")).and_then(|(_, seconds)| Decimal::parse(seconds)?.seconds());
    let length = if name.ends_with('v') || name.ends_with("v2") { vector(arguments) } else { length(name, arguments) };
    Some(Call { name: name.to_owned(), dur_ns: took, length })
}

fn vector(arguments: &str) -> Option<i64> {
    let mut sum: Option<i64> = None;
    for rest in arguments.split("iov_len=").skip(1) {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        sum = Some(sum.unwrap_or(0).checked_add(digits.parse().ok()?)?);
    }
    sum
}

fn length(name: &str, arguments: &str) -> Option<i64> {
    let (_, at) = LENGTH_AT.iter().find(|(known, _)| *known == name)?;
    let plain = without_quotes(arguments);
    let mut depth = 0_i32;
    let fields = plain.split(|c: char| {
        depth += match c {
            '[' | '{' | '(' => 1,
            ']' | '}' => -1,
            _ => 0,
        };
        c == ',' && depth == 0 || c == ')'
    });
    fields.map(str::trim).nth(*at)?.parse().ok()
}

/// Quoted texts and the paths of `-y` may hold commas and brackets.
fn without_quotes(arguments: &str) -> String {
    let mut out = String::new();
    let (mut quoted, mut escaped, mut path) = (false, false, false);
    for c in arguments.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if !path => quoted = !quoted,
            _ if quoted => {}
            '<' if out.ends_with(|c: char| c.is_ascii_digit()) => path = true,
            '>' if path => path = false,
            _ if path => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as strace(1) shows them, with -f -ttt -T.
    const LOG: &str = "\
7 1795971503.422216 write(1, \"a, \\\"(\", 5) = 5 <0.000123>
7 1795971503.5 fsync(3 <unfinished ...>
8 1795971503.6 pwrite64(4</a,b>, \"x\"..., 4096, 0) = 4096 <0.5>
 > /lib/libc.so.6(write+0x14) [0x1]
7 1795971503.7 <... fsync resumed>) = 0 <0.25>
8 1795971503.8 writev(1, [{iov_base=\"a\", iov_len=1}, {iov_base=\"b\", iov_len=2}], 2) = 3 <0.000001>
8 1795971503.9 futex(0x1, FUTEX_WAIT, 2, NULL <unfinished ...>
8 1795971504.0 +++ exited with 0 +++
";

    #[test]
    fn calls_with_their_times_and_lengths() {
        let call = |name: &str, dur_ns, length| Call { name: name.into(), dur_ns, length };
        let expected = [
            call("write", Some(123_000), Some(5)),
            call("pwrite64", Some(500_000_000), Some(4096)),
            call("fsync", Some(250_000_000), None),
            call("writev", Some(1_000), Some(3)),
            call("futex", None, None),
        ];
        assert_eq!(calls(LOG.as_bytes()), expected);
    }
}
