//! The whole analysis again over the same inputs with the same options, and what it would write compared with what the
//! run directory holds: texts line by line, tables cell by cell, pictures and queries too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;
use serde_json::Value as Json;

use super::report::Part;
use super::{Request, differ, store};
use crate::emit::{self, EmitOptions, OutputFile, View};
use crate::error::Result;

pub fn check(request: &Request) -> Part {
    let mut part = Part::new("replay");
    let files = match again(request) {
        Ok(files) => files,
        Err(error) => {
            part.fail("the analysis", format!("cannot be repeated: {error}"));
            return part;
        }
    };
    let mut same = 0;
    for (path, bytes) in &files {
        same += usize::from(one(&request.dir, path, bytes, &mut part));
    }
    let known: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let mut others = 0;
    for path in written(&request.dir).iter().filter(|path| !known.contains(path.as_str())) {
        if is_output(path) {
            part.fail(path, "is in the run directory, and the replay does not write it");
        } else {
            others += 1;
        }
    }
    part.count("files", files.len());
    part.count("same", same);
    part.told.push(format!("{same} of {} files come out the same ({})", files.len(), kinds(&files)));
    if others > 0 {
        part.told.push(format!("{others} other files in the run directory are not Tripod's"));
    }
    part
}

fn again(request: &Request) -> Result<Vec<OutputFile>> {
    let mut run = crate::analyze(&request.analyze)?;
    // As they were typed then, wherever things lie now.
    run.arguments.clone_from(&request.arguments);
    emit::render(&View::new(&run), EmitOptions::default())
}

fn kinds(files: &[OutputFile]) -> String {
    let count = |folder: &str| files.iter().filter(|(path, _)| path.starts_with(folder)).count();
    let top = files.iter().filter(|(path, _)| !path.contains('/')).count();
    format!("{top} reports, {} tables, {} flames, {} queries", count("tables/"), count("flames/"), count("queries/"))
}

/// Compares one file; true where it holds the same.
fn one(dir: &Path, path: &str, gives: &[u8], part: &mut Part) -> bool {
    let has = match fs::read(dir.join(path)) {
        Ok(has) => has,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            part.fail(path, "is missing, and the replay writes it");
            return false;
        }
        Err(error) => {
            part.fail(path, error.to_string());
            return false;
        }
    };
    if has == gives {
        return true;
    }
    if path.ends_with(".parquet") {
        return tables(&dir.join(path), path, gives, part);
    }
    let has = if path == "summary.json" { without_timings(has) } else { has };
    if has == gives {
        return true;
    }
    let before = part.failures.len();
    differ::texts(path, &String::from_utf8_lossy(&has), &String::from_utf8_lossy(gives), part);
    if part.failures.len() == before {
        part.fail(path, "differs in bytes that are no text");
    }
    false
}

/// Other bytes may hold the same rows (another writer, another compression).
fn tables(file: &Path, path: &str, gives: &[u8], part: &mut Part) -> bool {
    let has = match store::frame(file) {
        Ok(has) => has,
        Err(error) => {
            part.fail(path, format!("cannot be read: {error}"));
            return false;
        }
    };
    match ParquetReader::new(std::io::Cursor::new(gives)).finish() {
        Ok(gives) => differ::frames(path, &has, &gives, part),
        Err(error) => {
            part.fail(path, format!("the replay's table cannot be read: {error}"));
            false
        }
    }
}

/// What stages cost (`--timings`) differs from run to run and is no part of the comparison.
fn without_timings(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(Json::Object(mut root)) = serde_json::from_slice::<Json>(&bytes) else { return bytes };
    if root.shift_remove("timings").is_none() {
        return bytes;
    }
    let mut out = serde_json::to_vec_pretty(&Json::Object(root)).unwrap_or(bytes);
    out.push(b'\n');
    out
}

/// Whether Tripod writes files of this name; notes that somebody put beside them are left alone.
fn is_output(path: &str) -> bool {
    let folder = ["tables/", "flames/", "queries/"].iter().any(|folder| path.starts_with(folder));
    folder || !path.contains('/') && [".md", ".json", ".html"].iter().any(|extension| path.ends_with(extension))
}

/// The files of a run directory, relative to it; hidden ones are passed over.
fn written(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, String, usize)> = vec![(dir.to_path_buf(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.path().is_dir() && depth < 8 {
                open.push((entry.path(), format!("{path}/"), depth + 1));
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timings_are_left_out() {
        let plain = b"{\n  \"a\": 1\n}\n".to_vec();
        assert_eq!(without_timings(b"{\n  \"a\": 1,\n  \"timings\": [\n    1\n  ]\n}\n".to_vec()), plain);
        assert_eq!(without_timings(plain.clone()), plain);
        assert_eq!(without_timings(b"{".to_vec()), b"{");
    }

    #[test]
    fn notes_beside_the_run_are_not_outputs() {
        assert!(is_output("hypothesis.md") && is_output("tables/x.parquet") && !is_output("notes.txt") && !is_output("sub/x.md"));
    }
}
