"""Runs one shell command and says what it cost: CPU, wall, memory, and how it ended."""
import dataclasses
import os
import pathlib
import select
import signal
import subprocess
import time

TICK = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Cost:
    cpu_s: float
    wall_s: float
    rss_kib: int      # largest process of the command, as the kernel counts it (file pages included)
    anon_kib: int     # all processes together, anonymous pages, as sampled
    stdout_bytes: int
    trouble: str      # empty: it ended well


def children(pid):
    try:
        own = [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return [pid]
    return [pid] + [p for child in own for p in children(child)]


def status(pid, field):
    """KiB of a field of /proc/PID/status; 0 for a process that is gone or has no memory."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as lines:
            return next((int(line.split()[1]) for line in lines if line.startswith(field + ":")), 0)
    except OSError:
        return 0


def ticks(pid):
    """User and system seconds of a process and of the children it has waited for."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / TICK


def last_words(path, code):
    said = path.read_bytes().decode(errors="replace").strip().splitlines()
    return f"exit {code}" + (f": {said[-1][:100]}" if said else "")


def kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def watch(pid, begin, limit_s, limit_kib, every_s):
    """Until the process ends or is over a limit: peak of anonymous KiB, then what it was stopped for, CPU s and KiB by then."""
    anon = 0
    ended = os.pidfd_open(pid)
    try:
        while not select.select([ended], [], [], every_s)[0]:
            family = children(pid)
            now = sum(status(member, "RssAnon") for member in family)
            anon = max(anon, now)
            trouble = ""
            if limit_s and time.monotonic() - begin > limit_s:
                trouble = f"killed after {limit_s:g} s"
            elif limit_kib and now > limit_kib:
                trouble = f"killed at {now / 2**20:.1f} GiB after {time.monotonic() - begin:.0f} s"
            if trouble:
                return anon, trouble, sum(map(ticks, family)), max(status(member, "VmHWM") for member in family)
    finally:
        os.close(ended)
    return anon, "", 0.0, 0


def run(shell, scratch, *, limit_s=None, limit_kib=None, every_s=0.05):
    """Memory is looked at each `every_s`; a command over a limit is killed with all its processes."""
    out, err = scratch / "stdout", scratch / "stderr"
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        begin = time.monotonic()
        process = subprocess.Popen(["bash", "-o", "pipefail", "-c", shell], stdin=subprocess.DEVNULL, stdout=stdout,
                                   stderr=stderr, start_new_session=True)
        try:
            anon, trouble, cpu, rss = watch(process.pid, begin, limit_s, limit_kib, every_s)
        finally:
            # Over a limit, or this script is being stopped; after a good end there is nobody left.
            kill(process.pid)
        _, code, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(code)
    if not trouble:
        cpu, rss = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
        if process.returncode != 0:
            trouble = last_words(err, process.returncode)
    size = out.stat().st_size
    out.unlink()
    return Cost(cpu, wall, rss, anon, size, trouble)
