#!/bin/bash
# Records the scenarios of testdata/scenarios anew.
#
#   testdata/record.sh SCENARIO [OUTDIR]    one scenario and its partner, e.g. s1
#                                           (or several: "s1 s4")
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
scenarios="s0 s1 s2 s3 s4 s6 s7 s1r s3r sqlite3 system-wide"

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
    for source in "$here"/workloads/*.c; do
        program=$(basename "$source" .c)
        # shellcheck disable=SC2086
        (cd "$here" && gcc -Wall -Wextra $cflags -pthread -o "$rec/bin/$program.new" "workloads/$program.c")
        mv "$rec/bin/$program.new" "$rec/bin/$program"
    done
    cp "$here/rss.sh" "$rec/bin/rss.sh"
    for source in "$here"/workloads/*.rs; do
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
    while awk "BEGIN {exit !($(psi_avg10) >= 10)}" && [ "$waited" -lt "$quiet_wait" ]; do
        sleep 1
        waited=$((waited + 1))
    done
    rm -f "$rec"/work/*.out "$rec"/work/real.db* "$rec"/disk/*.out
    [ -z "${on_disk:-}" ] || ln -s "$rec/disk/$bin.out" "$rec/work/$bin.out"
    sync
    psi_before=$(psi_avg10)
    psi_from=$(psi_total)
    began=$(now)
}

# Sets wall (seconds), psi10 and share of the run that began at take_turn.
end_turn() {
    local ended
    ended=$(now)
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
    on_disk=1
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
            perf record -q -N -F 997 -e cpu-clock --call-graph fp -o cpu-fp.perf.data --
    fi
    if wanted cpu-dwarf; then
        traced cpu-dwarf.perf.data cpu-dwarf.perf.data.zst perf "$work" \
            perf record -q -N -F 199 -e cpu-clock --call-graph "dwarf,$dump" -o cpu-dwarf.perf.data --
    fi
    if wanted sched; then
        # On CPU 0 only: perf -a loses the switches out of the idle task of CPU 1.
        # And again (three times at most) while other people's programs started.
        for i in 1 2 3 4; do
            traced sched.perf.data sched.perf.data.zst perf "$work_sched" \
                taskset -c 0 perf record -q -N -a --synth=no -m 2M -g \
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
        traced calls.strace calls.strace.zst strace "$work_calls" \
            strace -k -f -ttt -T -e trace=write,pwrite64,fsync,fdatasync,futex,clock_nanosleep -o calls.strace
    fi
    if wanted mem; then
        traced mem.strace mem.strace.zst strace "$work" \
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
        for i in 01 02 03 04 05 06 07 08 09 10; do
            bench "bench/$i.json" "${bench_variants:+-L variant $bench_variants}" "$([ -z "$bench_variants" ] || variant='{variant}'; argv "$work_bench")" "" "" "$work_bench"
        done
    fi
    if wanted bench-threads && [ "$bin" = s2 ]; then
        for i in 01 02 03 04 05 06 07 08 09 10; do
            bench "bench-threads/$i.json" "-L threads 1,2,4" "$(threads='{threads}'; argv "$work_series")" "" "$variant" "$work_series"
        done
    fi
}

bench() { # PATH PARAMETERS COMMAND THREADS VARIANT [WORK]
    wanted "$(printf %s "$1" | tr / _)" || return 0
    local command="hyperfine -N --style none --runs 1 --export-json bench.json $2 '$3'"
    rm -f bench.json
    bare_wall=""
    take_turn
    clean sh -c "$command" >run.log 2>&1 9>&- || { cat run.log >&2; exit 1; }
    end_turn
    keep bench.json "$1" hyperfine "$command" "${6:-$work}" "$4" "$5"
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
            "$(if [ -n "${on_disk:-}" ]; then echo "ext4 on a loop device"; else stat -f -c %T "$rec/work"; fi)" "$(cat /proc/sys/kernel/perf_event_max_stack)"
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
    name=$1 bin=$2 variant=$3 work=$4 threads=${5:-}
    : "${work_sched:=$work}" "${work_strace:=$work}" "${work_calls:=$work}" "${work_heap:=$work}" "${work_rss:=$work}"
    : "${work_strace_w:=$work_strace}" "${dump:=4096}" "${offcpu:=multi}" "${offcpu_s:=3}"
    : "${work_bench:=$work}" "${work_series:=$work}" "${bench_variants=$variant}" "${with_bench:=1}" "${elfs:=$rec/bin/$bin $libc $loader}"
    dir=$out/scenarios/$name
    notes=$rec/notes-$name
    [ -n "${RECORD_ONLY:-}${RECORD_RESUME:-}" ] || rm -rf "$notes" "$dir"
    mkdir -p "$dir" "$notes"
    cd "$rec/work"
    rm -rf ./*
    cp "$here/workloads/real.sql" . 2>/dev/null || true
    record_artifacts
    manifest
    "$here/truth.sh" "$dir" "$out/truth/$name"
    unset only work_rss work_bench work_series work_sched work_strace work_strace_w work_calls work_heap dump offcpu offcpu_s bench_variants with_bench elfs
}

# Every process of the machine for a while, S1 beside S0, and no manifest of
# bare runs: what an incident leaves behind.
record_system_wide() {
    name=system-wide bin=s1 variant=unbuffered work=3000000 threads="" elfs="$rec/bin/s1 $rec/bin/s0 $libc $loader"
    dir=$out/scenarios/$name notes=$rec/notes-system-wide
    rm -rf "$notes" "$dir"
    mkdir -p "$dir" "$notes"
    cd "$rec/work"
    local command
    command="perf record -q -N -a --synth=no -F 499 -e cpu-clock -g -o cpu.perf.data -- sh -c '$rec/bin/s0 clean 100000 & $(argv "$work"); wait'"
    for _ in 1 2 3 4; do
        take_turn
        clean sh -c "$command" >run.log 2>&1 9>&-
        end_turn
        strangers cpu.perf.data || break
    done
    keep cpu.perf.data cpu.perf.data.zst perf "$command" "$work" "" "$variant"
    manifest
    "$here/truth.sh" "$dir" "$out/truth/$name"
    unset elfs
}

# What is taken of the Rust twins.
twin="bare time-v cpu-fp cpu-dwarf strace-c calls mem heaptrack rss"

scenario() {
    case $1 in
        system-wide) record_system_wide ;;
        s1r) only="$twin" work_strace=200000 work_calls=2000 bench_variants=unbuffered,buffered
            record s1r-unbuffered-rust s1r unbuffered 2000000 ;;
        s3r) only="$twin" work_heap=60000 bench_variants=churn,preallocated
            record s3r-allocator-rust s3r churn 55000000 ;;
        sqlite3) work_strace=20000 work_bench=200000 work_calls=20000 work_heap=10000 bench_variants="" elfs="/usr/bin/sqlite3 $sqlite_lib $libc $loader" dump=8192
            record real-sqlite3 sqlite3 "" 800000 ;;
        s0) work_bench=60000
            record s0-clean s0 clean 240000 ;;
        s1) work_strace=300000 work_calls=5000 bench_variants=unbuffered,buffered
            record s1-unbuffered-writes s1 unbuffered 6000000
            with_bench=0 work_calls=1000000 offcpu_s=1
            record s1p-buffered-writes s1 buffered 40000000 ;;
        s2) work_calls=1500 work_series=4500 bench_variants=convoy,sharded
            record s2-lock-convoy s2 convoy 5000 4
            with_bench=0 work_calls=1500 work_series=2000 offcpu=folded offcpu_s=1
            record s2p-sharded-locks s2 sharded 20000 4 ;;
        s3) work_heap=60000 bench_variants=churn,preallocated
            record s3-allocator-churn s3 churn 65000000
            with_bench=0 work_heap=100000 offcpu_s=1
            record s3p-preallocated s3 preallocated 130000000 ;;
        s4) disk_up
            work_calls=300 offcpu=bpftrace bench_variants=each,batched
            record s4-fsync-per-record s4 each 6000
            with_bench=0 work_calls=1000 offcpu_s=1
            record s4p-fsync-batched s4 batched 35000
            disk_down ;;
        s6) work_calls=1000 work_bench=1000 offcpu=folded bench_variants=sleeping,driven
            record s6-sleep s6 sleeping 4800
            with_bench=0 work_calls=1000 offcpu_s=1
            record s6p-event-driven s6 driven 600000 ;;
        s7) work_calls=600000 work_heap=600000 work_bench=500000 bench_variants=leaked,freed
            record s7-leak s7 leaked 4000000
            with_bench=0 work_calls=600000 work_heap=600000 offcpu=folded offcpu_s=1
            record s7p-freed s7 freed 8000000 ;;
        *) echo "record.sh: unknown scenario $1 (known: $scenarios)" >&2; exit 2 ;;
    esac
}

# ---------------------------------------------------------------- what is shared

# Everything that names the symbols of the recordings, found by build-id.
symbols() {
    local to=$out/scenarios/symbols tmp=$rec/symbols file id debug
    rm -rf "$tmp"
    mkdir -p "$to" "$tmp"
    for file in "$rec"/bin/*; do
        [ -n "$(build_id "$file")" ] || continue
        case $file in
            # The standard library's debug information is left out.
            *r) objcopy --strip-debug "$file" "$tmp/$(basename "$file")" ;;
            *) cp "$file" "$tmp/$(basename "$file")" ;;
        esac
    done
    for file in "$libc" "$loader" /usr/bin/sqlite3 "$sqlite_lib"; do
        cp "$(readlink -f "$file")" "$tmp/$(basename "$file")"
    done
    for file in "$libc" "$loader"; do
        id=$(build_id "$file")
        debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
        [ -e "$debug" ] || { echo "record.sh: $debug is missing (Debian package libc6-dbg)" >&2; exit 2; }
        objcopy --strip-debug "$debug" "$tmp/$(basename "$file").debug"
    done
    cat /proc/kallsyms > "$tmp/kallsyms"
    # DW_AT_comp_dir names the folder of whoever built; as long, but neutral.
    python3 - "$here" "$tmp" <<'PYTHON'
import os, sys
here, tmp = sys.argv[1].encode(), sys.argv[2]
neutral = b'/testdata'.ljust(len(here), b'/')
for name in os.listdir(tmp):
    path = os.path.join(tmp, name)
    data = open(path, 'rb').read()
    if here in data and len(neutral) == len(here):
        open(path, 'wb').write(data.replace(here, neutral))
PYTHON
    for file in "$to"/*.zst; do
        [ -e "$tmp/$(basename "$file" .zst)" ] || rm -f "$file"
    done
    for file in "$tmp"/*; do
        zstd -q -d -c "$to/$(basename "$file").zst" 2>/dev/null | cmp -s - "$file" && continue
        zstd -q -19 -f "$file" -o "$to/$(basename "$file").zst"
        chmod 644 "$to/$(basename "$file").zst"
    done
    printf '{"kernel_release": "%s", "kernel_build_id": "%s", "file": "kallsyms.zst"}\n' \
        "$(uname -r)" "$(kernel_build_id)" > "$to/kallsyms.json"
}

# The list of recorded files, between two marks of README.md.
readme() {
    python3 - "$out" "$here" <<'PYTHON'
import fnmatch, json, os, re, sys
out, here = sys.argv[1:]
rows = []
def row(file, command):
    rows.append(f"| `{file}` | {command} |")
def code(command):
    return '`' + ' '.join(command.split()).replace('|', '\\|') + '`'
scenarios = os.path.join(out, 'scenarios')
for name in sorted(os.listdir(scenarios)):
    manifest = os.path.join(scenarios, name, 'manifest.json')
    if not os.path.exists(manifest):
        continue
    base = f'scenarios/{name}'
    row(f'{base}/manifest.json', '`record.sh`')
    seen = set()
    for artifact in json.load(open(manifest))['artifacts']:
        path = re.sub(r'^(bench[^/]*)/\d+\.json$', r'\1/*.json', artifact['path'])
        if path not in seen:
            seen.add(path)
            row(f'{base}/{path}', code(artifact['command']))
truth = [
    ('*.events.tsv', 'perf script --ns -G -F comm,pid,tid,event,period,ip,sym,symoff,dso -i {0}.perf.data, samples and periods added up per event'),
    ('*.leaf.tsv', 'perf script --ns -G --show-mmap-events -F comm,pid,tid,event,period,ip,sym,symoff,dso -i {0}.perf.data, leaf frames added up per address of the symbol'),
    ('*.self.txt', "perf report --stdio --no-children --no-inline -g none --percent-limit 0 --sort dso,sym -F overhead,period,sample,dso,sym -t ';' -i {0}.perf.data"),
    ('*.summary.txt', 'perf sched timehist --summary -i {0}.perf.data'),
    ('*.timehist.txt.zst', 'perf sched timehist --state --no-call-graph -i {0}.perf.data; zstd -19'),
    ('*.threads.tsv', 'wait, delay and run time of that timehist, added up per thread'),
    ('heaptrack.txt', 'heaptrack_print -a 1 -p 1 -l 1 -T 1 -n 10 -f heaptrack.zst'),
    ('heaptrack.sites.txt.zst', 'heaptrack_print -m 0 -a 1 -p 1 -l 1 -T 1 -n 1000 -f heaptrack.zst; zstd -19'),
]
folder = os.path.join(out, 'truth')
for name in sorted(os.listdir(folder)):
    for file in sorted(os.listdir(os.path.join(folder, name))):
        for pattern, command in truth:
            if fnmatch.fnmatch(file, pattern):
                row(f'truth/{name}/{file}', '`truth.sh`: ' + code(command.format(file.split('.')[0])))
                break
        else:
            sys.exit(f'record.sh: nothing says how truth/{name}/{file} was made')
for file in sorted(os.listdir(os.path.join(scenarios, 'symbols'))):
    stem = file.removesuffix('.zst')
    if stem == 'kallsyms':
        how = code('cat /proc/kallsyms')
    elif stem == 'kallsyms.json':
        how = '`uname -r; perf buildid-list -k`'
    elif stem.endswith('.debug'):
        how = code(f'objcopy --strip-debug /usr/lib/debug/.build-id/... {stem}') + ' (libc6-dbg)'
    elif os.path.exists(os.path.join(here, 'workloads', stem + '.c')):
        how = code(f'gcc -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -ffile-prefix-map=... -pthread -o {stem} workloads/{stem}.c')
    elif os.path.exists(os.path.join(here, 'workloads', stem + '.rs')):
        how = code(f'rustc --edition 2021 -O -g -C force-frame-pointers=yes -o {stem} workloads/{stem}.rs; objcopy --strip-debug {stem}')
    else:
        how = f'as Debian ships it'
    row(f'scenarios/symbols/{file}', how + ('' if stem == file else '; `zstd -19`'))
path = os.path.join(out, 'README.md')
if not os.path.exists(path):
    path_from = os.path.join(here, 'README.md')
    text = open(path_from).read()
else:
    text = open(path).read()
begin, end = '<!-- recordings: written by record.sh readme -->\n', '<!-- end of recordings -->\n'
head, rest = text.split(begin)
tail = rest.split(end)[1]
table = '| file | command |\n|---|---|\n' + '\n'.join(rows) + '\n'
open(path, 'w').write(head + begin + table + end + tail)
PYTHON
}

case $what in
    readme) readme; exit ;;
    symbols) build; symbols; exit ;;
esac
build
[ "$what" != all ] || what=$scenarios
for one in $what; do scenario "$one"; done
release
symbols
readme
