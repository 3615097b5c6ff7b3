"""Runs the snippets of notebooks/README.md and compares what they find with each other and with `perf report`; and lets
pyarrow filter and sort every column of every table, as DuckDB does: a library can read a type that it cannot compute with.

usage: snippets.py README FOLDER TRUTH
FOLDER is where a reader would be: it has tripod-out/s1-unbuffered-writes. TRUTH is what perf report says of the recording
with the most samples, one line per function: overhead; period; samples; dso; symbol.
"""
import os
import pathlib
import re
import sys

# About ten lines each, as they are easy to copy.
LINES_MAX = 14
TESTED = ["polars", "pandas and pyarrow", "DuckDB"]


def snippets(page):
    """{heading: (language, code)} of the level-three headings."""
    found = re.findall(r"^### (.+?)\n\n```(\w+)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    return {heading: (language, code) for heading, language, code in found}


def rows(top):
    """The rows of whatever a library calls a table."""
    if hasattr(top, "fetchall"):
        return top.fetchall()
    if hasattr(top, "itertuples"):
        return list(top.itertuples(index=False, name=None))
    return top.rows()


def expected(truth):
    """The five heaviest functions: name, dso, period, share."""
    lines = [line.split(";") for line in truth.read_text().splitlines() if line.strip() and not line.startswith("#")]
    known = [(symbol.split("] ", 1)[1].strip(), dso.strip(), int(period)) for _, period, _, dso, symbol in lines]
    whole = sum(period for _, _, period in known)
    return [(*own, own[2] / whole) for own in sorted(known, key=lambda own: -own[2])[:5]]


def computed(tables):
    """What pyarrow finds, filters or sorts in another way than DuckDB, or not at all."""
    import duckdb
    import pyarrow.compute as compute
    import pyarrow.parquet as parquet

    wrong = []
    for path in sorted(tables.glob("*.parquet")):
        whole = parquet.read_table(path)
        for name in whole.column_names:
            value = next((value for value in whole[name].to_pylist() if value is not None), None)
            if value is None:
                continue
            try:
                kept = whole.filter(compute.field(name) == value).num_rows
                read = parquet.read_table(path, filters=[(name, "==", value)]).num_rows
                least = whole.sort_by(name)[name][0].as_py()
            except Exception as error:  # of whatever library: that it failed at all is the finding
                wrong.append(f"{path.stem}.{name} ({whole.schema.field(name).type}): {error}")
                continue
            ask = f'SELECT CAST(COUNT(*) FILTER ("{name}" = ?) AS BIGINT), MIN("{name}") FROM read_parquet(?)'
            count, smallest = duckdb.execute(ask, [value, str(path)]).fetchone()
            if (kept, read, least) != (count, count, smallest):
                wrong.append(f"{path.stem}.{name}: pyarrow {(kept, read, least)}, DuckDB {(count, count, smallest)}")
    return wrong


def main():
    readme, folder, truth = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    found = snippets(readme.read_text(encoding="utf-8"))
    want = expected(truth)
    wrong = [f"no snippet for {name}" for name in [*TESTED, "R (arrow, dplyr)"] if name not in found]
    wrong += [f"{name}: longer than {LINES_MAX} lines" for name, (_, code) in found.items() if len(code.splitlines()) > LINES_MAX]
    os.chdir(folder)
    for name in TESTED:
        if name not in found:
            continue
        names = {}
        exec(compile(found[name][1], f"snippet for {name}", "exec"), names)
        got = rows(names["top"])
        same = len(got) == len(want) and all(
            tuple(own[:3]) == other[:3] and abs(own[3] - other[3]) < 1e-9 for own, other in zip(got, want)
        )
        if not same:
            wrong.append(f"{name}: {got}, perf report says {want}")
    for tables in sorted(folder.glob("tripod-out/*/tables")):
        wrong += computed(tables)
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
