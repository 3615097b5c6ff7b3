"""Opens every anchor of a run and looks whether the printed value stands there.

usage: resolve.py RUN INPUT_ROOT SYMBOL_CLASSES
Shares no code with Tripod. Text artifacts are read again from the file itself; sums over samples, waits and thread states
are repeated over the Parquet tables, with stacks walked and symbol classes matched here.
"""
import functools
import gzip
import io
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

import polars as pl

run, root, classes_file = map(pathlib.Path, sys.argv[1:4])
unquote = urllib.parse.unquote


@functools.cache
def table(name):
    file = run / "tables" / f"{name}.parquet"
    return pl.read_parquet(file) if file.exists() else None


@functools.cache
def content(path):
    data = (root / path).read_bytes()
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dcq"], input=data, check=True, capture_output=True).stdout
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    return data


@functools.cache
def lines(path):
    return content(path).decode(errors="replace").split("\n")


@functools.cache
def artifact(path):
    rows = table("artifacts").filter(pl.col("path") == path)
    return rows.row(0, named=True) if rows.height else None


# ---- symbol classes and stacks ------------------------------------------------------------------------------------

classes = json.loads(classes_file.read_text())


def matcher(patterns):
    return re.compile("|".join(f"(?:{'.*'.join(map(re.escape, p.split('*')))})" for p in patterns) or "(?!)", re.S).fullmatch


by_class = [
    (c["name"], c["dso"], matcher(c["patterns"]), matcher(c.get("dso_patterns", [])), matcher(c.get("except", []))) for c in classes["classes"]
]
own_only = {c["name"] for c in classes["classes"] if not c.get("inlined", True)}
runtime = matcher(classes["runtime_dsos"])
SUFFIX = re.compile(r"\.isra\..*|\.part\..*|\.constprop\..*|\.cold.*|\.llvm\..*|\.lto_priv\..*| \[clone.*")


def plain(name):
    name = re.sub(r"::h[0-9a-fA-F]{16}$", "", name)
    cut = SUFFIX.search(name)
    name = name[: cut.start()] if cut and cut.start() > 0 else name
    return name.removesuffix("()")


@functools.cache
def functions():
    dsos = {row["dso_id"]: row for row in table("dsos").iter_rows(named=True)}
    out = {}
    rows = list(table("functions").iter_rows(named=True))
    in_runtime = {row["name"] for row in rows if row["dso"] and runtime(row["dso"])}
    for row in rows:
        kernel = dsos.get(row["dso_id"], {}).get("kind") in ("kernel", "module", "bpf")
        name = plain(row["name"])
        file = row["dso"] or ""
        side = [c for c in by_class if c[1] == "any" or (c[1] == "kernel") == kernel]
        own = {c for c, _, fits, of_file, but in side if (fits(name) or of_file(file)) and not but(name)}
        # offcputime and bpftrace print no dso: what another artifact found in the runtime is there too.
        # So is what wraps a system call.
        wraps = own & {"WRITE_PATH", "READ_PATH", "FSYNC_WAIT", "SLEEP_WAIT", "LOCK_WAIT", "CONDVAR", "FUTEX_TIMED", "JOIN", "POLL", "NET", "METADATA", "EXEC", "CLONE"}
        of_runtime = runtime(row["dso"]) if row["dso"] else row["name"] in in_runtime or bool(wraps)
        out[row["function_id"]] = (row["name"], own, bool(not kernel and of_runtime))
    return out


@functools.cache
def nameless(dso_id):
    """The classes of code without a name: those that cover its whole file."""
    row = next((row for row in table("dsos").iter_rows(named=True) if row["dso_id"] == dso_id), None)
    if row is None:
        return set()
    kernel = row["kind"] in ("kernel", "module", "bpf")
    return {c for c, dso, _, of_file, _ in by_class if (dso == "any" or (dso == "kernel") == kernel) and of_file(row["name"])}


