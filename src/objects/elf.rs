//! One ELF file: what is in it and where its segments go.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use object::elf::{PF_X, PT_LOAD, PT_NOTE, SHF_ALLOC, SHF_EXECINSTR, SHT_NOBITS, SHT_NOTE};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, Object as _, ObjectSection as _};

use super::build_id;
use super::bytes::{self, Bytes, Slice};

/// How much an ELF file can tell about names; better ones compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Quality {
    /// No symbols.
    #[default]
    Nothing,
    /// Exported symbols only.
    Dynsym,
    /// Exported symbols, and the other functions in `.gnu_debugdata`.
    Mini,
    /// All symbols.
    Symtab,
    /// Symbols, lines and inlined functions.
    Dwarf,
}

/// A loadable range of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub offset: u64,
    pub file_size: u64,
    pub svma: u64,
    pub size: u64,
    pub executable: bool,
}

/// What can be said of an ELF file without its content.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Normalized (see `build_id::normalize`).
    pub build_id: Option<String>,
    pub quality: Quality,
    /// Whether the code itself is in it; a separate debug file has none.
    pub has_code: bool,
    /// Whether it is the .dwo part of split DWARF.
    pub is_dwo: bool,
    /// File name and CRC-32 of the separate debug file.
    pub debuglink: Option<(String, u32)>,
    /// Path and build-id of the file that dwz moved common debug information to.
    pub altlink: Option<(String, String)>,
    pub segments: Vec<Segment>,
    /// ELF machine number (`EM_X86_64` is 62, `EM_AARCH64` 183).
    pub machine: u16,
    /// `ET_REL`: not linked, so its addresses mean nothing.
    pub relocatable: bool,
}

/// An ELF file that was opened.
#[derive(Debug)]
pub struct Elf {
    bytes: Bytes,
    /// Path below the root it was found in, as shown to people.
    pub label: String,
    /// Where it lies: split and common debug information is looked for beside it.
    pub(super) path: PathBuf,
    pub summary: Summary,
    mini: OnceLock<Option<Box<Elf>>>,
}

/// No section of a real program inflates to more; a larger one is a broken or hostile header.
const SECTION_BYTES_MAX: u64 = 4 << 30;
/// Mini debug information is a symbol table; that of a browser has 20 MB.
const MINI_BYTES_MAX: u64 = 256 << 20;

impl Elf {
    /// `None` where the bytes are no ELF file or its headers are broken.
    pub fn parse(bytes: Bytes, label: String, path: &Path) -> Option<Elf> {
        let summary = summarize(&bytes)?;
        Some(Elf { bytes, label, path: path.to_path_buf(), summary, mini: OnceLock::new() })
    }

    /// The ELF file in `.gnu_debugdata`: symbols of the functions that are not exported. Decompressed once.
    pub(super) fn mini(&self) -> Option<&Elf> {
        let read = || {
            let file = self.file()?;
            let section = file.section_by_name(".gnu_debugdata")?;
            let (content, true) = bytes::inflate(section.data().ok()?, MINI_BYTES_MAX)? else { return None };
            // What is in it must not lead to a further one.
            let elf = Elf::parse(Bytes::from(content), self.label.clone(), &self.path)?;
            Some(Box::new(elf))
        };
        let wanted = self.summary.quality == Quality::Mini;
        self.mini.get_or_init(|| if wanted { read() } else { None }).as_deref()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The parsed headers. They were parsed once already, so this succeeds.
    pub(super) fn file(&self) -> Option<object::File<'_>> {
        object::File::parse(&self.bytes[..]).ok()
    }

    pub(super) fn crc32(&self) -> u32 {
        let mut crc = flate2::Crc::new();
        crc.update(&self.bytes);
        crc.sum()
    }

    /// The content of a section, decompressed where it is compressed. Empty where there is none.
    pub(super) fn section<'a>(file: &object::File<'a>, name: &str) -> Cow<'a, [u8]> {
        let Some(section) = file.section_by_name(name) else { return Cow::Borrowed(&[]) };
        let Ok(data) = section.compressed_data() else { return Cow::Borrowed(&[]) };
        // deflate cannot shrink more than 1032 times, zstd in practice not much more: an absurd size is not allocated.
        let plausible = (data.data.len() as u64).saturating_mul(16_384).saturating_add(65_536).min(SECTION_BYTES_MAX);
        if data.uncompressed_size > plausible {
            return Cow::Borrowed(&[]);
        }
        data.decompress().unwrap_or(Cow::Borrowed(&[]))
    }

    /// A section that is stored uncompressed, with its address.
    pub(super) fn stored_section(&self, file: &object::File<'_>, name: &str) -> Option<(u64, Slice)> {
        let section = file.section_by_name(name)?;
        let range = section.compressed_file_range().ok()?;
        if range.format != object::CompressionFormat::None || range.uncompressed_size == 0 {
            return None;
        }
        let start = usize::try_from(range.offset).ok()?;
        let end = start.checked_add(usize::try_from(range.uncompressed_size).ok()?)?;
        Some((section.address(), Slice::new(&self.bytes, start..end)?))
    }

    /// Where an offset of the file is loaded, as the ELF states it. An executable segment wins over another that has
    /// the same page; the page's rest beyond a segment counts as its own, as the kernel maps whole pages.
    ///
    /// A separate debug file keeps the addresses of the program but not its offsets: then `map_offset`, the recorded
    /// offset of the executable mapping, tells where the code began, and failing that offsets are taken to be
    /// addresses minus that of the first segment, as linkers lay out code by default.
    pub fn svma(&self, offset: u64, map_offset: Option<u64>) -> Option<u64> {
        if !self.summary.has_code {
            return self.svma_of_debug_file(offset, map_offset);
        }
        let by_kind = |executable: bool| self.summary.segments.iter().filter(move |segment| segment.executable == executable);
        let exact = by_kind(true).chain(by_kind(false)).find(|s| offset >= s.offset && offset - s.offset < s.file_size);
        let paged = || {
            by_kind(true).chain(by_kind(false)).find(|s| {
                let end = s.offset.saturating_add(s.file_size).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
                offset >= s.offset & !(PAGE - 1) && offset < end
            })
        };
        let segment = exact.or_else(paged)?;
        Some(offset.wrapping_sub(segment.offset).wrapping_add(segment.svma))
    }

    fn svma_of_debug_file(&self, offset: u64, map_offset: Option<u64>) -> Option<u64> {
        let mut code = self.summary.segments.iter().filter(|segment| segment.executable);
        let only = code.next().filter(|_| code.next().is_none());
        if let (Some(segment), Some(map_offset)) = (only, map_offset) {
            return offset.checked_sub(map_offset)?.checked_add(segment.svma & !(PAGE - 1));
        }
        let first = self.summary.segments.iter().map(|segment| segment.svma).min()?;
        offset.checked_add(first & !(PAGE - 1))
    }

    /// Lowest and highest address of all segments.
    pub(super) fn svma_range(&self) -> Option<std::ops::Range<u64>> {
        let start = self.summary.segments.iter().map(|segment| segment.svma).min()?;
        let end = self.summary.segments.iter().map(|segment| segment.svma.saturating_add(segment.size)).max()?;
        Some(start..end)
    }
}

