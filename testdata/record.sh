#!/bin/bash
# Records the scenarios of testdata/scenarios anew.
#
#   testdata/record.sh SCENARIO [OUTDIR]    one scenario and its partner, e.g. s1
#                                           (or several: "s1 s4"; the list is in
#                                           record/scenarios.sh)
#   testdata/record.sh all [OUTDIR]         all of them
#   testdata/record.sh symbols [OUTDIR]     only what names the symbols
#   testdata/record.sh readme [OUTDIR]      only the list of files (README.md)
#
# OUTDIR is testdata/ by default; the recordings go to OUTDIR/scenarios/NAME/,
# the figures of the other tools to OUTDIR/truth/NAME/ (see truth.sh).
#
# Every artifact is taken in its own run, as root, with an empty environment.
# Variables:
#   RECORD_LOCK        a file to flock around each single run (default: none)
#   RECORD_TURN        keep that lock over several runs for about so many seconds
#                      (default 0: given back after each run)
#   RECORD_RESUME      1: keep what an interrupted call left, take the rest
#   RECORD_QUIET_WAIT  seconds to wait for PSI "cpu some avg10" < 10 (default 90)
#   RECORD_WORK        where the programs are built and run; must be on a real
#                      disk, not on tmpfs (default /tmp/tripod-rec)
#   RECORD_ONLY        artifacts to take, e.g. "cpu-fp strace-c" (default: all)
#   RECORD_BUILT       1: the programs are there already
#   RECORD_NAMES       folders to record, of those of the scenario (default: all)
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2030,SC2031 # {variant} and {threads} are meant to stay in their subshells
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
what=${1:?usage: record.sh SCENARIO|all|symbols|readme [OUTDIR]}
out=${2:-$here}
rec=${RECORD_WORK:-/tmp/tripod-rec}
quiet_wait=${RECORD_QUIET_WAIT:-90}
mkdir -p "$out" "$rec/bin" "$rec/work"
out=$(cd "$out" && pwd)
# shellcheck source=record/extras.sh
. "$here/record/extras.sh"
# shellcheck source=record/scenarios.sh
. "$here/record/scenarios.sh"
# shellcheck source=record/shared.sh
. "$here/record/shared.sh"

# ---------------------------------------------------------------- tools

need() { # PROGRAM DEBIAN-PACKAGE
    command -v "$1" >/dev/null || { echo "record.sh: $1 is missing (Debian package $2)" >&2; exit 2; }
}
need gcc gcc
need perf linux-perf
need strace strace
need heaptrack heaptrack
need hyperfine hyperfine
need offcputime libbpf-tools
need bpftrace bpftrace
need zstd zstd
need objcopy binutils
need flock util-linux
need mkfs.ext4 e2fsprogs
need sqlite3 sqlite3
need g++ g++
[ -e /usr/include/zlib.h ] || { echo "record.sh: zlib.h is missing (Debian package zlib1g-dev)" >&2; exit 2; }
need python3 python3
[ -x /usr/bin/time ] || { echo "record.sh: /usr/bin/time is missing (Debian package time)" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "record.sh: must run as root (perf -a, BPF)" >&2; exit 2; }

# The programs see nothing of the environment of whoever records.
clean() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/tmp "$@"; }

build_id() { # ELF
    readelf -n "$1" 2>/dev/null | awk '/Build ID:/ {print $3}'
}

