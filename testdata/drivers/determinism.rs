//! The same bytes in give the same bytes out, for any number of threads and any order of the arguments.

use std::collections::BTreeMap;
use std::path::Path;

use libtest_mimic::{Completion, Failed, Trial};

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    ["s1-unbuffered-writes", "s2-lock-convoy"]
        .into_iter()
        .map(|name| Trial::ignorable_test(format!("determinism::{name}"), move || same(name)))
        .collect()
}

fn contents(dir: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failed> {
    let file = |path: std::path::PathBuf| Ok((path.strip_prefix(dir)?.to_string_lossy().into_owned(), std::fs::read(&path)?));
    support::walk(dir).into_iter().map(file).collect()
}

fn same(name: &str) -> Outcome {
    let input = support::scenario(name);
    if !input.is_dir() {
        return Ok(Completion::ignored_with(format!("{name} was not recorded")));
    }
    let paths: Vec<String> = support::list(&input).iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let mut first: Option<BTreeMap<String, Vec<u8>>> = None;
    for (threads, rotate) in [("1", 0), ("2", 3), ("7", 5)] {
        let scratch = tempfile::tempdir()?;
        let out = scratch.path().join("run");
        let (out_text, symbols) = (out.to_string_lossy().into_owned(), support::symbols().to_string_lossy().into_owned());
        let mut arguments = vec!["analyze"];
        let at = rotate % paths.len();
        arguments.extend(paths[at..].iter().chain(&paths[..at]).map(String::as_str));
        arguments.extend(["-o", &out_text, "--symbol-dir", &symbols, "-q", "-j", threads]);
        let output = support::tripod(&arguments);
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        let files = contents(&out)?;
        let Some(first) = &first else {
            first = Some(files);
            continue;
        };
        let differing: Vec<&String> = first.keys().chain(files.keys()).filter(|name| first.get(*name) != files.get(*name)).collect();
        if !differing.is_empty() {
            return Err(format!("with {threads} threads these differ: {differing:?}").into());
        }
    }
    Ok(Completion::Completed)
}
