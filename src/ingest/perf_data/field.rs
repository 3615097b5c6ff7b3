//! One field of a tracepoint: where it lies in the raw data, and how it is read.
//!
//! ```text
//! field:pid_t prev_pid;           offset:24;  size:4;   signed:1;   a number
//! field:unsigned long args[6];    offset:16;  size:48;  signed:0;   an array
//! field:char comm[16];            offset:44;  size:16;  signed:0;   text, filled with zeros
//! field:__data_loc char[] name;   offset:12;  size:4;   signed:0;   length << 16 | offset in the raw data
//! field:__rel_loc char[] name;    offset:12;  size:4;   signed:0;   the same, counted from behind this field
//! ```

use std::borrow::Cow;

use super::bytes::{Bytes, Order, text_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fixed,
    /// `__data_loc`
    Placed,
    /// `__rel_loc`
    PlacedFromHere,
}

/// Where a field lies in the raw data. Nothing it says is believed: every read is bounded by the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
    is_signed: bool,
    /// Items of an array; 1 for a number, 0 where the format does not say it in digits.
    count: usize,
    kind: Kind,
}

/// The text behind `field:`; `None` where it is no field.
pub fn parse(text: &str) -> Option<(String, Field)> {
    let mut parts = text.split(';').map(str::trim);
    let declaration = parts.next()?;
    let mut field = Field { offset: 0, size: 0, is_signed: false, count: 1, kind: Kind::Fixed };
    let (mut has_offset, mut has_size) = (false, false);
    for part in parts {
        let Some((key, value)) = part.split_once(':') else { continue };
        let value = value.trim().parse::<usize>().ok();
        match key {
            "offset" => (field.offset, has_offset) = (value?, true),
            "size" => (field.size, has_size) = (value?, true),
            "signed" => field.is_signed = value == Some(1),
            _ => {}
        }
    }
    let (declaration, kind) = match (declaration.strip_prefix("__data_loc "), declaration.strip_prefix("__rel_loc ")) {
        (Some(rest), _) => (rest, Kind::Placed),
        (None, Some(rest)) => (rest, Kind::PlacedFromHere),
        (None, None) => (declaration, Kind::Fixed),
    };
    field.kind = kind;
    // `saddr[sizeof(struct sockaddr_in6)]`: the count may be an expression, with blanks.
    let named = match declaration.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((named, count)) => {
            field.count = count.trim().parse().unwrap_or(0);
            named
        }
        None => declaration,
    };
    let name = named.trim_end().rsplit(|c: char| c.is_whitespace() || c == '*' || c == ']').next()?;
    (has_offset && has_size && !name.is_empty()).then(|| (name.to_owned(), field))
}

impl Field {
    fn value(self, raw: &[u8], offset: usize, size: usize, order: Order) -> Option<i64> {
        let mut bytes = Bytes::at(raw, offset, order);
        Some(match (size, self.is_signed) {
            (8, _) => bytes.u64()? as i64,
            (4, true) => i64::from(bytes.i32()?),
            (4, false) => i64::from(bytes.u32()?),
            (2, true) => i64::from(bytes.u16()? as i16),
            (2, false) => i64::from(bytes.u16()?),
            (1, true) => i64::from(*bytes.take(1)?.first()? as i8),
            (1, false) => i64::from(*bytes.take(1)?.first()?),
            _ => return None,
        })
    }

    /// The number; of an unsigned one of 64 bits its bits.
    pub fn number(self, raw: &[u8], order: Order) -> Option<i64> {
        self.value(raw, self.offset, self.size, order)
    }

    /// The field as a thread id.
    pub fn tid(self, raw: &[u8], order: Order) -> Option<i32> {
        self.number(raw, order).map(|tid| tid as i32)
    }

    /// Items of an array.
    pub fn count(self) -> usize {
        self.count
    }

    /// One item of an array of numbers.
    pub fn item(self, raw: &[u8], at: usize, order: Order) -> Option<i64> {
        let size = self.size.checked_div(self.count).filter(|_| at < self.count)?;
        self.value(raw, self.offset.checked_add(at.checked_mul(size)?)?, size, order)
    }

