//! Numbers in the byte order of the recorded machine.

/// Bytes, and the order that the file's magic tells.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    pub bytes: &'a [u8],
    pub big: bool,
}

impl<'a> Words<'a> {
    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    pub fn u64(self, at: usize) -> Option<u64> {
        let bytes = self.array::<8>(at)?;
        Some(if self.big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    pub fn u32(self, at: usize) -> Option<u32> {
        let bytes = self.array::<4>(at)?;
        Some(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    pub fn u16(self, at: usize) -> Option<u16> {
        let bytes = self.array::<2>(at)?;
        Some(if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    /// The part from `at` on, as long as `len` says and the bytes reach.
    pub fn part(self, at: u64, len: u64) -> Words<'a> {
        let from = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..)).unwrap_or(&[]);
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(from.len());
        Words { bytes: from.get(..len).unwrap_or(from), big: self.big }
    }

    /// The words from `at` to the end.
    pub fn all_u64(self, at: usize) -> impl Iterator<Item = u64> + use<'a> {
        (at..).step_by(8).map_while(move |at| self.u64(at))
    }
}