@functools.cache
def stack_tables():
    stacks, frames = table("stacks"), table("frames")
    frame = {row["frame_id"]: row for row in frames.iter_rows(named=True)}
    parent = dict(zip(stacks["stack_id"], stacks["parent_stack_id"]))
    return {s: frame[f] for s, f in zip(stacks["stack_id"], stacks["frame_id"])}, parent


@functools.cache
def path_of(stack):
    """Frames, leaf first: (function name, classes, runtime, kernel, frame row)."""
    frame, parent = stack_tables()
    out = []
    while stack is not None:
        row = frame[stack]
        name, own, in_runtime = functions().get(row["function_id"], (None, set(), False))
        own = nameless(row["dso_id"]) if name is None else own - own_only if row["is_inlined"] else own
        out.append((name, own, in_runtime, row["is_kernel"], row))
        stack = parent[stack]
    return out


WRAPPERS = {"WRITE_PATH", "READ_PATH", "FSYNC_WAIT", "SLEEP_WAIT"}
USER = ["WRITE_PATH", "READ_PATH", "FSYNC_WAIT", "SLEEP_WAIT", "ALLOC", "FORMAT", "COPY", "SYNC", "LOCK_WAIT", "LOADER", "UNWIND"]


def wrapper(name):
    name = name.split("@")[0].removeprefix("__GI_").lstrip("_")
    return name.removeprefix("libc_").removesuffix("_nocancel")


@functools.cache
def place(stack):
    """The place of a stack as documented in derive::places: (key, value, site)."""
    frames = path_of(stack)
    at = next((i for i, f in enumerate(frames) if not f[3] and f[0] is not None and not f[2]), None)
    site = frames[at][0] if at is not None else None
    handler = next((f[0] for f in reversed(frames) if "SYSCALL" in f[1]), None)
    if handler:
        cut = handler.find("_sys_")
        return "syscall", handler[cut + 5:] if cut >= 0 else handler, site
    if any("FAULT" in f[1] for f in frames):
        return "class", "FAULT", site
    inner = next((f for f in frames if not f[3]), None)
    if any("KENTRY" in f[1] for f in frames) and inner and inner[2] and inner[0]:
        return "syscall", wrapper(inner[0]), site
    if frames[0][3]:
        named = [f[0] for f in frames if f[3] and f[0]]
        return "kernel", named[-1] if named else "[unknown]", site
    for f in reversed(frames[: at if at is not None else len(frames)]):
        own = next((c for c in USER if c in f[1]), None)
        if own and f[0]:
            return ("syscall", wrapper(f[0]), site) if own in WRAPPERS else ("class", own, site)
    if frames[0][0]:
        return "leaf", frames[0][0], site
    dso = {row["dso_id"]: row["name"] for row in table("dsos").iter_rows(named=True)}.get(frames[0][4]["dso_id"], "no mapping")
    return "unknown", dso, site


def site_of(stack):
    return next((f[0] for f in path_of(stack) if not f[3] and f[0] is not None and not f[2]), None)


def dso_of_site(stack):
    ids = dict(zip(table("functions")["function_id"], table("functions")["dso"]))
    return next((ids[f[4]["function_id"]] for f in path_of(stack) if not f[3] and f[0] is not None and not f[2]), None)


# ---- sums -----------------------------------------------------------------------------------------------------------


def targets():
    return set(table("threads").filter(pl.col("is_target"))["thread_id"])


def workers(artifact_id):
    states = table("thread_states")
    if states is None:
        return set()
    rows = states.filter((pl.col("artifact_id") == artifact_id) & (pl.col("role") == "worker"))
    return set(rows["thread_id"]) & targets()


