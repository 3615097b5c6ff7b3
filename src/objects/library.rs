//! Finding the files of a dso.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::elf::{Elf, Quality};
use super::index::{Candidate, Index};
use super::jit::JitFile;
use super::kallsyms::{Kallsyms, KernelId};
use super::unwind::Table;
use super::{Roots, base_name, below, build_id, is_pseudo};

/// All object files that can be found. Cheap to clone, safe to share between threads; files are opened when first
/// asked for and parsed once.
#[derive(Debug, Clone, Default)]
pub struct Library(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    roots: Roots,
    /// `Roots::all_debug_dirs`.
    debug_dirs: Vec<PathBuf>,
    index: Index,
    found: Mutex<BTreeMap<(String, Option<String>), Slot>>,
}

type Slot = Arc<OnceLock<Arc<Found>>>;

/// What was found for one dso.
#[derive(Debug, Default)]
pub struct Found {
    /// The file that has the code, `.eh_frame` and true program headers.
    pub image: Option<Arc<Elf>>,
    /// The file that names addresses best; may be the image.
    pub names: Option<Arc<Elf>>,
    /// Set where no build-id could be compared: why the file was used, or why none was.
    pub doubt: Option<String>,
    /// Where was looked, for messages.
    pub tried: Vec<String>,
    unwind: OnceLock<Option<Table>>,
}

impl Found {
    /// Where an offset of the dso's file is loaded, as its ELF states it. `map_offset` is the recorded file offset of
    /// the executable mapping, which helps where only a separate debug file is there.
    pub fn svma(&self, offset: u64, map_offset: Option<u64>) -> Option<u64> {
        self.image.as_ref().or(self.names.as_ref())?.svma(offset, map_offset)
    }

    /// The unwind table, parsed once and shared by all processes that map the dso.
    pub(super) fn unwind_table(&self) -> Option<&Table> {
        self.unwind.get_or_init(|| Table::read(self)).as_ref()
    }

    /// A label for `dsos.symbol_source`: the file that names addresses.
    pub fn label(&self) -> Option<&str> {
        self.names.as_ref().map(|elf| elf.label.as_str())
    }
}

impl Library {
    /// Looks at every file of the symbol directories. What cannot be read is passed over ([`Library::problems`]).
    pub fn open(roots: &Roots) -> Library {
        Library(Arc::new(Inner {
            index: Index::build(&roots.symbol_dirs, &roots.jit_dirs),
            debug_dirs: roots.all_debug_dirs(),
            roots: roots.clone(),
            found: Mutex::default(),
        }))
    }

    /// Files of the symbol directories that could not be used, and why.
    pub fn problems(&self) -> &[String] {
        &self.0.index.problems
    }

    /// The files of a dso, by its recorded path and build-id. Pseudo names are never looked up by path.
    pub fn find(&self, path: &str, build_id: Option<&str>) -> Arc<Found> {
        let key = (path.to_owned(), build_id.and_then(build_id::normalize));
        let slot = {
            let mut found = self.0.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.entry(key.clone()).or_default().clone()
        };
        slot.get_or_init(|| Arc::new(Search::new(&self.0, &key.0).run(key.1.as_deref()))).clone()
    }

    /// The kallsyms file of a kernel.
    pub fn kallsyms(&self, kernel: &KernelId) -> Option<Arc<Kallsyms>> {
        let mut same = self.0.index.kallsyms.iter().filter(|file| file.id.is_same(kernel));
        let by_id = same.clone().find(|file| file.id.build_id.is_some() && file.id.build_id == kernel.build_id);
        by_id.or_else(|| same.next()).cloned()
    }

    /// Every kallsyms file and the kernel it is of, for messages.
    pub fn kallsyms_files(&self) -> Vec<String> {
        self.0.index.kallsyms.iter().map(|file| format!("{} ({})", file.label, file.id.describe())).collect()
    }

    /// What a JIT compiler left under this file name.
    pub fn jit(&self, name: &str) -> Option<&JitFile> {
        self.0.index.jit.get(name)
    }

    /// The perf map that is there, if there is exactly one.
    pub fn only_perf_map(&self) -> Option<&JitFile> {
        let mut maps = self.0.index.jit.iter().filter(|(name, _)| name.starts_with("perf-")).map(|(_, file)| file);
        maps.next().filter(|_| maps.next().is_none())
    }

