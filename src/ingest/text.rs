//! What the readers of text share: lines, numbers, JSON keys, encodings.
//!
//! Numbers become integers without a detour over floating point, so that a printed `0.000123` is 123,000 ns exactly.

use std::borrow::Cow;

/// Lines with their number, from 1, without the line end (`\n` or `\r\n`).
pub struct Lines<'a> {
    rest: &'a [u8],
    line_no: i64,
}

/// The lines of a text. An end of file without a line end ends the last line.
pub fn lines(bytes: &[u8]) -> Lines<'_> {
    Lines { rest: bytes, line_no: 0 }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (i64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| *byte == b'\n').unwrap_or(self.rest.len());
        let line = self.rest.get(..end).unwrap_or_default();
        self.rest = self.rest.get(end.saturating_add(1)..).unwrap_or_default();
        self.line_no += 1;
        Some((self.line_no, line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

/// UTF-16 text as UTF-8 where a byte order mark says so; the mark itself is removed.
pub fn decode(bytes: &[u8]) -> Cow<'_, [u8]> {
    let wide = |unit: fn([u8; 2]) -> u16, body: &[u8]| {
        let units: Vec<u16> = body.chunks_exact(2).filter_map(|pair| Some(unit([*pair.first()?, *pair.get(1)?]))).collect();
        Cow::Owned(String::from_utf16_lossy(&units).into_bytes())
    };
    match bytes {
        [0xef, 0xbb, 0xbf, body @ ..] => Cow::Borrowed(body),
        [0xfe, 0xff, body @ ..] => wide(u16::from_be_bytes, body),
        [0xff, 0xfe, body @ ..] => wide(u16::from_le_bytes, body),
        _ => Cow::Borrowed(bytes),
    }
}

/// A plain decimal number times 10^`scale`, cut (not rounded) there: `decimal("0.000123", 9)` is 123,000. Accepts a sign
/// and `.` or `,` as the decimal mark; nothing else. `None` where it is no number or leaves the range of `i64`.
pub fn decimal(text: &str, scale: u32) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once(['.', ',']).unwrap_or((digits, ""));
    let numeric = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || whole.is_empty() && fraction.is_empty() || !numeric(whole) || !numeric(fraction) {
        return None;
    }
    let mut value: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut fraction = fraction.bytes();
    for _ in 0..scale {
        let digit = fraction.next().map_or(0, |byte| i64::from(byte - b'0'));
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(if negative { -value } else { value })
}

/// Seconds as nanoseconds.
pub fn seconds(text: &str) -> Option<i64> {
    decimal(text, 9)
}

/// A number of seconds that came as a JSON number, as nanoseconds, rounded.
pub fn ns_from_f64(seconds: f64) -> Option<i64> {
    let ns = (seconds * 1e9).round();
    (ns.is_finite() && (0.0..9.2e18).contains(&ns)).then_some(ns as i64)
}

/// Unsigned hexadecimal with or without `0x`, reinterpreted as `i64` (addresses in the upper half become negative).
pub fn hex(text: &str) -> Option<i64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .then(|| u64::from_str_radix(digits, 16).ok())
        .flatten()
        .map(|value| value as i64)
}

/// `L=n`, the place of a line.
pub fn place(line_no: i64) -> String {
    format!("L={line_no}")
}

/// The keys of the outermost JSON object, as far as the (possibly cut) text shows them. Empty where it is no object.
pub fn top_level_keys(head: &[u8]) -> Vec<String> {
    let mut keys = Vec::new();
    let mut depth = 0i64;
    let mut string: Option<Vec<u8>> = None;
    let mut escaped = false;
    let mut last: Option<Vec<u8>> = None;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    for (n, byte) in head.iter().copied().skip_while(u8::is_ascii_whitespace).enumerate() {
        if n == 0 && byte != b'{' {
            return keys;
        }
        if let Some(text) = &mut string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => last = string.take(),
                _ if text.len() < 64 => text.push(byte),
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => string = Some(Vec::new()),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b':' if depth == 1 => keys.extend(last.take().map(|key| String::from_utf8_lossy(&key).into_owned())),
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_number_and_drop_the_line_end() {
        let found: Vec<_> = lines(b"a\r\n\nb").collect();
        assert_eq!(found, [(1, &b"a"[..]), (2, b""), (3, b"b")]);
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal("0.000123", 9), Some(123_000));
        assert_eq!(decimal("0,003708", 9), Some(3_708_000));
        assert_eq!(decimal("1795971503.422216", 9), Some(1_795_971_503_422_216_000));
        assert_eq!(decimal("130.000000", 0), Some(130));
        assert_eq!(decimal("-1.5", 1), Some(-15));
        for wrong in ["", "-", ".", "1.2.3", "1e5", "99999999999999999999", "12a", "0x1"] {
            assert_eq!(decimal(wrong, 3), None, "{wrong}");
        }
    }

    #[test]
    fn keys_of_a_cut_object() {
        assert_eq!(top_level_keys(br#" {"a": {"x": 1}, "b\"": [{"y":2}], "c": "tex"#), ["a", "b\"", "c"].map(|k| k.replace('"', "")));
        assert!(top_level_keys(b"[{\"a\":1}]").is_empty());
    }

    #[test]
    fn utf16_with_a_mark_becomes_utf8() {
        assert_eq!(decode(&[0xfe, 0xff, 0, b'a', 0, b';']).as_ref(), b"a;");
        assert_eq!(decode(&[0xff, 0xfe, b'a', 0]).as_ref(), b"a");
        assert_eq!(decode(b"plain").as_ref(), b"plain");
    }
}