/// All of the machines met so far map files by 4 KiB pages or a multiple; the segments of an ELF file are congruent to
/// their offsets modulo the page size, so the smallest one serves.
const PAGE: u64 = 4096;

fn summarize(bytes: &[u8]) -> Option<Summary> {
    match object::File::parse(bytes).ok()? {
        object::File::Elf32(file) => Some(read(&file)),
        object::File::Elf64(file) => Some(read(&file)),
        _ => None,
    }
}

fn read<'data, H: FileHeader<Endian = Endianness>>(file: &ElfFile<'data, H>) -> Summary {
    let endian = file.endian();
    let mut summary = Summary {
        machine: file.elf_header().e_machine(endian),
        relocatable: file.elf_header().e_type(endian) == object::elf::ET_REL,
        ..Summary::default()
    };
    let little = file.is_little_endian();
    for header in file.elf_program_headers() {
        if header.p_type(endian) == PT_NOTE && summary.build_id.is_none() {
            let data = header.data(endian, file.data()).unwrap_or(&[]);
            summary.build_id = build_id::from_notes(data, header.p_align(endian).into(), little);
        }
        if header.p_type(endian) == PT_LOAD {
            summary.segments.push(Segment {
                offset: header.p_offset(endian).into(),
                file_size: header.p_filesz(endian).into(),
                svma: header.p_vaddr(endian).into(),
                size: header.p_memsz(endian).into(),
                executable: header.p_flags(endian) & PF_X != 0,
            });
        }
    }
    read_sections(file, &mut summary);
    summary.debuglink = file.gnu_debuglink().ok().flatten().map(|(name, crc)| (String::from_utf8_lossy(name).into_owned(), crc));
    summary.altlink = file
        .gnu_debugaltlink()
        .ok()
        .flatten()
        .and_then(|(path, id)| Some((String::from_utf8_lossy(path).into_owned(), build_id::from_bytes(id)?)));
    summary
}

fn read_sections<'data, H: FileHeader<Endian = Endianness>>(file: &ElfFile<'data, H>, summary: &mut Summary) {
    let endian = file.endian();
    let table = file.elf_section_table();
    let mut sections = Vec::new();
    for section in table.iter() {
        let kind = section.sh_type(endian);
        let (size, flags): (u64, u64) = (section.sh_size(endian).into(), section.sh_flags(endian).into());
        if kind == SHT_NOTE && summary.build_id.is_none() {
            let data = section.data(endian, file.data()).unwrap_or(&[]);
            summary.build_id = build_id::from_notes(data, section.sh_addralign(endian).into(), file.is_little_endian());
        }
        if kind == SHT_NOBITS || size == 0 {
            continue;
        }
        if flags & u64::from(SHF_EXECINSTR) != 0 {
            summary.has_code = true;
        }
        if flags & u64::from(SHF_ALLOC) != 0 {
            sections.push(Segment {
                offset: section.sh_offset(endian).into(),
                file_size: size,
                svma: section.sh_addr(endian).into(),
                size,
                executable: flags & u64::from(SHF_EXECINSTR) != 0,
            });
        }
        let quality = match (kind, table.section_name(endian, section).unwrap_or(b"")) {
            (_, b".debug_info" | b".zdebug_info") => Quality::Dwarf,
            (_, b".debug_info.dwo" | b".zdebug_info.dwo") => {
                summary.is_dwo = true;
                Quality::Nothing
            }
            (_, b".gnu_debugdata") => Quality::Mini,
            (object::elf::SHT_SYMTAB, _) => Quality::Symtab,
            (object::elf::SHT_DYNSYM, _) => Quality::Dynsym,
            _ => Quality::Nothing,
        };
        summary.quality = summary.quality.max(quality);
    }
    // Stripped of its section headers. Otherwise the sections decide: the code segment of a separate debug file may
    // still hold the ELF header.
    summary.has_code |= table.is_empty() && summary.segments.iter().any(|segment| segment.executable && segment.file_size > 0);
    // Files that `perf inject -j` makes have sections only.
    if summary.segments.is_empty() {
        summary.segments = sections;
    }
}
