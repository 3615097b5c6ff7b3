//! What the project gives to people who work with the tables: the notebooks run top to bottom as they are committed, and the
//! snippets of notebooks/README.md find what `perf report` found.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Completion, Trial};
use serde_json::Value;

use crate::support::{self, Outcome};

/// The notebooks that need a Java virtual machine beside Python.
const ON_SPARK: &[&str] = &["fleet_spark"];
/// The recording that the snippets read.
const SNIPPETS_READ: &str = "s1-unbuffered-writes";

const NOTEBOOKS: [&str; 4] = ["explore_run", "triangulate", "fleet_duckdb", "fleet_spark"];

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = notebooks()
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Trial::ignorable_test(format!("notebooks::{name}"), move || run(&path))
        })
        .collect();
    trials.push(Trial::ignorable_test("notebooks::are_committed_with_their_outputs", committed));
    trials.push(Trial::ignorable_test("notebooks::snippets", snippets));
    trials
}

fn folder() -> PathBuf {
    support::project().join("notebooks")
}

fn notebooks() -> Vec<PathBuf> {
    support::list(&folder()).into_iter().filter(|path| path.extension().is_some_and(|end| end == "ipynb")).collect()
}

/// What is read on the web is what the cells gave, in their order; and a notebook that is gone would not be missed by a
/// walk over the folder.
fn committed() -> Outcome {
    let mut wrong: Vec<String> = Vec::new();
    for name in NOTEBOOKS.iter().filter(|name| !folder().join(name).with_extension("ipynb").is_file()) {
        wrong.push(format!("notebooks/{name}.ipynb is gone"));
    }
    for path in notebooks() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let notebook: Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        let cells = notebook["cells"].as_array().ok_or("a notebook without cells")?;
        let code = cells.iter().filter(|cell| cell["cell_type"] == "code");
        for (at, cell) in code.enumerate() {
            let outputs = cell["outputs"].as_array().map_or(&[][..], Vec::as_slice);
            if cell["execution_count"] != at + 1 {
                wrong.push(format!("{name}: code cell {} was not run in its turn", at + 1));
            }
            if outputs.iter().any(|output| output["output_type"] == "error") {
                wrong.push(format!("{name}: code cell {} ended with an error", at + 1));
            }
            if cell["metadata"].get("tags").is_some() {
                wrong.push(format!("{name}: code cell {} has tags: it might be skipped", at + 1));
            }
        }
    }
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}

fn run(notebook: &Path) -> Outcome {
    let name = notebook.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if ON_SPARK.contains(&name.as_str()) && Command::new(java()).arg("-version").output().is_err() {
        return support::cannot("no java in JAVA_HOME or on the PATH; Spark needs Java 17".to_owned());
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

/// The virtual machine that Spark starts.
fn java() -> PathBuf {
    std::env::var_os("JAVA_HOME").map_or_else(|| PathBuf::from("java"), |home| PathBuf::from(home).join("bin/java"))
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
