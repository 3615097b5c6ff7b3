#!/bin/sh
# shellcheck disable=SC2016 # what stands in single quotes is meant as it stands
#
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
