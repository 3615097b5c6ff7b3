#!/bin/bash
# Tripod beside other tools, on the same files and in one run, as ratios.
#
#   benches/peers.sh small [RECORDING]...       the committed recordings (default: those of testdata/scenarios): CPU seconds
#                                               and peak memory beside perf script | inferno-collapse-perf, heaptrack_print
#   benches/peers.sh inputs [DIR [NAME]...]     records the large inputs on this machine, as root; those there are kept
#   benches/peers.sh large [DIR [NAME]...]      measures on them: CPU, wall, memory, threads, stages
#
# DIR is $TMPDIR/tripod-peers by default (about 1 GB; it must stay where it is, since the programs in it name frames).
# NAME: fp      frame-pointer chains of the whole machine under a mix of programs, deep, most of them distinct
#       dwarf   16 KiB stack dumps of compilers, an interpreter and a database
#       sched   sched_switch and sched_wakeup with chains, of programs that switch a lot
# Record on an otherwise idle machine. Each takes under 90 s and is described in DIR/README: samples, distinct chains, lost.
#
# Peers of `large`, each left out with a line that says so where it is not installed: perf script | inferno-collapse-perf
# and samply (cargo install inferno, samply), hotspot-perfparser (Debian package hotspot), perf report with and without
# inline chains, perf sched timehist. They do less than Tripod, whose figure is the whole `analyze` of that one file:
# reading, symbols, Parquet, rules, flame graphs, with the default options and the kernel's names from DIR/symbols.
#
# Runs alternate: each round runs every command once. `large` prints medians of REPEAT rounds, `small` the least CPU time,
# and the load in front: the machine may be shared.
#
#   TRIPOD       the binary (default: release/tripod of the target directory)
#   TRIPOD_ARGS  further arguments of `tripod analyze` (large)
#   REPEAT       rounds (default 3)
#   LIMIT_S, LIMIT_MIB  a peer is killed after so many seconds (default 120) or at so much anonymous memory (default: half
#                of the machine's); the table says so and takes what it had used by then as the least
#   LEAVE_OUT    parts of peers' names, separated by commas, to leave out (large)
#   INFERNO, SAMPLY, HOTSPOT   the peers' programs, where they are not in PATH
set -euo pipefail
from=$PWD
cd "$(dirname "$0")/.."
mode=small
case ${1:-} in
    small|inputs|large) mode=$1; shift ;;
esac
if [ "$mode" != small ]; then
    dir=${1:-${TMPDIR:-/tmp}/tripod-peers}
    case $dir in /*) ;; *) dir=$from/$dir ;; esac
    [ "$#" -eq 0 ] || shift
    [ "$#" -gt 0 ] || set -- fp dwarf sched
fi
if [ "$mode" = inputs ]; then
    exec benches/peers/inputs.sh "$dir" "$@"
fi
repeat=${REPEAT:-3}
tripod=${TRIPOD:-${CARGO_TARGET_DIR:-target}/release/tripod}
[ -x "$tripod" ] || { echo "build first: cargo build --release (looked for $tripod)" >&2; exit 2; }
if [ "$mode" = large ]; then
    TRIPOD=$tripod exec python3 -uB benches/peers/large.py "$dir" "$@"
fi
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
    local label=$1 file=$2 peer=$3 command=$4 ours peers
    rm -f "$tmp"/ours* "$tmp"/peer*
    for _ in $(seq "$repeat"); do
        measure ours "$tripod analyze $file -o $tmp/run --force -q --symbol-dir testdata/scenarios/symbols"
        measure peer "$command"
    done
    ours=$(cat "$tmp/ours")
    peers=$(cat "$tmp/peer")
    if [ "$ours" = failed ] || [ "$peers" = failed ]; then
        printf '%-44s %-34s tripod: %s, peer: %s\n' "$label" "$peer" "$ours" "$peers"
        return
    fi
    printf '%-44s %-34s tripod %5s s %7d KiB   peer %5s s %7d KiB   ratio %s\n' "$label" "$peer" \
        "${ours% *}" "${ours#* }" "${peers% *}" "${peers#* }" \
        "$(awk -v a="${ours% *}" -v b="${peers% *}" 'BEGIN {if (a > 0) printf "%.2f", b / a; else print "-"}')"
}

echo "CPU seconds (user + system, least of $repeat) and peak memory; ratio = peer / tripod; load $(cut -d' ' -f1 /proc/loadavg)"
if [ "$#" -gt 0 ]; then files=("$@"); else
    mapfile -t files < <(find testdata/scenarios -name '*.perf.data.zst' -o -name 'heaptrack*.zst' | sort)
fi
collapse=${INFERNO:-$(command -v inferno-collapse-perf || true)}
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
    echo "    stages:"
    "$tripod" analyze "$input" -o "$tmp/run" --force --timings --symbol-dir testdata/scenarios/symbols 2>/dev/null |
        sed -n '/^Stages/,/^Run directory/p' | sed '1,2d;$d;/^ *$/d;s/^/     /'
done
