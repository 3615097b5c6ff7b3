//! From the paths the user gave to one recorder per artifact: find, decompress, identify, read, all in parallel.
//!
//! The result depends on the files' content and relative paths only: neither on the order of the arguments nor on the
//! number of threads.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::stdin::{STDIN, STDIN_NAME, Spool};
use super::{Format, ImportOptions, Input, Recorder, Severity, sniff};
use crate::error::{Error, Result};
use crate::objects::{Compression, Library, compression, decoder};
use crate::tables::Artifact;

/// What a file may decompress to: so many times its size, and some more for small ones; more is cut there, and the
/// artifact marked truncated. Recordings reach a fiftieth of their size; what goes far beyond is made to fill memory.
fn decompressed_bytes_max(stored: u64) -> u64 {
    stored.saturating_mul(200).saturating_add(256 << 20).min(8 << 30)
}

/// The files to read, by their name relative to the input root.
#[derive(Debug, Default)]
pub struct Inputs {
    files: BTreeMap<String, PathBuf>,
    /// The directories and the parents of the files that were given.
    pub roots: Vec<PathBuf>,
    /// What came on standard input, for `-`.
    spool: Option<Spool>,
}

impl Inputs {
    /// Expands directories. Hidden files and folders, folders named `symbols` (object files, see `Library`) and run
    /// directories of Tripod are passed over. With several arguments each name begins with its argument's last part.
    pub fn find(paths: &[PathBuf]) -> Result<Inputs> {
        let mut inputs = Inputs::default();
        let mut paths: Vec<&PathBuf> = paths.iter().collect();
        paths.sort();
        paths.dedup();
        let several = paths.len() > 1;
        for path in paths {
            if path.as_os_str() == STDIN {
                let spool = inputs.spool.insert(Spool::of_stdin()?);
                let path = spool.path();
                inputs.add(STDIN_NAME.to_owned(), path);
                continue;
            }
            let meta = std::fs::metadata(path).map_err(|source| Error::Io { path: path.clone(), source })?;
            let last = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            if meta.is_dir() {
                let prefix = if several { last } else { String::new() };
                inputs.walk(path, &prefix, 0);
                inputs.roots.push(path.clone());
            } else {
                inputs.add(last, path.clone());
                inputs.roots.push(path.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf));
            }
        }
        inputs.roots.sort();
        inputs.roots.dedup();
        Ok(inputs)
    }

    fn add(&mut self, name: String, path: PathBuf) {
        let mut unique = name.clone();
        let mut n = 2;
        while self.files.contains_key(&unique) {
            unique = format!("{name}~{n}");
            n += 1;
        }
        self.files.insert(unique, path);
    }

    fn walk(&mut self, dir: &Path, prefix: &str, depth: usize) {
        // A link that leads back up would go on for ever.
        if depth > 16 || dir.join("summary.json").is_file() && dir.join("tables").is_dir() {
            return;
        }
        let Ok(entries) = std::fs::read_dir(dir) else { return };
        let mut entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
            // What JIT compilers left names code (see `Library`); it is no recording.
            if name.starts_with('.') || crate::objects::jit::pid_of(&name).is_some() {
                continue;
            }
            let shown = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            if path.is_dir() {
                if name != "symbols" && name != "tripod-out" {
                    self.walk(&path, &shown, depth + 1);
                }
            } else if path.is_file() {
                self.add(shown, path);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// (name relative to the input root, path on this machine), by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.files.iter().map(|(name, path)| (name.as_str(), path.as_path()))
    }
}

/// Reads every input. One recorder per file, in order of name; a file that cannot be read has status `unreadable`.
pub fn read_all(inputs: &Inputs, library: &Library, options: &ImportOptions) -> Vec<Recorder> {
    let files: Vec<(&str, &Path)> = inputs.iter().collect();
    let mut recorders: Vec<Recorder> = files.par_iter().map(|(name, path)| read_one(name, path, library, options)).collect();
    drop_duplicates(&mut recorders);
    recorders
}

/// A second file with the same content adds nothing: it stays as an artifact without rows.
fn drop_duplicates(recorders: &mut [Recorder]) {
    let mut seen: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    for recorder in recorders.iter_mut() {
        let sha256 = recorder.artifact.sha256.clone();
        let Some(first) = seen.get(&sha256).cloned() else {
            seen.insert(sha256, recorder.artifact.path.clone());
            continue;
        };
        let mut artifact = recorder.artifact.clone();
        artifact.status = "duplicate".into();
        let mut copy = Recorder::new(artifact);
        copy.skip("duplicate_artifact", Severity::Info, &format!("same content as {first}"), "it counts once; remove the copy", "");
        *recorder = copy.finish();
    }
}

/// An artifact about which nothing is known yet.
pub(super) fn blank(name: &str) -> Artifact {
    let empty: Arc<str> = Arc::from("");
    Artifact {
        artifact_id: 0,
        path: Arc::from(name),
        kind: Arc::from("unknown"),
        tool: Arc::from("unknown"),
        tool_version: None,
        sha256: empty.clone(),
        root: empty,
        size_bytes: 0,
        compression: None,
        status: Arc::from("complete"),
        records: 0,
        skipped: 0,
        execution_id: None,
        command: None,
        clock: None,
        call_clock: None,
        clock_source: None,
        unwinding: None,
        follows_children: None,
        syscall_filter: None,
        system_wide: None,
        window_ns: None,
        wall_ns: None,
        psi_cpu_share: None,
    }
}

