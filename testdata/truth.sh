#!/bin/bash
# What the other tools say about one recorded scenario.
#
#   testdata/truth.sh SCENARIO-DIR TRUTH-DIR
#
# Run on the machine that recorded, right after recording: perf names symbols
# from the very binaries and kernel that it recorded. Per recording X:
#
#   X.events.tsv      perf script: samples and total period per event
#   X.self.txt        perf report: self weight per (dso, symbol)
#   X.leaf.tsv        perf script, leaf frames added up per symbol address
#   sched.timehist.txt.zst, sched.summary.txt, sched.threads.tsv    perf sched timehist
#   heaptrack.txt     heaptrack_print: totals and the ten largest sites
#   heaptrack.sites.txt.zst    heaptrack_print without merging, all sites
set -euo pipefail
export LC_ALL=C
from=$(cd "${1:?usage: truth.sh SCENARIO-DIR TRUTH-DIR}" && pwd)
mkdir -p "${2:?usage: truth.sh SCENARIO-DIR TRUTH-DIR}"
to=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for file in "$from"/*.perf.data.zst; do
    [ -e "$file" ] || continue
    x=$(basename "$file" .perf.data.zst)
    zstd -q -d -f "$file" -o "$x.perf.data"
    perf script -i "$x.perf.data" --ns -G --show-mmap-events \
        -F comm,pid,tid,event,period,ip,sym,symoff,dso 2>/dev/null > "$x.script" || true
    python3 - "$x.script" "$to/$x" <<'PYTHON'
import collections, re, sys
source, stem = sys.argv[1:]
mmap = re.compile(r'PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0) ?[^\]]*\]: \S+ (.*)$')
sample = re.compile(r'^\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+(?P<period>\d+)\s+(?P<event>\S+):\s+(?:(?P<ip>[0-9a-f]+) (?P<sym>.*) \((?P<dso>.*)\))?\s*$')
maps = collections.defaultdict(list)
events, leaves, bad = {}, {}, 0
for line in open(source):
    line = line.rstrip('\n')
    m = mmap.search(line)
    if m:
        pid, start, size, offset, name = m.groups()
        maps[pid].append((int(start, 16), int(size, 16), int(offset, 16), name))
        continue
    if 'PERF_RECORD_' in line or not line.strip():
        continue
    m = sample.match(line)
    if not m:
        bad += 1
        continue
    event, period = m['event'], int(m['period'])
    n, total = events.get(event, (0, 0))
    events[event] = (n + 1, total + period)
    if m['ip'] is None:
        key = (event, '', '', '', '')
    else:
        ip, sym, dso = int(m['ip'], 16), m['sym'], m['dso']
        name, plus, off = sym.rpartition('+0x')
        if plus:
            address, symbol = ip - int(off, 16), name
        else:
            address, symbol = ip, sym
        offset = ''
        if not dso.startswith('['):
            for start, size, pgoff, file in reversed(maps[m['pid']]):
                if start <= ip < start + size:
                    offset = hex(address - start + pgoff)
                    break
        key = (event, dso, symbol, hex(address), offset)
    n, total = leaves.get(key, (0, 0))
    leaves[key] = (n + 1, total + period)
if bad:
    sys.exit(f'{source}: {bad} lines not understood')
with open(stem + '.events.tsv', 'w') as out:
    print('event', 'samples', 'period', sep='\t', file=out)
    for event, (n, total) in sorted(events.items()):
        print(event, n, total, sep='\t', file=out)
if not stem.endswith('sched'):
    with open(stem + '.leaf.tsv', 'w') as out:
        print('event', 'dso', 'symbol', 'avma', 'file_offset', 'samples', 'period', sep='\t', file=out)
        for key, (n, total) in sorted(leaves.items(), key=lambda kv: (kv[0][0], -kv[1][1], kv[0])):
            print(*key, n, total, sep='\t', file=out)
PYTHON
    if [ "$x" = sched ]; then
        # timehist reads the callchains only to print them.
        perf sched timehist -i "$x.perf.data" --summary 2>/dev/null > "$to/$x.summary.txt"
        perf sched timehist -i "$x.perf.data" --state --no-call-graph 2>/dev/null > timehist.txt
        # Wait and run time of each thread, in microseconds, added up from there.
        python3 - timehist.txt > "$to/$x.threads.tsv" <<'PYTHON'
import collections, re, sys
threads = collections.defaultdict(lambda: [0, 0, 0, 0])
for line in open(sys.argv[1]):
    m = re.match(r'\s*[\d.]+ \[\d+\]\s+(.*?\[[-\d/]+\])\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)', line)
    if m:
        for i, value in enumerate((1, *(round(float(x) * 1000) for x in m.groups()[1:]))):
            threads[m[1]][i] += value
print('thread', 'switches_out', 'wait_us', 'sch_delay_us', 'run_us', sep='\t')
for name, sums in sorted(threads.items()):
    print(name, *sums, sep='\t')
PYTHON
        zstd -q -19 -f timehist.txt -o "$to/$x.timehist.txt.zst"
    else
        perf report -i "$x.perf.data" --stdio --no-children --no-inline -g none --percent-limit 0 \
            --sort dso,sym -F overhead,period,sample,dso,sym -t ';' 2>/dev/null |
            sed 's/ *;/;/g' > "$to/$x.self.txt"
    fi
done

if [ -e "$from/heaptrack.zst" ]; then
    heaptrack_print -f "$from/heaptrack.zst" -a 1 -p 1 -l 1 -T 1 -n 10 > "$to/heaptrack.txt"
    sed -i '/^reading file/d' "$to/heaptrack.txt"
    heaptrack_print -f "$from/heaptrack.zst" -m 0 -a 1 -p 1 -l 1 -T 1 -n 1000 > sites.txt
    sed -i '/^reading file/d' sites.txt
    zstd -q -19 -f sites.txt -o "$to/heaptrack.sites.txt.zst"
fi
