#!/bin/bash
# CPU seconds and peak memory of Tripod beside other tools, on the same files and in one run, as ratios.
#
#   benches/peers.sh [RECORDING]...      default: the recordings of testdata/scenarios
#
# Tripod's figure is the whole `analyze` of that one file: reading, symbols, Parquet, rules, flame graphs. The peers do
# less. Runs alternate and the least CPU time of REPEAT (default 3) counts: the machine may be shared.
set -euo pipefail
cd "$(dirname "$0")/.."
repeat=${REPEAT:-3}
tripod=${TRIPOD:-${CARGO_TARGET_DIR:-target}/release/tripod}
[ -x "$tripod" ] || { echo "build first: cargo build --release (looked for $tripod)" >&2; exit 2; }
[ -x /usr/bin/time ] || { echo "needs GNU time (Debian package time)" >&2; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# measure NAME COMMAND: keeps the least "user+system seconds, peak KiB" in $tmp/NAME.
measure() {
    local name=$1 command=$2 user system peak
    if ! /usr/bin/time -f '%U %S %M' -o "$tmp/time" bash -c "set -o pipefail; $command" >"$tmp/out" 2>"$tmp/err"; then
        echo failed >"$tmp/$name"
        return
    fi
    read -r user system peak < <(tail -n 1 "$tmp/time")
    awk -v u="$user" -v s="$system" -v m="$peak" 'BEGIN {printf "%.2f %d\n", u + s, m}' >>"$tmp/$name.all"
    sort -n "$tmp/$name.all" | head -n 1 >"$tmp/$name"
}

plain() { # FILE: an uncompressed copy, since the peers do not read .zst
    case $1 in
        *.zst) zstd -q -d -f "$1" -o "$tmp/$(basename "${1%.zst}")"; echo "$tmp/$(basename "${1%.zst}")" ;;
        *) echo "$1" ;;
    esac
}

compare() { # LABEL FILE PEER-NAME PEER-COMMAND
    local label=$1 file=$2 peer=$3 command=$4 i
    rm -f "$tmp"/ours* "$tmp"/peer*
    for i in $(seq "$repeat"); do
        measure ours "$tripod analyze $file -o $tmp/run --force -q --symbol-dir testdata/scenarios/symbols"
        measure peer "$command"
    done
    local ours peers
    ours=$(cat "$tmp/ours")
    peers=$(cat "$tmp/peer")
    if [ "$ours" = failed ] || [ "$peers" = failed ]; then
        printf '%-44s %-34s tripod: %s, peer: %s\n' "$label" "$peer" "$ours" "$peers"
        return
    fi
    printf '%-44s %-34s tripod %5s s %7d KiB   peer %5s s %7d KiB   ratio %s\n' "$label" "$peer" \
        $ours $peers "$(awk -v a="${ours% *}" -v b="${peers% *}" 'BEGIN {if (a > 0) printf "%.2f", b / a; else print "-"}')"
}

echo "CPU seconds (user + system, least of $repeat) and peak memory; ratio = peer / tripod; load $(cut -d' ' -f1 /proc/loadavg)"
if [ "$#" -gt 0 ]; then files=("$@"); else
    mapfile -t files < <(find testdata/scenarios -name '*.perf.data.zst' -o -name 'heaptrack*.zst' | sort)
fi
collapse=$(command -v inferno-collapse-perf || true)
[ -n "$collapse" ] || echo "inferno-collapse-perf is not installed (cargo install inferno): perf script alone is the peer"
for file in "${files[@]}"; do
    label=${file#testdata/scenarios/}
    input=$(plain "$file")
    case $file in
        *perf.data*)
            if [ -n "$collapse" ]; then
                compare "$label" "$input" "perf script | inferno-collapse-perf" "perf script -i $input --no-inline | $collapse"
            else
                compare "$label" "$input" "perf script" "perf script -i $input --no-inline"
            fi ;;
        *heaptrack*) compare "$label" "$input" "heaptrack_print" "heaptrack_print $file" ;;
    esac
    echo "    stages: $("$tripod" analyze "$input" -o "$tmp/run" --force --timings -q --symbol-dir testdata/scenarios/symbols >/dev/null 2>&1;
        python3 -c "import json; print(', '.join('%s %d ms' % (s['stage'], s['cpu_ms']) for s in json.load(open('$tmp/run/summary.json')).get('timings', [])))" 2>/dev/null || echo 'not available')"
done
