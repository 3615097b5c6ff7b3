
# ---------------------------------------------------------------- what works here

scratch=$(mktemp -d "${TMPDIR:-/tmp}/tripod-kit.XXXXXX") || die "no scratch folder can be made"
child='' restore='' made=''
clean_up() {
    [ -z "$child" ] || kill "$child" 2>/dev/null
    [ -z "$restore" ] || printf '2\n' >"$restore"
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'complain "interrupted; what is complete is kept"; write_manifest; exit 130' INT TERM HUP

root=''
[ "$(id -u)" != 0 ] || root=1
log=$scratch/log
offcputime=''

# reason NAME: why it cannot be recorded; nothing where it can.
reason() {
    case $1 in
        bare) ;;
        time-v) gnu_time ;;
        perf-stat) perf_can stat -e task-clock ;;
        cpu-fp) perf_can record -N -e cpu-clock --call-graph fp ;;
        cpu-dwarf) perf_can record -N -e cpu-clock --call-graph dwarf,4096 ;;
        cycles) has_pmu ;;
        sched) perf_can record -N -a -e sched:sched_switch -e sched:sched_wakeup ;;
        lock) perf_can record -N -a -e lock:contention_begin -e lock:contention_end ;;
        offcpu) find_offcputime ;;
        strace-c | strace-cw | mem) strace_can -c ;;
        calls) strace_can -k ;;
        heaptrack) have heaptrack || say "heaptrack is not installed" ;;
        rss) [ -r /proc/self/smaps_rollup ] || say "this kernel has no /proc/PID/smaps_rollup" ;;
        bench) hyperfine_can ;;
        bench-threads) if [ -z "$series" ]; then say "needs --series and {threads} among the arguments"; else hyperfine_can; fi ;;
        bench-partner)
            if [ -z "$partner" ]; then
                say "needs a repaired program: --variant NAME --partner NAME and {variant} among the arguments"
            else hyperfine_can; fi ;;
        symbols) ;;
        costs) have cc || have gcc || say "no C compiler: costs keep their defaults" ;;
        *) say "this kit does not know it" ;;
    esac
}

gnu_time() {
    if [ ! -x /usr/bin/time ]; then say "/usr/bin/time is not installed"; return; fi
    /usr/bin/time -v -o "$scratch/time" true >"$log" 2>&1 || say "/usr/bin/time is not GNU time"
}

perf_can() { # SUBCOMMAND OPTION...
    if ! have perf; then say "perf is not installed"; return; fi
    perf_command=$1
    shift
    perf "$perf_command" "$@" -o "$scratch/probe" -- true >"$log" 2>&1 </dev/null && return
    say "perf $perf_command $* is refused$(paranoid)"
}

paranoid() {
    [ -z "$root" ] || return 0
    level=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null) || return 0
    printf ' (perf_event_paranoid is %s, and you are not root)' "$level"
}

has_pmu() {
    if ! have perf; then say "perf is not installed"; return; fi
    perf stat -x, -e cycles -o "$scratch/probe" -- true >"$log" 2>&1 </dev/null || { say "perf stat -e cycles is refused$(paranoid)"; return; }
    ! grep -q 'not supported' "$scratch/probe" || say "no hardware counters here (a virtual machine without them, most likely)"
}

strace_can() { # OPTION
    if ! have strace; then say "strace is not installed"; return; fi
    strace "$1" -o "$scratch/probe" true >"$log" 2>&1 </dev/null && return
    if strace -o "$scratch/probe" true >"$log" 2>&1 </dev/null; then
        say "this strace has no option $1"
    else
        say "tracing is not allowed here (ptrace_scope, a container or another tracer)"
    fi
}

hyperfine_can() {
    if ! have hyperfine; then say "hyperfine is not installed"; return; fi
    hyperfine -N --style none --runs 1 true >"$log" 2>&1 </dev/null || say "this hyperfine has no option -N (1.13 or later has)"
}

find_offcputime() {
    if [ -z "$root" ]; then say "BPF needs root"; return; fi
    for candidate in offcputime offcputime-bpfcc /usr/sbin/offcputime /usr/sbin/offcputime-bpfcc /usr/share/bcc/tools/offcputime; do
        have "$candidate" || continue
        sleep 2 &
        child=$!
        "$candidate" -p "$child" 1 >"$scratch/probe" 2>"$log" </dev/null && offcputime=$candidate
        kill "$child" 2>/dev/null
        wait "$child" 2>/dev/null
        child=''
        if [ -n "$offcputime" ]; then printf '%s\n' "$offcputime" >"$scratch/offcputime"; return; fi
        say "$candidate cannot run here: $(tail -n 1 "$log")"
        return
    done
    say "offcputime is not installed (libbpf-tools or bcc)"
}

# Prints the list and leaves in `can` what will be recorded.
probe() {
    can=''
    if [ -n "$root" ]; then who=root; else who='not root'; fi
    say "This machine: Linux $(uname -r) $(uname -m), $(cpus) CPUs; you are $who; perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo unknown)."
    say "Will be recorded, one tool per run:"
    cannot=''
    for name in $wanted; do
        why=$(reason "$name")
        if [ -z "$why" ]; then
            can="$can $name"
            say "  $name$(for_what "$name")"
        else
            cannot="$cannot  $name: $why$(for_what "$name")
"
        fi
    done
    [ -z "$cannot" ] || printf 'Cannot be recorded here:\n%s' "$cannot"
    if [ -r "$scratch/offcputime" ]; then read -r offcputime <"$scratch/offcputime"; fi
    by_hand
}

# What no kit can do alone.
by_hand() {
    :
    #@by_hand
}

