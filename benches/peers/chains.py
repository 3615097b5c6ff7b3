"""Counts the samples of perf.data files by the bytes alone: chains.py FILE... (file mode, little endian, one sample layout)

Per file one tab-separated line: bytes, samples, samples with a distinct chain and their share, mean chain length, bytes
of user stack, lost records. Shares no code with Tripod or perf.
"""
import mmap
import struct
import sys

IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW = (1 << i for i in range(11))
REGS_USER, STACK_USER, IDENTIFIER = 1 << 12, 1 << 13, 1 << 16
BEFORE_CHAIN = (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU, PERIOD)


def count(path):
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if data[:8] != b"PERFILE2":
        sys.exit(f"{path}: not a perf.data file")
    attrs, _, start, size = struct.unpack_from("<4Q", data, 24)
    layout, = struct.unpack_from("<Q", data, attrs + 24)
    registers = bin(struct.unpack_from("<Q", data, attrs + 80)[0]).count("1")
    before = 8 * sum(1 for bit in BEFORE_CHAIN if layout & bit)
    at, end = start, start + size
    samples = depth = stacks = lost = 0
    chains = set()
    while at + 8 <= end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if length < 8:
            break
        if kind == 9:
            samples += 1
            p = at + 8 + before
            if layout & CHAIN:
                n, = struct.unpack_from("<Q", data, p)
                depth += n
                chains.add(data[p + 8:p + 8 + 8 * n])
                p += 8 + 8 * n
            if layout & STACK_USER and not layout & RAW:
                abi, = struct.unpack_from("<Q", data, p)
                p += 8 + (8 * registers if abi and layout & REGS_USER else 0)
                stacks += struct.unpack_from("<Q", data, p)[0]
        elif kind == 2:
            lost += struct.unpack_from("<Q", data, at + 16)[0]
        at += length
    return len(data), samples, len(chains), round(len(chains) / max(samples, 1), 3), round(depth / max(samples, 1), 1), stacks, lost


print("file", "bytes", "samples", "distinct", "share", "chain", "stack_bytes", "lost", sep="\t")
for path in sys.argv[1:]:
    print(path.rsplit("/", 1)[-1], *count(path), sep="\t")
