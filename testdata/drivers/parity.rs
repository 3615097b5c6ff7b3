//! The Parquet files are a product of their own: polars and DuckDB in Python open them with the documented types, and the
//! queries of queries/explore give the same rows on Tripod's engine and on DuckDB.

use libtest_mimic::{Completion, Trial};

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    ["s1-unbuffered-writes", "s2-lock-convoy", "real-sqlite3"]
        .into_iter()
        .map(|name| Trial::ignorable_test(format!("parity::{name}"), move || check(name)))
        .collect()
}

fn check(name: &str) -> Outcome {
    let input = support::scenario(name);
    if !input.is_dir() {
        return Ok(Completion::ignored_with(format!("{name} was not recorded")));
    }
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(&input, scratch.path(), &[])?;
    let explore = support::project().join("queries/explore");
    let ours = scratch.path().join("ours");
    std::fs::create_dir(&ours)?;
    for query in support::list(&explore) {
        let output = support::tripod(&["query", &run.to_string_lossy(), "--file", &query.to_string_lossy(), "--format", "json"]);
        if !output.status.success() {
            return Err(format!("{}: {}", query.display(), String::from_utf8_lossy(&output.stderr)).into());
        }
        let file = ours.join(query.file_name().expect("a file")).with_extension("json");
        std::fs::write(file, output.stdout)?;
    }
    let schema = support::tripod(&["tables", "--docs"]);
    let page = scratch.path().join("tables.md");
    std::fs::write(&page, schema.stdout)?;
    support::python_script("parity.py", &[&run, &explore, &ours, &page])
}
