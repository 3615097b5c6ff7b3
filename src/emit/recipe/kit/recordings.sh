# ---------------------------------------------------------------- the recordings

bare_status=0 bare_wall='' bare_wall_traced=''

# One run without any tool: wall, user and system seconds on one line of FILE.
bare_run() { # FILE WORD...
    runs_file=$1
    shift
    begin_turn
    ("$@" >>"$stdout" 2>"$log" </dev/null; printf '%s\n' "$?" >"$scratch/status"; times >"$scratch/times")
    end_turn
    read -r bare_status <"$scratch/status"
    # The second line is for the children: 0m1.250s 0m0.010s
    user_system=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "m"); sub("s", "", t[2]); printf "%s%.3f", (i > 1 ? " " : ""), t[1] * 60 + t[2] } }' "$scratch/times")
    printf '%s %s %s %s\n' "$wall" "$user_system" "${psi_before:-null}" "${psi_share:-null}" >>"$runs_file"
}

median() { # FILE
    cut -d' ' -f1 "$1" | sort -n | awk '{ w[NR] = $1 } END { print w[int((NR + 1) / 2)] }'
}

bare() { # WORD...
    argv=$(program "$work" "$threads" "$variant" "$@")
    eval "set -- $argv"
    : >"$scratch/bare"
    for _ in 1 2 3; do
        bare_run "$scratch/bare" "$@"
        if [ "$bare_status" = 126 ] || [ "$bare_status" = 127 ]; then rmdir "$folder"; made=''; die "$1 cannot be run: $(tail -n 1 "$log")"; fi
        is_true "$wall > 60" && break
    done
    bare_wall=$(median "$scratch/bare")
    say "  bare: $bare_wall s"
    [ "$bare_status" = 0 ] || say "  the program ends with status $bare_status; it is recorded all the same"
}

# The traced amount of work without a tool, for the tracer's slowdown.
bare_traced() { # WORD...
    [ -n "$traced_work" ] && [ "$traced_work" != "$work" ] || return 0
    argv=$(program "$traced_work" "$threads" "$variant" "$@")
    eval "set -- $argv"
    : >"$scratch/bare-traced"
    for _ in 1 2 3; do bare_run "$scratch/bare-traced" "$@"; done
    bare_wall_traced=$(median "$scratch/bare-traced")
}

# The program runs on its own and a tool looks at it from beside. SCRIPT is shown in the manifest.
beside() { # FILE TOOL SCRIPT WORD...
    file=$1 tool=$2 script=$3
    shift 3
    argv=$(program "$work" "$threads" "$variant" "$@")
    eval "set -- $argv"
    begin_turn
    "$@" >>"$stdout" 2>"$log" </dev/null &
    child=$!
    look_at "$tool" "$child" >"$folder/$file" 2>"$log"
    wait "$child"
    status=$?
    child=''
    end_turn
    keep "$file" "$tool" "$argv >/dev/null & pid=\$!; $script > $file; wait" "$work"
}

look_at() { # TOOL PID
    case $1 in
        offcputime) "$offcputime" -p "$2" "$seconds" ;;
        *) memory_of "$2" ;;
    esac
}

