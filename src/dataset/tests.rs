//! Batches of runs give the rows that all runs at once give.

use std::path::Path;

use polars::prelude::{AnyValue, DataFrame};

use super::split::split;
use super::*;
use crate::emit::{EmitOptions, Run, View, render, write_member};
use crate::tables::{Charged, FunctionCost, HostFact, Tables};

/// A run whose numbers depend on `at`; every third has no host facts.
fn tables(at: i64) -> Tables {
    let cost = |event_id: i32, function_id: i32| FunctionCost {
        event_id,
        function_id,
        view: if function_id % 2 == 0 { "inlined".into() } else { "physical".into() },
        self_weight: at * 100 + i64::from(function_id),
        self_count: i64::from(function_id) + at % 3,
        total_weight: at * 1000,
        total_count: 7,
    };
    let charge = |general: &str, how: &str, share| Charged { hypothesis: general.into(), special: "R25".into(), how: how.into(), share };
    let mut run = crate::emit::sample().tables;
    run.function_costs = (0..4).flat_map(|function| [cost(0, function), cost(1, function)]).collect();
    run.charges = vec![charge("R29", if at % 2 == 0 { "share" } else { "all" }, (at % 2 == 0).then_some(at as f64 / 8.0))];
    if at % 3 != 0 {
        let host = |key: &str, value: String, number| HostFact { artifact_id: 0, key: key.into(), value: value.into(), number };
        run.host = vec![host("hostname", format!("host-{}", at % 2), None), host("cpus", "8".to_owned(), Some(8 + at))];
    } else {
        run.host.clear();
    }
    run
}

fn write(root: &Path, id: &str, tables: Tables) {
    let run = Run { tables, ..Run::default() };
    let files = render(&View::new(&run), EmitOptions::default()).unwrap();
    write_member(root, &RunId::parse(id).unwrap(), &files, &run.tables).unwrap();
}

fn dataset(runs: i64) -> (tempfile::TempDir, Dataset) {
    let root = tempfile::tempdir().unwrap();
    for at in 0..runs {
        // IDs longer than what lies in a cell itself, too.
        write(root.path(), &format!("nightly-of-the-year-{at}"), tables(at));
    }
    let dataset = Dataset::open(root.path()).unwrap();
    (root, dataset)
}

fn known() -> Vec<String> {
    Tables::descriptors().iter().map(|table| table.name.to_owned()).collect()
}

fn rows(dataset: &Dataset, sql: &str, batch: u64) -> DataFrame {
    let known = known();
    let ask = Ask::new(dataset, sql, &known, 1 << 30).unwrap().in_batches_of(batch);
    ask.check().unwrap_or_else(|error| panic!("{sql}: {error}"));
    ask.rows().unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn text(frame: &DataFrame) -> Vec<String> {
    let cell = |value: AnyValue<'_>| match value {
        AnyValue::Null => "null".to_owned(),
        AnyValue::Float64(number) => number.to_string(),
        AnyValue::String(text) => text.to_owned(),
        AnyValue::StringOwned(text) => text.to_string(),
        other => other.extract::<i64>().map_or_else(|| "?".to_owned(), |number| number.to_string()),
    };
    let row = |at: usize| frame.columns().iter().map(|column| cell(column.get(at).unwrap())).collect::<Vec<_>>().join("|");
    let names = frame.columns().iter().map(|column| column.name().as_str()).collect::<Vec<_>>().join("|");
    std::iter::once(names).chain((0..frame.height()).map(row)).collect()
}

