//! What lies in the symbol directories: looked at once, by content, in the order of the paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::archive;
use super::bytes::{self, Bytes, Compression};
use super::elf::{Elf, Summary};
use super::jit::{self, JitFile};
use super::kallsyms::{Kallsyms, KernelId};

/// Enough for a whole /usr/lib/debug; a larger tree is cut there.
const FILES_MAX: usize = 200_000;
const DEPTH_MAX: usize = 24;
/// Decompressed files are kept in memory: no single one above this, nor all together above the next.
const INFLATED_BYTES_MAX: u64 = 2 << 30;
const INFLATED_TOTAL_MAX: u64 = 4 << 30;
/// kallsyms of a large kernel is 15 MB.
const KALLSYMS_BYTES_MAX: usize = 256 << 20;

/// An ELF file that may be opened.
#[derive(Debug)]
pub struct Candidate {
    pub path: PathBuf,
    /// Path below the root, as shown to people.
    pub label: String,
    pub summary: Summary,
    /// The content where the file is compressed.
    kept: Option<Bytes>,
    opened: OnceLock<Option<Arc<Elf>>>,
}

impl Candidate {
    /// A file outside the symbol directories.
    pub fn at(path: &Path, label: String) -> Option<Candidate> {
        let bytes = bytes::map(path)?;
        let elf = Elf::parse(bytes, label.clone(), path)?;
        let summary = elf.summary.clone();
        let opened = OnceLock::from(Some(Arc::new(elf)));
        Some(Candidate { path: path.to_path_buf(), label, summary, kept: None, opened })
    }

    /// Maps the file. It is not kept mapped from the start: a tree may have more files than a process may have maps.
    pub fn open(&self) -> Option<Arc<Elf>> {
        let open = || {
            let bytes = self.kept.clone().or_else(|| bytes::map(&self.path))?;
            Elf::parse(bytes, self.label.clone(), &self.path).map(Arc::new)
        };
        self.opened.get_or_init(open).clone()
    }
}

/// The files of all symbol directories.
#[derive(Debug, Default)]
pub struct Index {
    /// By normalized build-id; the better quality first, then by label.
    pub by_id: BTreeMap<String, Vec<Arc<Candidate>>>,
    /// By base name without `.zst`, `.gz`.
    pub by_name: BTreeMap<String, Vec<Arc<Candidate>>>,
    pub kallsyms: Vec<Arc<Kallsyms>>,
    /// What JIT compilers left, by base name without `.zst`, `.gz`.
    pub jit: BTreeMap<String, JitFile>,
    /// Files that could not be used, and why.
    pub problems: Vec<String>,
}

enum Look {
    Elf(Candidate),
    Kallsyms(Kallsyms),
    Jit(JitFile),
    Compressed(Bytes),
    Archive(Bytes),
    Problem(String),
    Other,
}

impl Index {
    pub fn build(roots: &[PathBuf], jit_dirs: &[PathBuf]) -> Index {
        let mut index = Index::default();
        let mut seen = BTreeSet::new();
        for root in roots {
            let Ok(root) = root.canonicalize() else { continue };
            let mut files = Vec::new();
            if root.is_file() {
                files.push(root.clone());
            } else {
                walk(&root, 0, &mut seen, &mut files);
            }
            if files.len() >= FILES_MAX {
                index.problems.push(format!("{}: only the first {FILES_MAX} files were looked at", root.display()));
            }
            index.add(&root, files);
        }
        for dir in jit_dirs.iter().filter_map(|dir| dir.canonicalize().ok()) {
            index.add(&dir, jit_files(&dir));
        }
        for candidates in index.by_id.values_mut().chain(index.by_name.values_mut()) {
            candidates.sort_by(|a, b| b.summary.quality.cmp(&a.summary.quality).then_with(|| a.label.cmp(&b.label)));
        }
        index
    }

    fn add(&mut self, root: &Path, files: Vec<PathBuf>) {
        let looks: Vec<(PathBuf, String, Look)> = files
            .into_par_iter()
            .map(|path| {
                let label = label_below(root, &path);
                let look = bytes::map(&path).map_or(Look::Other, |bytes| look_at(&path, &label, bytes, None));
                (path, label, look)
            })
            .collect();
        // One after the other, so that the budget is spent in the order of the paths.
        let mut inflated: u64 = 0;
        for (path, label, look) in looks {
            let look = match look {
                Look::Compressed(bytes) => inflate(&path, &label, &bytes, &mut inflated),
                other => other,
            };
            match look {
                Look::Archive(bytes) => self.unpack(&path, &label, &bytes, &mut inflated),
                look => self.put(&label, look),
            }
        }
    }

    /// Looks at the files of a tarball, which may be compressed.
    fn unpack(&mut self, path: &Path, label: &str, bytes: &Bytes, inflated: &mut u64) {
        let mut budget = INFLATED_TOTAL_MAX.saturating_sub(*inflated);
        let before = budget;
        let plain: Box<dyn std::io::Read + '_> = bytes::decoder(bytes).unwrap_or_else(|| Box::new(&bytes[..]));
        let wanted = |name: &str, head: &[u8]| names_code(name, head);
        let read = archive::each(plain, &mut budget, wanted, |name, content| {
            let name = name.trim_start_matches("./");
            let content = Bytes::from(content);
            let inner = format!("{label}/{name}");
            self.put(&inner, look_at(&path.join(name), &inner, content.clone(), Some(content)));
        });
        if let Err(problem) = read {
            self.problems.push(format!("{label}: {problem}"));
        }
        *inflated = inflated.saturating_add(before - budget);
    }

