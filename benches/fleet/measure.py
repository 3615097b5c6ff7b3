"""Asks a dataset the questions of queries/fleet on Tripod and on DuckDB; called by benches/fleet.sh.

usage: measure.py TRIPOD DIR REPEAT          (DIR/runs is the dataset, DIR/written.json what its writer said)
       measure.py --duckdb ROOT QUERY        one query on DuckDB, in a process of its own
"""
import csv
import io
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
QUERIES = HERE.parent.parent / "queries" / "fleet"
# DuckDB may take so much memory and time for one query; what it cannot do with it is printed as such.
LIMIT_GIB, LIMIT_S = 6, 600
WRITTEN = {"samples": "their table alone", "parquet": "all tables of their runs with them"}
# What no question of queries/fleet does: it reads every sample.
SAMPLES = """SELECT run AS run, event_id AS event_id, CAST(COUNT(weight) AS BIGINT) AS n, CAST(SUM(weight) AS BIGINT) AS weight
FROM samples GROUP BY run, event_id ORDER BY run ASC NULLS LAST, event_id ASC NULLS LAST
"""


def on_duckdb(root, query):
    """Rows, seconds and peak memory of one query, without the start of Python."""
    import duckdb

    sql = pathlib.Path(query).read_text()
    there = set()
    for run in pathlib.Path(root).glob("run=*"):
        there.update(path.stem for path in run.glob("tables/*.parquet"))
    started, used = time.perf_counter(), time.process_time()
    db = duckdb.connect()
    db.execute(f"SET memory_limit = '{LIMIT_GIB}GiB'")
    for table in sorted(there & set(re.findall(r"\w+", sql))):
        files = f"{root}/run=*/tables/{table}.parquet"
        options = "hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true"
        db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{files}', {options})")
    rows = len(db.execute(sql).fetchall())
    print(json.dumps({
        "rows": rows, "wall": time.perf_counter() - started, "cpu": time.process_time() - used,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }))


def child(words):
    """Runs a command: exit code, output, wall and CPU seconds, peak memory."""
    with tempfile.TemporaryFile() as out:
        started = time.perf_counter()
        process = subprocess.Popen(words, stdout=out)
        alarm = threading.Timer(LIMIT_S, process.kill)
        alarm.start()
        _, status, usage = os.wait4(process.pid, 0)
        alarm.cancel()
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        cost = {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss * 1024}
        return process.returncode, out.read(), cost


def by_duckdb(root, query):
    """What on_duckdb says in a process of its own; what it had used where it did not end."""
    code, out, cost = child([sys.executable, __file__, "--duckdb", root, query])
    return json.loads(out) if code == 0 else {"rows": None, **cost}


def on_tripod(tripod, root, query):
    words = [tripod, "query", root, "--file", query, "--format", "csv"]
    code, out, cost = child(words)
    if code != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit code {code}")
    # One line more than rows; a text may hold line breaks, so count by a reader.
    return {"rows": sum(1 for _ in csv.reader(io.StringIO(out.decode()))) - 1, **cost}


def median(costs, key):
    return statistics.median(cost[key] for cost in costs)


def size(root, pattern):
    return sum(path.stat().st_size for path in root.glob(pattern))


def main(tripod, folder, repeat):
    root = folder / "runs"
    written = json.loads((folder / "written.json").read_text())
    samples, runs = written["samples"], written["runs"]
    print(f"{runs} runs, {samples / 1e6:.1f} M samples; load {os.getloadavg()[0]:.2f} on {os.cpu_count()} CPUs")
    print(f"on disk: {size(root, 'run=*/tables/samples.parquet') / samples:.2f} bytes per sample in its table, "
          f"{size(root, 'run=*/tables/*.parquet') / samples:.2f} with all tables ({size(root, 'run=*/**/*') / 1e9:.2f} GB)")
    for what in ("samples", "parquet"):
        # A dataset that is there may be an older one, whose writer did not say.
        if cost := written.get(f"{what}_cpu_ms"):
            print(f"written: {samples / cost / 1000:.2f} M samples per CPU second into Parquet, {WRITTEN[what]}")
    tenth = folder / "tenth"
    tenth.mkdir(exist_ok=True)
    for link in tenth.iterdir():
        link.unlink()
    for run in sorted(root.glob("run=*"))[::10]:
        (tenth / run.name).symlink_to(run.resolve())
    every = folder / "every_sample.sql"
    every.write_text(SAMPLES)
    print(f"{'query':28} {'rows':>7} {'tripod s':>9} {'DuckDB s':>9} {'ratio':>6} {'CPU s':>7} {'DuckDB':>7} {'peak MiB':>8} {'DuckDB':>7} {'a tenth s':>9} {'times':>6}")
    for query in sorted(QUERIES.glob("*.sql")) + [every]:
        ours, theirs, part = [], [], []
        for _ in range(repeat):
            ours.append(on_tripod(tripod, root, query))
            theirs.append(by_duckdb(root, query))
            part.append(on_tripod(tripod, tenth, query))
        if theirs[0]["rows"] is None:
            print(f"{query.stem}: DuckDB did not end within {LIMIT_GIB} GiB and {LIMIT_S} s")
        elif ours[0]["rows"] != theirs[0]["rows"]:
            print(f"{query.stem}: {ours[0]['rows']} rows, DuckDB has {theirs[0]['rows']}")
        print(f"{query.stem:28} {ours[0]['rows']:7} {median(ours, 'wall'):9.2f} {median(theirs, 'wall'):9.2f} "
              f"{median(ours, 'wall') / median(theirs, 'wall'):6.2f} {median(ours, 'cpu'):7.2f} {median(theirs, 'cpu'):7.2f} "
              f"{max(cost['rss'] for cost in ours) / 2**20:8.0f} {max(cost['rss'] for cost in theirs) / 2**20:7.0f} "
              f"{median(part, 'wall'):9.2f} {median(ours, 'wall') / median(part, 'wall'):6.1f}")


if sys.argv[1] == "--duckdb":
    on_duckdb(*sys.argv[2:4])
else:
    main(sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]))