# One line per reading of the process's memory; the time stamps are those of the clock on the wall where date has them.
memory_of() { # PID
    printf 'ts_ns\trss_bytes\tpss_bytes\tanon_bytes\tswap_bytes\n'
    while [ -r "/proc/$1/smaps_rollup" ]; do
        at=$(now)
        line=$(awk -v at="$at" '
            BEGIN { split(at, t, "."); ts = t[1] substr(t[2] "000000000", 1, 9) }
            /^Rss:/ { rss = $2 } /^Pss:/ { pss = $2 } /^Anonymous:/ { anon = $2 } /^Swap:/ { swap = $2 }
            END { if (rss != "") printf "%s\t%d\t%d\t%d\t%d", ts, rss * 1024, pss * 1024, anon * 1024, swap * 1024 }' "/proc/$1/smaps_rollup" 2>/dev/null)
        [ -n "$line" ] || break
        printf '%s\n' "$line"
        sleep 0.05 2>/dev/null || sleep 1
    done
    return 0
}

# Benchmarks: one repetition per file, since hyperfine keeps user and system time of single runs only.
bench() { # FOLDER LIST-OPTION COMMAND VARIANT WORK THREADS
    mkdir -p "$folder/$1" && chmod 755 "$folder/$1"
    repetition=0
    while [ "$repetition" -lt "$runs" ]; do
        repetition=$((repetition + 1))
        file=$1/$(printf '%02d' "$repetition").json
        shown="hyperfine -N -i --style none --runs 1 --export-json $file${2:+ $2} $(quote_word "$3")"
        begin_turn
        # shellcheck disable=SC2086 # -L NAME LIST: words of this kit
        limited hyperfine -N -i --style none --runs 1 --export-json "$folder/$file" $2 "$3"
        end_turn
        if [ "$status" != 0 ] || [ ! -s "$folder/$file" ]; then
            say "  $file: hyperfine failed: $(tail -n 1 "$log")"
            rm -f "$folder/$file"
            return 0
        fi
        chmod 644 "$folder/$file"
        note "$file" hyperfine "$shown" "$5" "$6" "$4" >"$scratch/said"
    done
    say "  $1: $repetition repetitions"
}

bench_of() { # NAME WORD...
    step=$1
    shift
    case $step in
        bench) bench bench "" "$(program "$work" "$threads" "$variant" "$@")" "$variant" "$work" "$threads" ;;
        bench-partner) bench bench-partner "-L variant $variant,$partner" "$(program "$work" "$threads" "" "$@")" "" "$work" "$threads" ;;
        bench-threads) bench bench-threads "-L threads $series" "$(program "$work" "" "$variant" "$@")" "$variant" "$work" "" ;;
    esac
}

