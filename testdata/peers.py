"""Compares a run's tables with what the other tools said about the same files (testdata/truth, made by truth.sh).

usage: peers.py RUN SCENARIO TRUTH
Shares no code with Tripod: reads the Parquet with polars and the other tools' text by itself.
"""
import pathlib
import re
import struct
import subprocess
import sys

import polars as pl

run, scenario, truth = map(pathlib.Path, sys.argv[1:4])
wrong = []


def table(name):
    file = run / "tables" / f"{name}.parquet"
    return pl.read_parquet(file) if file.exists() else None


def text(path):
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", str(path)], check=True, capture_output=True).stdout.decode()
    return path.read_text()


def tsv(path):
    lines = path.read_text().splitlines()
    header = lines[0].split("\t")
    return [dict(zip(header, line.split("\t"))) for line in lines[1:]]


artifacts = table("artifacts")


def artifact(path):
    rows = artifacts.filter(pl.col("path") == path)
    return rows["artifact_id"][0] if rows.height else None


def kernel_text():
    """Address of _text in the recorded kernel, from the kallsyms beside the recordings."""
    for file in (scenario.parent / "symbols").glob("kallsyms*"):
        if file.suffix == ".json":
            continue
        for line in text(file).splitlines():
            parts = line.split()
            if len(parts) >= 3 and parts[2] == "_text":
                return int(parts[0], 16)
    return None


def segments(dso):
    """(file offset, size, address) of the loaded parts of a program, from its ELF program headers (64 bit, little endian)."""
    for file in (scenario.parent / "symbols").glob(f"{dso}.zst"):
        data = subprocess.run(["zstd", "-dcq", str(file)], capture_output=True, check=True).stdout
        at, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
        headers = [struct.unpack_from("<IIQQQQ", data, at + size * index) for index in range(count)]
        return [(offset, length, address) for kind, _, offset, address, _, length in headers if kind == 1]
    return []


def address(dso, offset):
    """Where an offset in the file is loaded: what perf script's addresses count from, and what our tables have."""
    if dso not in loaded:
        loaded[dso] = segments(dso)
    return next((start + offset - begin for begin, length, start in loaded[dso] if begin <= offset < begin + length), offset)


loaded = {}


def check_events(stem, path):
    events = table("events").filter(pl.col("artifact_id") == artifact(path))
    for row in tsv(truth / f"{stem}.events.tsv"):
        ours = events.filter(pl.col("name") == row["event"])
        found = (ours["n"].sum(), ours["total_weight"].sum()) if ours.height else None
        if found != (int(row["samples"]), int(row["period"])):
            wrong.append(f"{path}: event {row['event']}: perf {row['samples']} samples, {row['period']}; ours {found}")


def check_self(stem, path):
    """Self weight per (dso, symbol address), not inlined, against the leaf frames of perf script."""
    events = table("events").filter(pl.col("artifact_id") == artifact(path))
    samples, stacks, frames, dsos = table("samples"), table("stacks"), table("frames"), table("dsos")
    frame = {row["frame_id"]: row for row in frames.iter_rows(named=True)}
    parent = dict(zip(stacks["stack_id"], stacks["parent_stack_id"]))
    frame_of = dict(zip(stacks["stack_id"], stacks["frame_id"]))
    dso_name = dict(zip(dsos["dso_id"], dsos["name"]))
    names = dict(zip(table("functions")["function_id"], table("functions")["name"]))
    # s19's hundred libraries are not among the committed symbols, and perf had them at hand: compared as a whole.
    sourced = {row["name"] for row in dsos.iter_rows(named=True) if row["symbol_source"] is not None}
    nameless = {row["name"] for row in dsos.iter_rows(named=True) if row["name"].startswith("s19lib")} - sourced
    base = kernel_text()
    for event in events.iter_rows(named=True):
        if event["name"].startswith("lock:"):
            # These become rows of lock_contentions; --keep-tracepoints would keep them as samples.
            continue
        theirs, init = {}, {}
        for row in tsv(truth / f"{stem}.leaf.tsv"):
            if row["event"] != event["name"]:
                continue
            kernel = row["dso"].startswith("[kernel")
            named = not row["symbol"].startswith("[unknown]") and row["symbol"]
            dso = row["dso"].rsplit("/", 1)[-1]
            if not named or dso in nameless:
                key = ("unnamed", dso)
            elif kernel:
                key = (dso, int(row["avma"], 16) - base) if base else (dso, None)
            else:
                key = (dso, address(dso, int(row["file_offset"], 16)) if row["file_offset"] else None)
                if row["symbol"] == "_init":
                    init[dso] = key
            theirs[key] = theirs.get(key, 0) + int(row["period"])
        ours = {}
        costs = samples.filter(pl.col("event_id") == event["event_id"]).group_by("stack_id").agg(pl.col("weight").sum())
        for stack, weight in costs.iter_rows():
            node = stack
            while node is not None and frame[frame_of[node]]["is_inlined"]:
                node = parent[node]
            leaf = frame[frame_of[node]] if node is not None else None
            dso = dso_name.get(leaf["dso_id"], "[unknown]") if leaf else "[unknown]"
            key = ("unnamed", dso) if leaf is None or leaf["symbol_rel"] is None else (dso, leaf["symbol_rel"])
            # perf 6.1 leaves the first PLT slot (0x1030 of s3: free@plt, says objdump) to _init before it.
            if leaf and (names.get(leaf["function_id"]) or "").endswith("@plt") and key not in theirs:
                key = init.get(dso, key)
            ours[key] = ours.get(key, 0) + weight
        total = sum(theirs.values())
        if sum(ours.values()) != total:
            wrong.append(f"{path}: {event['name']}: self weights sum to {sum(ours.values())}, perf's to {total}")
        for key in sorted(set(ours) | set(theirs), key=str):
            difference = abs(ours.get(key, 0) - theirs.get(key, 0)) / max(total, 1)
            if difference > 0.001:
                place = key if not isinstance(key[1], int) else (key[0], hex(key[1]))
                wrong.append(f"{path}: {event['name']}: {place}: ours {ours.get(key, 0)}, perf {theirs.get(key, 0)} of {total}")


