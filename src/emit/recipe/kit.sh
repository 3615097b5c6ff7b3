#!/bin/sh
# Capture kit of Tripod: records one program with the tools that this machine has, one tool per run, into a new folder
# that `tripod analyze` reads. It needs no Tripod here, and no network. Printed by `tripod recipe`.
#
#   sh kit.sh [OPTIONS] -- PROGRAM ARGS...
#   sh kit.sh --probe                        only say what would be recorded, and what cannot be
#   sh kit.sh --help                         the options
#
# Nothing of the system is changed unless you say yes when asked (or give --yes; without a terminal the answer is no).
#@purpose

set -u
LC_ALL=C
export LC_ALL
umask 077

# What to record, in this order.
wanted="bare time-v perf-stat cpu-fp cpu-dwarf cycles sched lock offcpu strace-c strace-cw calls mem heaptrack rss bench symbols costs"
# The system calls that are traced one by one.
calls=write,pwrite64,writev,fsync,fdatasync,futex,clock_nanosleep
#@wanted

# Which question a recording is for: printed beside it.
purpose() {
    case $1 in
        #@purposes
        *) ;;
    esac
}

usage() {
    cat <<'USAGE'
Usage: sh kit.sh [OPTIONS] -- PROGRAM ARGS...

Runs PROGRAM several times, each time under one recording tool, and writes a new folder for `tripod analyze`.
{work}, {threads} and {variant} in ARGS stand for what the options below declare. PROGRAM finds nothing on its standard
input. With --only costs no program is needed: what basic things cost on this machine is measured alone.

  -o DIR                 the folder to write; it must not exist (default: ./tripod-NAME-DATE-TIME)
  --only LIST            record these alone, e.g. "bare time-v strace-c" (see --probe for the names)
  --probe                say what would be recorded and what cannot be, and stop
  --work N               how much work {work} means
  --traced-work N        less work for the tools that slow the program down (strace, heaptrack)
  --threads N            how many threads {threads} means
  --series N,N,...       time it with these numbers of threads too
  --variant NAME         what {variant} means for the program as it is
  --partner NAME         time this variant too: the same work with the suspect repaired
  --runs N               repetitions of the benchmark (default 10)
  --limit SECONDS        stop a run after this long and do not keep it (default 300)
  --stdout FILE          where the program's output goes (default /dev/null)
  --cold                 drop the page cache before each run (asks)
  --yes                  answer every question with yes
  -h, --help             this text
USAGE
}

say() { printf '%s\n' "$*"; }
complain() { printf 'kit: %s\n' "$*" >&2; }
die() { complain "$*"; exit 2; }

# ---------------------------------------------------------------- what was asked for

folder='' only='' probe_only='' work='' traced_work='' threads='' series='' variant='' partner=''
runs=10 limit=300 stdout=/dev/null cold='' yes=''

number() { # OPTION VALUE
    case $2 in
        '' | *[!0-9]* | ???????????????*) die "$1 needs a whole number" ;;
    esac
}

while [ $# -gt 0 ]; do
    option=$1
    case $option in
        --) shift; break ;;
        -h | --help) usage; exit 0 ;;
        --probe) probe_only=1; shift; continue ;;
        --cold) cold=1; shift; continue ;;
        --yes) yes=1; shift; continue ;;
        -o | --only | --work | --traced-work | --threads | --series | --variant | --partner | --runs | --limit | --stdout) ;;
        -*) die "unknown option $option; sh kit.sh --help lists them" ;;
        *) break ;;
    esac
    [ $# -ge 2 ] || die "$option needs a value"
    value=$2
    shift 2
    case $option in
        -o) folder=$value ;;
        --only) only=$value ;;
        --work) number "$option" "$value"; work=$value ;;
        --traced-work) number "$option" "$value"; traced_work=$value ;;
        --threads) number "$option" "$value"; threads=$value ;;
        --series) series=$value ;;
        --variant) variant=$value ;;
        --partner) partner=$value ;;
        --runs) number "$option" "$value"; runs=$value ;;
        --limit) number "$option" "$value"; limit=$value ;;
        --stdout) stdout=$value ;;
    esac
done
if [ $# -eq 0 ]; then
    : # The program that this kit was made for.
    #@argv
fi
case ${1-} in
    '') if [ -z "$probe_only" ] && [ "$only" != costs ]; then usage >&2; die "which program? Give it after --"; fi ;;
    -*) die "the name of a program must not begin with a dash; write ./$1" ;;
esac
case $variant$partner$series in
    *[!A-Za-z0-9_.,+-]*) die "--variant, --partner and --series take letters, digits and _ . + - only" ;;
esac

# Whether PLACEHOLDER stands among the words.
stands_in() { # PLACEHOLDER WORD...
    placeholder=$1
    shift
    for word do
        case $word in *"$placeholder"*) return 0 ;; esac
    done
    return 1
}