for_what() { # NAME
    what=$(purpose "$1")
    [ -z "$what" ] || printf '  [%s]' "$what"
}

cpus() { getconf _NPROCESSORS_ONLN 2>/dev/null || grep -c '^processor' /proc/cpuinfo; }

# ---------------------------------------------------------------- changes of the system, each asked for

offer_changes() {
    missing=''
    for pair in perf:linux-perf strace:strace heaptrack:heaptrack hyperfine:hyperfine; do
        have "${pair%%:*}" || missing="$missing ${pair##*:}"
    done
    [ -x /usr/bin/time ] || missing="$missing time"
    if [ -n "$missing" ] && [ -n "$root" ] && have apt-get && agrees "Install$missing with apt-get?"; then
        # shellcheck disable=SC2086 # a list of package names
        apt-get install -y $missing || complain "the installation failed; going on without"
    elif [ -n "$missing" ]; then
        say "Not installed:$missing (names of Debian packages)"
    fi
    [ -n "$root" ] || say "Not root: no off-CPU stacks, and no scheduler events of the whole machine. As root (sudo) this kit records more."
    show_kernel_names
}

# kernel.kptr_restrict 2 hides the addresses of the kernel's functions from root, too.
show_kernel_names() {
    names=/proc/sys/kernel/kptr_restrict
    if [ -z "$root" ] || [ "$(cat "$names" 2>/dev/null)" != 2 ]; then return 0; fi
    agrees "Kernel functions would have no names. Set kernel.kptr_restrict from 2 to 1 until the end of the recording?" || return 0
    if printf '1\n' >"$names"; then restore=$names; fi
}

drop_caches() {
    [ -n "$cold" ] || return 0
    sync
    printf '3\n' >/proc/sys/vm/drop_caches
}

# ---------------------------------------------------------------- one run

artifacts=$scratch/artifacts.json
separator=''
: >"$artifacts"

begin_turn() {
    drop_caches
    psi_before=$(psi_avg10)
    psi_from=$(psi_total)
    began=$(now)
}

# Sets wall (seconds) and psi_share of the run that began at begin_turn.
end_turn() {
    ended=$(now)
    wall=$(calc "$ended - $began")
    psi_share=''
    if [ -n "$psi_from" ] && is_true "$wall > 0"; then psi_share=$(calc "($(psi_total) - $psi_from) / 1e6 / $wall"); fi
}

# note PATH TOOL COMMAND WORK THREADS VARIANT: a line of the manifest for a file that is in the folder.
note() {
    {
        printf '%s' "$separator"
        printf '    {"path": %s, "command": %s, "tool": %s, "wall_s": %s' "$(json_text "$1")" "$(json_text "$3")" "$(json_text "$2")" "$wall"
        if [ -n "$bare_wall_traced" ] && [ "$4" = "$traced_work" ]; then printf ', "bare_wall_s": %s' "$bare_wall_traced"; fi
        printf ', "work": %s, "threads": %s, "variant": %s' "$(json_number "$4")" "$(json_number "$5")" "$(json_text "$6")"
        printf ', "psi_cpu_avg10": %s, "psi_cpu_share": %s, "sha256": %s}' \
            "$(json_number "$psi_before")" "$(json_number "$psi_share")" "$(json_text "$(sha256 "$folder/$1")")"
    } >>"$artifacts"
    separator=',
'
    say "  $1: $wall s, $(wc -c <"$folder/$1" | tr -d ' ') bytes"
}

# Runs a command and stops it after --limit seconds. It runs beside the shell, so that Ctrl-C is heard at once.
limited() { # WORD...
    if [ -n "$has_timeout" ]; then set -- timeout "$limit" "$@"; fi
    "$@" >>"$stdout" 2>"$log" </dev/null &
    child=$!
    wait "$child"
    status=$?
    child=''
    return "$status"
}

has_timeout=''
if have timeout && timeout 5 true 2>/dev/null; then has_timeout=1; fi

# record FILE TOOL WORK WORD...: runs `WORD... PROGRAM` where the word @OUT@ stands for the file, and keeps it.
record() {
    file=$1 tool=$2 own_work=$3
    shift 3
    argv=$(program "$own_work" "$threads" "$variant" "$@")
    tool_words=$recorder
    shown="$(quote_words_of "$tool_words" "$file") $argv"
    eval "set -- $(quote_words_of "$tool_words" "$folder/$file") $argv"
    begin_turn
    limited "$@"
    end_turn
    keep "$file" "$tool" "$shown" "$own_work"
}

# The recorder's words with @OUT@ filled in, quoted. The words themselves are this kit's own: no blanks in them.
quote_words_of() { # WORDS FILE
    out_file=$2
    set -f
    # shellcheck disable=SC2086 # words of this kit
    set -- $1
    set +f
    for word do
        shift
        if [ "$word" = @OUT@ ]; then word=$out_file; fi
        set -- "$@" "$word"
    done
    quote_words "$@"
}

# Keeps what a run left, or says why not.
keep() { # FILE TOOL COMMAND WORK
    if [ "$status" = 124 ] && [ -n "$has_timeout" ]; then
        say "  $1: stopped after $limit s and not kept; give --traced-work, or --limit"
    elif [ ! -s "$folder/$1" ]; then
        say "  $1: $2 left nothing: $(tail -n 1 "$log")"
    elif [ "$status" != 0 ] && [ "$status" != "$bare_status" ]; then
        say "  $1: ended with status $status and is not kept: $(tail -n 1 "$log")"
    else
        chmod 644 "$folder/$1"
        note "$1" "$2" "$3" "$4" "$threads" "$variant"
        return 0
    fi
    rm -f "$folder/$1"
    return 0
}