fn read_one(name: &str, path: &Path, library: &Library, options: &ImportOptions) -> Recorder {
    let mut recorder = Recorder::new(blank(name));
    match content(path, &mut recorder) {
        Err(error) => {
            recorder.artifact.status = Arc::from("unreadable");
            recorder.skip("unreadable", Severity::Error, &format!("{name}: {error}"), "check that the file is readable", "");
        }
        Ok(content) => {
            let identity = || Arc::<str>::from(hex(&Sha256::digest(content.stored())));
            let input = Input { name, path, bytes: content.bytes(), library, options };
            // The hash of a large file takes as long as reading it does.
            let (sha256, read) = rayon::join(identity, || identify_and_read(&input, recorder));
            recorder = read;
            recorder.artifact.sha256 = sha256.clone();
            recorder.artifact.root = sha256;
        }
    }
    // What was skipped is counted when the recorder is finished.
    let mut finished = recorder.finish();
    if finished.artifact.status.as_ref() == "complete" && finished.artifact.skipped > 0 {
        finished.artifact.status = Arc::from("partial");
    }
    finished
}

fn identify_and_read(input: &Input<'_>, mut recorder: Recorder) -> Recorder {
    match sniff(input.bytes) {
        None => not_recognised(input.name, input.bytes, &mut recorder),
        Some(format) => {
            recorder.artifact.kind = Arc::from(format.name);
            recorder.artifact.tool = Arc::from(format.tool);
            recorder = read_with(format, input, recorder);
        }
    }
    recorder
}

fn read_with(format: &Format, input: &Input<'_>, mut recorder: Recorder) -> Recorder {
    if let Err(error) = (format.read)(input, &mut recorder) {
        recorder.artifact.status = Arc::from("unreadable");
        recorder.skip("unreadable", Severity::Error, &error.to_string(), "nothing of this file was used", "");
    }
    recorder
}

fn not_recognised(name: &str, bytes: &[u8], recorder: &mut Recorder) {
    recorder.artifact.status = Arc::from("unreadable");
    let what = match bytes {
        [] => "the file is empty".to_owned(),
        [0x7f, b'E', b'L', b'F', ..] => "an ELF file; give its directory with --symbol-dir".to_owned(),
        _ => {
            let head: String =
                String::from_utf8_lossy(bytes.get(..24).unwrap_or(bytes)).chars().map(|c| if c.is_control() { '.' } else { c }).collect();
            format!("no format claims it (it begins with {head:?})")
        }
    };
    recorder.skip("not_recognised", Severity::Warn, &format!("{name}: {what}"), "`tripod formats` lists what can be read", "");
}

/// A file, and what it holds where that is compressed.
struct Content {
    map: Option<Mmap>,
    inflated: Option<Vec<u8>>,
}

impl Content {
    fn stored(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }

    fn bytes(&self) -> &[u8] {
        self.inflated.as_deref().unwrap_or(self.stored())
    }
}

/// Maps the file and decompresses it where it is zstd, gzip, xz or bzip2.
fn content(path: &Path, recorder: &mut Recorder) -> std::io::Result<Content> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    recorder.artifact.size_bytes = size as i64;
    if size == 0 {
        return Ok(Content { map: None, inflated: None });
    }
    // SAFETY: the mapping is read only. If another process truncates the file meanwhile, reading it ends the process
    // (SIGBUS); recordings are evidence and are not written while they are read.
    let map = unsafe { Mmap::map(&file)? };
    let name = match compression(&map) {
        Compression::None => None,
        Compression::Zstd => Some("zstd"),
        Compression::Gzip => Some("gzip"),
        Compression::Xz => Some("xz"),
        Compression::Bzip2 => Some("bzip2"),
    };
    recorder.artifact.compression = name.map(Arc::from);
    let inflated = decoder(&map).map(|reader| inflate(reader, decompressed_bytes_max(size), recorder));
    Ok(Content { map: Some(map), inflated })
}

/// Reads to the end; what came before an error is kept and the artifact marked truncated.
fn inflate(reader: impl Read, limit: u64, recorder: &mut Recorder) -> Vec<u8> {
    let mut bytes = Vec::new();
    let outcome = reader.take(limit).read_to_end(&mut bytes);
    let cut = match outcome {
        Err(error) => Some(format!("decompression stopped after {} bytes: {error}", bytes.len())),
        Ok(_) if bytes.len() as u64 >= limit => Some(format!("decompresses to more than {limit} bytes")),
        Ok(_) => None,
    };
    if let Some(message) = cut {
        recorder.artifact.status = Arc::from("truncated");
        recorder.skip("truncated_compression", Severity::Error, &message, "what came before was read; copy the file again", "");
    }
    bytes
}

/// Lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
