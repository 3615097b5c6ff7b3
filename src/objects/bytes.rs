//! The content of a file: mapped, or in memory where it was compressed.

use std::fs::File;
use std::io::Read;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

/// Shared, read-only bytes. Cloning costs a reference count.
#[derive(Clone)]
pub struct Bytes(Arc<Backing>);

enum Backing {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.0 {
            Backing::Mapped(map) => map,
            Backing::Owned(bytes) => bytes,
        }
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes(Arc::new(Backing::Owned(bytes)))
    }
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes::from(Vec::new())
    }
}

/// A part of shared bytes.
#[derive(Debug, Clone, Default)]
pub struct Slice {
    bytes: Bytes,
    range: Range<usize>,
}

impl Slice {
    pub fn new(bytes: &Bytes, range: Range<usize>) -> Option<Slice> {
        bytes.get(range.clone()).map(|_| Slice { bytes: bytes.clone(), range })
    }
}

impl Deref for Slice {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or(&[])
    }
}

/// How a whole file may be compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    None,
    Zstd,
    Gzip,
}

/// By the magic number.
pub fn compression(bytes: &[u8]) -> Compression {
    match bytes {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
        [0x1f, 0x8b, ..] => Compression::Gzip,
        _ => Compression::None,
    }
}

/// Maps a regular file; `None` for what is empty, special or unreadable.
pub fn map(path: &Path) -> Option<Bytes> {
    // Opening a FIFO or a device would block or do worse.
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() == 0 {
        return None;
    }
    let file = File::open(path).ok()?;
    // SAFETY: the map is private and read-only. A file that shrinks while it is mapped raises SIGBUS, as in every tool
    // that maps its inputs.
    let map = unsafe { Mmap::map(&file).ok()? };
    Some(Bytes(Arc::new(Backing::Mapped(map))))
}

/// Decompresses at most `limit` bytes; the flag tells whether that was all.
pub fn inflate(bytes: &[u8], limit: u64) -> Option<(Vec<u8>, bool)> {
    let mut out = Vec::new();
    let read = match compression(bytes) {
        Compression::None => return None,
        Compression::Zstd => zstd::stream::read::Decoder::with_buffer(bytes).ok()?.take(limit.saturating_add(1)).read_to_end(&mut out),
        Compression::Gzip => flate2::read::MultiGzDecoder::new(bytes).take(limit.saturating_add(1)).read_to_end(&mut out),
    };
    let complete = read.is_ok() && out.len() as u64 <= limit;
    out.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Some((out, complete))
}
