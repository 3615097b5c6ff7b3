# shellcheck shell=bash disable=SC2154 # part of record.sh: variables and functions come from there
#
# What only some scenarios need: programs with many libraries, a peer on the
# network, a memory file system, and the artifacts that `extras` names.

# s19 is a program that starts another one, which comes with 120 libraries
# (copies of one) and without.
build_many() {
    local i libraries=$rec/bin/s19libs
    mkdir -p "$libraries"
    # shellcheck disable=SC2086
    (
        cd "$here"
        gcc -Wall -Wextra $cflags -DLIBRARY -fPIC -shared -o "$libraries/s19lib001.so" workloads/s19.c
        for i in $(seq -w 2 120); do cp "$libraries/s19lib001.so" "$libraries/s19lib$i.so"; done
        gcc -Wall -Wextra $cflags -DTOOL -o "$rec/bin/s19one" workloads/s19.c
        # shellcheck disable=SC2046,SC2016
        gcc -Wall -Wextra $cflags -DTOOL -o "$rec/bin/s19many" workloads/s19.c -Wl,--no-as-needed "-L$libraries" \
            $(seq -f '-l:s19lib%03g.so' 1 120) '-Wl,-rpath,$ORIGIN/s19libs'
    )
}

# A program that runs beside each run (`peer`), e.g. the server of a client. It
# is no child of what is recorded.
peer_pid=""
peer_up() {
    [ -n "${peer:-}" ] || return 0
    # shellcheck disable=SC2086
    env -i PATH=/usr/bin:/bin $peer >/dev/null 2>&1 9>&- &
    peer_pid=$!
    sleep 0.3
}

peer_down() {
    [ -n "$peer_pid" ] || return 0
    kill "$peer_pid"
    wait "$peer_pid" 2>/dev/null || true
    peer_pid=""
}

# A file system in memory in place of the small disk.
memory_up() {
    disk_down
    mkdir -p "$rec/disk"
    mount -t tmpfs -o size=256M tmpfs "$rec/disk"
    on_disk="tmpfs"
}

# scripted TOOL WORK SCRIPT FILE...: a script in which ARGV stands for the
# command line of the program; each FILE it leaves is an artifact.
scripted() {
    local tool=$1 less=$2 command file
    command=${3//ARGV/$(argv "$less")}
    shift 3
    bare_at "$less"
    take_turn
    clean bash -c "$command" >run.log 2>&1 9>&- || { cat run.log >&2; echo "record.sh: failed: $command" >&2; exit 1; }
    end_turn
    for file in "$@"; do
        case $file in
            *.perf.data) keep "$file" "$file.zst" "$tool" "$command" "$less" "$threads" "$variant" ;;
            *) keep "$file" "$file" "$tool" "$command" "$less" "$threads" "$variant" ;;
        esac
    done
}

# Whether `extras` asks for the artifact and it is to be taken.
extra() {
    case " $extras " in *" $1 "*) ;; *) return 1 ;; esac
    only="" wanted "$1"
}

record_extras() {
    local i accounting='/proc/uptime /proc/pressure/cpu /proc/pressure/io /proc/stat'
    if extra cpu-all; then
        for i in 1 2 3 4; do
            traced cpu-all.perf.data cpu-all.perf.data.zst perf "$work" \
                perf record -q -N -a --synth=no -F 499 -e cpu-clock -g -o cpu-all.perf.data --
            strangers cpu-all.perf.data || break
        done
    fi
    if extra lock; then
        traced lock.perf.data lock.perf.data.zst perf "$work_extras" \
            perf record -q -N -m 2M -g -e lock:contention_begin,lock:contention_end -o lock.perf.data --
    fi
    if extra lock-contention; then
        scripted perf "$work_extras" \
            'perf lock record -q -o lock.data -- ARGV >/dev/null; perf lock contention -i lock.data 2> lock-contention.txt' \
            lock-contention.txt
    fi
    if extra biolatency; then
        beside biolatency.txt biolatency.txt biolatency "$work" "biolatency 1 1 > biolatency.txt"
    fi
    if extra runqlat; then
        beside runqlat.txt runqlat.txt runqlat "$work" "runqlat -p \$pid 1 1 > runqlat.txt"
    fi
    if extra per-thread; then
        beside per-thread.json per-thread.json perf "$work" \
            "perf stat --per-thread -j -e task-clock,context-switches -p \$pid -o per-thread.json -- sleep 1.5"
    fi
    if extra accounting; then
        scripted procfs "$work" \
            "tail -n +1 $accounting > accounting-before.txt; ARGV; tail -n +1 $accounting > accounting-after.txt" \
            accounting-before.txt accounting-after.txt
    fi
    # The same program on growing inputs; the work is a parameter of each run.
    if wanted bench-series && [ -n "$series_work" ]; then
        for i in 01 02 03 04 05 06 07 08 09 10; do
            bench "bench-series/$i.json" "-L n $series_work" "$(argv '{n}')" "" "$variant" ""
        done
    fi
}
