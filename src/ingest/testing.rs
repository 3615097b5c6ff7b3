//! Runs one importer on a text, for unit tests.

use std::path::Path;

use super::{ImportOptions, Input, Recorder};
use crate::error::Result;
use crate::objects::{Library, Roots};

type Read = fn(&Input<'_>, &mut Recorder) -> Result<()>;

pub fn try_read(read: Read, bytes: &[u8]) -> Result<Recorder> {
    let library = Library::open(&Roots::default());
    let options = ImportOptions::default();
    let input = Input { name: "test", path: Path::new("test"), bytes, library: &library, options: &options };
    let mut recorder = Recorder::new(super::files::blank("test"));
    read(&input, &mut recorder)?;
    Ok(recorder.finish())
}

#[track_caller]
pub fn read_text(read: Read, text: &str) -> Recorder {
    read_bytes(read, text.as_bytes())
}

#[track_caller]
pub fn read_bytes(read: Read, bytes: &[u8]) -> Recorder {
    match try_read(read, bytes) {
        Ok(recorder) => recorder,
        Err(error) => panic!("{error}"),
    }
}

/// The kinds of the diagnostics, in order.
pub fn kinds(recorder: &Recorder) -> Vec<&str> {
    recorder.tables.diagnostics.iter().map(|row| row.kind.as_ref()).collect()
}

/// Reads every prefix of `bytes` and every version with one byte changed (in steps): nothing may panic.
pub fn survives_damage(read: Read, bytes: &[u8]) {
    let step = (bytes.len() / 200).max(1);
    for at in (0..bytes.len()).step_by(step) {
        let _ = try_read(read, &bytes[..at]);
        for value in [0u8, b'\n', b'9', b' ', 0xff] {
            let mut damaged = bytes.to_vec();
            damaged[at] = value;
            let _ = try_read(read, &damaged);
        }
        let mut shorter = bytes[..at].to_vec();
        shorter.extend_from_slice(bytes.get(at + 10..).unwrap_or_default());
        let _ = try_read(read, &shorter);
    }
}
