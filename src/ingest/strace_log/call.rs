//! What the arguments of a call say: descriptor, length, address, path, operation.

use crate::ingest::{call_shapes, text};

/// The arguments of a call that have a column.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fields {
    pub fd: Option<i64>,
    pub fd_kind: Option<&'static str>,
    pub length: Option<i64>,
    pub address: Option<i64>,
    pub path: Option<String>,
    pub operation: Option<String>,
}

pub fn fields(name: &str, arguments: &str) -> Fields {
    let Some(shape) = call_shapes::shape(name) else { return Fields::default() };
    let list = split(arguments);
    let get = |n: Option<usize>| n.and_then(|n| list.get(n)).copied();
    let mut found = Fields {
        length: get(shape.length).and_then(number),
        address: get(shape.address).and_then(number),
        path: get(shape.path).and_then(quoted).map(|(path, _)| path),
        operation: get(shape.operation).map(str::to_owned),
        ..Fields::default()
    };
    if let Some((fd, target)) = get(shape.fd).and_then(descriptor) {
        found.fd = Some(fd);
        found.fd_kind = target.and_then(kind);
        if found.path.is_none() {
            found.path = target.map(|target| target.split_once("<").map_or(target, |(path, _)| path).to_owned());
        }
    }
    if name.ends_with('v') || name.ends_with("v2") {
        found.length = vector_length(arguments);
    }
    found
}

/// Arguments between commas that stand outside of quotes, brackets and `-y` paths.
pub fn split(arguments: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let (mut depth, mut start, mut in_string, mut in_path, mut escaped) = (0i32, 0usize, false, false, false);
    let bytes = arguments.as_bytes();
    for (at, byte) in bytes.iter().copied().enumerate() {
        let next = bytes.get(at + 1).copied();
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' if !in_path => in_string = !in_string,
            _ if in_string => {}
            b'>' if in_path && matches!(next, None | Some(b',' | b')' | b' ' | b']')) => in_path = false,
            _ if in_path => {}
            b'<' if at > 0 && bytes.get(at - 1).is_some_and(|before| before.is_ascii_alphanumeric()) => in_path = true,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth <= 0 => {
                list.extend(arguments.get(start..at).map(str::trim));
                start = at + 1;
            }
            _ => {}
        }
    }
    list.extend(arguments.get(start..).map(str::trim).filter(|last| !last.is_empty()));
    list
}

/// `4096`, `0x7f..`; `NULL` is 0.
fn number(argument: &str) -> Option<i64> {
    match argument {
        "NULL" => Some(0),
        _ if argument.starts_with("0x") => text::hex(argument),
        _ => argument.parse().ok(),
    }
}

/// `4` or `4</path>`; not `AT_FDCWD` and not -1.
pub fn descriptor(argument: &str) -> Option<(i64, Option<&str>)> {
    let (number, target) = match argument.split_once('<') {
        Some((number, target)) => (number, target.strip_suffix('>')),
        None => (argument, None),
    };
    let fd = number.parse().ok().filter(|fd| *fd >= 0)?;
    Some((fd, target))
}

/// What a descriptor is, by what `-y` or `-yy` says.
pub fn kind(target: &str) -> Option<&'static str> {
    let protocols = [
        "socket:",
        "TCP:",
        "TCPv6:",
        "UDP:",
        "UDPv6:",
        "UNIX:",
        "UNIX-STREAM:",
        "UNIX-DGRAM:",
        "UNIX-SEQPACKET:",
        "NETLINK:",
        "RAW:",
        "RAWv6:",
        "PACKET:",
    ];
    match target {
        _ if target.starts_with("pipe:") => Some("pipe"),
        _ if protocols.iter().any(|protocol| target.starts_with(protocol)) => Some("socket"),
        _ if target.starts_with("anon_inode:") => target.contains("eventfd").then_some("eventfd"),
        _ => by_path(target),
    }
}

/// What opening a path gives.
pub fn by_path(path: &str) -> Option<&'static str> {
    match path {
        _ if path.starts_with("/dev/tty") || path.starts_with("/dev/pts/") || path.starts_with("/dev/console") => Some("tty"),
        _ if path.starts_with("/dev/shm/") => Some("file"),
        _ if path.starts_with("/dev/") || path.contains("<char ") || path.contains("<block ") => Some("device"),
        _ if path.is_empty() => None,
        _ => Some("file"),
    }
}

/// A C string with strace's escapes undone, and whether strace cut it (`"abc"...`).
pub fn quoted(argument: &str) -> Option<(String, bool)> {
    let mut bytes = Vec::new();
    let mut rest = argument.strip_prefix('"')?.as_bytes();
    loop {
        let (first, after) = rest.split_first()?;
        rest = after;
        match first {
            b'"' => break,
            b'\\' => rest = escape(rest, &mut bytes)?,
            byte => bytes.push(*byte),
        }
    }
    Some((String::from_utf8_lossy(&bytes).into_owned(), rest.starts_with(b"...")))
}

/// Undoes one escape behind its backslash; gives what follows.
fn escape<'a>(rest: &'a [u8], bytes: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (first, after) = rest.split_first()?;
    let byte = match first {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'x' => {
            let (digits, after) = after.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            return Some(after);
        }
        b'0'..=b'7' => {
            let digits = rest.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let (digits, after) = rest.split_at_checked(digits)?;
            bytes.push(digits.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0')) as u8);
            return Some(after);
        }
        other => *other,
    };
    bytes.push(byte);
    Some(after)
}

/// The bytes that a vector call asks for: the sum over its `iov_len=`.
fn vector_length(arguments: &str) -> Option<i64> {
    let lengths = arguments
        .split("iov_len=")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse::<i64>().ok()));
    lengths.reduce(|a, b| a?.checked_add(b?)).flatten()
}
