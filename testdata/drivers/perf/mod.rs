//! What the drivers about perf.data share: made files, imports in this process, what came out.

pub mod corpus;
pub mod damage;
pub mod file;
pub mod shapes;

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use tripod::ingest::{ImportOptions, Inputs, Recorder, read_all};
use tripod::objects::{Library, Roots};

/// `../shared/corpus`, from the project or a worktree of it.
pub fn corpus_dir() -> Option<PathBuf> {
    let root = crate::support::project();
    ["../shared/corpus", "../../shared/corpus"].iter().map(|path| root.join(path)).find(|path| path.is_dir())
}

pub fn import(path: &Path) -> Result<Recorder, Failed> {
    let inputs = Inputs::find(&[path.to_owned()])?;
    let library = Library::open(&Roots::default());
    read_all(&inputs, &library, &ImportOptions::default()).pop().ok_or_else(|| "nothing was read".into())
}

pub fn import_bytes(bytes: &[u8]) -> Result<Recorder, Failed> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("perf.data");
    std::fs::write(&path, bytes)?;
    import(&path)
}

/// Samples of all events: also of those that become waits.
pub fn samples(recorder: &Recorder) -> i64 {
    recorder.tables.events.iter().map(|event| event.n).sum()
}

/// (kind, count) of what was lost or doubted.
pub fn losses(recorder: &Recorder) -> Vec<(&str, i64)> {
    recorder.tables.diagnostics.iter().map(|row| (row.kind.as_ref(), row.count)).collect()
}

/// (path of the dso, relative address) of a sample's stack, innermost first.
pub fn stack(recorder: &Recorder, sample: usize) -> Vec<(String, u64)> {
    let tables = &recorder.tables;
    let mut at = tables.samples.get(sample).and_then(|sample| sample.stack_id.get());
    let mut places = Vec::new();
    while let Some(node) = at.and_then(|id| tables.stacks.row(id)) {
        let frame = &tables.frames[node.frame_id as usize];
        let dso = frame.dso_id.map_or_else(String::new, |dso| tables.dsos[dso as usize].path.to_string());
        places.push((dso, frame.rel.unwrap_or_default() as u64));
        at = node.parent_stack_id.get();
    }
    places
}

/// Fails with both sides where they differ.
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Failed> {
    if found == expected { Ok(()) } else { Err(format!("{what}: found {found:?}, expected {expected:?}").into()) }
}
