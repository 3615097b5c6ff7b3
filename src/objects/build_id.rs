//! Build-ids: read from ELF notes, written one way.

/// The form in which build-ids are compared: lower-case hex without trailing zero bytes. perf pads ids shorter than 20
/// bytes with zeros, and an id of zeros only means "not known".
pub fn normalize(hex: &str) -> Option<String> {
    let hex = hex.trim();
    if hex.is_empty() || hex.len() % 2 == 1 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut id = hex.to_ascii_lowercase();
    while id.ends_with("00") {
        id.truncate(id.len() - 2);
    }
    (!id.is_empty()).then_some(id)
}

/// Hex of raw bytes, normalized.
pub fn from_bytes(bytes: &[u8]) -> Option<String> {
    // An SHA-1 is the longest that any linker writes.
    if bytes.is_empty() || bytes.len() > 20 {
        return None;
    }
    normalize(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// The GNU build-id among the notes of a section or segment. `align` is what the header states; linkers that merge
/// note sections leave 4-byte notes under an alignment of 8, so both are tried.
pub fn from_notes(data: &[u8], align: u64, little_endian: bool) -> Option<String> {
    let (first, second) = if align >= 8 { (8, 4) } else { (4, 8) };
    walk(data, first, little_endian).or_else(|| walk(data, second, little_endian))
}

fn walk(data: &[u8], align: usize, little_endian: bool) -> Option<String> {
    const NT_GNU_BUILD_ID: usize = 3;
    let mut rest = data;
    loop {
        let word = |at: usize| -> Option<usize> {
            let bytes: [u8; 4] = rest.get(at..at.checked_add(4)?)?.try_into().ok()?;
            let value = if little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
            usize::try_from(value).ok()
        };
        let (name_len, desc_len, kind) = (word(0)?, word(4)?, word(8)?);
        let name = rest.get(12..12_usize.checked_add(name_len)?)?;
        let desc_at = 12_usize.checked_add(name_len)?.checked_next_multiple_of(align)?;
        let desc_end = desc_at.checked_add(desc_len)?;
        let desc = rest.get(desc_at..desc_end)?;
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" {
            return from_bytes(desc);
        }
        rest = rest.get(desc_end.checked_next_multiple_of(align)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_and_upper_case_ids_compare_equal() {
        // The id of A058, as a linker writes it and as perf pads it to 20 bytes.
        assert_eq!(normalize("E92F46D2108B8DF2000000000000000000000000"), normalize("e92f46d2108b8df2"));
        assert_eq!(normalize("0000000000000000000000000000000000000000"), None);
        assert_eq!(normalize("e92"), None);
        assert_eq!(normalize("zz"), None);
    }

    /// One note: lengths, type, name and descriptor, both padded to `align`.
    fn note(kind: u32, name: &[u8], desc: &[u8], align: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for word in [name.len() as u32, desc.len() as u32, kind] {
            out.extend(word.to_le_bytes());
        }
        for part in [name, desc] {
            out.extend(part);
            out.resize(out.len().next_multiple_of(align), 0);
        }
        out
    }

    #[test]
    fn the_build_id_is_found_behind_other_notes() {
        let id = [0xe9, 0x2f, 0x46, 0xd2, 0x10, 0x8b, 0x8d, 0xf2];
        // ABI tag (type 1), another owner's note of type 3, then the build-id.
        let mut data = note(1, b"GNU\0", &[0; 16], 4);
        data.extend(note(3, b"Go\0\0", &[1; 7], 4));
        data.extend(note(3, b"GNU\0", &id, 4));
        assert_eq!(from_notes(&data, 4, true).as_deref(), Some("e92f46d2108b8df2"));
        assert_eq!(from_notes(&data, 8, true).as_deref(), Some("e92f46d2108b8df2"), "stated alignment 8, notes aligned to 4");
        let mut property = note(5, b"GNU\0", &[0; 16], 8);
        property.extend(note(3, b"GNU\0", &id, 8));
        assert_eq!(from_notes(&property, 8, true).as_deref(), Some("e92f46d2108b8df2"));
    }

    #[test]
    fn cut_and_absurd_notes_give_nothing() {
        let data = note(3, b"GNU\0", &[7; 20], 4);
        for len in 0..data.len() {
            assert_eq!(from_notes(&data[..len], 4, true), None);
        }
        assert_eq!(from_notes(&[0xff; 64], 4, true), None);
        assert_eq!(from_notes(&note(3, b"GNU\0", &[7; 24], 4), 4, true), None, "no build-id has 24 bytes");
    }
}
