#!/bin/bash
# Records the large inputs of `benches/peers.sh large`: inputs.sh DIR NAME... (see benches/peers.sh)
#
# Made per name: DIR/NAME.perf.data and DIR/NAME.txt with the command, what the bytes of the file hold, and what perf counts.
# DIR/README has the texts together.
# Once: DIR/work with the programs and sources they run on, and DIR/symbols with the kernel's names: they stay, since they
# name the frames of later analyses.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
dir=$1
shift
[ "$(id -u)" = 0 ] || { echo "peers.sh inputs: needs root (perf record -a, tracepoints)" >&2; exit 2; }
for program in perf gcc python3 sqlite3; do
    command -v "$program" >/dev/null || { echo "peers.sh inputs: needs $program" >&2; exit 2; }
done
mkdir -p "$dir/work"
dir=$(cd "$dir" && pwd)

prepare() {
    [ ! -e "$dir/work/ready" ] || return 0
    python3 "$here/sources.py" "$dir/work"
    gcc -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls "$here/walk.c" -o "$dir/work/walk"
    python3 -c 'import random; r = random.Random(1)
for i in range(200000): print(i, "".join(r.choices("abcdefghij", k=12)), r.randrange(1000))' >"$dir/work/words.txt"
    touch "$dir/work/ready"
}

# The peers name the kernel from the running one; Tripod only from a copy that says which kernel it is of.
kernel_names() {
    mkdir -p "$dir/symbols"
    cat /proc/kallsyms >"$dir/symbols/kallsyms"
    printf '{"kernel_release": "%s", "kernel_build_id": "%s"}\n' "$(uname -r)" "$(perf buildid-list -k)" >"$dir/symbols/kallsyms.json"
}

rate_file=/proc/sys/kernel/perf_event_max_sample_rate
rate_before=$(cat "$rate_file")
rate_back() { [ "$(cat "$rate_file")" = "$rate_before" ] || echo "$rate_before" >"$rate_file"; }
trap rate_back EXIT
trap 'exit 130' INT TERM

rate() { # HERTZ: the kernel must allow it, with room so that it does not throttle
    [ "$rate_before" -ge $(($1 * 2)) ] || echo $(($1 * 2)) >"$rate_file"
}

record() { # NAME SECONDS PERF-RECORD-ARGUMENT...
    local name=$1 seconds=$2 file=$dir/$1.perf.data
    shift 2
    if [ -e "$file" ]; then
        echo "$file is there already"
        return
    fi
    kernel_names
    # -N: the build-id cache of whoever runs this stays as it is.
    perf record -q -N "$@" -o "$file.new" -- "$here/load.sh" "$name" "$seconds" "$dir/work" 2>"$dir/$name.log" ||
        { cat "$dir/$name.log" >&2; rm -f "$file.new"; exit 1; }
    mv "$file.new" "$file"
    {
        echo "$name.perf.data: perf record $* -- load.sh $name $seconds, by $(perf --version), on $(nproc) CPUs"
        python3 "$here/chains.py" "$file"
        cat "$dir/$name.log"
        echo "perf report --stats, per event:"
        perf report --stats -i "$file" 2>/dev/null | grep -E 'SAMPLE events|LOST|THROTTLE|stats:' || true
    } >"$dir/$name.txt"
    cat "$dir/$name.txt"
}

prepare
for name in "$@"; do
    case $name in
        fp)
            rate 15000
            record fp 30 -a -m 8M -F 15000 -e cpu-clock -g ;;
        dwarf)
            rate 997
            record dwarf 12 -m 16M -F 997 -e cpu-clock --call-graph dwarf,16384 ;;
        sched)
            record sched 24 -a -m 16M -e sched:sched_switch,sched:sched_wakeup -g ;;
        *) echo "peers.sh inputs: unknown input $name (fp, dwarf, sched)" >&2; exit 2 ;;
    esac
done
for name in fp dwarf sched; do
    [ ! -e "$dir/$name.txt" ] || cat "$dir/$name.txt"
done >"$dir/README"
