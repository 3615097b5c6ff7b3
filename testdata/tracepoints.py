#!/usr/bin/env python3
"""What the tracepoints of a recording say, from the text of perf script: independent of the code under test.

    perf script --ns --no-inline -F tid,cpu,time,event,trace,ip -i FILE | tracepoints.py calls|block|locks|interrupts
    perf script -G -F event,period -i FILE | tracepoints.py events

One line per row, sorted, fields separated by tabs, - where there is nothing.
"""

import errno
import re
import sys

HEADER = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"
LINE = re.compile(r"\s*(-?\d+) \[(\d+)\] +(\d+)\.(\d{9}): +([\w-]+:\w+): ?(.*)")


def records():
    """(tid, cpu, ns, event, text, frames) of every sample."""
    found = []
    for line in sys.stdin:
        match = LINE.match(line)
        if match:
            tid, cpu, seconds, ns, event, text = match.groups()
            found.append([int(tid), int(cpu), int(seconds) * 10**9 + int(ns), event, text.strip(), 0])
        elif line.strip() not in ("", "0"):
            # a return address of 0 is where the chain ends
            found[-1][5] += 1
    return found


def numbers():
    pattern = re.compile(r"#define __NR_(\w+)\s+(\d+)")
    return {int(m.group(2)): m.group(1) for m in map(pattern.match, open(HEADER)) if m}


def outcome(value):
    if not -4095 <= value < 0:
        return value, "-"
    restarts = {-512: "ERESTARTSYS", -513: "ERESTARTNOINTR", -514: "ERESTARTNOHAND", -516: "ERESTART_RESTARTBLOCK"}
    if value in restarts:
        return "-", restarts[value]
    return -1, errno.errorcode[-value]


def signed(value):
    return value - 2**64 if value >= 2**63 else value


def calls():
    """start, dur, tid, name, fd and length of read and write, result, error, frames of the begin's stack"""
    names, open_calls, rows = numbers(), {}, []
    single = {"newfstat": "fstat", "newstat": "stat", "newlstat": "lstat", "newuname": "uname"}
    for tid, _cpu, ns, event, text, frames in records():
        kind, name = event.split(":")[1].split("_", 2)[1], event.split("_")[-1]
        if event.startswith("raw_"):
            number = int(text.split()[1])
            name = names.get(number, "-")
            arguments = [int(word.strip(" )"), 16) for word in text.partition("(")[2].split(",")] if kind == "enter" else []
        else:
            name = single.get(name, name)
            arguments = [int(word, 16) for word in re.findall(r"0x([0-9a-f]+)", text)]
        if kind == "enter":
            sized = arguments[0:3:2] if name in ("read", "write") else ["-", "-"]
            row = [ns, "-", tid, name, *sized, "-", "-", frames]
            rows.append(row)
            open_calls[tid] = (name, row)
        else:
            begun, row = open_calls.pop(tid, (None, None))
            if begun and (begun == name or name == "-"):
                value = int(text.split("=")[1]) if event.startswith("raw_") else signed(int(text, 16))
                row[1] = ns - row[0]
                row[6:8] = outcome(value)
    return rows


def block():
    """issued, queued, dur, device, sector, bytes, operation"""
    begin = re.compile(r"(\d+,\d+) (\w+) (\d+) \(.*?\) (\d+) \+ (\d+)")
    end = re.compile(r"(\d+,\d+) (\w+) \(.*?\) (\d+) \+ (\d+)")
    queued, issued, rows = {}, {}, []
    for _tid, _cpu, ns, event, text, _frames in records():
        if event in ("block:block_rq_insert", "block:block_rq_issue"):
            device, operation, size, sector, count = begin.match(text).groups()
            key = (device, operation, sector if int(count) else "flush")
            if event.endswith("insert"):
                queued[key] = ns
                continue
            wait = ns - queued.pop(key) if key in queued else "-"
            row = [ns, wait, "-", device, sector if int(count) else "-", size, operation]
            assert key not in issued
            issued[key] = row
            rows.append(row)
        elif event == "block:block_rq_complete":
            device, operation, sector, count = end.match(text).groups()
            key = (device, operation, sector if int(count) else "flush")
            if key in issued:
                row = issued.pop(key)
                row[2] = ns - row[0]
    return rows


def locks():
    """start, dur, tid, address, kind, frames"""
    text_of = re.compile(r"0x([0-9a-f]+) \((?:flags|ret)=(.*)\)")
    waiting, rows = {}, []
    for tid, _cpu, ns, event, text, frames in records():
        address, value = text_of.match(text).groups()
        key = (tid, address)
        if event == "lock:contention_begin" and key not in waiting:
            waiting[key] = [ns, "-", tid, signed(int(address, 16)), value or "-", frames]
            rows.append(waiting[key])
        elif event == "lock:contention_end" and key in waiting:
            row = waiting.pop(key)
            row[1] = ns - row[0]
    return rows


def interrupts():
    """kind, name, cpu, count, timed, total, longest"""
    running, sums = {}, {}
    for _tid, cpu, ns, event, text, _frames in records():
        system, name = event.split(":")
        if system == "exceptions":
            sums.setdefault(("exception", name, cpu), [0, 0, 0, 0])[0] += 1
        elif name == "softirq_entry":
            running["softirq", cpu] = (re.search(r"action=(\w+)", text).group(1), ns)
            sums.setdefault(("softirq", running["softirq", cpu][0], cpu), [0, 0, 0, 0])[0] += 1
        elif name == "irq_handler_entry":
            # without a chain perf script prints the address behind the text
            running["irq", cpu] = (re.search(r"name=(.*?)(?: +[0-9a-f]{16})?$", text).group(1), ns)
            sums.setdefault(("irq", running["irq", cpu][0], cpu), [0, 0, 0, 0])[0] += 1
        elif name in ("softirq_exit", "irq_handler_exit"):
            kind = name.split("_")[0]
            handler, begun = running.pop((kind, cpu), (None, None))
            if handler:
                entry = sums[kind, handler, cpu]
                entry[1:] = [entry[1] + 1, entry[2] + ns - begun, max(entry[3], ns - begun)]
    return [[*key, *(values if values[1] else [values[0], 0, "-", "-"])] for key, values in sums.items()]


def events():
    """event, samples, sum of the periods"""
    sums = {}
    for line in sys.stdin:
        if line.strip():
            period, name = line.split()
            entry = sums.setdefault(name.rstrip(":"), [0, 0])
            entry[0] += 1
            entry[1] += int(period)
    return [[name, *entry] for name, entry in sums.items()]


for line in sorted("\t".join(map(str, row)) for row in globals()[sys.argv[1]]()):
    print(line)