/// The statements, and how many tables each needs whole when it is split.
const STATEMENTS: &[(&str, usize)] = &[
    // Rows as they are, in the order asked for.
    ("SELECT run AS run, function_id AS function_id, self_weight AS w FROM function_costs WHERE event_id = 1 ORDER BY w DESC, run, function_id", 0),
    ("SELECT f.run AS run, f.self_weight AS w FROM function_costs AS f ORDER BY f.self_weight DESC NULLS LAST, f.run ASC LIMIT 5", 0),
    // A column that orders but is not given.
    ("SELECT c.self_weight AS w FROM function_costs AS c ORDER BY c.run DESC, c.event_id, c.function_id, c.view LIMIT 3", 1),
    // Sums over all runs: by a key, and of everything.
    ("SELECT c.function_id AS function_id, CAST(SUM(c.self_weight) AS BIGINT) AS w, CAST(COUNT(*) AS BIGINT) AS n, COUNT(DISTINCT c.run) AS runs,
      MIN(c.self_weight) AS least, MAX(c.view) AS view FROM function_costs AS c GROUP BY c.function_id ORDER BY w DESC NULLS LAST, c.function_id ASC NULLS LAST", 0),
    ("SELECT CAST(COUNT(*) AS BIGINT) AS n, MAX(self_weight) AS w FROM function_costs WHERE view = 'inlined'", 0),
    ("SELECT CAST(SUM(CASE WHEN view = 'inlined' THEN self_weight ELSE 0 END) AS DOUBLE) / CAST(NULLIF(SUM(self_weight), 0) AS DOUBLE) AS share
      FROM function_costs", 0),
    ("SELECT view AS view, CAST(SUM(self_count) AS BIGINT) AS n FROM function_costs GROUP BY view HAVING SUM(self_count) > 30 ORDER BY view", 0),
    // Joined within the runs, summed over them; a run without host facts keeps its row.
    ("SELECT h.value AS host, CAST(SUM(c.self_weight) AS BIGINT) AS w FROM function_costs AS c
      LEFT JOIN host AS h ON h.run = c.run AND h.artifact_id = c.event_id GROUP BY h.value ORDER BY w DESC NULLS LAST, host NULLS LAST", 0),
    // By run first, then over the runs.
    ("WITH per_run AS (SELECT c.run AS run, c.function_id AS function_id, CAST(SUM(c.self_weight) AS BIGINT) AS w FROM function_costs AS c GROUP BY c.run, c.function_id),
      whole AS (SELECT run AS run, CAST(SUM(w) AS BIGINT) AS w FROM per_run GROUP BY run)
      SELECT p.function_id AS function_id, CAST(COUNT(*) AS BIGINT) AS runs, MAX(CAST(p.w AS DOUBLE) / CAST(t.w AS DOUBLE)) AS top
      FROM per_run AS p JOIN whole AS t ON t.run = p.run GROUP BY p.function_id ORDER BY top DESC NULLS LAST, p.function_id", 0),
    // Numbers rows within the runs, and over all.
    ("WITH ranked AS (SELECT c.run AS run, c.function_id AS function_id, c.self_weight AS w,
        ROW_NUMBER() OVER (PARTITION BY c.run ORDER BY c.self_weight DESC, c.event_id DESC, c.function_id DESC) AS place FROM function_costs AS c)
      SELECT run AS run, function_id AS function_id, w AS w FROM ranked WHERE place = 1 ORDER BY run", 0),
    ("WITH sums AS (SELECT c.function_id AS function_id, CAST(SUM(c.self_weight) AS BIGINT) AS w FROM function_costs AS c GROUP BY c.function_id)
      SELECT function_id AS function_id, ROW_NUMBER() OVER (ORDER BY w DESC, function_id DESC) AS place FROM sums ORDER BY place, function_id", 0),
    // What distinguishes runs, and what does not.
    ("SELECT DISTINCT c.run AS run, c.view AS view FROM function_costs AS c ORDER BY run, c.view", 0),
    ("SELECT DISTINCT view AS view FROM function_costs ORDER BY view", 0),
    ("SELECT DISTINCT c.view AS view, c.event_id AS event_id FROM function_costs AS c ORDER BY c.event_id DESC, c.view LIMIT 3", 0),
    // Names with capitals, a text over two lines with a table's name behind it.
    ("WITH PerRun AS (SELECT c.run AS run, CAST(SUM(c.self_weight) AS BIGINT) AS w FROM function_costs AS c WHERE c.view <> 'a
      b' GROUP BY c.run), Most AS (SELECT MAX(w) AS w FROM PerRun), Least AS (SELECT MIN(w) AS w FROM PerRun)
      SELECT m.w AS most, l.w AS least FROM Most AS m CROSS JOIN Least AS l", 0),
    // One step of several is made once in every batch.
    ("WITH per AS (SELECT run AS run, function_id AS f, CAST(SUM(self_weight) AS BIGINT) AS w FROM function_costs GROUP BY run, function_id),
      most AS (SELECT f AS f, MAX(w) AS top FROM per GROUP BY f),
      at AS (SELECT p.f AS f, MIN(p.run) AS run FROM per AS p JOIN most AS m ON m.f = p.f AND m.top = p.w GROUP BY p.f)
      SELECT m.f AS f, m.top AS top, a.run AS run FROM most AS m JOIN at AS a ON a.f = m.f ORDER BY f", 0),
    ("SELECT AVG(self_weight) AS w FROM function_costs", 1),
    ("SELECT COUNT(DISTINCT function_id) AS n FROM function_costs", 1),
    // Two runs meet: nothing of that is by run.
    ("SELECT a.view AS kind, CAST(COUNT(*) AS BIGINT) AS n FROM function_costs AS a JOIN function_costs AS b ON a.self_weight = b.self_weight
      GROUP BY a.view ORDER BY n, kind", 1),
    ("SELECT run AS run, how AS how FROM charges WHERE share IN (SELECT MAX(share) AS share FROM charges) ORDER BY run", 1),
    ("SELECT q.run AS run, CAST(SUM(q.w) AS BIGINT) AS w FROM (SELECT run, self_weight AS w FROM function_costs WHERE event_id = 0) AS q GROUP BY q.run ORDER BY run", 0),
    ("WITH u AS (SELECT run, self_weight AS w FROM function_costs UNION ALL SELECT run, total_weight AS w FROM function_costs)
      SELECT run AS run, CAST(SUM(w) AS BIGINT) AS w FROM u GROUP BY run ORDER BY run", 0),
];

#[test]
fn batches_give_the_rows_of_all_runs_at_once() {
    let (_root, dataset) = dataset(7);
    for (sql, whole) in STATEMENTS {
        let (apart, together) = (rows(&dataset, sql, 0), rows(&dataset, sql, u64::MAX));
        assert!(together.height() > 0, "{sql}");
        assert_eq!(text(&apart), text(&together), "{sql}");
        let plan = split(sql, &["function_costs", "host", "charges"]).unwrap();
        assert_eq!(plan.whole.len(), *whole, "{sql}: {plan:?}");
    }
}

#[test]
fn a_run_is_a_column_and_absent_rows_are_absent() {
    let (_root, dataset) = dataset(4);
    let frame = rows(&dataset, "SELECT * FROM host ORDER BY run, key", 0);
    let names: Vec<&str> = frame.columns().iter().map(|column| column.name().as_str()).collect();
    assert_eq!(names, ["artifact_id", "key", "value", "number", "run"]);
    let runs: Vec<Option<&str>> = frame.column("run").unwrap().str().unwrap().iter().collect();
    // Runs 0 and 3 have no host facts.
    let expected: Vec<Option<&str>> = ["nightly-of-the-year-1", "nightly-of-the-year-2"].iter().flat_map(|id| [Some(*id); 2]).collect();
    assert_eq!(runs, expected);
    assert_eq!(rows(&dataset, "SELECT run AS run FROM syscall_events", 0).height(), 0);
    assert_eq!(dataset.tables().get("host"), Some(&2));
}

#[test]
fn columns_that_a_run_lacks_are_null() {
    use polars_io::SerReader;
    let (root, dataset) = dataset(3);
    // As a version wrote it that did not know the last column yet, and as one will that knows another.
    for (run, edit) in [(1, "drop"), (2, "add")] {
        let path = root.path().join(format!("run=nightly-of-the-year-{run}/tables/charges.parquet"));
        let mut frame = polars_io::parquet::read::ParquetReader::new(std::fs::File::open(&path).unwrap()).finish().unwrap();
        if edit == "drop" {
            frame = frame.drop("share").unwrap();
        } else {
            let column = frame.column("special").unwrap().clone().with_name("since".into());
            frame.with_column(column).unwrap();
        }
        polars_io::parquet::write::ParquetWriter::new(std::fs::File::create(&path).unwrap()).finish(&mut frame).unwrap();
    }
    for batch in [0, u64::MAX] {
        let frame = rows(&dataset, "SELECT * FROM charges ORDER BY run", batch);
        assert_eq!(
            text(&frame),
            [
                "hypothesis|special|how|share|since|run",
                "R29|R25|share|0|null|nightly-of-the-year-0",
                "R29|R25|all|null|null|nightly-of-the-year-1",
                "R29|R25|share|0.25|R25|nightly-of-the-year-2"
            ]
        );
    }
}

#[test]
fn what_needs_too_much_at_once_is_refused_before_it_is_read() {
    let (_root, dataset) = dataset(5);
    let known = known();
    let whole = "SELECT AVG(self_weight) AS w FROM function_costs";
    let error = Ask::new(&dataset, whole, &known, 900).unwrap().rows().unwrap_err().to_string();
    assert!(error.contains("every row of function_costs") && error.contains("DuckDB"), "{error}");
    // 8 rows of a run take 8 * (16 + 8) bytes and the run's name; sums of them take one row per batch.
    let sums = "SELECT CAST(SUM(self_weight) AS BIGINT) AS w FROM function_costs";
    assert_eq!(Ask::new(&dataset, sums, &known, 1000).unwrap().rows().unwrap().height(), 1);
    let error = Ask::new(&dataset, sums, &known, 100).unwrap().rows().unwrap_err().to_string();
    assert!(error.contains("of run nightly-of-the-year-"), "{error}");
}

#[test]
fn folders_that_are_no_runs_are_named() {
    let (root, _) = dataset(1);
    // Neither is what a writer is at work on, nor a file of the user's own.
    std::fs::create_dir(root.path().join(".tmp-b-1-0")).unwrap();
    std::fs::write(root.path().join("notes.txt"), "x").unwrap();
    assert_eq!(Dataset::open(root.path()).unwrap().runs().len(), 1);
    for (name, what) in [("run=007", "no run ID"), ("run=half", "no run directory")] {
        std::fs::create_dir(root.path().join(name)).unwrap();
        let error = Dataset::open(root.path()).err().unwrap().to_string();
        assert!(error.contains(name) && error.contains(what), "{error}");
        std::fs::remove_dir(root.path().join(name)).unwrap();
    }
    let empty = tempfile::tempdir().unwrap();
    assert!(Dataset::open(empty.path()).err().unwrap().to_string().contains("--dataset"));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let (root, dataset) = dataset(3);
    let file = root.path().join("run=nightly-of-the-year-1/tables/function_costs.parquet");
    let bytes = std::fs::read(&file).unwrap();
    for broken in [&b"PAR1 no Parquet PAR1"[..], &bytes[..bytes.len() / 2], &[]] {
        std::fs::write(&file, broken).unwrap();
        let known = known();
        let error = Ask::new(&dataset, "SELECT run AS run FROM function_costs", &known, 1 << 30).err().unwrap().to_string();
        assert!(error.contains("run=nightly-of-the-year-1/tables/function_costs.parquet"), "{error}");
    }
    // Others are answered all the same.
    assert_eq!(rows(&dataset, "SELECT run AS run FROM charges", 0).height(), 3);
}