    fn put(&mut self, label: &str, look: Look) {
        match look {
            Look::Elf(candidate) => self.add_elf(candidate),
            Look::Kallsyms(kallsyms) => self.kallsyms.push(Arc::new(kallsyms)),
            // The first stays: directories that the user gave come before those beside the recording.
            Look::Jit(file) => {
                self.jit.entry(plain_name(label).to_owned()).or_insert(file);
            }
            Look::Problem(problem) => self.problems.push(problem),
            Look::Compressed(_) | Look::Archive(_) | Look::Other => {}
        }
    }

    fn add_elf(&mut self, candidate: Candidate) {
        let candidate = Arc::new(candidate);
        if let Some(id) = &candidate.summary.build_id {
            self.by_id.entry(id.clone()).or_default().push(candidate.clone());
        }
        self.by_name.entry(plain_name(&candidate.label).to_owned()).or_default().push(candidate);
    }
}

/// The base name without what compression adds to it.
fn plain_name(label: &str) -> &str {
    let name = super::base_name(label);
    super::SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

/// The files of JIT compilers in a directory itself. Links are not followed: /tmp is everybody's.
fn jit_files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let is_jit = |entry: &std::fs::DirEntry| entry.file_name().to_str().is_some_and(|name| jit::pid_of(name).is_some());
    let mut files: Vec<PathBuf> =
        entries.flatten().filter(|entry| is_file(entry) && is_jit(entry)).map(|entry| entry.path()).take(FILES_MAX).collect();
    files.sort();
    files
}

fn label_below(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty());
    let name = || path.file_name().map(Path::new).unwrap_or(path);
    below.unwrap_or_else(name).to_string_lossy().into_owned()
}

/// Every regular file below, hidden ones too (`.build-id`, perf's `.debug`), links followed once.
fn walk(dir: &Path, depth: usize, seen: &mut BTreeSet<PathBuf>, files: &mut Vec<PathBuf>) {
    if depth > DEPTH_MAX || !seen.insert(dir.to_path_buf()) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        if files.len() >= FILES_MAX {
            return;
        }
        let path = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => match entry.path().canonicalize() {
                // The target is looked at under its own name where it lies below a root, and here once otherwise.
                Ok(target) if !seen.contains(&target) => target,
                _ => continue,
            },
            Ok(_) => entry.path(),
            Err(_) => continue,
        };
        if path.is_dir() {
            walk(&path, depth + 1, seen, files);
        } else if path.is_file() && seen.insert(path.clone()) {
            files.push(path);
        }
    }
}

fn look_at(path: &Path, label: &str, bytes: Bytes, kept: Option<Bytes>) -> Look {
    if bytes.starts_with(b"\x7fELF") {
        return match Elf::parse(bytes, label.to_owned(), path) {
            // Object files before linking (.o, .ko) have no addresses to look up. What dwz makes is of that type too.
            Some(elf) if elf.summary.relocatable && !elf.summary.is_dwo && (elf.summary.has_code || elf.summary.build_id.is_none()) => {
                Look::Other
            }
            Some(elf) => Look::Elf(Candidate {
                path: path.to_path_buf(),
                label: label.to_owned(),
                summary: elf.summary,
                kept,
                opened: OnceLock::new(),
            }),
            None => Look::Problem(format!("{label}: begins like an ELF file, but its headers are broken")),
        };
    }
    if kept.is_none() && bytes::compression(&bytes) != Compression::None {
        return Look::Compressed(bytes);
    }
    if kept.is_none() && archive::is_tar(&bytes) {
        return Look::Archive(bytes);
    }
    // Lines of a perf map may look like kallsyms, so the name decides first.
    if is_jit(label, &bytes) {
        return Look::Jit(JitFile { path: path.to_path_buf(), label: label.to_owned(), kept });
    }
    if Kallsyms::recognises(bytes.get(..4096).unwrap_or(&bytes)) {
        if bytes.len() > KALLSYMS_BYTES_MAX {
            return Look::Problem(format!("{label}: too large for kallsyms ({} bytes)", bytes.len()));
        }
        let id = path.parent().map(KernelId::of_directory).unwrap_or_default();
        return Look::Kallsyms(Kallsyms::new(bytes, label.to_owned(), id));
    }
    Look::Other
}

fn names_code(label: &str, head: &[u8]) -> bool {
    head.starts_with(b"\x7fELF") || Kallsyms::recognises(head) || is_jit(label, head)
}

fn is_jit(label: &str, head: &[u8]) -> bool {
    match jit::pid_of(plain_name(label)) {
        Some(("perf-", _)) => true,
        Some(_) => jit::is_dump(head),
        None => false,
    }
}

fn inflate(path: &Path, label: &str, bytes: &Bytes, inflated: &mut u64) -> Look {
    const HEAD: usize = 4096;
    let Some((head, complete)) = bytes::inflate(bytes, HEAD as u64) else { return Look::Other };
    if !complete && head.len() < HEAD && !names_code(label, &head) && !archive::is_tar(&head) {
        return Look::Problem(format!("{label}: cannot be decompressed (damaged)"));
    }
    if archive::is_tar(&head) {
        return Look::Archive(bytes.clone());
    }
    if !names_code(label, &head) {
        return Look::Other;
    }
    let room = INFLATED_TOTAL_MAX.saturating_sub(*inflated).min(INFLATED_BYTES_MAX);
    match bytes::inflate(bytes, room) {
        Some((content, true)) => {
            *inflated = inflated.saturating_add(content.len() as u64);
            let content = Bytes::from(content);
            look_at(path, label, content.clone(), Some(content))
        }
        _ => Look::Problem(format!("{label}: cannot be decompressed (damaged, or more than {room} bytes)")),
    }
}
