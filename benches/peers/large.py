"""Measures Tripod beside its peers on the large inputs: large.py DIR NAME... (see benches/peers.sh)"""
import glob
import json
import os
import pathlib
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

from running import run

REPEAT = int(os.environ.get("REPEAT", "3"))
LIMIT_S = float(os.environ.get("LIMIT_S", "120"))
MEMORY_KIB = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1024
LIMIT_KIB = int(os.environ.get("LIMIT_MIB", "0")) * 1024 or MEMORY_KIB // 2
LEAVE_OUT = os.environ.get("LEAVE_OUT", "").split(",")
COUNT_ANONYMOUS_EVERY_S = 0.002


def program(variable, name, *places):
    """From the variable, the PATH, or one of the places; None if it is nowhere."""
    found = os.environ.get(variable) or shutil.which(name)
    return found or next((p for place in places for p in sorted(glob.glob(place))), None)


TRIPOD = os.environ["TRIPOD"]
INFERNO = program("INFERNO", "inferno-collapse-perf")
SAMPLY = program("SAMPLY", "samply")
HOTSPOT = program("HOTSPOT", "hotspot-perfparser", "/usr/lib/*/libexec/hotspot-perfparser", "/usr/libexec/hotspot-perfparser")


def peers(kind, file, scratch):
    """(name, shell command or None for a program that is not here), in the order of the table."""
    script = f"perf script -i {file}"
    collapse = INFERNO and f"| {shlex.quote(INFERNO)}"
    every = [
        ("perf script --no-inline | inferno", collapse and f"{script} --no-inline {collapse}"),
        ("samply import", SAMPLY and f"{shlex.quote(SAMPLY)} import {file} --save-only --no-open -o {scratch}/samply.json.gz"),
        ("hotspot-perfparser", HOTSPOT and f"{shlex.quote(HOTSPOT)} --input {file} --output {scratch}/hotspot.out"),
    ]
    own = {
        "fp": [
            ("perf report --no-children --no-inline", f"perf report --stdio --no-children --no-inline -i {file}"),
            ("perf report (default, inline)", f"perf report --stdio -i {file}"),
        ],
        "dwarf": [("perf script (inline) | inferno", collapse and f"{script} {collapse}")],
        "sched": [("perf sched timehist --summary", f"perf sched timehist --summary -i {file}")],
    }
    return own[kind] + every if kind == "sched" else every[:1] + own[kind] + every[1:]


def analyze(file, scratch, *more):
    words = [TRIPOD, "analyze", str(file), "-o", str(scratch / "run"), "--force", *shlex.split(os.environ.get("TRIPOD_ARGS", "")), *more]
    return shlex.join(words)


def pressure():
    def some(what):
        try:
            line = pathlib.Path(f"/proc/pressure/{what}").read_text().splitlines()[0]
        except OSError:
            return f"{what} unknown"
        return f"{what} " + " ".join(line.split()[1:4])
    return f"PSI some: {some('cpu')}; {some('io')}; {some('memory')}; loadavg {' '.join(f'{load:.2f}' for load in os.getloadavg())}"


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1])] + [row[-1]]
        print("  ".join(cells).rstrip())


def measure(commands, scratch):
    """Rounds of all commands one after another. One that was killed is not tried again."""
    costs = {name: [] for name, _, _ in commands}
    for turn in range(REPEAT):
        for name, shell, limits in commands:
            if costs[name] and costs[name][-1].trouble.startswith("killed"):
                continue
            print(f"  round {turn + 1}: {name}", file=sys.stderr)
            costs[name].append(run(shell, scratch, **limits))
    return costs


def middle(costs, field):
    return statistics.median(getattr(cost, field) for cost in costs)


def remark(costs):
    trouble = next((cost.trouble for cost in costs if cost.trouble), "")
    if trouble:
        return trouble
    spread = [cost.cpu_s for cost in costs]
    return f"CPU {min(spread):.2f} to {max(spread):.2f}" if len(spread) > 1 else ""


