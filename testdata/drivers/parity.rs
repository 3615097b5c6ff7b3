//! The Parquet files are a product of their own: Python, DuckDB and Spark open them with the documented types, and every query
//! of queries/ gives the same rows on Tripod's engine and on theirs (testdata/parity.py says what is compared, and how).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::{Completion, Failed, Trial};

use crate::answers;
use crate::support::{self, Outcome};

/// Runs that are made from the recordings for the fleet queries.
const MADE_RUNS: &str = "200";

/// What parity.py ends with where an engine is not there.
const ABSENT: i32 = 3;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = ["types", "duckdb", "spark", "fleet"]
        .into_iter()
        .map(|what| Trial::ignorable_test(format!("parity::{what}"), move || compare(what)))
        .collect();
    trials.push(Trial::ignorable_test("parity::ingestion_spreads", ingestion_spreads));
    trials
}

/// Every recording as a run of one dataset, and the table reference.
struct Prepared {
    scratch: PathBuf,
    root: PathBuf,
    page: PathBuf,
}

fn prepared() -> Result<&'static Prepared, String> {
    static PREPARED: OnceLock<Result<Prepared, String>> = OnceLock::new();
    PREPARED.get_or_init(prepare).as_ref().map_err(Clone::clone)
}

fn prepare() -> Result<Prepared, String> {
    // In the target directory: what is kept to the end of the tests removes itself nowhere.
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("parity");
    std::fs::remove_dir_all(&scratch).ok();
    std::fs::create_dir_all(&scratch).map_err(|error| error.to_string())?;
    let (root, page) = (scratch.join("runs"), scratch.join("tables.md"));
    let symbols = support::symbols().to_string_lossy().into_owned();
    let dataset = root.to_string_lossy().into_owned();
    in_two(&support::scenarios(), &|name: &String| {
        let input = support::scenario(name).to_string_lossy().into_owned();
        let output = support::tripod(&["analyze", &input, "--dataset", &dataset, "--run", name, "--symbol-dir", &symbols, "-q"]);
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("tripod analyze {name}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    })?;
    std::fs::write(&page, support::tripod(&["tables", "--docs"]).stdout).map_err(|error| error.to_string())?;
    Ok(Prepared { scratch, root, page })
}

/// Two at a time: most of it is one thread's work.
fn in_two<T: Sync>(items: &[T], work: &(dyn Fn(&T) -> Result<(), String> + Sync)) -> Result<(), String> {
    let half = |start: usize| items.iter().skip(start).step_by(2).try_for_each(work);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        half(0).and(other.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    })
}

/// Tripod's answers to every query over every run, and the questions themselves, for parity.py.
fn ask_all(prepared: &Prepared) -> Result<PathBuf, String> {
    let (out, questions) = (prepared.scratch.join("answers"), answers::questions()?);
    for own in &questions {
        let path = out.join("questions").join(format!("{}.sql", own.name));
        let folder = path.parent().unwrap_or(&out);
        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, &own.sql)).map_err(|error| error.to_string())?;
    }
    let runs: Vec<(usize, PathBuf)> = support::list(&prepared.root).into_iter().filter(|path| path.is_dir()).enumerate().collect();
    in_two(&runs, &|(at, run)| answers::write(run, &out.join(run.file_name().unwrap_or_default()), &questions, *at == 0))?;
    Ok(out)
}

/// notebooks/spark_ingest.py: Spark tasks that call the program, one per folder. A folder without recordings fails alone.
fn ingestion_spreads() -> Outcome {
    let python = match support::python() {
        Ok(python) => python,
        Err(reason) => return support::cannot(format!("no Python with pyspark: {reason}")),
    };
    if let Some(reason) = unready(&python)? {
        return support::cannot(reason);
    }
    let scratch = tempfile::tempdir()?;
    let (root, empty) = (scratch.path().join("runs"), scratch.path().join("empty"));
    std::fs::create_dir(&empty)?;
    let (root, script) = (root.to_string_lossy().into_owned(), support::project().join("notebooks/spark_ingest.py"));
    let mut command = Command::new(&python);
    command.arg(script).args(["--tripod", env!("CARGO_BIN_EXE_tripod"), "--symbol-dir"]).arg(support::symbols()).arg(&root);
    command.arg(support::scenario("s1-unbuffered-writes")).arg(support::scenario("s2-lock-convoy"));
    command.arg(format!("late={}", support::scenario("s6-sleep").to_string_lossy())).arg(&empty);
    let output = command.output()?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() != Some(1) || !told.contains("3 of 4 folders") || !told.contains("empty: failed with 3") {
        return Err(format!("spark_ingest.py: {}: {told}{}", output.status, String::from_utf8_lossy(&output.stderr)).into());
    }
    let file = support::project().join("queries/fleet/runs.sql");
    let output = support::tripod(&["query", &root, "--file", &file.to_string_lossy(), "--format", "json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout)?;
    let runs: Vec<&str> = rows.iter().filter_map(|row| row["run"].as_str()).collect();
    if runs != ["late", "s1-unbuffered-writes", "s2-lock-convoy"] {
        return Err(format!("the dataset has {runs:?}").into());
    }
    Ok(Completion::Completed)
}

fn compare(what: &str) -> Outcome {
    let python = match support::python() {
        Ok(python) => python,
        Err(reason) => return support::cannot(format!("no Python with polars, DuckDB and pyspark: {reason}")),
    };
    if matches!(what, "spark" | "fleet")
        && let Some(reason) = unready(&python)?
    {
        return support::cannot(reason);
    }
    let prepared = prepared()?;
    let mut command = Command::new(python);
    command.arg(support::testdata().join("parity.py")).arg(what).args([&prepared.page, &prepared.root]);
    command.arg(support::project().join("queries"));
    match what {
        "duckdb" => command.arg(ask_all(prepared)?),
        _ => command.arg(env!("CARGO_BIN_EXE_tripod")).arg(MADE_RUNS),
    };
    let output = command.output()?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!("parity.py {what}: {told}{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    // What was compared, and what was left out.
    eprint!("{told}");
    Ok(Completion::Completed)
}

/// Why Spark cannot run here.
fn unready(python: &Path) -> Result<Option<String>, Failed> {
    let output = Command::new(python).arg(support::testdata().join("parity.py")).arg("ready").output()?;
    match output.status.code() {
        Some(0) => Ok(None),
        Some(ABSENT) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}