# check_placeholder NAME VALUE OPTION WORD...: what is declared is used, and what is used is declared.
check_placeholder() {
    place="{$1}" value=$2 option=$3
    shift 3
    case $option in
        --work | --threads | --variant)
            if [ -z "$value" ] && stands_in "$place" "$@"; then die "$place among the arguments needs $option"; fi ;;
        *)
            if [ -n "$value" ] && ! stands_in "$place" "$@"; then die "$option means nothing without $place among the arguments"; fi ;;
    esac
}
check_placeholder work "$work" --work "$@"
check_placeholder work "$traced_work" --traced-work "$@"
check_placeholder threads "$threads" --threads "$@"
check_placeholder threads "$series" --series "$@"
check_placeholder variant "$variant" --variant "$@"
check_placeholder variant "$partner" --partner "$@"
if [ -n "$partner" ]; then wanted=$(printf '%s\n' "$wanted" | sed 's/ bench / bench-partner /'); fi
if [ -n "$series" ]; then wanted="$wanted bench-threads"; fi
if [ -n "$only" ]; then wanted=$only; fi

have() { command -v "$1" >/dev/null 2>&1; }

# Only a yes on the terminal, or --yes, is a yes.
agrees() { # QUESTION
    if [ -n "$yes" ]; then say "$1 yes (--yes)"; return 0; fi
    if [ ! -t 0 ]; then say "$1 no (nobody to ask; --yes would agree)"; return 1; fi
    printf '%s [y/N] ' "$1"
    read -r answer || return 1
    case $answer in y | Y | yes | Yes) return 0 ;; esac
    return 1
}

# ---------------------------------------------------------------- text and numbers

# One word, quoted so that a shell reads the same word again.
quote_word() { # WORD
    case $1 in
        '' | *[!A-Za-z0-9_./:=,+@%{}-]*) printf '%s\n' "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/" ;;
        *) printf '%s\n' "$1" ;;
    esac
}

quote_words() { # WORD...
    quoted=''
    for word do quoted="$quoted${quoted:+ }$(quote_word "$word")"; done
    printf '%s\n' "$quoted"
}

# A JSON string, or null for nothing.
json_text() { # TEXT
    if [ -z "$1" ]; then printf null; return; fi
    printf '%s\n' "$1" | awk '
        BEGIN { for (i = 1; i < 32; i++) hidden[sprintf("%c", i)] = sprintf("\\u%04x", i); printf "\"" }
        {
            if (NR > 1) printf "\\n"
            for (i = 1; i <= length($0); i++) {
                c = substr($0, i, 1)
                if (c == "\\" || c == "\"") printf "\\%s", c
                else if (c in hidden) printf "%s", hidden[c]
                else printf "%s", c
            }
        }
        END { printf "\"" }'
}

json_number() { if [ -n "$1" ]; then printf %s "$1"; else printf null; fi; }

calc() { awk "BEGIN { printf \"%.6f\", $1 }"; }
is_true() { awk "BEGIN { exit !($1) }"; }

# Seconds; with the precision that this machine's date has, else hundredths.
case $(date +%N) in
    *[!0-9]* | '') now() { read -r up _ </proc/uptime && printf '%s\n' "$up"; } ;;
    *) now() { date +%s.%N; } ;;
esac

# "cpu some" of pressure stall information: average of ten seconds, and microseconds in total.
psi_avg10() { awk '/^some/ { sub("avg10=", "", $2); print $2 }' /proc/pressure/cpu 2>/dev/null; }
psi_total() { awk '/^some/ { sub("total=", "", $5); print $5 }' /proc/pressure/cpu 2>/dev/null; }

sha256() { # FILE
    if have sha256sum; then sha256sum "$1" | cut -d' ' -f1; elif have shasum; then shasum -a 256 "$1" | cut -d' ' -f1; fi
}

# The program's words for an amount of work, quoted: the positional parameters of the caller with the placeholders filled.
program() { # WORK THREADS VARIANT WORD...
    fill_work=${1:-"{work}"} fill_threads=${2:-"{threads}"} fill_variant=${3:-"{variant}"} filled=''
    shift 3
    for word do
        rest=$word word=''
        while :; do
            case $rest in
                *'{'*) word=$word${rest%%'{'*}; rest="{${rest#*'{'}" ;;
                *) word=$word$rest; break ;;
            esac
            case $rest in
                '{work}'*) word=$word$fill_work; rest=${rest#'{work}'} ;;
                '{threads}'*) word=$word$fill_threads; rest=${rest#'{threads}'} ;;
                '{variant}'*) word=$word$fill_variant; rest=${rest#'{variant}'} ;;
                *) word="$word{"; rest=${rest#'{'} ;;
            esac
        done
        filled="$filled${filled:+ }$(quote_word "$word")"
    done
    printf '%s\n' "$filled"
}

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
    "$scratch/costs" "$folder/.scratch" >"$scratch/costs.json" 2>"$log" || { say "  costs: not measured: $(tail -n 1 "$log")"; return 0; }
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
