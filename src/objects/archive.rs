//! Tarballs of object files, as `perf archive` makes them (`PATH/BUILDID/elf` and links to it from `.build-id`): read
//! through once, without unpacking. Only what names code is kept, in memory.

use std::io::Read;

/// Whether bytes begin like a tar archive (POSIX or GNU).
pub fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// How many entries are looked at.
const ENTRIES_MAX: usize = 200_000;
/// What `wanted` gets to see of a file.
const HEAD_BYTES: u64 = 4096;

/// Gives name and content of every regular file whose name and first bytes are `wanted`. `Err` says why not all of the
/// archive was read; what came before was given.
pub fn each(
    reader: impl Read,
    budget: &mut u64,
    wanted: impl Fn(&str, &[u8]) -> bool,
    mut take: impl FnMut(&str, Vec<u8>),
) -> Result<(), String> {
    let mut archive = tar::Archive::new(reader);
    let damaged = |error: std::io::Error| format!("the archive cannot be read on: {error}");
    for (count, entry) in archive.entries().map_err(damaged)?.enumerate() {
        let mut entry = entry.map_err(damaged)?;
        if count >= ENTRIES_MAX {
            return Err(format!("only the first {ENTRIES_MAX} entries of the archive were looked at"));
        }
        // Links lead to files that are in the archive themselves; sparse files are never object files.
        if entry.header().entry_type() != tar::EntryType::Regular {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let size = entry.size();
        let mut content = Vec::new();
        entry.by_ref().take(HEAD_BYTES).read_to_end(&mut content).map_err(damaged)?;
        if !wanted(&name, &content) {
            continue;
        }
        *budget = budget.checked_sub(size).ok_or_else(|| format!("{name} and what follows it are too large to be kept in memory"))?;
        entry.read_to_end(&mut content).map_err(damaged)?;
        if content.len() as u64 != size {
            return Err(format!("the archive ends within {name}"));
        }
        take(&name, content);
    }
    Ok(())
}