# What names the functions: the files that were sampled, and the kernel's symbols.
symbols() {
    mkdir -p "$folder/symbols" && chmod 755 "$folder/symbols"
    for data in "$folder"/*.perf.data; do
        [ -s "$data" ] || continue
        perf buildid-list -i "$data" 2>/dev/null
    done | awk '$2 ~ "^/" { $1 = ""; sub("^ ", ""); print }' | sort -u | while read -r path; do
        # A copy is only taken of plain files of usual size.
        if [ -f "$path" ] && [ -r "$path" ] && [ "$(wc -c <"$path")" -lt 67108864 ]; then
            to=$folder/symbols/$(basename "$path")
            [ -e "$to" ] || cp "$path" "$to"
        fi
    done
    if grep -q -v '^0000000000000000 ' /proc/kallsyms 2>/dev/null; then
        cat /proc/kallsyms >"$folder/symbols/kallsyms"
        printf '{"kernel_release": %s, "kernel_build_id": %s}\n' "$(json_text "$(uname -r)")" "$(json_text "$(kernel_build_id)")" \
            >"$folder/symbols/kallsyms.json"
    fi
    say "  symbols: $(find "$folder/symbols" -type f | wc -l | tr -d ' ') files"
}

kernel_build_id() { if have perf; then perf buildid-list -k 2>/dev/null; fi; }

costs() {
    compiler=cc
    have cc || compiler=gcc
    write_costs_source >"$scratch/costs.c"
    "$compiler" -O2 -o "$scratch/costs" "$scratch/costs.c" >"$log" 2>&1 || { say "  costs: not compiled: $(tail -n 1 "$log")"; return 0; }
    begin_turn
    "$scratch/costs" "$folder/.scratch" >"$scratch/costs.json" 2>"$log" || { say "  costs: not measured: $(tail -n 1 "$log")"; : >"$scratch/costs.json"; return 0; }
    end_turn
    if is_true "${psi_share:-0} > 0.2"; then
        say "  costs: not kept, other programs kept the CPUs busy meanwhile; the defaults hold"
        : >"$scratch/costs.json"
        return 0
    fi
    say "  costs: $(cut -d'{' -f3 "$scratch/costs.json" | tr -d '}')"
}

write_costs_source() {
    cat <<'SOURCE'
//@costs.c
SOURCE
}

# ---------------------------------------------------------------- the manifest

version_of() { # COMMAND...
    version=$("$@" 2>/dev/null | head -n 1)
    printf %s "$version"
}

write_manifest() {
    [ -n "$made" ] || return 0
    {
        printf '{\n  "schema": 1,\n  "argv": ['
        first=1
        eval "set -- $main_argv"
        for word do
            [ -n "$first" ] || printf ', '
            first=''
            if [ -n "$word" ]; then json_text "$word"; else printf '""'; fi
        done
        printf '],\n  "cwd": ".",\n'
        printf '  "work": %s, "threads": %s, "variant": %s,\n' "$(json_number "$work")" "$(json_number "$threads")" "$(json_text "$variant")"
        if [ -s "$scratch/bare" ]; then
            printf '  "bare": {"wall_s": %s, "exit_code": %s, "runs": [\n' "$(median "$scratch/bare")" "$bare_status"
            awk '{ printf "%s    {\"wall_s\": %s, \"user_s\": %s, \"sys_s\": %s, \"psi_cpu_avg10\": %s, \"psi_cpu_share\": %s}", (NR > 1 ? ",\n" : ""), $1, $2, $3, $4, $5 }' "$scratch/bare"
            printf '\n  ]},\n'
        fi
        printf '  "host": {"kernel_release": %s, "kernel_build_id": %s, "machine": %s, "cpus": %s, "cpu_model": %s, "memory_bytes": %s, "clocksource": %s, "perf_event_paranoid": %s},\n' \
            "$(json_text "$(uname -r)")" "$(json_text "$(kernel_build_id)")" "$(json_text "$(uname -m)")" "$(cpus)" \
            "$(json_text "$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)")" \
            "$(json_number "$(awk '/^MemTotal/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)")" \
            "$(json_text "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)")" \
            "$(json_number "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)")"
        printf '  "tools": {"kit": "1"'
        for tool in perf strace heaptrack hyperfine; do
            have "$tool" || continue
            printf ', "%s": %s' "$tool" "$(json_text "$(version_of "$tool" --version)")"
        done
        [ -z "$offcputime" ] || printf ', "offcputime": %s' "$(json_text "$(basename "$offcputime")")"
        printf '},\n'
        [ ! -s "$scratch/costs.json" ] || printf '  "costs": {%s,\n' "$(cut -d'{' -f3 "$scratch/costs.json" | sed 's/}}$/}/')"
        printf '  "artifacts": [\n'
        cat "$artifacts"
        printf '\n  ]\n}\n'
    } >"$folder/manifest.json"
    chmod 644 "$folder/manifest.json"
}

# ---------------------------------------------------------------- all of it

run_step() { # NAME WORD...
    step=$1
    shift
    traced=${traced_work:-$work}
    seconds=$(awk "BEGIN { s = int(${bare_wall:-10}) - 1; print (s > 5 ? 5 : s) }")
    case $step in
        bare) bare "$@"; bare_traced "$@" ;;
        time-v) recorder='/usr/bin/time -v -o @OUT@'; record time-v.txt time "$work" "$@" ;;
        perf-stat)
            recorder='perf stat -j -o @OUT@ -e task-clock,context-switches,cpu-migrations,page-faults,major-faults,cycles,instructions,duration_time,user_time,system_time --'
            record perf-stat.json perf "$work" "$@" ;;
        cpu-fp) recorder='perf record -q -N -F 997 -e cpu-clock --call-graph fp -o @OUT@ --'; record cpu-fp.perf.data perf "$work" "$@" ;;
        # Each sample carries 4 KiB of stack, so a long run takes fewer of them.
        cpu-dwarf) recorder='perf record -q -N -F '$(awk "BEGIN { print (${bare_wall:-0} > 30 ? 199 : 997) }")' -e cpu-clock --call-graph dwarf,4096 -o @OUT@ --'; record cpu-dwarf.perf.data perf "$work" "$@" ;;
        cycles) recorder='perf record -q -N -F 997 -e cycles:pp --call-graph fp -o @OUT@ --'; record cycles.perf.data perf "$work" "$@" ;;
        sched)
            say "  (scheduler events of the whole machine: the file names its other programs, too)"
            recorder='perf record -q -N -a -m 2M -g -e sched:sched_switch -e sched:sched_wakeup -o @OUT@ --'; record sched.perf.data perf "$work" "$@" ;;
        lock) recorder='perf record -q -N -a -g -e lock:contention_begin -e lock:contention_end -o @OUT@ --'; record lock.perf.data perf "$work" "$@" ;;
        offcpu)
            if [ "$seconds" -lt 1 ]; then
                say "  offcpu: the program ends before offcputime looks at it (it needs 2 s); give more --work"
            else
                beside offcpu.txt offcputime "$(basename "$offcputime") -p \$pid $seconds" "$@"
            fi ;;
        strace-c) recorder='strace -f -c -o @OUT@ --'; record strace-c.txt strace "$traced" "$@" ;;
        strace-cw) recorder='strace -f -c -w -o @OUT@ --'; record strace-cw.txt strace "$traced" "$@" ;;
        calls) recorder="strace -k -f -ttt -T -e trace=$calls -o @OUT@ --"; record calls.strace strace "$traced" "$@" ;;
        mem) recorder='strace -f -ttt -e trace=brk,mmap,munmap,mremap,madvise -o @OUT@ --'; record mem.strace strace "$traced" "$@" ;;
        heaptrack) heaptrack_run "$@" ;;
        rss) beside rss.tsv smaps_rollup "cat /proc/\$pid/smaps_rollup" "$@" ;;
        bench | bench-partner | bench-threads) bench_of "$step" "$@" ;;
        symbols) symbols ;;
        costs) costs ;;
    esac
}

# heaptrack adds the ending of its compression to the name.
heaptrack_run() { # WORD...
    argv=$(program "$traced" "$threads" "$variant" "$@")
    eval "set -- $argv"
    begin_turn
    limited heaptrack -o "$folder/heaptrack" "$@"
    end_turn
    file=heaptrack
    for left in "$folder"/heaptrack.*; do
        [ ! -s "$left" ] || file=$(basename "$left")
    done
    keep "$file" heaptrack "heaptrack -o heaptrack $argv" "$traced"
}

if [ $# -gt 0 ]; then have "$1" || die "$1: there is no such program"; fi
[ -n "$probe_only" ] || offer_changes
probe
[ -z "$probe_only" ] || exit 0
if [ -n "$cold" ]; then
    [ -n "$root" ] || die "--cold needs root"
    agrees "Drop the page cache of this machine before each run?" || cold=''
fi
main_argv=$(program "$work" "$threads" "$variant" "$@")
if [ -z "$folder" ]; then folder=tripod-$(basename "${1:-costs}" | tr -c 'A-Za-z0-9_.\n-' _)-$(date +%Y%m%d-%H%M%S); fi
mkdir "$folder" || die "$folder exists already, or cannot be made; nothing is ever overwritten"
made=1
folder=$(cd "$folder" && pwd) || die "the folder cannot be entered"
chmod 755 "$folder"
for name in $can; do
    say "$name$(for_what "$name")"
    run_step "$name" "$@"
done
write_manifest
say "Done. On the machine with Tripod: tripod analyze $(quote_word "$(basename "$folder")")"