    /// The parts that split DWARF moved out of `elf`: `name` and `dir` are what its skeleton says of where the compiler
    /// put the .dwo file. Looked for by file name in the symbol directories, beside `elf`, and below the sysroots and
    /// path maps. Which of them is right, its id tells.
    pub(super) fn dwo(&self, elf: &Elf, dir: &str, name: &str) -> Vec<Arc<Elf>> {
        let mut found = self.dwos_named(base_name(name));
        let beside = elf.path.parent().unwrap_or(Path::new(""));
        let mut places = vec![beside.join(base_name(name))];
        if !name.starts_with('/') {
            places.extend(below::resolve(beside, Path::new(name)));
        }
        let whole = Path::new(dir).join(name);
        places.extend(self.0.roots.places(&whole.to_string_lossy()));
        found.extend(places.iter().filter_map(|place| dwo_at(place)));
        found
    }

    /// The packages (.dwp) that the .dwo parts of `elf` may have been put into.
    pub(super) fn packages(&self, elf: &Elf) -> Vec<Arc<Elf>> {
        let name = base_name(&elf.label);
        let name = super::SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
        let stem = name.strip_suffix(".debug").unwrap_or(name);
        let names = [format!("{name}.dwp"), format!("{stem}.dwp")];
        let mut found: Vec<Arc<Elf>> = names.iter().flat_map(|name| self.dwos_named(name)).collect();
        let beside = elf.path.parent().unwrap_or(Path::new(""));
        found.extend(names.iter().filter_map(|name| dwo_at(&beside.join(name))));
        found
    }

    fn dwos_named(&self, name: &str) -> Vec<Arc<Elf>> {
        let candidates = self.0.index.by_name.get(name).map_or(&[][..], Vec::as_slice);
        candidates.iter().filter(|candidate| candidate.summary.is_dwo).filter_map(|candidate| candidate.open()).collect()
    }

    /// What dwz moved out of `elf`: by build-id in the symbol directories and debug roots, then where its link says,
    /// with that build-id.
    pub(super) fn supplement(&self, elf: &Elf) -> Option<Arc<Elf>> {
        let (link, id) = elf.summary.altlink.as_ref()?;
        let mut search = Search::new(&self.0, "");
        search.symbol_dirs(id);
        search.debug_dirs(id);
        if search.names.is_none() {
            let mut places = self.0.roots.places(link);
            let below_root = below::rest(link, "/usr/lib/debug").unwrap_or("").trim_start_matches('/');
            if !below_root.is_empty() {
                places.extend(self.0.debug_dirs.iter().filter_map(|dir| below::resolve(dir, Path::new(below_root))));
            }
            if let Some(beside) = elf.path.parent().filter(|_| !link.starts_with('/')) {
                places.push(beside.join(base_name(link)));
            }
            let same = |candidate: &Candidate| candidate.summary.build_id.as_ref() == Some(id);
            let found = places.iter().filter_map(|place| Candidate::at(place, link.clone())).find(same);
            search.names = found.map(Arc::new);
        }
        search.names.and_then(|candidate| candidate.open())
    }
}

fn dwo_at(place: &Path) -> Option<Arc<Elf>> {
    let candidate = Candidate::at(place, place.file_name()?.to_string_lossy().into_owned())?;
    candidate.open().filter(|elf| elf.summary.is_dwo)
}

/// One search for one dso.
struct Search<'a> {
    inner: &'a Inner,
    /// The recorded path, without `/proc/PID/root` in front and without ` (deleted)` behind.
    path: &'a str,
    image: Option<Arc<Candidate>>,
    names: Option<Arc<Candidate>>,
    doubt: Option<String>,
    tried: Vec<String>,
}

