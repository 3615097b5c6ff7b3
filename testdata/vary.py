"""Runs made from runs: many that differ (`dataset`), or one that holds all (`union`). The same input gives the same files.

usage: vary.py dataset FROM TO COUNT    FROM and TO are folders of run=ID
       vary.py union FROM TO            TO is one run directory; ids are moved so that those of two runs never meet
"""
import json
import os
import pathlib
import shutil
import sys

import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet

# Which ids a column holds. Every column with the unit `id` is here; `union` fails on one that is not.
SPACES = {
    "artifact_id": "artifact", "other_artifact_id": "artifact", "stands_in": "artifact", "execution_id": "execution", "event_id": "event",
    "process_id": "process", "parent_process_id": "process", "thread_id": "thread", "waker_thread_id": "thread", "dso_id": "dso", "leaf_dso_id": "dso",
    "function_id": "function", "leaf_function_id": "function", "class_function_id": "function", "site_function_id": "function",
    "frame_id": "frame", "stack_id": "stack", "parent_stack_id": "stack", "waker_stack_id": "stack", "series_id": "series",
}
# Columns in which the sums of a run are; all of them grow by the same factor, so that they still agree.
WEIGHTS = {
    "events": ["total_weight", "target_weight"], "function_costs": ["self_weight", "total_weight"], "stack_costs": ["self_weight"],
    "thread_weights": ["self_weight"],
    "hotspots": ["weight", "whole"],
}
# Nullable columns that "an older Tripod" did not write.
YOUNG = {"hypotheses": ["status"], "dsos": ["optimized_places", "plain_places"], "executions": ["places"],
    "stack_costs": ["site_function_id", "caller_certain", "reaches_start", "classes"],
}
HOSTS = ["web-1", "web-2", "web-3", "batch 7", "bücher-ü", "o'brien", "db-1", "db-2", "edge"]


def runs_of(root):
    return sorted(path for path in pathlib.Path(root).glob("run=*") if path.is_dir())


def write(table, file):
    parquet.write_table(table, file, compression="zstd")


def replace(table, column, values):
    at = table.schema.get_field_index(column)
    field = table.schema.field(at)
    return table.set_column(at, field, values.cast(field.type))


def scaled(table, columns, factor):
    for column in columns:
        table = replace(table, column, compute.multiply(table[column], pyarrow.scalar(factor, pyarrow.int64())))
    return table


def with_host(table, hostname):
    values = [hostname if key == "hostname" else value for key, value in zip(table["key"].to_pylist(), table["value"].to_pylist())]
    return replace(table, "value", pyarrow.array(values, pyarrow.string()))


def moved(table, name, at):
    """Hypotheses and hotspots that differ from run to run, so that frequencies do."""
    if name == "hypotheses":
        opportunity = [value if value is None or (row + at) % 5 else value / 2 for row, value in enumerate(table["opportunity"].to_pylist())]
        handed = [bool(value) and (opportunity[row] or 0) >= 2 for row, value in enumerate(table["handed_off"].to_pylist())]
        table = replace(table, "opportunity", pyarrow.array(opportunity, pyarrow.float64()))
        return replace(table, "handed_off", pyarrow.array(handed, pyarrow.bool_()))
    shares = [value if value is None or (row + at) % 4 else value / 3 for row, value in enumerate(table["wall_share"].to_pylist())]
    return replace(table, "wall_share", pyarrow.array(shares, pyarrow.float64()))


