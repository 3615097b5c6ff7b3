"""The same questions to polars (the program itself), DuckDB and Spark: equal columns, types and rows.

usage: parity.py types PAGE ROOT QUERIES                every Parquet file of every run has the documented columns and types
       parity.py duckdb PAGE ROOT QUERIES ANSWERS       all of QUERIES but fleet, on polars and DuckDB, run by run
       parity.py spark PAGE ROOT QUERIES TRIPOD         QUERIES/views on all three: over all runs in one, and over a few by themselves
       parity.py fleet PAGE ROOT QUERIES TRIPOD COUNT   QUERIES/fleet on all three: over ROOT, and over COUNT runs made from those of ROOT
       parity.py ready                                  whether Spark can run here
PAGE is what `tripod tables --docs` printed, ROOT a folder of runs (run=ID), QUERIES the project's queries/. ANSWERS holds what the engine
gave (drivers/answers.rs): run=ID/FOLDER/NAME.parquet, or .error, and questions/FOLDER/NAME.sql. A SELECT of a hypothesis is asked of those runs
that have what it needs, as the program does, and all are asked of the first run.

Ends with 0 where all is equal, 1 where something differs, 3 where an engine is not there (the reason is printed).

What counts as equal: the same column names in the same order; the same types, except that the scorer reads whole numbers of hypotheses
and quality checks as 64 bit, whatever their width (WIDTHS); the same rows, in the same order where the query says one (explore, fleet). Two
DOUBLE are equal up to a billionth (TOLERANCE): their sums differ in the last digit with the order of the rows. Everything else is equal exactly.
"""
import concurrent.futures
import math
import pathlib
import sys
import tempfile
import time

import duckdb
import pyarrow
import pyarrow.parquet

import engines
import vary

TOLERANCE = 1e-9
# Pairs of types that the reader of these results does not tell apart.
WIDTHS = {"hypotheses": {"int32", "int64", "uint32"}, "quality": {"int32", "int64", "uint32"}}
# Whose rows come in an order.
ORDERED = {"explore", "fleet"}
# Spark takes a second for each view of each run, so it sees all runs at once (`vary.union`) and these few by themselves.
SPARK_ALONE = 1
# The tables that rules see beside those in files.
MADE = ("admitted", "reference")
JOBS = 2


class Report:
    def __init__(self):
        self.wrong, self.compared, self.rows, self.empty = [], 0, 0, 0

    def add(self, what, folder, answers):
        """`answers`: (engine, table or exception); the first is what the others are held against."""
        self.compared += 1
        failed = [f"{what}: {engine}: {answer}" for engine, answer in answers if isinstance(answer, Exception)]
        if failed:
            self.wrong += failed
            return
        (first, mine), *others = answers
        self.rows += mine.num_rows
        self.empty += mine.num_rows == 0
        for engine, theirs in others:
            if difference := differs(mine, theirs, folder):
                self.wrong.append(f"{what}: {first} against {engine}: {difference}")

    def take(self, other):
        self.wrong += other.wrong
        self.compared, self.rows, self.empty = self.compared + other.compared, self.rows + other.rows, self.empty + other.empty

    def end(self, summary):
        print(f"{summary}: {self.compared} comparisons, {self.rows} rows, {self.empty} answers without rows, {len(self.wrong)} differ")
        print("\n".join(self.wrong[:40]))
        if len(self.wrong) > 40:
            print(f"... and {len(self.wrong) - 40} more")
        return 1 if self.wrong else 0


def differs(mine, theirs, folder):
    """What is not equal in two answers, or None."""
    if mine.column_names != theirs.column_names:
        return f"columns {mine.column_names} against {theirs.column_names}"
    for name in mine.column_names:
        types = {engines.type_name(table.schema.field(name).type) for table in (mine, theirs)}
        if len(types) > 1 and not types <= WIDTHS.get(folder, set()):
            return f"{name} is {engines.type_name(mine.schema.field(name).type)} against {engines.type_name(theirs.schema.field(name).type)}"
    left, right = rows(mine), rows(theirs)
    if folder not in ORDERED:
        left, right = sorted(left, key=sort_key), sorted(right, key=sort_key)
    if len(left) != len(right):
        return f"{len(left)} rows against {len(right)}"
    for at, (one, other) in enumerate(zip(left, right)):
        if one != other and not all(map(same, one, other)):
            return f"row {at}: {one} against {other}"
    return None


