//! Rules of the repository as tests: sizes, registries, the list of recordings, nothing that names a machine.

use std::collections::BTreeSet;
use std::path::PathBuf;

use libtest_mimic::{Completion, Trial};

use crate::support::{self, Outcome};

/// Longest source file, in lines.
const LINES_MAX: usize = 600;
/// Largest file, in bytes: recordings are small on purpose.
const BYTES_MAX: u64 = 3 << 20;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("tidy::source_files_are_short", short_files),
        Trial::ignorable_test("tidy::no_large_files", no_large_files),
        Trial::ignorable_test("tidy::queries_are_registered", queries_are_registered),
        Trial::ignorable_test("tidy::crates_have_one_door", one_door),
        Trial::ignorable_test("tidy::recordings_are_listed", recordings_are_listed),
        Trial::ignorable_test("tidy::dependencies_are_explained", dependencies_are_explained),
        Trial::ignorable_test("tidy::unit_tests_have_their_tools", unit_tests_have_their_tools),
        Trial::ignorable_test("tidy::table_reference_is_current", table_reference_is_current),
        Trial::ignorable_test("tidy::catalogue_is_current", catalogue_is_current),
    ]
}

fn verdict(wrong: Vec<String>) -> Outcome {
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}

fn sources() -> Vec<PathBuf> {
    let project = support::project();
    ["src", "testdata/drivers", "benches"]
        .iter()
        .flat_map(|dir| support::walk(&project.join(dir)))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

fn short_files() -> Outcome {
    let mut wrong = Vec::new();
    for path in sources() {
        let lines = std::fs::read_to_string(&path)?.lines().count();
        if lines > LINES_MAX {
            wrong.push(format!("{}: {lines} lines", path.display()));
        }
    }
    verdict(wrong)
}

fn no_large_files() -> Outcome {
    let mut wrong = Vec::new();
    let mut sum = 0;
    for path in support::walk(&support::testdata()) {
        let bytes = path.metadata()?.len();
        sum += bytes;
        if bytes > BYTES_MAX {
            wrong.push(format!("{}: {bytes} bytes", path.display()));
        }
    }
    if sum > 20 << 20 {
        wrong.push(format!("testdata holds {sum} bytes, more than 20 MB"));
    }
    verdict(wrong)
}

fn queries_are_registered() -> Outcome {
    let project = support::project();
    let registry = std::fs::read_to_string(project.join("src/rules/mod.rs"))?;
    let mut wrong = Vec::new();
    for dir in ["hypotheses", "views", "quality"] {
        for path in support::list(&project.join("queries").join(dir)) {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            if !registry.contains(&format!("\"{name}\"")) {
                wrong.push(format!("queries/{dir}/{name} has no line in src/rules/mod.rs"));
            }
        }
    }
    verdict(wrong)
}

/// Each external format crate is named in one folder only.
fn one_door() -> Outcome {
    let doors = [
        ("linux_perf_data", "src/ingest/perf_data"),
        ("inferno::", "src/emit/flame"),
        ("SQLContext", "src/rules/engine"),
        ("sqlparser::", "src/dataset"),
        ("gimli::", "src/objects"),
        ("addr2line::", "src/objects"),
        ("framehop::", "src/objects"),
        ("object::", "src/objects"),
        ("lzma_rust2::", "src/objects"),
        ("bzip2::", "src/objects"),
        ("tar::", "src/objects"),
    ];
    let mut wrong = Vec::new();
    for path in sources().into_iter().filter(|path| path.starts_with(support::project().join("src"))) {
        let text = std::fs::read_to_string(&path)?;
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let short = path.strip_prefix(support::project())?.to_string_lossy().into_owned();
        for (name, door) in doors {
            let named = code.iter().any(|line| {
                line.match_indices(name).any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
            });
            if named && !short.starts_with(door) {
                wrong.push(format!("{short} names {name}, whose door is {door}"));
            }
        }
    }
    verdict(wrong)
}

/// testdata/README.md and the folder agree both ways.
fn recordings_are_listed() -> Outcome {
    let testdata = support::testdata();
    let readme = std::fs::read_to_string(testdata.join("README.md"))?;
    let listed: BTreeSet<String> =
        readme.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_owned)).collect();
    let matches = |name: &str, pattern: &str| match pattern.split_once('*') {
        Some((head, tail)) => name.starts_with(head) && name.ends_with(tail),
        None => name == pattern,
    };
    let files: Vec<String> = ["scenarios", "truth", "malformed", "tracepoints"]
        .iter()
        .flat_map(|dir| support::walk(&testdata.join(dir)))
        .filter_map(|path| Some(path.strip_prefix(&testdata).ok()?.to_string_lossy().into_owned()))
        .collect();
    let mut wrong: Vec<String> = Vec::new();
    for file in &files {
        if !listed.iter().any(|pattern| matches(file, pattern)) {
            wrong.push(format!("{file} is not in testdata/README.md"));
        }
    }
    let folders = ["scenarios/", "truth/", "malformed/", "tracepoints/"];
    let recorded = |pattern: &&String| folders.iter().any(|folder| pattern.starts_with(folder)) && !pattern.ends_with('/');
    for pattern in listed.iter().filter(recorded) {
        if !files.iter().any(|file| matches(file, pattern)) {
            wrong.push(format!("testdata/README.md lists {pattern}, which is not there"));
        }
    }
    verdict(wrong)
}

fn dependencies_are_explained() -> Outcome {
    let manifest = std::fs::read_to_string(support::project().join("Cargo.toml"))?;
    let mut inside = false;
    let mut previous = "";
    let mut wrong = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside && line.contains(" = ") && !line.contains(" # ") && !previous.starts_with('#') {
            wrong.push(format!("Cargo.toml: {line} has no word of why"));
        }
        previous = line;
    }
    verdict(wrong)
}

/// queries/TABLES.md is what `tripod tables --docs` prints.
fn table_reference_is_current() -> Outcome {
    let committed = std::fs::read_to_string(support::project().join("queries/TABLES.md"))?;
    let output = support::tripod(&["tables", "--docs"]);
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    if !page.trim().is_empty() && committed == page {
        return Ok(Completion::Completed);
    }
    Err("queries/TABLES.md is not the output of `tripod tables --docs`; write it anew".into())
}

/// queries/CATALOGUE.md is what `tripod hypotheses --docs` prints.
fn catalogue_is_current() -> Outcome {
    let committed = std::fs::read_to_string(support::project().join("queries/CATALOGUE.md"))?;
    let output = support::tripod(&["hypotheses", "--docs"]);
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    if !page.trim().is_empty() && committed == page {
        return Ok(Completion::Completed);
    }
    Err("queries/CATALOGUE.md is not the output of `tripod hypotheses --docs`; write it anew".into())
}

/// The unit tests of objects/ and symbolize/ build programs and compare with binutils; without the tools they do nothing,
/// which their own report cannot say.
fn unit_tests_have_their_tools() -> Outcome {
    let absent = |tool: &&&str| std::process::Command::new(tool).arg("--version").output().is_err();
    let missing: Vec<&str> = ["gcc", "nm", "addr2line", "objcopy", "objdump", "readelf", "dwz"].iter().filter(absent).copied().collect();
    if missing.is_empty() {
        return Ok(Completion::Completed);
    }
    Ok(Completion::ignored_with(format!("unit tests that need {} did nothing", missing.join(", "))))
}