    /// The bytes of an array, fixed or of any length.
    pub fn bytes(self, raw: &[u8], order: Order) -> Option<&[u8]> {
        if self.kind == Kind::Fixed {
            return raw.get(self.offset..self.offset.checked_add(self.size)?);
        }
        let place = Bytes::at(raw, self.offset, order).u32()?;
        let (start, len) = ((place & 0xffff) as usize, (place >> 16) as usize);
        let start = match self.kind {
            Kind::PlacedFromHere => start.checked_add(self.offset)?.checked_add(4)?,
            _ => start,
        };
        raw.get(start..start.checked_add(len)?)
    }

    /// The bytes up to the first NUL, as text.
    pub fn text(self, raw: &[u8], order: Order) -> Option<Cow<'_, str>> {
        self.bytes(raw, order).map(text_of)
    }

    /// Whether the raw data holds its place only.
    pub fn is_placed(self) -> bool {
        self.kind != Kind::Fixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> Field {
        parse(text).unwrap_or_else(|| panic!("{text}")).1
    }

    // Lines of /sys/kernel/tracing/events/*/*/format of Linux 6.18; the data are laid out by hand.
    #[test]
    fn names_are_found_in_every_declaration() {
        for (line, name) in [
            ("unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;", "common_type"),
            ("const char * buf;\toffset:24;\tsize:8;\tsigned:0;", "buf"),
            ("unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;", "args"),
            ("__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;", "cmd"),
            ("__u8 saddr[sizeof(struct sockaddr_in6)];\toffset:8;\tsize:28;\tsigned:0;", "saddr"),
            ("char *name;\toffset:8;\tsize:8;", "name"),
        ] {
            assert_eq!(parse(line).map(|(name, _)| name).as_deref(), Some(name), "{line}");
        }
        for line in ["", ";;;", "int x;", "int x; offset:y; size:4;", "int x; offset:99999999999999999999; size:4;"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn numbers_keep_their_sign() {
        let raw = [0xffu8; 8];
        let read = |line: &str| field(line).number(&raw, Order::Little);
        assert_eq!(read("int a; offset:0; size:4; signed:1;"), Some(-1));
        assert_eq!(read("int a; offset:0; size:4; signed:0;"), Some(0xffff_ffff));
        assert_eq!(read("short a; offset:2; size:2; signed:1;"), Some(-1));
        assert_eq!(read("char a; offset:7; size:1; signed:0;"), Some(255));
        assert_eq!(read("long a; offset:0; size:8; signed:0;"), Some(-1));
        assert_eq!(read("int a; offset:5; size:4; signed:0;"), None);
        assert_eq!(read("odd a; offset:0; size:3; signed:0;"), None);
    }

    #[test]
    fn arrays_and_texts_stay_inside_the_data() {
        let mut raw = [0u8; 32];
        raw[..8].copy_from_slice(&[16, 0, 5, 0, 7, 0, 0, 0]);
        raw[16..21].copy_from_slice(b"abcd\0");
        let placed = field("__data_loc char[] name; offset:0; size:4; signed:0;");
        assert_eq!(placed.text(&raw, Order::Little).as_deref(), Some("abcd"));
        raw[0] = 12;
        let relative = field("__rel_loc char[] name; offset:0; size:4; signed:0;");
        assert_eq!(relative.text(&raw, Order::Little).as_deref(), Some("abcd"));
        // Past the end: length 255 at 16, and an offset of 65535.
        for place in [[16, 0, 255, 0], [255, 255, 1, 0]] {
            raw[..4].copy_from_slice(&place);
            assert_eq!(placed.text(&raw, Order::Little), None);
            assert_eq!(relative.text(&raw, Order::Little), None);
        }
        let array = field("int a[2]; offset:4; size:8; signed:1;");
        assert_eq!((array.item(&raw, 0, Order::Little), array.item(&raw, 1, Order::Little)), (Some(7), Some(0)));
        assert_eq!(array.item(&raw, 2, Order::Little), None);
        assert_eq!(field("int a[N]; offset:4; size:8; signed:1;").item(&raw, 0, Order::Little), None);
        assert_eq!(field("int a[2]; offset:18446744073709551615; size:8;").item(&raw, 1, Order::Little), None);
    }
}