def rows(table):
    return list(zip(*(table.column(at).to_pylist() for at in range(table.num_columns))))


def sort_key(row):
    """Whole numbers and texts first: a DOUBLE may differ in its last digit."""
    exact = [(cell is None, "" if cell is None else str(cell)) for cell in row if not isinstance(cell, float)]
    return exact, [round(cell, 6) for cell in row if isinstance(cell, float)]


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-300) or math.isnan(one) and math.isnan(other)
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def text(file):
    return "\n".join(line for line in file.read_text().splitlines() if not line.lstrip().startswith("--")).strip().rstrip(";")


def view_name(file):
    return file.stem.split("_", 1)[1]


def attempt(ask, *arguments, **named):
    try:
        return ask(*arguments, **named)
    except Exception as error:  # noqa: BLE001: whatever an engine says is what the report says
        return RuntimeError(str(error).strip().split("\n")[0][:300])


def types(page, root):
    """Every file has the columns, types and metadata that the table reference promises, in three readers."""
    docs, report = engines.documented(page), Report()
    for run in vary.runs_of(root):
        for file in sorted((run / "tables").glob("*.parquet")):
            schema = pyarrow.parquet.read_schema(file)
            seen = {field.name: engines.type_name(field.type) for field in schema}
            described = {row[0]: row[1] for row in duckdb.sql(f"DESCRIBE SELECT * FROM read_parquet('{file}', hive_partitioning = false)").fetchall()}
            expected = docs.get(file.stem)
            report.compared += 1
            if seen != expected:
                report.wrong.append(f"{run.name}: {file.stem} has {seen}, not {expected}")
            elif any(field.type == pyarrow.string_view() for field in schema):
                report.wrong.append(f"{run.name}: {file.stem} has text as string_view, which pyarrow neither filters nor sorts")
            elif described != {name: engines.DUCKDB_TYPES[kind] for name, kind in expected.items()}:
                report.wrong.append(f"{run.name}: {file.stem}: DuckDB sees {described}")
            if b"tripod.schema" not in (pyarrow.parquet.read_metadata(file).metadata or {}):
                report.wrong.append(f"{run.name}: {file.stem}: no schema version in the file metadata")
    return report.end("types of files")


def views_of(report, what, queries, polars, others, jobs):
    """Every view on every engine, in order; each is a table for those after it."""
    files = sorted((queries / "views").glob("*.sql"))
    mine = list(jobs.map(lambda name: attempt(polars.ask, sql=f"SELECT * FROM {name}"), [*MADE, *map(view_name, files)]))
    for name, answer in zip(MADE, mine):
        if isinstance(answer, Exception):
            report.wrong.append(f"{what}: {name}: {answer}")
            return
        for engine in others:
            engine.add(name, answer)
    for file, answer in zip(files, mine[len(MADE):]):
        theirs = [(engine.name, attempt(engine.keep, view_name(file), text(file))) for engine in others]
        report.add(f"{what}: views/{file.name}", "views", [(polars.name, answer), *theirs])


def given(answers, name):
    """What the engine gave."""
    error = answers / f"{name}.error"
    return RuntimeError(error.read_text()[:300]) if error.exists() else pyarrow.parquet.read_table(answers / f"{name}.parquet")


def one_run(docs, run, queries, answers):
    """Every view, then every question that was asked of this run."""
    report, db, mine, asked = Report(), engines.DuckDB(docs, copy=True).open_run(run), answers / run.name, set()
    for name in MADE:
        db.add(name, pyarrow.parquet.read_table(mine / f"{name}.parquet"))
    for file in sorted((queries / "views").glob("*.sql")):
        theirs = attempt(db.keep, view_name(file), text(file))
        report.add(f"{run.name}: views/{file.name}", "views", [("polars", given(mine, f"views/{file.stem}")), (db.name, theirs)])
    for file in sorted((answers / "questions").glob("*/*.sql")):
        folder, name = file.parent.name, f"{file.parent.name}/{file.stem}"
        if (mine / f"{name}.parquet").exists() or (mine / f"{name}.error").exists():
            asked.add(name)
            report.add(f"{run.name}: {name}", folder, [("polars", given(mine, name)), (db.name, attempt(db.ask, file.read_text()))])
    return report, asked