def risen(costs, events, function_id, extra):
    """`extra` more of each event's weight for one function, and for the event."""
    whole = dict(zip(events["event_id"].to_pylist(), events["target_weight"].to_pylist()))
    more = {event: weight * extra // 100 for event, weight in whole.items()}
    rows = zip(costs["event_id"].to_pylist(), costs["function_id"].to_pylist())
    hit = [more.get(event, 0) if function == function_id else 0 for event, function in rows]
    for column in ("self_weight", "total_weight"):
        costs = replace(costs, column, compute.add(costs[column], pyarrow.array(hit, pyarrow.int64())))
    touched = {event for event, add in zip(costs["event_id"].to_pylist(), hit) if add}
    add = pyarrow.array([more[event] if event in touched else 0 for event in events["event_id"].to_pylist()], pyarrow.int64())
    for column in ("total_weight", "target_weight"):
        events = replace(events, column, compute.add(events[column], add))
    return costs, events


def riser(tables):
    """The function that rises in later runs: the third by self weight, so that it is somewhere in the middle before."""
    if "function_costs" not in tables:
        return None
    costs = tables["function_costs"]
    rows = sorted(zip(costs["self_weight"].to_pylist(), costs["function_id"].to_pylist()), reverse=True)
    return rows[min(2, len(rows) - 1)][1]


def varied(source, target, at, count):
    """One run of the dataset. Tables that stay as they are are linked, not copied."""
    (target / "tables").mkdir(parents=True)
    shutil.copy(source / "summary.json", target / "summary.json")
    changing = {*WEIGHTS, *YOUNG, "host"}
    tables = {}
    for file in sorted((source / "tables").glob("*.parquet")):
        if file.stem in changing:
            tables[file.stem] = parquet.read_table(file)
        else:
            os.link(file, target / "tables" / file.name)
    function_id = riser(tables)
    for name, columns in WEIGHTS.items():
        if name in tables:
            tables[name] = scaled(tables[name], columns, 1 + at * 7 % 11)
    if function_id is not None and at >= count * 2 // 3 and at % 17:
        tables["function_costs"], tables["events"] = risen(tables["function_costs"], tables["events"], function_id, 10 + at % 30)
    for name in ("hypotheses", "hotspots"):
        if name in tables:
            tables[name] = moved(tables[name], name, at)
    if "host" in tables and at % 10:
        tables["host"] = with_host(tables["host"], HOSTS[at % len(HOSTS)])
    for name, columns in YOUNG.items():
        if name in tables and at < count // 4:
            tables[name] = tables[name].drop_columns([column for column in columns if column in tables[name].column_names])
    for name, table in tables.items():
        write(table, target / "tables" / f"{name}.parquet")


def dataset(source, target, count):
    sources = runs_of(source)
    for at in range(count):
        own = sources[at % len(sources)]
        scenario = own.name.removeprefix("run=")
        varied(own, pathlib.Path(target) / f"run=v{at:04}-{scenario}", at, count)


def union(source, target):
    """All runs in one. Paths of artifacts begin with the run, so that they stay different."""
    sources, target = runs_of(source), pathlib.Path(target)
    (target / "tables").mkdir(parents=True)
    shutil.copy(sources[0] / "summary.json", target / "summary.json")
    offsets, collected = {}, {}
    for run in sources:
        tables = {file.stem: parquet.read_table(file) for file in sorted((run / "tables").glob("*.parquet"))}
        highest = {}
        for name, table in tables.items():
            for column in table.column_names:
                space = SPACES.get(column)
                if space is None:
                    if column.endswith("_id") and pyarrow.types.is_integer(table.schema.field(column).type):
                        raise SystemExit(f"{name}.{column}: an id that vary.py does not know")
                    continue
                top = compute.max(table[column]).as_py()
                highest[space] = max(highest.get(space, -1), -1 if top is None else top)
                shifted = compute.add(table[column], pyarrow.scalar(offsets.get(space, 0), table.schema.field(column).type))
                table = replace(table, column, shifted)
            if name == "artifacts":
                table = replace(table, "path", pyarrow.array([f"{run.name}/{path}" for path in table["path"].to_pylist()]))
            collected.setdefault(name, []).append(table)
        for space, top in highest.items():
            offsets[space] = offsets.get(space, 0) + top + 1
    for name, parts in collected.items():
        write(pyarrow.concat_tables(parts), target / "tables" / f"{name}.parquet")
    (target / "union.json").write_text(json.dumps([run.name for run in sources]))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["dataset", source, target, count]:
            dataset(source, target, int(count))
        case ["union", source, target]:
            union(source, target)
        case _:
            sys.exit(__doc__)
