"""Opens a run's Parquet with polars and DuckDB, checks types against the reference page and rows against Tripod's.

usage: parity.py RUN QUERIES OURS TABLES_PAGE
OURS holds one JSON file of rows per query, TABLES_PAGE what `tripod tables --docs` printed.
"""
import json
import pathlib
import re
import sys

import duckdb
import polars
import pyarrow.parquet

POLARS = {"int32": polars.Int32, "int64": polars.Int64, "float64": polars.Float64, "utf8": polars.String, "bool": polars.Boolean}
DUCKDB = {"int32": "INTEGER", "int64": "BIGINT", "float64": "DOUBLE", "utf8": "VARCHAR", "bool": "BOOLEAN"}


def documented(page):
    """{table: {column: type}} from the Markdown: `## name` headings, rows `| column | type | ...`."""
    tables, current = {}, None
    for line in page.read_text().splitlines():
        if match := re.match(r"#+ `?(\w+)`?\s*$", line):
            current = tables.setdefault(match.group(1), {})
        elif current is not None and (match := re.match(r"\| `?(\w+)`? \| `?(int32|int64|float64|utf8|bool)\b", line)):
            current[match.group(1)] = match.group(2)
    return tables


def plain(value):
    return round(value, 9) if isinstance(value, float) else value


def main():
    run, queries, ours, page = map(pathlib.Path, sys.argv[1:5])
    docs = documented(page)
    wrong = []
    files = sorted(run.glob("tables/*.parquet"))
    if not files:
        wrong.append("no Parquet files")
    db = duckdb.connect()
    for file in files:
        table = file.stem
        columns = docs.get(table)
        if not columns:
            wrong.append(f"{table}: not on the reference page")
            continue
        frame = polars.read_parquet(file)
        expected = {name: POLARS[kind] for name, kind in columns.items()}
        if dict(frame.schema) != expected:
            wrong.append(f"{table}: polars sees {dict(frame.schema)}")
        db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{file}')")
        described = {row[0]: row[1] for row in db.execute(f"DESCRIBE {table}").fetchall()}
        if described != {name: DUCKDB[kind] for name, kind in columns.items()}:
            wrong.append(f"{table}: DuckDB sees {described}")
        metadata = pyarrow.parquet.read_metadata(file).metadata or {}
        if b"tripod.schema" not in metadata:
            wrong.append(f"{table}: no schema version in the file metadata")
    have = {file.stem for file in files}
    for table, columns in docs.items():
        if table not in have and columns:
            fields = ", ".join(f"CAST(NULL AS {DUCKDB[kind]}) AS {name}" for name, kind in columns.items())
            db.execute(f"CREATE VIEW {table} AS SELECT {fields} WHERE false")
    compared = 0
    for query in sorted(queries.glob("*.sql")):
        result = db.execute(query.read_text())
        names = [column[0] for column in result.description]
        theirs = [tuple(map(plain, row)) for row in result.fetchall()]
        mine = json.loads((ours / f"{query.stem}.json").read_text())
        mine = [tuple(plain(row[name]) for name in names) for row in mine]
        compared += 1
        if mine != theirs:
            first = next((pair for pair in zip(mine, theirs) if pair[0] != pair[1]), (len(mine), len(theirs)))
            wrong.append(f"{query.name}: {len(mine)} rows against {len(theirs)}; first difference {first}")
    if compared < 5:
        wrong.append(f"only {compared} queries compared")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
