//! The first level: every anchor of the run is opened and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value as Json;

use super::anchor::{self, Anchor};
use super::artifacts::{Artifact, Artifacts};
use super::claims::{self, Claim, Opened};
use super::content::Content;
use super::of_file::heap_column;
use super::open::{Found, Problem, Reader};
use super::report::{Basis, Checked, Part};
use super::store::Store;
use super::sums::Sums;
use super::{perf, printed};

pub fn check(dir: &Path, store: &Store, artifacts: &Artifacts, list: &mut Vec<Checked>) -> Part {
    let mut part = Part::new("re-read");
    if let Err(error) = all(dir, store, artifacts, list, &mut part) {
        part.fail("the run directory", error);
    }
    part
}

fn all(dir: &Path, store: &Store, artifacts: &Artifacts, list: &mut Vec<Checked>, part: &mut Part) -> Result<(), String> {
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).map_err(|error| format!("{name}: {error}"));
    let summary: Json = serde_json::from_str(&read("summary.json")?).map_err(|error| format!("summary.json: {error}"))?;
    let mut said = claims::of_tables(store)?;
    said.extend(claims::of_summary(&summary));
    let anchors: BTreeSet<String> = said.iter().map(|claim| claim.anchor.clone()).chain(claims::proportions(&summary)).collect();
    let sums = Sums::new(store);
    let (opened, rows) = open(&anchors, artifacts, &sums, part);
    let mut on: BTreeMap<Basis, BTreeSet<&str>> = BTreeMap::new();
    let mut confirmed = 0;
    for claim in &said {
        if let Some(basis) = claims::holds(claim, &opened, part) {
            confirmed += 1;
            on.entry(basis).or_default().insert(&claim.anchor);
            let Claim { place, value, anchor } = claim.clone();
            list.push(Checked { place, value, anchor, basis });
        }
    }
    claims::wall(&summary, &opened, part);
    let table = read("hotspot_table.md")?;
    printed::wall_line(&table, &summary, part);
    let hotspots = printed::hotspot_table(&table, store, &opened, part)?;
    let angles = printed::ledger(&read("hypothesis.md")?, store, part)?;
    let anchors = |basis| on.get(&basis).map_or(0, BTreeSet::len);
    let (file, tables) = (anchors(Basis::File), anchors(Basis::Tables));
    part.told.push(format!(
        "{confirmed} of {} numbers found at {} anchors: {file} in the file, {tables} over the tables",
        said.len(),
        opened.len()
    ));
    part.told.push(format!("{rows} rows of the tables compared with the records and totals of their files"));
    part.told.push(format!("{hotspots} rows of hotspot_table.md and {angles} angles of hypothesis.md lead to these"));
    for (what, n) in [("claims", said.len()), ("confirmed", confirmed), ("anchors_file", file), ("anchors_tables", tables), ("rows", rows)]
    {
        part.count(what, n);
    }
    Ok(())
}

/// What was read of one artifact.
struct OfArtifact {
    opened: Vec<(String, Result<Found, Problem>)>,
    rows: usize,
    failures: Vec<String>,
}

/// Opens all anchors, artifact by artifact, and compares rows of tables with their files.
fn open(anchors: &BTreeSet<String>, artifacts: &Artifacts, sums: &Sums<'_>, part: &mut Part) -> (Opened, usize) {
    let mut by_path: BTreeMap<String, Vec<(&str, Anchor)>> = BTreeMap::new();
    for text in anchors {
        let parsed = anchor::parse(text);
        by_path.entry(parsed.path.clone()).or_default().push((text, parsed));
    }
    let manifests = manifests(artifacts);
    let known: Vec<&Artifact> = artifacts.rows.iter().collect();
    let of_artifacts = on_threads(&known, &|artifact| {
        let wanted = by_path.get(&artifact.path).map_or(&[][..], Vec::as_slice);
        of_artifact(artifact, wanted, artifacts, sums, &manifests)
    });
    let mut opened = Opened::new();
    let mut rows = 0;
    for (artifact, read) in known.iter().zip(of_artifacts) {
        rows += read.rows;
        opened.extend(read.opened);
        read.failures.into_iter().for_each(|failure| part.fail(&artifact.path, failure));
    }
    for (path, wanted) in by_path.iter().filter(|(path, _)| artifacts.get(path).is_none()) {
        for (text, _) in wanted {
            opened.insert((*text).to_owned(), Err(Problem::Absent(format!("the run has no artifact {path:?}"))));
        }
    }
    (opened, rows)
}