def check_sched(path):
    """Wait on closed intervals per thread within 1 % of perf sched timehist; the states sum to the window."""
    if table("thread_states") is None or table("waits") is None:
        wrong.append(f"{path}: no thread states or no waits")
        return
    states = table("thread_states").filter(pl.col("artifact_id") == artifact(path))
    columns = ["on_cpu_ns", "runnable_ns", "lock_ns", "sleep_ns", "fsync_ns", "disk_ns", "other_ns", "unknown_ns"]
    for row in states.iter_rows(named=True):
        if sum(row[column] for column in columns) != row["window_ns"]:
            wrong.append(f"{path}: thread {row['thread_id']}: the states do not sum to the window")
    threads = table("threads")
    waits = table("waits").filter(pl.col("artifact_id") == artifact(path))
    clipped = waits.filter(pl.col("clipped")).group_by("thread_id").agg(pl.len().alias("n"), pl.col("dur_ns").sum())
    clipped = {thread: (n, ns / 1000) for thread, n, ns in clipped.iter_rows()}
    # The wait of a thread from its birth to its first turn on a CPU: timehist has no switch-out from which to count it.
    first = waits.filter(~pl.col("clipped") & (pl.col("reason") == "preempted")).sort("start_ns").group_by("thread_id", maintain_order=True)
    first = {thread: ns / 1000 for thread, ns in first.agg(pl.col("dur_ns").first()).iter_rows()}
    # timehist's wait time runs from switch-out to switch-in: the wait and the scheduling delay after it.
    last = waits.filter(~pl.col("clipped")).sort("start_ns").group_by("thread_id")
    last = last.agg((pl.col("dur_ns") + pl.col("runnable_ns").fill_null(0)).last())
    last = {thread: ns / 1000 for thread, ns in last.iter_rows()}
    count = dict(waits.group_by("thread_id").len().iter_rows())
    sums = waits.filter(~pl.col("clipped")).group_by("thread_id").agg((pl.col("dur_ns") + pl.col("runnable_ns").fill_null(0)).sum())
    sums = dict(zip(sums["thread_id"], sums["dur_ns"]))
    pids = dict(zip(table("processes")["process_id"], table("processes")["pid"]))
    targets = threads.filter((pl.col("artifact_id") == artifact(path)) & pl.col("is_target"))
    compared = 0
    truth_rows = {}
    for row in tsv(truth / "sched.threads.tsv"):
        # A thread that was renamed has a row for each name.
        if match := re.search(r"\[(-?\d+)(?:/-?\d+)?\]$", row["thread"]):
            sums_of = truth_rows.setdefault(int(match.group(1)), {"switches_out": 0, "wait_us": 0})
            for column in sums_of:
                sums_of[column] += int(row[column])
    for row in targets.iter_rows(named=True):
        theirs = truth_rows.get(row["tid"])
        n, cut = clipped.get(row["thread_id"], (0, 0))
        # Where switch-in events were lost, timehist counts the time until the next switch as running: not comparable.
        # Under -1 it adds up threads of all processes that were gone already.
        if theirs is None or row["tid"] < 0 or n > 0.02 * max(int(theirs["switches_out"]), 100):
            continue
        ours, wait = sums.get(row["thread_id"], 0) / 1000, int(theirs["wait_us"])
        compared += 1
        # What is cut off may be in timehist's sum in part.
        # Each of timehist's lines is cut to whole microseconds. It stands at the switch-out after the wait, so the last one
        # of a thread other than the main one has the thread -1.
        is_main = pids.get(row["process_id"]) == row["tid"]
        ended = 0 if is_main else last.get(row["thread_id"], 0)
        least = ours - first.get(row["thread_id"], 0) - ended - count.get(row["thread_id"], 0)
        most = ours + cut
        slack = 0.01 * max(wait, 1000)
        if not least - slack <= wait <= most + slack:
            wrong.append(f"{path}: thread {row['tid']}: wait {ours:.0f} us ({least:.0f} to {most:.0f}), timehist {wait} us")
    print(f"{path}: waits of {compared} of {targets.height} threads compared with timehist")


