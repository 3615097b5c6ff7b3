//! What the project gives to people who work with the tables: the notebooks run top to bottom as they are committed, and the
//! snippets of notebooks/README.md find what `perf report` found.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Completion, Trial};

use crate::support::{self, Outcome};

/// The notebooks that need a Java virtual machine beside Python.
const ON_SPARK: &[&str] = &["fleet_spark"];
/// The recording that the snippets read.
const SNIPPETS_READ: &str = "s1-unbuffered-writes";

pub fn trials() -> Vec<Trial> {
    let notebooks = support::list(&folder()).into_iter().filter(|path| path.extension().is_some_and(|end| end == "ipynb"));
    let mut trials: Vec<Trial> = notebooks
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Trial::ignorable_test(format!("notebooks::{name}"), move || run(&path))
        })
        .collect();
    trials.push(Trial::ignorable_test("notebooks::there_are_four", there_are_four));
    trials.push(Trial::ignorable_test("notebooks::snippets", snippets));
    trials
}

fn folder() -> PathBuf {
    support::project().join("notebooks")
}

/// A notebook that is gone would not be missed by a walk over the folder.
fn there_are_four() -> Outcome {
    let absent: Vec<&str> = ["explore_run", "triangulate", "fleet_duckdb", "fleet_spark"]
        .into_iter()
        .filter(|name| !folder().join(name).with_extension("ipynb").is_file())
        .collect();
    if absent.is_empty() { Ok(Completion::Completed) } else { Err(format!("notebooks/ lacks {}", absent.join(", ")).into()) }
}

fn run(notebook: &Path) -> Outcome {
    let name = notebook.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if ON_SPARK.contains(&name.as_str()) && Command::new("java").arg("-version").output().is_err() {
        return support::cannot("no java on the PATH; Spark needs Java 17".to_owned());
    }
    let python = match support::python() {
        Ok(python) => python,
        Err(reason) => return support::cannot(format!("no Python with the packages of notebooks/requirements.txt: {reason}")),
    };
    let scratch = tempfile::tempdir()?;
    let output = Command::new(python)
        .arg(folder().join("run.py"))
        .arg(notebook)
        .env("TRIPOD", env!("CARGO_BIN_EXE_tripod"))
        .env("TRIPOD_RUNS", scratch.path())
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        // Not a failure: outputs are written anew when the analysis changes, not with every change.
        said.lines().filter(|line| line.contains("other text than committed")).for_each(|line| eprintln!("{line}"));
        return Ok(Completion::Completed);
    }
    Err(format!("{said}{}", String::from_utf8_lossy(&output.stderr)).into())
}

fn snippets() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(&support::scenario(SNIPPETS_READ), scratch.path(), &[])?;
    let out = scratch.path().join("tripod-out");
    std::fs::create_dir(&out)?;
    std::fs::rename(run, out.join(SNIPPETS_READ))?;
    let truth = support::testdata().join("truth").join(SNIPPETS_READ).join("cpu-fp.self.txt");
    support::python_script("snippets.py", &[&folder().join("README.md"), scratch.path(), &truth])
}