def row(name, costs, base):
    fields = ("cpu_s", "wall_s", "rss_kib", "anon_kib")
    of = {field: middle(costs, field) for field in fields}
    killed = ">" if costs[-1].trouble.startswith("killed") else ""

    def ratio(field):
        whole = middle(base, field)
        return f"{killed}{of[field] / whole:.2f}" if whole else "-"

    return [name, str(len(costs)), f"{killed}{of['cpu_s']:.2f}", f"{killed}{of['wall_s']:.2f}", f"{of['rss_kib'] / 1024:.0f}",
            f"{of['anon_kib'] / 1024:.0f}", ratio("cpu_s"), ratio("wall_s"), ratio("rss_kib"),
            f"{costs[-1].stdout_bytes / 1e6:.1f}", remark(costs)]


def look_closer(file, scratch):
    """One run more, for the peak of anonymous memory and the stage table of its summary.json."""
    cost = run(analyze(file, scratch, "--timings", "-q"), scratch, every_s=COUNT_ANONYMOUS_EVERY_S)
    if cost.trouble:
        print(f"tripod analyze --timings: {cost.trouble}")
        return
    print(f"tripod's anonymous memory: peak {cost.anon_kib / 1024:.0f} MiB (RssAnon each {COUNT_ANONYMOUS_EVERY_S * 1000:g} ms, a run of its own)")
    listed = json.loads((scratch / "run" / "summary.json").read_text()).get("timings", [])
    rows = [["stage", "CPU ms", "wall ms", "peak MiB", ""]]
    rows += [[s["stage"], str(s["cpu_ms"]), str(s["wall_ms"]), f"{s.get('peak_bytes', 0) / 2**20:.0f}", ""] for s in listed]
    table(rows)


def compare(kind, file, scratch):
    file.read_bytes()  # everybody finds the input in the page cache
    print(f"\n== {kind}: {file.name}, {file.stat().st_size / 1e6:.1f} MB")
    listed = file.with_name(f"{kind}.txt")
    if listed.exists():
        print("\n".join(line for line in listed.read_text().splitlines() if "\t" in line).expandtabs(16))
    print(pressure())
    limits = {"limit_s": LIMIT_S, "limit_kib": LIMIT_KIB}
    commands = [("tripod analyze", analyze(file, scratch), {})]
    skipped = []
    for name, shell in peers(kind, shlex.quote(str(file)), shlex.quote(str(scratch))):
        if any(word and word in name for word in LEAVE_OUT):
            skipped.append(f"{name}: skipped, as LEAVE_OUT asks")
        elif shell is None:
            skipped.append(f"{name}: skipped, the program is not installed here")
        else:
            commands.append((name, shell, limits))
    commands.append(("tripod analyze -j 1", analyze(file, scratch, "-j", "1"), {}))
    if os.cpu_count() != 2:  # else that is the default
        commands.append(("tripod analyze -j 2", analyze(file, scratch, "-j", "2"), {}))
    costs = measure(commands, scratch)
    base = costs["tripod analyze"]
    header = ["command", "runs", "CPU s", "wall s", "RSS MiB", "anon MiB", "CPU x", "wall x", "RSS x", "out MB", ""]
    table([header] + [row(name, costs[name], base) for name, _, _ in commands])
    for line in skipped:
        print(line)
    one = middle(costs["tripod analyze -j 1"], "wall_s")
    two = middle(costs.get("tripod analyze -j 2", base), "wall_s")
    print(f"2 threads against 1: {one / two:.2f}x (wall {one:.2f} s, {two:.2f} s)")
    look_closer(file, scratch)
    print(pressure())


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is stopped too
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    os.environ.pop("DEBUGINFOD_URLS", None)  # nobody asks a server for symbols
    perf = subprocess.run(["perf", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"medians of {REPEAT} alternating runs; x = command / tripod analyze; CPU = user + system of all processes of the command;")
    print(f"RSS = its largest process, file pages included; anon = RssAnon of all its processes, seen each 50 ms; {perf}; {os.cpu_count()} CPUs;")
    print(f"peers are stopped after {LIMIT_S:g} s or at {LIMIT_KIB / 2**20:.1f} GiB of anonymous memory")
    for name in names:
        file = folder / f"{name}.perf.data"
        if not file.exists():
            sys.exit(f"{file} is missing: benches/peers.sh inputs {folder} {name}")
        with tempfile.TemporaryDirectory(prefix="tripod-peers-") as scratch:
            compare(name, file, pathlib.Path(scratch))
        sys.stdout.flush()


main()