def check_strace(path):
    """Rows of strace -c, exactly."""
    ours = table("syscalls").filter(pl.col("artifact_id") == artifact(path))
    found = {row["name"]: (row["calls"], row["errors"], row["total_ns"]) for row in ours.iter_rows(named=True)}
    theirs = {}
    for line in text(scenario / path).splitlines():
        fields = line.split()
        if len(fields) in (5, 6) and re.fullmatch(r"[\d.]+", fields[0]) and fields[-1] != "total":
            errors = int(fields[4]) if len(fields) == 6 else None
            theirs[fields[-1]] = (int(fields[3]), errors, round(float(fields[1]) * 1e9))
    clean = lambda rows: {name: (calls, errors or 0, total) for name, (calls, errors, total) in rows.items()}
    if clean(found) != clean(theirs):
        names = [name for name in set(found) | set(theirs) if clean(found).get(name) != clean(theirs).get(name)]
        wrong.append(f"{path}: rows differ: {sorted(names)[:5]}")


def amount(shown):
    """heaptrack_print's way of writing numbers and bytes: 72.70K is 72 700 to five places."""
    number, unit = re.fullmatch(r"([\d.]+)([BKMG]?)", shown).groups()
    return float(number) * {"": 1, "B": 1, "K": 1e3, "M": 1e6, "G": 1e9}[unit]


def largest(section):
    """The ten largest values of a section without merging. Stacks whose printed names are the same are one stack: the file
    keeps the addresses of nameless functions but not where their module lay, so ours have no address there."""
    sums, key, value = {}, [], None
    for line in section.splitlines() + ["0 end"]:
        if match := re.match(r"(\d[\d.]*[BKMG]?) ", line):
            if value is not None:
                sums[tuple(key)] = sums.get(tuple(key), 0) + value
            value, key = amount(match.group(1)), []
        else:
            key.append(re.sub(r"0x[0-9a-f]+", "?", line))
    return sorted((v for v in sums.values() if v), reverse=True)[:10]


def check_heaptrack(path):
    allocations = table("allocations")
    allocations = allocations.filter(pl.col("artifact_id") == artifact(path)) if allocations is not None else None
    if allocations is None or not allocations.height:
        wrong.append(f"{path}: no allocations")
        return
    totals = (truth / "heaptrack.txt").read_text()
    calls = int(re.search(r"calls to allocation functions: (\d+)", totals).group(1))
    if allocations["calls"].sum() != calls:
        wrong.append(f"{path}: {allocations['calls'].sum()} calls, heaptrack_print {calls}")
    temporary = int(re.search(r"temporary memory allocations: (\d+)", totals).group(1))
    if allocations["temporary_calls"].sum() != temporary:
        wrong.append(f"{path}: {allocations['temporary_calls'].sum()} temporary, heaptrack_print {temporary}")
    # heaptrack_print leaves out leaks that its built-in suppressions match; they are counted apart.
    suppressed = re.search(r"suppressed leaks: (\S+)", totals)
    for column, pattern in (("peak_bytes", r"peak heap memory consumption: (\S+)"), ("leaked_bytes", r"total memory leaked: (\S+)")):
        theirs, ours = amount(re.search(pattern, totals).group(1)), allocations[column].sum()
        if column == "leaked_bytes" and suppressed:
            theirs += amount(suppressed.group(1))
        if abs(ours - theirs) > 0.006 * max(theirs, 1):
            wrong.append(f"{path}: {column} {ours}, heaptrack_print {theirs:.0f}")
    sites = text(truth / "heaptrack.sites.txt.zst")
    sections = {"calls": "MOST CALLS TO ALLOCATION FUNCTIONS", "peak_bytes": "PEAK MEMORY CONSUMERS"}
    if not suppressed:
        sections["leaked_bytes"] = "MEMORY LEAKS"
    for column, title in sections.items():
        part = re.search(title + r"\n(.*?)(?:\n\n[A-Z]{4}|\Z)", sites, re.S)
        if not part:
            continue
        theirs = largest(part.group(1))
        ours = allocations.sort(column, descending=True)[column].to_list()[: len(theirs)]
        close = all(abs(a - b) <= (0 if column == "calls" else 0.006 * max(b, 1)) for a, b in zip(ours, theirs))
        if len(ours) != len(theirs) or not close:
            wrong.append(f"{path}: ten largest by {column}: {ours}, heaptrack_print {theirs}")


for path in artifacts["path"].to_list():
    stem = path.removesuffix(".zst").removesuffix(".perf.data")
    if (truth / f"{stem}.events.tsv").exists():
        check_events(stem, path)
        if (truth / f"{stem}.leaf.tsv").exists():
            check_self(stem, path)
        if stem == "sched" and (truth / "sched.threads.tsv").exists():
            check_sched(path)
    if path.startswith("strace-c"):
        check_strace(path)
    if path.startswith("heaptrack") and (truth / "heaptrack.txt").exists():
        check_heaptrack(path)
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
