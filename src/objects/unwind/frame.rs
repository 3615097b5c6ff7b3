//! Whether a function has set up its frame pointer at an address. Where it has not (in its first and last instructions, or
//! all along in code compiled without frame pointers), a walk along frame pointers skips the function's direct caller.

use gimli::{BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, UnwindContext, UnwindSection as _, X86_64};
use object::{Object as _, ObjectSection as _};

use super::super::elf::Elf;

/// For each address (as the ELF states it) whether the frame is found by `rbp` there; `None` where the unwind table does not
/// say: other machines, no `.eh_frame_hdr`, code without an entry.
pub fn is_set_up(elf: &Elf, addresses: &[Option<u64>]) -> Vec<Option<bool>> {
    look(elf, addresses).unwrap_or_else(|| vec![None; addresses.len()])
}

/// No compiler moves the frame so often in one function.
const ROWS_MAX: usize = 1 << 16;

fn look(elf: &Elf, addresses: &[Option<u64>]) -> Option<Vec<Option<bool>>> {
    let file = elf.file()?;
    if elf.summary.machine != object::elf::EM_X86_64 || !file.is_64() || !file.is_little_endian() {
        return None;
    }
    let address = |name: &str| file.section_by_name(name).map_or(0, |section| section.address());
    let bases = BaseAddresses::default()
        .set_eh_frame_hdr(address(".eh_frame_hdr"))
        .set_eh_frame(address(".eh_frame"))
        .set_text(address(".text"))
        .set_got(address(".got"));
    let (header, entries) = (Elf::section(&file, ".eh_frame_hdr"), Elf::section(&file, ".eh_frame"));
    let header = EhFrameHdr::new(&header, LittleEndian).parse(&bases, 8).ok()?;
    let table = header.table()?;
    let entries: EhFrame<EndianSlice<'_, LittleEndian>> = EhFrame::new(&entries, LittleEndian);
    let mut context = UnwindContext::new();
    // Addresses come in order: the rows of one function serve many of them.
    let mut rows: Vec<(u64, u64, Option<bool>)> = Vec::new();
    let mut of_function = 0..0;
    let mut at = |address: u64| {
        if !of_function.contains(&address) {
            rows.clear();
            of_function = 0..0;
            let entry = table.fde_for_address(&entries, &bases, address, EhFrame::cie_from_offset).ok()?;
            let start = entry.initial_address();
            let end = start.checked_add(entry.len())?;
            let mut unwind = entry.rows(&entries, &bases, &mut context).ok()?;
            // What follows a row that cannot be read is unknown.
            while let (Ok(Some(row)), true) = (unwind.next_row(), rows.len() < ROWS_MAX) {
                let has_frame = frame_of(row.cfa());
                match rows.last_mut().filter(|last| last.1 == row.start_address() && last.2 == has_frame) {
                    Some(last) => last.1 = row.end_address(),
                    None => rows.push((row.start_address(), row.end_address(), has_frame)),
                }
            }
            of_function = start..end;
        }
        let row = rows.partition_point(|(start, ..)| *start <= address).checked_sub(1).and_then(|at| rows.get(at));
        row.filter(|(_, end, _)| address < *end).and_then(|(_, _, has_frame)| *has_frame)
    };
    Some(addresses.iter().map(|address| at((*address)?)).collect())
}

fn frame_of(rule: &CfaRule<usize>) -> Option<bool> {
    match rule {
        CfaRule::RegisterAndOffset { register, .. } if *register == X86_64::RBP => Some(true),
        CfaRule::RegisterAndOffset { register, .. } if *register == X86_64::RSP => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::objects::testing::{build_id, gcc};
    use crate::objects::{Library, Roots};

    const SOURCE: &str = "
volatile int sink;
__attribute__((noinline)) int leaf(int n) { return n * sink; }
__attribute__((noinline)) int middle(int n) { for (int i = 0; i < n; i++) sink += leaf(i); return sink; }
int main(void) { return middle(3); }
";

    /// readelf prints the same table: `0000000000001139 rbp+16 c-16 c-8`.
    fn by_readelf(program: &std::path::Path) -> Option<Vec<(u64, bool)>> {
        let output = Command::new("readelf").arg("--debug-dump=frames-interp").arg(program).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let row = |line: &str| {
            let mut words = line.split_whitespace();
            let address = words.next().filter(|word| word.len() == 16).and_then(|word| u64::from_str_radix(word, 16).ok())?;
            // Address 0 is that of what all functions have in common.
            let cfa = words.next().filter(|_| address != 0)?;
            Some((
                address,
                if cfa.starts_with("rbp+") {
                    true
                } else if cfa.starts_with("rsp+") {
                    false
                } else {
                    return None;
                },
            ))
        };
        Some(text.lines().filter_map(row).collect())
    }

    #[test]
    fn the_frame_of_a_function_is_where_readelf_says() {
        let dir = tempfile::tempdir().unwrap();
        for option in ["-fno-omit-frame-pointer", "-fomit-frame-pointer"] {
            let Some(program) = gcc(dir.path(), option.trim_start_matches('-'), SOURCE, &["-O1", option]) else { return };
            let Some(expected) = by_readelf(&program) else { return };
            assert!(expected.len() >= 8, "{expected:?}");
            assert_eq!(expected.iter().any(|(_, is_set_up)| *is_set_up), option == "-fno-omit-frame-pointer");
            let library = Library::open(&Roots { symbol_dirs: vec![dir.path().to_owned()], ..Roots::default() });
            let id = build_id(dir.path(), option.trim_start_matches('-'));
            let found = library.find(&program.to_string_lossy(), id.as_deref());
            let addresses: Vec<Option<u64>> = expected.iter().map(|(address, _)| Some(*address)).collect();
            let known: Vec<Option<bool>> = expected.iter().map(|(_, is_set_up)| Some(*is_set_up)).collect();
            assert_eq!(is_set_up(found.image.as_deref().unwrap(), &addresses), known);
            assert_eq!(is_set_up(found.image.as_deref().unwrap(), &[None, Some(u64::MAX)]), [None, None]);
        }
    }
}