def sum_samples(own, column, keys):
    events = table("events").filter((pl.col("artifact_id") == own) & (pl.col("role") == "cpu"))
    if "event" in keys:
        events = events.filter(pl.col("name") == keys["event"])
    event = events["event_id"].min()
    samples = table("samples").filter(pl.col("event_id") == event)
    samples = samples.filter(pl.col("thread_id").is_in(list(targets())))
    total = 0
    for stack, weight in samples.group_by("stack_id").agg(pl.col(column).sum()).iter_rows():
        if len(keys) <= ("event" in keys):
            total += weight
            continue
        if stack is None:
            continue
        frames = path_of(stack)
        have = set().union(*(f[1] for f in frames))
        if any(key in keys for key in ("has", "without", "kernel_leaf", "leaf_class")):
            listed = lambda key: set(keys[key].split(","))
            fits = ("has" not in keys or listed("has") & have) and ("without" not in keys or not listed("without") & have)
            fits = fits and ("leaf_class" not in keys or keys["leaf_class"] in frames[0][1])
            fits = fits and ("kernel_leaf" not in keys or frames[0][3])
        elif "leaf" in keys and "site" not in keys:
            fits = frames[0][0] == keys["leaf"] and "IRQ_SINK" not in frames[0][1]
        else:
            what, value, site = place(stack)
            fits = keys.get(what) == value and keys.get("site") == site and ("dso" not in keys or dso_of_site(stack) == keys["dso"])
        total += weight if fits else 0
    return total


def sum_waits(own, column, keys):
    rows = table("waits").filter(pl.col("artifact_id") == own)
    if rows.height and not rows["is_aggregate"][0]:
        rows = rows.filter(pl.col("thread_id").is_in(list(workers(own) or targets())))
    rows = rows.filter(pl.col("reason") != "preempted") if keys.get("reason") != "preempted" else rows
    if "reason" in keys:
        rows = rows.filter(pl.col("reason").is_in(keys["reason"].split(",")))
    if "site" in keys:
        site = None if keys["site"] == "[unknown]" else keys["site"]
        return sum(d for d, s in zip(rows[column], rows["stack_id"]) if (site_of(s) if s is not None else None) == site)
    return rows[column].sum()


def sum_states(own, column, keys):
    rows = table("thread_states").filter((pl.col("artifact_id") == own) & pl.col("thread_id").is_in(list(targets())))
    if "role" in keys:
        rows = rows.filter(pl.col("role") == keys["role"])
    return rows[column].sum()


def sum_allocations(own, column, keys):
    """Totals from the heaptrack file itself; sites from the table, with stacks walked here."""
    if not keys:
        return heaptrack_totals(artifact_path(own))[column]
    rows = table("allocations").filter(pl.col("artifact_id") == own)
    total = 0
    for stack, value in zip(rows["stack_id"], rows[column]):
        if "has" in keys:
            fits = stack is not None and any(set(keys["has"].split(",")) & f[1] for f in path_of(stack))
        else:
            fits = (site_of(stack) if stack is not None else None) == (None if keys["site"] == "[unknown]" else keys["site"])
        total += value if fits else 0
    return total


def artifact_path(own):
    return table("artifacts").filter(pl.col("artifact_id") == own)["path"][0]


@functools.cache
def heaptrack_totals(path):
    """calls, bytes, peak, leaked and temporary of an interpreted heaptrack file, by its own records."""
    infos, live, peak, calls, asked, temporary, last = [], 0, 0, 0, 0, 0, None
    for line in io.BytesIO(content(path)):
        kind = line[:1]
        if kind == b"a":
            infos.append(int(line.split()[1], 16))
        elif kind == b"+":
            index = int(line.split()[1], 16)
            calls, asked, live, last = calls + 1, asked + infos[index], live + infos[index], index
            peak = max(peak, live)
        elif kind == b"-":
            index = int(line.split()[1], 16)
            temporary += last == index
            live, last = live - infos[index], None
    return {"calls": calls, "bytes": asked, "peak_bytes": peak, "leaked_bytes": live, "temporary_calls": temporary}


def summary_rows(path):
    for number, line in enumerate(lines(path), 1):
        fields = line.split()
        if len(fields) in (5, 6) and re.fullmatch(r"[\d.]+", fields[0]) and re.fullmatch(r"\d+", fields[3]) and fields[-1] != "total":
            yield number, {"name": fields[-1], "calls": int(fields[3]), "total_ns": round(float(fields[1]) * 1e9), "errors": int(fields[4]) if len(fields) == 6 else 0}


