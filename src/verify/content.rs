//! What an artifact holds, decompressed; its lines by number.

use std::cell::OnceCell;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use memmap2::Mmap;

use crate::objects::decoder;

/// A file. What lies in memory is bounded: a made-up file must not fill it.
pub struct Content {
    map: Option<Mmap>,
    inflated: Option<Vec<u8>>,
    /// Where each line begins.
    starts: OnceCell<Vec<usize>>,
}

/// As the analysis does: 200 times the size and some more, 8 GiB at most. What is cut there is cut for both.
fn limit(stored: usize) -> u64 {
    (stored as u64).saturating_mul(200).saturating_add(256 << 20).min(8 << 30)
}

impl Content {
    pub fn open(path: &Path) -> std::io::Result<Content> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Content { map: None, inflated: None, starts: OnceCell::new() });
        }
        // SAFETY: the map is private and read-only. A file that shrinks meanwhile ends the process (SIGBUS), as with every
        // tool that maps its inputs.
        let map = unsafe { Mmap::map(&file)? };
        let mut inflated = None;
        if let Some(reader) = decoder(&map) {
            let mut bytes = Vec::new();
            // What came before an error is what the analysis saw, too.
            let _ = reader.take(limit(map.len())).read_to_end(&mut bytes);
            inflated = Some(bytes);
        }
        Ok(Content { map: Some(map), inflated, starts: OnceCell::new() })
    }

    #[cfg(test)]
    pub fn of(bytes: &[u8]) -> Content {
        Content { map: None, inflated: Some(bytes.to_vec()), starts: OnceCell::new() }
    }

    pub fn bytes(&self) -> &[u8] {
        match (&self.inflated, &self.map) {
            (Some(inflated), _) => inflated,
            (None, Some(map)) => map,
            (None, None) => &[],
        }
    }

    /// A line by its number, from 1.
    pub fn line(&self, number: usize) -> Option<String> {
        let bytes = self.bytes();
        let starts = self.starts.get_or_init(|| {
            let after = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(after).collect()
        });
        let start = *starts.get(number.checked_sub(1)?)?;
        let end = starts.get(number).map_or(bytes.len(), |next| next - 1);
        let line = bytes.get(start..end).filter(|_| start < bytes.len())?;
        Some(String::from_utf8_lossy(line).into_owned())
    }
}

/// The lines of a text with their numbers, from 1, in any encoding that is mostly ASCII.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, std::borrow::Cow<'_, str>)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.split(|byte| *byte == b'\n').enumerate().map(|(at, line)| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (at + 1, String::from_utf8_lossy(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_by_number() {
        let content = Content::of(b"a\nb\n\nd");
        let found: Vec<Option<String>> = (0..6).map(|number| content.line(number)).collect();
        let text = |line: &str| Some(line.to_owned());
        assert_eq!(found, [None, text("a"), text("b"), text(""), text("d"), None]);
        assert_eq!(Content::of(b"").line(1), None);
    }
}
