#!/usr/bin/env python3
"""Writes the broken inputs of malformed/, each by hand from its format's description, none from a recording.

usage: malformed.py [DIR]
The same bytes come out every time. README.md has a line per file: what is wrong with it and what Tripod says of it.
"""
import pathlib
import struct
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "malformed")
root.mkdir(exist_ok=True)

# What must not reach a terminal, a Markdown table, an SVG or a query as it is.
HOSTILE = "a\x1b[2J\x07`|<script>alert(1)</script>&\"'; DROP TABLE samples; --"


def write(name, content):
    (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())


# ---- perf.data (PERFILE2, little endian): header of 104 bytes, one attribute, records -----------------------------

IP, TID, TIME, PERIOD = 1 << 0, 1 << 1, 1 << 2, 1 << 8
ATTR_BYTES = 128


def attr():
    flags = 1 << 2 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 18  # inherit, exclude_hv, mmap, comm, sample_id_all
    head = struct.pack("<IIQQQQQ", 1, ATTR_BYTES, 0, 1_000_000, IP | TID | TIME | PERIOD, 0, flags)
    return head.ljust(ATTR_BYTES, b"\0")


def record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(name):
    data = name if isinstance(name, bytes) else name.encode()
    return data.ljust((len(data) // 8 + 1) * 8, b"\0")


def sample_id(ns):
    return struct.pack("<IIQ", 7, 7, ns)


def comm(name):
    return record(3, struct.pack("<II", 7, 7) + padded(name) + sample_id(1))


def mmap(name):
    return record(1, struct.pack("<IIQQQ", 7, 7, 0x400000, 0x10000, 0) + padded(name) + sample_id(2))


def sample(n):
    return record(9, struct.pack("<QIIQQ", 0x401000 + 16 * (n % 3), 7, 7, 10 + n * 1_000_000, 1_000_000))


def perf_data(records, attr_bytes=ATTR_BYTES + 16, attrs_size=None, data_size=None):
    attrs_at, size = 104, ATTR_BYTES + 16
    data_at = attrs_at + size
    header = b"PERFILE2" + struct.pack(
        "<QQQQQQQQ", 104, attr_bytes, attrs_at, size if attrs_size is None else attrs_size, data_at,
        len(records) if data_size is None else data_size, 0, 0)
    return header.ljust(104, b"\0") + attr() + struct.pack("<QQ", 0, 0) + records


SAMPLES = b"".join(sample(n) for n in range(200))
write("perf-other-magic.data", perf_data(comm("p") + SAMPLES).replace(b"PERFILE2", b"PERFILE9"))
write("perf-cut-header.data", perf_data(SAMPLES)[:60])
write("perf-cut-record.data", perf_data(comm("p") + mmap("/bin/p") + SAMPLES)[:-17])
write("perf-absurd-counts.data", perf_data(SAMPLES[:400], attr_bytes=1 << 62, attrs_size=1 << 63))
write("perf-record-without-size.data", perf_data(comm("p") + mmap("/bin/p") + SAMPLES[:400] + struct.pack("<IHH", 9, 2, 0) + SAMPLES[:400]))
write("perf-hostile-names.data", perf_data(comm(HOSTILE[:12] + "|<b>") + mmap("/tmp/" + HOSTILE) + mmap(b"/tmp/\xff\xfe\n\r") + SAMPLES))

# ---- heaptrack ----------------------------------------------------------------------------------------------------

HEAPTRACK = ("v 10400 3\nX ./p 1\nI 1000 100\ns 6 /bin/p\ns 4 main\ns 3 p.c\ns 1 f\n"
             "i 10 1 2 3 a\nt 1 0\ni 30 1 4 3 1e\nt 2 1\na 10 1\na 100 2\n+ 0\n+ 1\n- 0\nc a\nR 5\n+ 1\nc 14\n# strings: 4\n# ips: 2\n")
write("heaptrack-future-version.txt", HEAPTRACK.replace("v 10400 3", "v 990000 9"))
write("heaptrack-cut-line.txt", HEAPTRACK[: HEAPTRACK.index("c 14")][:-1])
write("heaptrack-absurd-index.txt", HEAPTRACK.replace("+ 1\nc 14", "+ ffffffffffffffff\nc 14"))
hostile = HOSTILE.replace("\n", " ")
write("heaptrack-hostile-names.txt", HEAPTRACK.replace("s 1 f", f"s {len(hostile.encode()):x} {hostile}"))

# ---- JSON ---------------------------------------------------------------------------------------------------------

HYPERFINE = '{"results": [{"command": "./p 5", "mean": 0.5, "user": 0.25, "system": 0.125, "times": [0.5, 0.75], "exit_codes": [0, 0]}]}'
write("hyperfine-cut.json", HYPERFINE[:-20])
write("hyperfine-absurd-times.json", HYPERFINE.replace("[0.5, 0.75]", '[1e308, -4, "soon", null, 0.5]'))
MANIFEST = '{"schema": 1, "argv": ["./p", "1"], "bare": {"wall_s": 5.0}, "artifacts": []}'
write("manifest-cut.json", MANIFEST[:40])
write("manifest-wrong-types.json", '{"schema": 1, "argv": [1, {}], "bare": {"wall_s": "five"}, "work": 1e300, "artifacts": [{"path": 3}, 4, {"path": "../../etc/passwd"}]}')

# ---- text ---------------------------------------------------------------------------------------------------------

STAT = '{"counter-value" : "VALUE", "unit" : "msec", "event" : "task-clock", "event-runtime" : 1, "pcnt-running" : 100.00}\n'
write("perf-stat-absurd-value.json", STAT.replace("VALUE", "9" * 400) + STAT.replace("VALUE", "12.5"))
write("perf-stat-cut.json", STAT.replace("VALUE", "12.5") + STAT[:45])
TIME = ("\tCommand being timed: \"./p 1\"\n\tUser time (seconds): 1.25\n\tSystem time (seconds): 0.07\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:02.02\n"
        "\tMaximum resident set size (kbytes): 1576\n\tMinor (reclaiming a frame) page faults: 177\n\tExit status: 0\n")
write("time-v-cut.txt", TIME[: TIME.index("\tMinor")])
write("time-v-absurd-values.txt", TIME.replace("1576", "99999999999999999999").replace("0:02.02", "x:02").replace("177", "-1.5e9"))
write("time-v-invalid-utf8.txt", TIME.encode().replace(b"./p 1", b"./p \xff\xfe\x1b[31m"))
RSS = "ts_ns\trss_bytes\tpss_bytes\n1000000000\t4096\t4096\n1050000000\t8192\t8192\n"
write("rss-absurd-values.tsv", RSS + "1100000000\t99999999999999999999\t1\nnow\t4096\t1\n1150000000\t-4096\t1\n")
write("rss-cut-line.tsv", RSS + "11000")
LOG = ('7 1000.000001 write(3, "rec 0\\n", 6) = 6 <0.000026>\n7 1000.000101 write(3, "rec 1\\n", 6) = 6 <0.000012>\n'
       '7 1000.000201 fsync(3) = 0 <0.001000>\n7 1000.001301 +++ exited with 0 +++\n')
write("strace-cut.log", LOG[: LOG.index("<0.001000>") + 4])
write("strace-torn-lines.log", LOG.replace("7 1000.000201 fsync", "7 1000.0002017 1000.0003 fsy").replace("write(3, \"rec 1", "<... read resumed>\"x") + "garbage \x1b]0;owned\x07 here\n")
write("strace-hostile-paths.log", (f'7 1000.000001 openat(AT_FDCWD, "/tmp/{HOSTILE}", O_WRONLY) = 3</tmp/{HOSTILE}> <0.000026>\n' + LOG).encode() + b"7 1000.002 write(3, \"\xff\xfe\", 2) = 2 <0.1>\n")
SUMMARY = ("% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n"
           " 90.00    0.900000           9    100000           write\n 10.00    0.100000           1    100000         7 futex\n"
           "------ ----------- ----------- --------- --------- ----------------\n100.00    1.000000                200000         7 total\n")
write("strace-c-cut.txt", SUMMARY[: SUMMARY.index("futex")])
write("strace-c-absurd-counts.txt", SUMMARY.replace("    100000           write", " 99999999999999999999           write"))
write("strace-c-hostile-names.txt", SUMMARY.replace("futex", "<b>;--|`"))
write("folded-absurd-weights.folded", "sl;main;nanosleep;-;entry_SYSCALL_64;do_nanosleep;schedule 99999999999999999999\nsl;main;nanosleep;-;entry_SYSCALL_64;do_nanosleep;schedule 70\nsl;main;entry_SYSCALL_64;schedule -5\n")
write("folded-hostile-names.folded", f"sl;main;{HOSTILE.replace(';', ',')};-;entry_SYSCALL_64;do_nanosleep;schedule 70\n")
write("offcputime-cut.txt", "    __schedule\n    schedule\n    do_nanosleep\n    entry_SYSCALL_64_after_hwframe\n    clock_nanosleep\n    main\n    -                sl (9832)\n        1976517\n\n    __schedule\n    schedule\n    do_nano")

# ---- what kernel-side tools print ----------------------------------------------------------------------------------

BUCKETS = ("Tracing block device I/O... Hit Ctrl-C to end.\n\ndisk = vda\tflags = Read\n     usecs               : count    distribution\n"
           "         0 -> 1          : 12       |****|\n         2 -> 3          : 7        |**  |\n")
write("biolatency-cut.txt", BUCKETS[: BUCKETS.index("7        |")])
write("biolatency-hostile-disk.txt", BUCKETS.replace("vda", HOSTILE))
write("bpftrace-absurd-buckets.txt", "@us: \n[2, 4) 99999999999999999999 |@|\n[9, 3) 1 |@|\n[16E, 32E) 1 |@|\n[4, 8) 5 |@|\n")
CONTENTION = (" contended   total wait     max wait     avg wait         type   caller\n\n"
              "        81    324.39 ms      8.27 ms      4.00 ms      rwsem:W   __x64_sys_munmap+0x17\n")
write("perf-lock-absurd-times.txt", CONTENTION + "         1  99999999999.00 s       1 s      1 s     spinlock   a\n        -1       1 us      1 us      1 us     spinlock   b\n")
write("perf-lock-hostile-names.txt", CONTENTION.replace("__x64_sys_munmap", HOSTILE))
write("klockstat-cut.txt", "                               Caller  Avg Wait    Count   Max Wait   Total Wait\n"
      "                     pipe_read+0x3f    420 ns   334120    17.0 us     140.6 ms\n                    pipe_write+0x35    471 ns   3341")
write("futex-absurd-sums.txt", "@futex_wait_ns[1]: 99999999999999999999\n@futex_wait_ns[2]: 7\n")
write("syscount-absurd-counts.txt", "Tracing syscalls, printing top 10... Ctrl+C to quit.\n[09:39:04]\nSYSCALL             COUNT\nread     99999999999999999999\nwrite                   3\n")
PRESSURE = "some avg10=0.79 avg60=0.53 avg300=0.64 total=380164998\n"
write("pressure-absurd-total.txt", "==> /proc/pressure/cpu <==\n" + PRESSURE + PRESSURE.replace("380164998", "99999999999999999999"))
write("pressure-of-what.txt", "usage_usec 17\n" + PRESSURE)
write("vmstat-cut.txt", " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
      " 3  0      0 208508  23920 281804    0    0  1447  1965 1128 2643 49 12 37  1  1\n 3  0      0 208508  239")

# ---- compressed and foreign ---------------------------------------------------------------------------------------

write("gzip-garbage.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + bytes(range(64, 200)))
write("zstd-cut.zst", b"\x28\xb5\x2f\xfd\x24\x40\x01\0")
write("empty.data", b"")
write("foreign.bin", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01")

# ---- perf.profile.* logs ------------------------------------------------------------------------------------------

SPAN = '{"event":"perf.profile.span_summary","span":"%s","parent":null,"cumulative_us":%s,"count":%s}\n'
GOOD = SPAN % ("good", 100, 2)
write("profile-log-cut.jsonl", GOOD + SPAN[:40])
write("profile-log-cut-at-once.jsonl", SPAN[:50])
write("profile-log-absurd-values.jsonl", GOOD + SPAN % ("a", -5, -1) + SPAN % ("b", 18446744073709551615, '"many"') + SPAN % ("c", '"soon"', 1)
      + SPAN % ("d", 9223372036854775, 1) * 3)
write("profile-log-no-numbers.jsonl", GOOD + SPAN % ("a", "1e400", 1) + SPAN % ("b", "NaN", 1) + SPAN % ("c", "Infinity", 1))
write("profile-log-duplicate-keys.jsonl", GOOD + SPAN.replace('"count"', '"count":7,"count"') % ("a", 1, 2))
write("profile-log-circle.jsonl", GOOD + (SPAN % ("a", 1, 1)).replace("null", '"b"') + (SPAN % ("b", 1, 1)).replace("null", '"a"')
      + (SPAN % ("c", 1, 1)).replace("null", '"c"'))
TEXT = HOSTILE.replace("\x1b", "\\u001b").replace("\x07", "\\u0007").replace('"', '\\"')
write("profile-log-hostile-names.jsonl", (GOOD + SPAN % (TEXT, 50, 1)
      + '{"event":"perf.profile.hypothesis_evaluated","name":"%s","verdict":"%s","evidence":"%s"}\n' % (TEXT, TEXT, TEXT)
      + '{"event":"perf.profile.scaling_law","axis":"%s","sizes":[1,2,3],"p95s_us":[1,2,3],"verdict":"%s"}\n' % (TEXT, TEXT)).encode()
      + GOOD.replace("good", "no utf-8 \xff").encode("latin-1"))
write("profile-log-wrong-series.jsonl", GOOD + '{"event":"perf.profile.scaling_law","sizes":[1,2,3],"p95s_us":[1,2]}\n')
