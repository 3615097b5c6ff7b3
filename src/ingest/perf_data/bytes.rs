//! Checked reads from file contents in either byte order: `None` past the end, never a panic.

use std::borrow::Cow;

/// Byte order of the recording machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

impl Order {
    pub fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        }
    }

    pub fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    pub fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Order::Little => u64::from_le_bytes(bytes),
            Order::Big => u64::from_be_bytes(bytes),
        }
    }
}

/// What is left of a run of bytes.
#[derive(Debug, Clone, Copy)]
pub struct Bytes<'a> {
    rest: &'a [u8],
    order: Order,
}

impl<'a> Bytes<'a> {
    pub fn new(rest: &'a [u8], order: Order) -> Bytes<'a> {
        Bytes { rest, order }
    }

    /// From an offset on; empty past the end.
    pub fn at(bytes: &'a [u8], offset: usize, order: Order) -> Bytes<'a> {
        Bytes { rest: bytes.get(offset..).unwrap_or(&[]), order }
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(|bytes| self.order.u16(bytes))
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(|bytes| self.order.u32(bytes))
    }

    pub fn i32(&mut self) -> Option<i32> {
        self.u32().map(|value| value as i32)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(|bytes| self.order.u64(bytes))
    }

    /// The next `len` bytes, `len` as the file gives it.
    pub fn take(&mut self, len: u64) -> Option<&'a [u8]> {
        let len = usize::try_from(len).ok()?;
        let head = self.rest.get(..len)?;
        self.rest = self.rest.get(len..)?;
        Some(head)
    }

    pub fn skip(&mut self, len: u64) -> Option<()> {
        self.take(len).map(|_| ())
    }

    /// `count` items of `size` bytes, both as the file gives them.
    pub fn items(&mut self, count: u64, size: u64) -> Option<&'a [u8]> {
        self.take(count.checked_mul(size)?)
    }

    /// Up to the next NUL, which is skipped; or all that is left.
    pub fn c_string(&mut self) -> Cow<'a, str> {
        let end = self.rest.iter().position(|byte| *byte == 0);
        let text = end.and_then(|end| self.rest.get(..end)).unwrap_or(self.rest);
        self.rest = end.and_then(|end| self.rest.get(end + 1..)).unwrap_or(&[]);
        String::from_utf8_lossy(text)
    }
}

/// Text up to the first NUL.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    Bytes::new(bytes, Order::Little).c_string()
}

/// The 64-bit words of a slice whose length is a multiple of eight.
pub fn words(bytes: &[u8], order: Order) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + '_ {
    let (chunks, _) = bytes.as_chunks::<8>();
    chunks.iter().map(move |chunk| order.u64(*chunk))
}