build() {
    cflags="-O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -ffile-prefix-map=$here/="
    local libraries
    for source in "$here"/workloads/*.c; do
        program=$(basename "$source" .c)
        libraries=""
        [ "$program" != s23 ] || libraries=-l:libz.a
        # shellcheck disable=SC2086
        (cd "$here" && gcc -Wall -Wextra $cflags -pthread -o "$rec/bin/$program.new" "workloads/$program.c" $libraries)
        mv "$rec/bin/$program.new" "$rec/bin/$program"
    done
    for source in "$here"/workloads/*.cpp; do
        program=$(basename "$source" .cpp)
        # shellcheck disable=SC2086
        (cd "$here" && g++ -Wall -Wextra $cflags -static-libstdc++ -static-libgcc -o "$rec/bin/$program.new" "workloads/$program.cpp")
        mv "$rec/bin/$program.new" "$rec/bin/$program"
    done
    build_many
    cp "$here/rss.sh" "$rec/bin/rss.sh"
    for source in "$here"/workloads/*r.rs; do # the twins in Rust
        [ -e "$source" ] || continue
        need rustc rustc
        program=$(basename "$source" .rs)
        (cd "$here" && rustc --edition 2021 -O -g -C force-frame-pointers=yes \
            --remap-path-prefix "$here/=" -o "$rec/bin/$program.new" "workloads/$program.rs")
        mv "$rec/bin/$program.new" "$rec/bin/$program"
    done
}

# ---------------------------------------------------------------- one run

psi_avg10() { awk '/^some/ {sub("avg10=", "", $2); print $2}' /proc/pressure/cpu; }
psi_total() { awk '/^some/ {sub("total=", "", $5); print $5}' /proc/pressure/cpu; }
now() { echo "$EPOCHREALTIME"; }
calc() { awk "BEGIN {printf \"%.6f\", $1}"; }

lock_since=""
take_turn() {
    if [ -n "${RECORD_LOCK:-}" ] && [ -z "$lock_since" ]; then
        exec 9>>"$RECORD_LOCK"
        flock 9
        lock_since=$SECONDS
    fi
    local waited=0
    while awk "BEGIN {exit !($(psi_avg10) >= 10)}" && [ "$waited" -lt "${settle:-$quiet_wait}" ]; do
        sleep 1
        waited=$((waited + 1))
    done
    rm -f "$rec"/work/*.out "$rec"/work/real.db* "$rec"/disk/*.out
    [ -z "${on_disk:-}" ] || ln -s "$rec/disk/$bin.out" "$rec/work/$bin.out"
    sync
    peer_up
    psi_before=$(psi_avg10)
    psi_from=$(psi_total)
    began=$(now)
}

# Sets wall (seconds), psi10 and share of the run that began at take_turn.
end_turn() {
    local ended
    ended=$(now)
    peer_down
    wall=$(calc "$ended - $began")
    share=$(calc "($(psi_total) - $psi_from) / 1e6 / $wall")
    psi10=$psi_before
    if [ -n "$lock_since" ] && [ $((SECONDS - lock_since)) -ge "${RECORD_TURN:-0}" ]; then release; fi
}

release() {
    [ -n "$lock_since" ] || return 0
    flock -u 9
    exec 9>&-
    lock_since=""
    sleep 0.2
}

wanted() { # ARTIFACT
    if [ -n "${RECORD_RESUME:-}" ] && compgen -G "$notes/$1.*" >/dev/null; then return 1; fi
    if [ -n "${only:-}" ]; then
        case " $only " in *" ${1%_*} "*) ;; *) return 1 ;; esac
    fi
    [ -z "${RECORD_ONLY:-}" ] && return 0
    case " $RECORD_ONLY " in *" ${1%_*} "*) return 0 ;; esac
    return 1
}

json_string() { # TEXT
    local s=${1//\\/\\\\}
    s=${s//\"/\\\"}
    printf '"%s"' "${s//$'\n'/\\n}"
}

number_or_null() { if [ -n "$1" ]; then printf %s "$1"; else printf null; fi; }
string_or_null() { if [ -n "$1" ]; then json_string "$1"; else printf null; fi; }

# keep FILE PATH TOOL COMMAND WORK [THREADS] [VARIANT]: moves FILE of the work
# directory to PATH of the scenario (compressed if PATH ends in .zst) and notes
# it down for the manifest.
keep() {
    local file=$1 path=$2 tool=$3 command=$4 did=$5 threads=${6:-} variant=${7:-} bare_wall=${bare_wall:-}
    mkdir -p "$(dirname "$dir/$path")"
    [ -s "$file" ] || { echo "record.sh: $name: $tool left no $file" >&2; exit 1; }
    case $path in
        *.zst)
            if [ "${file%.zst}" = "$file" ]; then
                zstd -q -19 -f "$file" -o "$dir/$path"
                command="$command; zstd -19 $file"
            else
                cp "$file" "$dir/$path"
            fi ;;
        *) cp "$file" "$dir/$path" ;;
    esac
    chmod 644 "$dir/$path"
    {
        printf '{"path": %s, "command": %s, "tool": %s, "wall_s": %s, ' \
            "$(json_string "$path")" "$(json_string "$command")" "$(json_string "$tool")" "$wall"
        [ -z "$bare_wall" ] || printf '"bare_wall_s": %s, ' "$bare_wall"
        printf '"work": %s, "threads": %s, "variant": %s, ' \
            "$(number_or_null "$did")" "$(number_or_null "$threads")" "$(string_or_null "$variant")"
        printf '"psi_cpu_avg10": %s, "psi_cpu_share": %s, "sha256": "%s"}\n' \
            "$psi10" "$share" "$(sha256sum "$dir/$path" | cut -d' ' -f1)"
    } > "$notes/$(printf %s "$path" | tr / _).json"
    printf '%-34s %8.2f s  psi %5.2f  %8d bytes\n' "$name/$path" "$wall" "$psi10" "$(stat -c %s "$dir/$path")"
}

# argv WORK: the command line of the program for that amount of work.
argv() {
    if [ "$bin" = sqlite3 ]; then
        echo "/usr/bin/sqlite3 -cmd \".parameter init\" -cmd \".parameter set :rows $1\" real.db \".read real.sql\""
    else
        echo "$rec/bin/$bin $variant $1${threads:+ $threads}"
    fi
}

# bare_at WORK: sets bare_wall, the median wall of three bare runs on a work
# that is not the scenario's; empty on the scenario's own.
declare -A bare_walls
bare_at() {
    local i begin end
    bare_wall=""
    [ "$1" != "$work" ] || return 0
    if [ -z "${bare_walls[$name/$1]:-}" ]; then
        take_turn
        bare_walls[$name/$1]=$(
            for i in 1 2 3; do
                begin=$(now)
                clean sh -c "exec $(argv "$1")" >run.log 2>&1 9>&-
                end=$(now)
                calc "$end - $begin"
                echo
                rm -f real.db*
            done | sort -n | sed -n 2p)
        end_turn
    fi
    bare_wall=${bare_walls[$name/$1]}
}

# traced FILE PATH TOOL WORK TOOL-COMMAND...: runs `TOOL-COMMAND argv` alone.
traced() {
    local file=$1 path=$2 tool=$3 less=$4 command
    shift 4
    command="$* $(argv "$less")"
    bare_at "$less"
    take_turn
    clean sh -c "$command" >run.log 2>&1 9>&- || { cat run.log >&2; echo "record.sh: failed: $command" >&2; exit 1; }
    end_turn
    keep "$file" "$path" "$tool" "$command" "$less" "$threads" "$variant"
}

# beside FILE PATH TOOL WORK SCRIPT: runs the program and, beside it, SCRIPT
# which finds its process id in $pid. The program outlives the tool.
beside() {
    local file=$1 path=$2 tool=$3 less=$4 script=$5 command
    bare_at "$less"
    command="$(argv "$less") >/dev/null & pid=\$!; $script; wait"
    take_turn
    clean bash -c "$command" >run.log 2>&1 9>&- || { cat run.log >&2; echo "record.sh: failed: $command" >&2; exit 1; }
    end_turn
    keep "$file" "$path" "$tool" "$command" "$less" "$threads" "$variant"
}

# A small ext4 of its own, on a loop device over a file in RECORD_WORK: it has
# a journal whatever the file system of the machine, and nothing else writes to
# it. The program reaches it by a link in the work directory.
disk_up() {
    disk_down
    rm -f "$rec/disk.img"
    truncate -s 256M "$rec/disk.img"
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$rec/disk.img"
    mkdir -p "$rec/disk"
    mount -o loop "$rec/disk.img" "$rec/disk"
    sync
    on_disk="ext4 on a loop device"
}

disk_down() {
    on_disk=""
    if mountpoint -q "$rec/disk" 2>/dev/null; then umount "$rec/disk"; fi
    rm -f "$rec/disk.img"
}

# strangers FILE: whether a system-wide recording saw programs of other people.
strangers() {
    perf script -i "$1" --show-mmap-events -F comm 2>/dev/null |
        awk -v rec="$rec/" '/PERF_RECORD_MMAP2/ && $NF ~ "^/" && $NF !~ "^/usr/|^//anon|^/memfd:" && index($NF, rec) != 1 {found = 1} END {exit !found}'
}

# ---------------------------------------------------------------- one scenario

# offcputime's stacks, one per line, as flame graph tools take them.
# shellcheck disable=SC2016
fold='awk '"'"'/^    -  / {comm = $2; for (i = 3; i < NF; i++) comm = comm "_" $i; next}
/^    [^ ]/ {stack = substr($0, 5) (stack == "" ? "" : ";" stack); next}
/^ +[0-9]+$/ {print comm ";" stack, $1; stack = ""}'"'"

record_artifacts() {
    local i s_wall s_user s_sys fields
    local perf_events=task-clock,context-switches,cpu-migrations,page-faults,major-faults,cycles,instructions,duration_time,user_time,system_time

    if wanted bare; then
        rm -f "$notes/bare.runs"
        for i in 1 2; do
            take_turn
            TIMEFORMAT='%3R %3U %3S'
            # shellcheck disable=SC2046
            fields=$( { time clean sh -c "exec $(argv "$work")" >run.log 2>&1 9>&-; } 2>&1 )
            end_turn
            read -r s_wall s_user s_sys <<<"$fields"
            echo "$s_wall $s_user $s_sys $psi10 $share" >> "$notes/bare.runs"
            printf '%-34s %8.2f s  user %s  sys %s  psi %s\n' "$name: bare $i" "$s_wall" "$s_user" "$s_sys" "$psi10"
        done
    fi

    if wanted time-v; then
        traced time-v.txt time-v.txt time "$work" /usr/bin/time -v -o time-v.txt
    fi
    if wanted perf-stat; then
        traced perf-stat.json perf-stat.json perf "$work" perf stat -j -o perf-stat.json -e "$perf_events" --
    fi

    if wanted cpu-fp; then
        traced cpu-fp.perf.data cpu-fp.perf.data.zst perf "$work" \
            perf record -q -N -F "$hz" -e cpu-clock --call-graph fp -o cpu-fp.perf.data --
    fi
    if wanted cpu-dwarf; then
        traced cpu-dwarf.perf.data cpu-dwarf.perf.data.zst perf "$work" \
            perf record -q -N -F "$hz_dwarf" -e cpu-clock --call-graph "dwarf,$dump" -o cpu-dwarf.perf.data --
    fi
    if wanted sched; then
        # On CPU 0 only (unless the CPUs are what the scenario is about): perf -a loses the switches out of the idle
        # task of CPU 1. And again (three times at most) while other people's programs started.
        for i in 1 2 3 4; do
            # shellcheck disable=SC2086
            traced sched.perf.data sched.perf.data.zst perf "$work_sched" \
                $sched_on perf record -q -N -a --synth=no -m 2M -g \
                -e sched:sched_switch --filter "'prev_comm ~ \"$bin*\" || next_comm ~ \"$bin*\"'" \
                -e sched:sched_wakeup --filter "'comm ~ \"$bin*\"'" \
                -o sched.perf.data --
            strangers sched.perf.data || break
        done
    fi

    if wanted offcpu; then
        case $offcpu in
            multi) beside offcpu.txt offcpu.txt offcputime "$work" \
                "offcputime -p \$pid $offcpu_s > offcpu.txt" ;;
            folded) beside offcpu.folded offcpu.folded offcputime "$work" \
                "offcputime -p \$pid $offcpu_s | $fold > offcpu.folded" ;;
            bpftrace) beside offcpu.bpftrace.txt offcpu.bpftrace.txt bpftrace "$work" \
                "bpftrace -p \$pid -e '
tracepoint:sched:sched_switch {
  if (pid == '\$pid') { @start[args->prev_pid] = nsecs; @k[args->prev_pid] = kstack; @u[args->prev_pid] = ustack; }
  \$from = @start[args->next_pid];
  if (\$from) { @usecs[@k[args->next_pid], @u[args->next_pid], args->next_comm] = sum((nsecs - \$from) / 1000); delete(@start[args->next_pid]); }
}
interval:s:$offcpu_s { exit(); }
END { clear(@start); clear(@k); clear(@u); }' > offcpu.bpftrace.txt" ;;
        esac
    fi

    if wanted strace-c; then
        traced strace-c.txt strace-c.txt strace "$work_strace" strace -f -c -o strace-c.txt
    fi
    if wanted strace-cw; then
        traced strace-cw.txt strace-cw.txt strace "$work_strace_w" strace -f -c -w -o strace-cw.txt
    fi
    if wanted calls; then
        # shellcheck disable=SC2086
        traced calls.strace calls.strace.zst strace "$work_calls" \
            strace -k -f -ttt -T $calls_more -e trace=$calls_trace -o calls.strace
    fi
    if wanted mem; then
        traced mem.strace mem.strace.zst strace "$work_mem" \
            strace -f --seccomp-bpf -ttt -e trace=brk,mmap,munmap,mremap,madvise -o mem.strace
    fi
    if wanted heaptrack; then
        traced heaptrack.zst heaptrack.zst heaptrack "$work_heap" heaptrack -o heaptrack
    fi
    if wanted rss; then
        beside rss.tsv rss.tsv smaps_rollup "$work_rss" \
            "$rec/bin/rss.sh \$pid > rss.tsv"
    fi

    if wanted bench && [ "$with_bench" = 1 ]; then
        # Decided by the spread alone, before anything is made of the times: ten rounds in which a command spreads by more
        # than Q28 lets count are taken again, three times at most.
        for _ in 1 2 3; do
            for i in 01 02 03 04 05 06 07 08 09 10; do
                bench "bench/$i.json" "${bench_variants:+-L variant $bench_variants}" "$([ -z "$bench_variants" ] || variant='{variant}'; argv "$work_bench")" "" "" "$work_bench"
            done
            [ -z "${RECORD_RESUME:-}" ] || break
            spread "$dir"/bench/*.json && break
        done
    fi
    if wanted bench-threads && [ -n "$series_threads" ]; then
        for i in 01 02 03 04 05 06 07 08 09 10; do
            bench "bench-threads/$i.json" "-L threads $series_threads" "$(threads='{threads}'; argv "$work_series")" "" "$variant" "$work_series"
        done
    fi
    record_extras
}

spread() { # FILES...: whether the times of each command spread by 15 % of their mean at most (rules.md Q28)
    python3 - "$@" <<'END'
import collections, json, statistics, sys
times = collections.defaultdict(list)
for path in sys.argv[1:]:
    for result in json.load(open(path))["results"]:
        times[result["command"]] += result["times"]
worst = max(statistics.stdev(own) / statistics.mean(own) for own in times.values() if len(own) > 1)
print(f"times spread by {worst:.1%} at most")
sys.exit(worst > 0.15)
END
}

bench() { # PATH PARAMETERS COMMAND THREADS VARIANT [WORK]
    wanted "$(printf %s "$1" | tr / _)" || return 0
    local command="hyperfine -N --style none --runs 1 --export-json bench.json $2 '$3'"
    rm -f bench.json
    bare_wall=""
    take_turn
    clean sh -c "$command" >run.log 2>&1 9>&- || { cat run.log >&2; exit 1; }
    end_turn
    keep bench.json "$1" hyperfine "$command" "${6-$work}" "$4" "$5"
}

kernel_build_id() { perf buildid-list -k; }

manifest() {
    local first=1 walls median
    {
        printf '{\n  "schema": 1,\n  "scenario": %s,\n' "$(json_string "$name")"
        printf '  "argv": ['
        if [ "$bin" = sqlite3 ]; then
            printf '"/usr/bin/sqlite3", "-cmd", ".parameter init", "-cmd", ".parameter set :rows %s", "real.db", ".read real.sql"' "$work"
        else
            for word in $(argv "$work"); do
                [ $first = 1 ] || printf ', '
                json_string "$word"
                first=0
            done
        fi
        printf '],\n  "cwd": ".",\n'
        printf '  "work": %s, "threads": %s, "variant": %s,\n' "$work" "$(number_or_null "$threads")" "$(string_or_null "$variant")"
        if [ -s "$notes/bare.runs" ]; then
            walls=$(cut -d' ' -f1 "$notes/bare.runs" | sort -n)
            median=$(echo "$walls" | awk '{w[NR] = $1} END {print w[int((NR + 1) / 2)]}')
            printf '  "bare": {"wall_s": %s, "exit_code": 0, "runs": [\n' "$median"
            awk '{printf "%s    {\"wall_s\": %s, \"user_s\": %s, \"sys_s\": %s, \"psi_cpu_avg10\": %s, \"psi_cpu_share\": %s}", (NR > 1 ? ",\n" : ""), $1, $2, $3, $4, $5}' "$notes/bare.runs"
            printf '\n  ]},\n'
        fi
        printf '  "host": {"kernel_release": "%s", "kernel_build_id": "%s", "machine": "%s", "cpus": %s, "cpu_model": %s, "memory_bytes": %s, "clocksource": "%s", "filesystem": "%s", "perf_event_max_stack": %s},\n' \
            "$(uname -r)" "$(kernel_build_id)" "$(uname -m)" "$(nproc)" \
            "$(json_string "$(awk -F': ' '/^model name/ {print $2; exit}' /proc/cpuinfo)")" \
            "$(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) * 1024))" \
            "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" \
            "$(if [ -n "${on_disk:-}" ]; then echo "$on_disk"; else stat -f -c %T "$rec/work"; fi)" "$(cat /proc/sys/kernel/perf_event_max_stack)"
        printf '  "tools": {"perf": %s, "strace": %s, "heaptrack": %s, "hyperfine": %s, "offcputime": %s, "bpftrace": %s, "time": %s, "gcc": %s},\n' \
            "$(json_string "$(perf --version)")" "$(json_string "$(strace --version | head -1)")" \
            "$(json_string "$(heaptrack --version 2>&1 | head -1)")" "$(json_string "$(hyperfine --version)")" \
            "$(json_string "libbpf-tools $(dpkg-query -W -f '${Version}' libbpf-tools)")" \
            "$(json_string "$(bpftrace --version)")" \
            "$(json_string "GNU time $(dpkg-query -W -f '${Version}' time)")" \
            "$(json_string "$(gcc --version | head -1)")"
        printf '  "build_ids": {'
        first=1
        for elf in $elfs; do
            [ $first = 1 ] || printf ', '
            printf '%s: "%s"' "$(json_string "$(basename "$elf")")" "$(build_id "$elf")"
            first=0
        done
        printf '},\n  "artifacts": [\n'
        first=1
        for note in "$notes"/*.json; do
            [ -e "$note" ] || continue
            [ $first = 1 ] || printf ',\n'
            printf '    %s' "$(cat "$note")"
            first=0
        done
        printf '\n  ]\n}\n'
    } > "$dir/manifest.json"
    python3 -m json.tool "$dir/manifest.json" >/dev/null
}

sqlite_lib=/lib/x86_64-linux-gnu/libsqlite3.so.0
libc=/lib/x86_64-linux-gnu/libc.so.6
loader=/lib64/ld-linux-x86-64.so.2

# record NAME BIN VARIANT WORK [THREADS]; the caller may set the works of
# single artifacts first.
record() {
    case " ${RECORD_NAMES:-$1} " in *" $1 "*) ;; *) forget; return ;; esac
    name=$1 bin=$2 variant=$3 work=$4 threads=${5:-}
    : "${work_sched:=$work}" "${work_strace:=$work}" "${work_calls:=$work}" "${work_heap:=$work}" "${work_rss:=$work}"
    : "${work_strace_w:=$work_strace}" "${dump:=4096}" "${offcpu:=multi}" "${offcpu_s:=3}"
    : "${work_bench:=$work}" "${work_series:=$work}" "${bench_variants=$variant}" "${with_bench:=1}" "${elfs:=$rec/bin/$bin $libc $loader}"
    : "${work_mem:=$work}" "${hz:=997}" "${hz_dwarf:=199}" "${sched_on=taskset -c 0}" "${series_threads=}" "${series_work=}" "${before=}"
    : "${calls_trace:=write,pwrite64,fsync,fdatasync,futex,clock_nanosleep}" "${calls_more=}" "${extras=}" "${work_extras:=$work}"
    dir=$out/scenarios/$name
    notes=$rec/notes-$name
    [ -n "${RECORD_ONLY:-}${RECORD_RESUME:-}" ] || rm -rf "$notes" "$dir"
    mkdir -p "$dir" "$notes"
    cd "$rec/work"
    rm -rf ./*
    cp "$here/workloads/real.sql" . 2>/dev/null || true
    [ -z "$before" ] || clean sh -c "$before"
    record_artifacts
    manifest
    "$here/truth.sh" "$dir" "$out/truth/$name"
    forget
}

forget() {
    unset only work_rss work_bench work_series work_sched work_strace work_strace_w work_calls work_heap dump offcpu offcpu_s bench_variants with_bench elfs \
        work_mem hz hz_dwarf sched_on series_threads series_work before calls_trace calls_more extras work_extras
}

case $what in
    readme) readme; exit ;;
    symbols) build; symbols; exit ;;
esac
[ -n "${RECORD_BUILT:-}" ] || build
[ "$what" != all ] || what=$scenarios
for one in $what; do scenario "$one"; done
release
symbols
readme