impl<'a> Search<'a> {
    fn new(inner: &'a Inner, path: &'a str) -> Search<'a> {
        Search { inner, path: without_deleted(without_proc_root(path)), image: None, names: None, doubt: None, tried: Vec::new() }
    }

    fn run(mut self, build_id: Option<&str>) -> Found {
        match build_id {
            Some(id) => {
                self.symbol_dirs(id);
                if self.image.is_none() || !self.is_settled() {
                    self.other_root(id);
                }
                if self.image.is_none() {
                    self.recorded_path(id);
                }
                if !self.is_settled() {
                    self.debug_dirs(id);
                }
            }
            None => self.without_build_id(),
        }
        if !self.is_settled() {
            self.debuglink();
        }
        let open = |candidate: &Option<Arc<Candidate>>| candidate.as_ref().and_then(|candidate| candidate.open());
        Found {
            image: open(&self.image),
            names: open(&self.names).filter(|elf| elf.summary.quality > Quality::Nothing),
            doubt: self.doubt,
            tried: self.tried,
            unwind: OnceLock::new(),
        }
    }

    /// Whether this machine's own files need not be asked: what lies beside a recording decides as soon as it names all
    /// functions, so that the same inputs give the same names wherever debug packages happen to be installed.
    fn is_settled(&self) -> bool {
        self.names.as_ref().is_some_and(|names| names.summary.quality >= Quality::Symtab)
    }

    fn has_dwarf(&self) -> bool {
        self.names.as_ref().is_some_and(|names| names.summary.quality == Quality::Dwarf)
    }

    /// A better file replaces a worse one; among equals the first stays.
    fn offer(&mut self, candidate: &Arc<Candidate>) {
        if candidate.summary.has_code && self.image.is_none() {
            self.image = Some(candidate.clone());
        }
        if self.names.as_ref().is_none_or(|names| names.summary.quality < candidate.summary.quality) {
            self.names = Some(candidate.clone());
        }
    }

    fn symbol_dirs(&mut self, id: &str) {
        let inner = self.inner;
        match inner.index.by_id.get(id) {
            Some(candidates) => candidates.iter().for_each(|candidate| self.offer(candidate)),
            None if inner.roots.symbol_dirs.is_empty() => self.tried.push("no symbol directory was given".to_owned()),
            None => self.tried.push(format!("no file with it in {}", list(&inner.roots.symbol_dirs))),
        }
    }

    /// Below the path maps and sysroots.
    fn other_root(&mut self, id: &str) {
        if is_pseudo(self.path) || !self.path.starts_with('/') {
            return;
        }
        let roots = &self.inner.roots;
        let mut is_there = false;
        for place in roots.places(self.path) {
            // The same label on every machine: directories differ.
            let Some(candidate) = self.file(&place, self.path.to_owned()) else { continue };
            is_there = true;
            match candidate.summary.build_id.as_deref() {
                Some(theirs) if theirs == id => self.offer(&Arc::new(candidate)),
                other => {
                    let other = other.unwrap_or("none");
                    self.tried.push(format!("{} is another build (build-id {other})", place.display()));
                }
            }
        }
        if !(is_there || roots.sysroots.is_empty() && roots.path_maps.is_empty()) {
            self.tried.push(format!("no ELF file at {} below the sysroots and path maps", self.path));
        }
    }

    fn recorded_path(&mut self, id: &str) {
        if !self.inner.roots.recorded_paths || is_pseudo(self.path) || !self.path.starts_with('/') {
            return;
        }
        match self.file(Path::new(self.path), self.path.to_owned()) {
            Some(candidate) if candidate.summary.build_id.as_deref() == Some(id) => self.offer(&Arc::new(candidate)),
            Some(candidate) => {
                let other = candidate.summary.build_id.as_deref().unwrap_or("none");
                self.tried.push(format!("{} here is another build (build-id {other})", self.path));
            }
            None => self.tried.push(format!("no ELF file at {} here", self.path)),
        }
    }

    fn debug_dirs(&mut self, id: &str) {
        let Some((first, rest)) = id.split_at_checked(2) else { return };
        for dir in &self.inner.debug_dirs {
            for suffix in [".debug", ""] {
                // An id that was cut at trailing zeros is still the file's whole name in almost all cases.
                let label = format!(".build-id/{first}/{rest}{suffix}");
                let Some(candidate) = self.file(&dir.join(&label), label.clone()) else { continue };
                if candidate.summary.build_id.as_deref() == Some(id) {
                    self.offer(&Arc::new(candidate));
                }
            }
            if !self.has_dwarf() {
                self.tried.push(format!("no .build-id/{first}/{rest}.debug in {}", dir.display()));
            }
        }
    }

    /// The separate debug file that the image names: in the symbol directories, in the debug roots under the recorded
    /// directory, and beside the recorded path.
    fn debuglink(&mut self) {
        let Some(image) = self.image.clone() else { return };
        let Some((name, crc)) = image.summary.debuglink.clone() else { return };
        if name.is_empty() || name.contains('/') || name.contains('\0') {
            return;
        }
        let mut found: Vec<Arc<Candidate>> = self.inner.index.by_name.get(&name).cloned().unwrap_or_default();
        let dir = Path::new(self.path).parent().and_then(|dir| dir.strip_prefix("/").ok());
        // A recorded path may hold `..`; it stays below the debug root only without.
        let clean = dir.filter(|dir| dir.components().all(|part| matches!(part, std::path::Component::Normal(_))));
        if let Some(dir) = clean {
            for root in &self.inner.debug_dirs {
                let label = dir.join(&name).to_string_lossy().into_owned();
                found.extend(self.file(&root.join(dir).join(&name), label).map(Arc::new));
            }
            for place in [dir.join(&name), dir.join(".debug").join(&name)] {
                let path = format!("/{}", place.display());
                let files = self.inner.roots.places(&path);
                found.extend(files.iter().filter_map(|file| self.file(file, path.clone())).map(Arc::new));
            }
            if self.inner.roots.recorded_paths {
                for place in [Path::new("/").join(dir), Path::new("/").join(dir).join(".debug")] {
                    let path = place.join(&name);
                    found.extend(self.file(&path, path.to_string_lossy().into_owned()).map(Arc::new));
                }
            }
        }
        for candidate in &found {
            let same = match (&candidate.summary.build_id, &image.summary.build_id) {
                (Some(theirs), Some(ours)) => theirs == ours,
                _ => candidate.open().is_some_and(|elf| elf.crc32() == crc),
            };
            if same {
                self.offer(candidate);
            }
        }
        if !self.has_dwarf() {
            self.tried.push(format!("no {name} that its .gnu_debuglink names"));
        }
    }

    /// Without a recorded build-id nothing can be compared: what the user put in its place is used, with a doubt.
    fn without_build_id(&mut self) {
        if is_pseudo(self.path) {
            self.tried.push("it stands for no file".to_owned());
            return;
        }
        if self.path.starts_with('/') {
            let places = self.inner.roots.places(self.path);
            if let Some(candidate) = places.iter().find_map(|place| self.file(place, self.path.to_owned())) {
                self.doubt = Some(format!("named from {} in the other root by its path: the recording has no build-id for it", self.path));
                let id = candidate.summary.build_id.clone();
                self.offer(&Arc::new(candidate));
                self.more_of(id.as_deref());
                return;
            }
        }
        self.by_base_name();
    }

    /// Better files of the build that was chosen.
    fn more_of(&mut self, id: Option<&str>) {
        if let Some(id) = id {
            self.symbol_dirs(id);
            if !self.is_settled() {
                self.debug_dirs(id);
            }
        }
    }

    /// A file of the same name in a symbol directory, where there is only one such build.
    fn by_base_name(&mut self) {
        let inner = self.inner;
        let name = base_name(self.path);
        let same_name: Vec<&Arc<Candidate>> =
            inner.index.by_name.get(name).into_iter().flatten().filter(|candidate| !candidate.summary.is_dwo).collect();
        let mut builds: Vec<Option<&str>> = same_name.iter().map(|candidate| candidate.summary.build_id.as_deref()).collect();
        builds.sort_unstable();
        builds.dedup();
        match (same_name.first(), builds.as_slice()) {
            (None, _) => {
                self.tried.push(format!("the recording has no build-id for it, and no file named {name} is in the symbol directories"))
            }
            (Some(first), [build]) => {
                self.doubt = Some(format!("named from {} by its file name alone: the recording has no build-id for it", first.label));
                same_name.iter().for_each(|candidate| self.offer(candidate));
                self.more_of(*build);
            }
            (Some(_), builds) => {
                let text =
                    format!("the recording has no build-id for it, and {} builds named {name} are in the symbol directories", builds.len());
                self.doubt = Some(text.clone());
                self.tried.push(text);
            }
        }
    }

    fn file(&self, path: &Path, label: String) -> Option<Candidate> {
        Candidate::at(path, label)
    }
}

/// perf in another mount namespace records `/proc/PID/root/usr/lib/...`; the pid means nothing later on.
fn without_proc_root(path: &str) -> &str {
    let Some(rest) = path.strip_prefix("/proc/") else { return path };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    match rest.get(digits..).and_then(|rest| rest.strip_prefix("/root")) {
        Some(inside) if digits > 0 && inside.starts_with('/') => inside,
        _ => path,
    }
}

/// The kernel's mark for a file that was replaced or removed while it was mapped; its build-id still tells which it was.
fn without_deleted(path: &str) -> &str {
    path.strip_suffix(" (deleted)").unwrap_or(path)
}

fn list(dirs: &[PathBuf]) -> String {
    dirs.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", ")
}