LENGTH_AT = {"write": 2, "read": 2, "pwrite64": 2, "pread64": 2, "mmap": 1, "munmap": 1, "madvise": 1}


def fd_kind(arguments):
    """What `3<pipe:[123]>` says the first argument is (strace -y)."""
    kinds = {"pipe": r"pipe:", "socket": r"(socket|TCP|UDP|UNIX|NETLINK)[^>]*:", "eventfd": r"anon_inode:\[eventfd", "tty": r"/dev/(tty|pts/)"}
    match = re.match(r"\d+<(.*)", arguments)
    return next((kind for kind, pattern in kinds.items() if match and re.match(pattern, match.group(1))), None)


@functools.cache
def log_calls(path):
    """Calls of a strace log: name, duration, length; unfinished calls joined with their resumption."""
    pending, out = {}, []
    for line in lines(path):
        match = re.match(r"(?:\[pid +(\d+)\] |(\d+) +)?(\d+\.\d+) (.*)", line)
        if not match:
            continue
        pid, rest = match.group(1) or match.group(2), match.group(4)
        if resumed := re.match(r"<\.\.\. (\w+) resumed>(.*)", rest):
            begun = pending.pop(pid, None)
            if begun is None:
                continue
            rest = begun + resumed.group(2)
        elif rest.endswith("<unfinished ...>"):
            pending[pid] = rest.removesuffix("<unfinished ...>").rstrip()
            continue
        call = re.match(r"(\w+)\((.*)", rest)
        if not call:
            continue
        took = re.search(r"<(\d+\.\d+)>$", rest)
        length = None
        if call.group(1) in LENGTH_AT:
            body = re.sub(r'"(?:[^"\\]|\\.)*"(\.\.\.)?', '""', call.group(2))
            arguments = body.split(")")[0].split(",")
            at = LENGTH_AT[call.group(1)]
            if len(arguments) > at and re.fullmatch(r" *\d+", arguments[at]):
                length = int(arguments[at])
        out.append({"name": call.group(1), "dur_ns": round(float(took.group(1)) * 1e9) if took else None, "length": length, "calls": 1, "fd": fd_kind(call.group(2))})
    return out + [{"name": re.match(r"(\w+)", rest).group(1), "dur_ns": None, "length": None, "calls": 1, "fd": fd_kind(rest.split("(", 1)[1])} for rest in pending.values() if re.match(r"(\w+)\(", rest)]


TIME_V = {
    "user_ns": ("User time (seconds)", 1e9), "system_ns": ("System time (seconds)", 1e9), "max_rss_bytes": ("Maximum resident set size (kbytes)", 1024),
    "minor_faults": ("Minor (reclaiming a frame) page faults", 1), "major_faults": ("Major (requiring I/O) page faults", 1),
    "voluntary_switches": ("Voluntary context switches", 1), "involuntary_switches": ("Involuntary context switches", 1),
}


def clock(text):
    parts = [float(part) for part in text.split(":")]
    return round(sum(part * 60**i for i, part in enumerate(reversed(parts))) * 1e9)


def time_v(path, column):
    for line in lines(path):
        line = line.strip()
        if column == "wall_ns" and line.startswith("Elapsed (wall clock)"):
            return clock(line.rsplit(": ", 1)[1])
        if column in TIME_V and line.startswith(TIME_V[column][0] + ":"):
            return round(float(line.rsplit(": ", 1)[1]) * TIME_V[column][1])
    return None


@functools.cache
def manifest():
    found = [json.loads(file.read_text()) for file in root.rglob("manifest.json")]
    return found[0] if found else {"artifacts": []}


def manifest_entry(path):
    return next((entry for entry in manifest()["artifacts"] if entry["path"] == path), {})


