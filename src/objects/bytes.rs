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
    Xz,
    Bzip2,
}

/// xz -9 needs 64 MiB for its dictionary; a larger one is refused.
const XZ_MEMORY_KIB: u32 = 128 << 10;

/// By the magic number.
pub fn compression(bytes: &[u8]) -> Compression {
    match bytes {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
        [0x1f, 0x8b, ..] => Compression::Gzip,
        [0xfd, b'7', b'z', b'X', b'Z', 0x00, ..] => Compression::Xz,
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..] => Compression::Bzip2,
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

/// What undoes the compression of a whole file, recognised by its magic number; `None` where it is not compressed. xz
/// is decoded with bounded memory. The reader may give any amount of data: whoever reads takes a limit.
pub fn decoder<'a>(bytes: &'a [u8]) -> Option<Box<dyn Read + 'a>> {
    Some(match compression(bytes) {
        Compression::None => return None,
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(bytes).ok()?),
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(bytes)),
        Compression::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(bytes, true, XZ_MEMORY_KIB)),
    })
}

/// Decompresses at most `limit` bytes; the flag tells whether that was all.
pub fn inflate(bytes: &[u8], limit: u64) -> Option<(Vec<u8>, bool)> {
    let mut out = Vec::new();
    let read = decoder(bytes)?.take(limit.saturating_add(1)).read_to_end(&mut out);
    let complete = read.is_ok() && out.len() as u64 <= limit;
    out.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Some((out, complete))
}

#[cfg(test)]
mod tests {
    use super::super::testing::run;
    use super::*;

    #[test]
    fn whole_files_are_decompressed_to_a_limit_and_damage_ends() {
        let dir = tempfile::tempdir().unwrap();
        let text: Vec<u8> = (0..60_000_u32).flat_map(|n| format!("{}\n", n * n % 977).into_bytes()).collect();
        std::fs::write(dir.path().join("text"), &text).unwrap();
        for (tool, suffix, kind) in [
            ("xz", "xz", Compression::Xz),
            ("gzip", "gz", Compression::Gzip),
            ("zstd", "zst", Compression::Zstd),
            ("bzip2", "bz2", Compression::Bzip2),
        ] {
            if run(tool, &["-k", "text"], dir.path()).is_none() {
                eprintln!("skipped: no {tool}");
                continue;
            }
            let packed = std::fs::read(dir.path().join(format!("text.{suffix}"))).unwrap();
            assert_eq!(compression(&packed), kind);
            assert_eq!(inflate(&packed, 1 << 30), Some((text.clone(), true)));
            assert_eq!(inflate(&packed, 1000), Some((text[..1000].to_vec(), false)));
            let cut = inflate(&packed[..packed.len() / 2], 1 << 30).unwrap();
            assert!(!cut.1 && text.starts_with(&cut.0));
            for at in (0..packed.len()).step_by(packed.len() / 300 + 1) {
                let mut hit = packed.clone();
                hit[at] ^= 0x55;
                let _ = inflate(&hit, 1 << 22);
            }
        }
        assert_eq!(inflate(b"plain", 10), None);
    }
}
