//! What the drivers share: where things are, running the program, scratch folders, a Python with polars and DuckDB.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use libtest_mimic::{Completion, Failed};
use serde_json::Value;

pub type Outcome = Result<Completion, Failed>;

/// The project's folder.
pub fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn testdata() -> PathBuf {
    project().join("testdata")
}

/// The recordings: every folder of testdata/scenarios that has a manifest, by name.
pub fn scenarios() -> Vec<String> {
    let mut names: Vec<String> = list(&testdata().join("scenarios"))
        .into_iter()
        .filter(|path| path.join("manifest.json").is_file())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

pub fn scenario(name: &str) -> PathBuf {
    testdata().join("scenarios").join(name)
}

pub fn symbols() -> PathBuf {
    testdata().join("scenarios").join("symbols")
}

/// The public files beside the project, from the project or a worktree of it; ignored with the reason where they are not.
pub fn corpus() -> Result<PathBuf, Completion> {
    let places = ["../shared/corpus", "../../shared/corpus"].map(|path| project().join(path));
    places.into_iter().find(|path| path.is_dir()).ok_or_else(|| Completion::ignored_with("../shared/corpus is not there"))
}

/// The files and folders in a folder, sorted.
pub fn list(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Every file below a folder, sorted.
pub fn walk(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in list(dir) {
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}

pub fn tripod(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tripod")).args(arguments).env("NO_COLOR", "1").output().expect("the program starts")
}

/// Analyzes into a fresh folder below `scratch` and gives the run directory.
pub fn analyze(input: &Path, scratch: &Path, more: &[&str]) -> Result<PathBuf, Failed> {
    let out = scratch.join("run");
    let (input, out_text, symbols) = (input.to_string_lossy(), out.to_string_lossy(), symbols());
    let symbols = symbols.to_string_lossy();
    let mut arguments = vec!["analyze", &*input, "-o", &*out_text, "--symbol-dir", &*symbols, "-q"];
    arguments.extend_from_slice(more);
    let output = tripod(&arguments);
    if !output.status.success() {
        return Err(format!("tripod {}: {}\n{}", arguments.join(" "), output.status, String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(out)
}

pub fn summary(run: &Path) -> Result<Value, Failed> {
    let text = std::fs::read_to_string(run.join("summary.json"))?;
    Ok(serde_json::from_str(&text)?)
}

/// A folder that links to the files of `from` that `keep` wants (paths relative to `from`).
pub fn linked(from: &Path, keep: &dyn Fn(&str) -> bool) -> Result<tempfile::TempDir, Failed> {
    let dir = tempfile::tempdir()?;
    for file in walk(from) {
        let name = file.strip_prefix(from)?.to_string_lossy().into_owned();
        if keep(&name) {
            let to = dir.path().join(&name);
            std::fs::create_dir_all(to.parent().expect("has a parent"))?;
            std::os::unix::fs::symlink(&file, &to)?;
        }
    }
    Ok(dir)
}

/// A Python with the packages of notebooks/requirements.txt: `TRIPOD_PYTHON`, or a venv in the target directory made once.
pub fn python() -> Result<PathBuf, String> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PYTHON.get_or_init(make_python).clone()
}

fn make_python() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("TRIPOD_PYTHON") {
        return Ok(PathBuf::from(path));
    }
    let requirements = project().join("notebooks/requirements.txt");
    let wanted = std::fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let venv = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("venv");
    let python = venv.join("bin/python");
    let stamp = venv.join("requirements");
    if std::fs::read_to_string(&stamp).is_ok_and(|have| have == wanted) {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    run(Command::new(&python).args(["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r"]).arg(&requirements))?;
    std::fs::write(&stamp, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// What a test is that cannot run here: ignored with the reason; where `TRIPOD_TEST_ALL` is set, a failure.
pub fn cannot(reason: String) -> Outcome {
    if std::env::var_os("TRIPOD_TEST_ALL").is_some() { Err(reason.into()) } else { Ok(Completion::ignored_with(reason)) }
}

/// Runs a script of testdata with that Python; ignored with the reason where there is none.
pub fn python_script(script: &str, arguments: &[&Path]) -> Outcome {
    let python = match python() {
        Ok(python) => python,
        Err(reason) => return cannot(format!("no Python with polars and DuckDB: {reason}")),
    };
    let output = Command::new(python).arg(testdata().join(script)).args(arguments).output()?;
    if output.status.success() {
        return Ok(Completion::Completed);
    }
    Err(format!("{script}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)).into())
}