def sum_of(path, spec):
    target, *pairs = spec.split("&")
    name, column = target.split(".")
    keys = {key: unquote(value) for key, value in (pair.split("=", 1) for pair in pairs)}
    row = artifact(path)
    own = row["artifact_id"]
    if name == "samples":
        return sum_samples(own, column, keys)
    if name == "waits":
        return sum_waits(own, column, keys)
    if name == "thread_states":
        return sum_states(own, column, keys)
    if name == "allocations":
        return sum_allocations(own, column, keys)
    if name == "syscalls":
        wanted = keys.get("name", "").split(",") if "name" in keys else None
        return sum(entry[column] for _, entry in summary_rows(path) if wanted is None or entry["name"] in wanted)
    if name == "syscall_events":
        wanted = keys.get("name", "").split(",") if "name" in keys else None
        left_out = keys.get("not_fd", "").split(",")
        own = (entry for entry in log_calls(path) if entry["fd"] not in left_out)
        return sum(entry[column] or 0 for entry in own if wanted is None or entry["name"] in wanted)
    if name == "executions" and row["kind"] == "time-v":
        return time_v(path, column)
    if name == "artifacts" and column == "wall_ns" and "wall_s" in manifest_entry(path):
        return round(manifest_entry(path)["wall_s"] * 1e9)
    rows = table(name).filter(pl.col("artifact_id") == own)
    for key, value in keys.items():
        rows = rows.filter(pl.col(key).cast(pl.String) == value)
    return rows[column].sum()


def numbers(line):
    """Every number in a line, also as nanoseconds, bytes and clock times."""
    out = set()
    for token in re.findall(r"\d+(?::\d+)+(?:\.\d+)?", line):
        out.add(clock(token))
    for token in re.findall(r"\d+(?:\.\d+)?", line):
        for factor in (1, 1e3, 1024, 1e6, 1e9):
            out.add(round(float(token) * factor))
    if re.match(r"cpu\d* ", line):
        # /proc/stat: hundredths of a second; user to steal are all there is.
        ticks = [int(token) for token in line.split()[1:9]]
        out.update(tick * 10_000_000 for tick in [*ticks, sum(ticks)])
    return out


def pointer(path, spec):
    value = json.loads(content(path))
    for part in unquote(spec).lstrip("/").split("/"):
        part = part.replace("~1", "/").replace("~0", "~")
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def holds(anchor, value):
    path, _, fragment = anchor.partition("#")
    path = unquote(path)
    if not fragment:
        return (root / path).is_file()
    if fragment.startswith("L="):
        first, _, last = fragment[2:].split("&")[0].partition("-")
        return any(value in numbers(lines(path)[i - 1]) for i in range(int(first), int(last or first) + 1))
    if fragment.startswith("ptr="):
        found = pointer(path, fragment[4:])
        return any(round(float(found) * factor) == value for factor in (1, 1e9, 1e6, 1e3))
    if fragment.startswith("record="):
        return int(fragment[7:]) < artifact(path)["records"]
    if fragment.startswith("sum="):
        return sum_of(path, fragment[4:]) == value
    return False


def printed():
    """Anchors in the Markdown tables: the last cell of a row, in backquotes."""
    for name in ("hotspot_table.md", "hypothesis.md"):
        for line in (run / name).read_text().splitlines():
            if line.startswith("|") and (cell := re.search(r"`([^`]+)` \|$", line)):
                yield name, cell.group(1)


wrong, checked = [], 0
evidence = table("evidence")
known = set()
for row in evidence.iter_rows(named=True):
    known.add(row["anchor"])
    checked += 1
    try:
        fine = holds(row["anchor"], row["value"])
        reason = "another value there" if not fine else ""
        if not fine and "#sum=" in row["anchor"]:
            path, _, spec = row["anchor"].partition("#sum=")
            reason = f"there it is {sum_of(unquote(path), spec)}"
    except Exception as error:
        fine, reason = False, f"{type(error).__name__}: {error}"
    if not fine:
        wrong.append(f"{row['hypothesis']} {row['slot']} {row['metric']} {row['term']} = {row['value']}: {row['anchor']}: {reason}")
for name, anchor in printed():
    path = unquote(anchor.partition("#")[0])
    if artifact(path) is not None and anchor not in known:
        wrong.append(f"{name}: {anchor} has no row of evidence")
if not checked:
    wrong.append("no evidence at all")
print(f"{checked} anchors opened, {len(wrong)} unresolved")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
