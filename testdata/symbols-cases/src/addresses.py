"""The addresses of one program that a recording shows, as its ELF file states them: one hex number per line.

usage: addresses.py SCRIPT ELF NAME [unwound]
SCRIPT is what `perf script --no-inline -F ip,dso` printed: offsets in the file for programs. NAME is the last part of the
path that was mapped. A caller's address is that of the byte before its return address; of stacks that perf unwound
itself (dumps) it prints that address. Offsets become addresses by readelf's segments.
"""
import re
import subprocess
import sys

script, elf, wanted = sys.argv[1:4]
back = 0 if sys.argv[4:] else 1
segments = []
for line in subprocess.run(["readelf", "-lW", elf], capture_output=True, text=True, check=True).stdout.splitlines():
    if line.split()[:1] == ["LOAD"]:
        offset, address, _, size = (int(field, 16) for field in line.split()[1:5])
        segments.append((offset, address, size))
frame = re.compile(r"\s+([0-9a-f]+) \((.*)\)$")
found, leaf = set(), True
for line in open(script):
    match = frame.match(line)
    if not match:
        leaf = True
        continue
    address = int(match.group(1), 16) - (0 if leaf else back)
    # Behind the kernel's part the user's begins with an instruction pointer again.
    leaf = int(match.group(1), 16) >> 63 == 1
    if match.group(2).rsplit("/", 1)[-1] == wanted:
        found |= {address - first + base for first, base, length in segments if first <= address < first + length}
print("\n".join(f"{address:#x}" for address in sorted(found)))