/// One result per artifact, in their order. Plain threads, not rayon's: while a table is read, those of rayon take up
/// another artifact, which then waits for the lock that they hold themselves.
fn on_threads(artifacts: &[&Artifact], read: &(dyn Fn(&Artifact) -> OfArtifact + Sync)) -> Vec<OfArtifact> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((at, artifact)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, artifacts.get(at)?))) {
            let result = read(artifact);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(artifacts.len()) {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What manifests say, by their names.
fn manifests(artifacts: &Artifacts) -> Vec<(String, Json)> {
    let own = artifacts.rows.iter().filter(|row| row.kind == "manifest");
    own.filter_map(|row| {
        let content = Content::open(artifacts.file(&row.path)?).ok()?;
        Some((row.path.clone(), serde_json::from_slice(content.bytes()).ok()?))
    })
    .collect()
}

fn of_artifact(
    artifact: &Artifact,
    wanted: &[(&str, Anchor)],
    artifacts: &Artifacts,
    sums: &Sums<'_>,
    manifests: &[(String, Json)],
) -> OfArtifact {
    let content = artifacts.file(&artifact.path).ok_or_else(|| "the artifact is missing".to_owned());
    let content = content.and_then(|path| Content::open(path).map_err(|error| format!("the artifact cannot be read: {error}")));
    let content = match content {
        Ok(content) => content,
        Err(why) => {
            let opened = wanted.iter().map(|(text, _)| ((*text).to_owned(), Err(Problem::Absent(why.clone())))).collect();
            return OfArtifact { opened, rows: 0, failures: Vec::new() };
        }
    };
    let reader = Reader::new(artifact, content, sums, manifests);
    let opened = wanted.iter().map(|(text, anchor)| ((*text).to_owned(), reader.open(&anchor.part))).collect();
    let mut read = OfArtifact { opened, rows: 0, failures: Vec::new() };
    for compared in compare_rows(&reader) {
        match compared {
            Ok(n) => read.rows += n,
            Err(failure) => read.failures.push(failure),
        }
    }
    read
}

/// Rows of tables that a plain reader can find in the file, too.
fn compare_rows(reader: &Reader<'_>) -> Vec<Result<usize, String>> {
    let (store, id) = (reader.sums.store, reader.artifact.id);
    let total = |table: &str, column: &str| {
        let sum = anchor::Sum { table: table.to_owned(), column: column.to_owned(), keys: Vec::new() };
        let has_rows = store.ints(table, "artifact_id")?.contains(&Some(id));
        if has_rows { reader.sums.all_rows(id, &sum).map(Some) } else { Ok(None) }
    };
    let same = |table: &str, column: &str, gives: i64| match total(table, column) {
        Ok(Some((value, n))) if value == gives => Ok(usize::try_from(n).unwrap_or(0)),
        Ok(Some((value, _))) => Err(format!("{column} of its rows in {table} sum to {value}, in the file to {gives}")),
        Ok(None) => Ok(0),
        Err(error) => Err(error),
    };
    match reader.artifact.kind.as_str() {
        "perf.data" => match reader.walk() {
            Ok(walk) => {
                vec![perf::rows::events_sums(walk, store, id), perf::rows::samples(walk, store, id), perf::rows::waits(walk, store, id)]
            }
            Err(_) => Vec::new(),
        },
        "heaptrack" => {
            let heap = *reader.heap();
            let columns = ["calls", "bytes", "peak_bytes", "leaked_bytes", "temporary_calls"];
            let mut compared: Vec<_> =
                columns.iter().map(|column| same("allocations", column, heap_column(&heap, column).unwrap_or(0))).collect();
            // The same rows, five times.
            compared.iter_mut().skip(1).filter(|one| one.is_ok()).for_each(|one| *one = Ok(0));
            compared
        }
        "strace-log" => {
            let calls = reader.calls();
            let took = calls.iter().filter_map(|call| call.dur_ns).fold(0, i64::saturating_add);
            vec![same("syscall_events", "calls", calls.len() as i64), same("syscall_events", "dur_ns", took).map(|_| 0)]
        }
        "strace-summary" => {
            let rows = super::text::summary::rows(reader.bytes());
            let sum = |get: fn(&super::text::summary::Row) -> i64| rows.iter().map(get).fold(0, i64::saturating_add);
            vec![
                same("syscalls", "calls", sum(|row| row.calls)),
                same("syscalls", "errors", sum(|row| row.errors)).map(|_| 0),
                same("syscalls", "total_ns", sum(|row| row.total_ns)).map(|_| 0),
            ]
        }
        _ => Vec::new(),
    }
}
