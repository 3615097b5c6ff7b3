//! `START SIZE NAME` per line, both numbers in hex; the name goes to the end of the line. A later line describes newer
//! code.

use super::{Piece, Timeline, text};

pub fn read(bytes: &[u8], addresses: &[u64]) -> Timeline {
    let mut timeline = Timeline::new(addresses.len());
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some((start, end, name)) = parts(line) else { continue };
        if !timeline.load(addresses, start, end, 0, || Piece { name: text(name), start, lines: Vec::new() }) {
            break;
        }
    }
    timeline
}

fn parts(line: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (start, rest) = number(line)?;
    let (size, name) = number(rest)?;
    let name = name.trim_ascii();
    (!name.is_empty()).then_some((start, start.saturating_add(size), name))
}

/// A hexadecimal number (some writers put `0x` in front) and what follows the blank behind it.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let value = u64::from_str_radix(std::str::from_utf8(text.get(..digits)?).ok()?, 16).ok()?;
    let rest = text.get(digits..)?;
    rest.first().is_some_and(u8::is_ascii_whitespace).then_some((value, rest))
}