def by_run(page, root, queries, answers):
    docs, report, asked = engines.documented(page), Report(), set()
    runs, known = vary.runs_of(root), {f"{file.parent.name}/{file.stem}" for file in (answers / "questions").glob("*/*.sql")}
    with concurrent.futures.ProcessPoolExecutor(JOBS) as jobs:
        for own, names in jobs.map(one_run, *zip(*((docs, run, queries, answers) for run in runs))):
            report.take(own)
            asked |= names
    if len(known) < 200 or not runs or asked != known:
        report.wrong.append(f"{len(runs)} runs, {len(known)} queries, never asked: {sorted(known - asked)}")
    return report.end(f"{len(known)} SELECTs and all views on polars and DuckDB over {len(runs)} runs")


def spark_views(page, root, queries, tripod):
    docs, report, runs = engines.documented(page), Report(), vary.runs_of(root)
    spark = engines.Spark(docs, [text(file) for file in (queries / "views").glob("*.sql")])
    alone = runs[:: max(1, len(runs) // SPARK_ALONE)][:SPARK_ALONE]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(JOBS) as jobs:
        whole = pathlib.Path(scratch) / "union"
        vary.union(root, whole)
        for run in [whole, *alone]:
            others = [engines.DuckDB(docs, copy=True).open_run(run), spark.open_run(run)]
            views_of(report, run.name, queries, engines.Polars(tripod, run, scratch), others, jobs)
    spark.close()
    names = ", ".join(run.name.removeprefix("run=") for run in alone)
    print(f"Spark over every run would take a second for each view of each: it saw the {len(runs)} runs as one, and {names} by themselves")
    return report.end("views on polars, DuckDB and Spark")


def fleet_of(report, what, docs, root, queries, polars, spark, jobs):
    files = sorted((queries / "fleet").glob("*.sql"))
    others = [engines.DuckDB(docs).open_dataset(root), engines.PythonPolars(docs).open_dataset(root)]
    if spark:
        others.append(spark.open_dataset(root))
    pending = [jobs.submit(attempt, polars.ask, file=file) for file in files]
    for file, mine in zip(files, pending):
        answers = [(polars.name, mine.result())] + [(engine.name, attempt(engine.ask, text(file))) for engine in others]
        report.add(f"{what}: fleet/{file.name}", "fleet", answers)


def fleet(page, root, queries, tripod, count):
    docs, report = engines.documented(page), Report()
    spark = engines.Spark(docs, [text(file) for file in (queries / "fleet").glob("*.sql")])
    with tempfile.TemporaryDirectory(dir=root.parent) as scratch, concurrent.futures.ThreadPoolExecutor(JOBS) as jobs:
        many = pathlib.Path(scratch) / "many"
        vary.dataset(root, many, count)
        for place, what in ((root, "scenarios"), (many, f"{count} made runs")):
            fleet_of(report, what, docs, place, queries, engines.Polars(tripod, place, scratch), spark if place == many else None, jobs)
    spark.close()
    print("Spark saw the made runs only: every scenario is among them, unless there are fewer runs than scenarios")
    return report.end(f"fleet queries on polars, DuckDB and Spark over {len(vary.runs_of(root))} scenarios and {count} runs made from them")


def main():
    what, *places = sys.argv[1:]
    if what in ("spark", "fleet", "ready") and (reason := engines.Spark.missing()):
        print(reason)
        return 3
    if what == "ready":
        return 0
    page, root, queries, *rest = map(pathlib.Path, places)
    start = time.monotonic()
    match what:
        case "types":
            code = types(page, root)
        case "duckdb":
            code = by_run(page, root, queries, rest[0])
        case "spark":
            code = spark_views(page, root, queries, rest[0])
        case "fleet":
            code = fleet(page, root, queries, rest[0], int(str(rest[1])))
        case _:
            sys.exit(__doc__)
    print(f"{what}: {time.monotonic() - start:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
