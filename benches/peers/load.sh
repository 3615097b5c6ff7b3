#!/bin/bash
# The programs that benches/peers.sh records: load.sh fp|dwarf|sched SECONDS WORK
#
# WORK holds the programs and sources that `peers.sh inputs` made. Each lane keeps one CPU busy; what is not installed is
# left out, and no program outlives the given seconds by much.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kind=$1
end=$((SECONDS + $2))
cd "$3" || exit 2
python=$(python3 -c 'import sys; print(sys.executable)')   # not a wrapper of pyenv

run() { # PROGRAM ARGUMENT...
    local left=$((end - SECONDS))
    [ "$left" -gt 0 ] && command -v "$1" >/dev/null || return 0
    timeout "$left" "$@" >/dev/null 2>&1 || true
}

database() { # FILE ROWS
    rm -f "$1" "$1-journal"
    run sqlite3 -cmd ".parameter init" -cmd ".parameter set :rows $2" "$1" ".read $here/../../testdata/workloads/real.sql"
}

lane() { # FUNCTION: again and again until the time is over
    while [ "$SECONDS" -lt "$end" ]; do "$1"; done
}

# ---------------------------------------------------------------- fp: a busy machine

native() {
    run ./walk 6
    run gcc -O2 -c big.c -o native.o
    database :memory: 150000
    run sort -k 2 --parallel=1 words.txt
    run zstd -q -15 -f words.txt -o words.zst
    run git -C "$here" log --stat -n 200
}

managed() {
    run node "$here/walk.js" 5
    run rustc -O --emit=obj big.rs -o managed.o
    run "$python" "$here/walk.py" 1
    run perl "$here/walk.pl" 1
}

# ---------------------------------------------------------------- dwarf: three programs, one with debug information

compilers() { run gcc -O2 -c big.c -o compilers.o; }

interpreters() {
    run "$python" "$here/walk.py" 3
    database :memory: 300000
}

# ---------------------------------------------------------------- sched: many context switches

pipes() {
    run perf bench sched pipe -l 100000
    run "$python" "$here/handoff.py" 1
}

crowd() {
    run perf bench sched messaging -g 4 -l 100
    run perf bench futex wake -t 64 -r 1
    database crowd.db 20000
    run bash -c 'for i in 1 2 3 4 5; do head -c 400000 words.txt | sort | uniq -c | sort -n | tail -n 3; done'
}

case $kind in
    fp) lane native & lane managed & ;;
    dwarf) lane compilers & lane interpreters & ;;
    sched) lane pipes & lane crowd & ;;
    *) echo "load.sh: unknown kind $kind" >&2; exit 2 ;;
esac
wait
