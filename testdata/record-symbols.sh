#!/bin/bash
# Records the programs of testdata/symbols-cases anew: one way of building per case, for the tests of names.
#
#   testdata/record-symbols.sh [CASE...]     all cases by default
#
# Per case, in symbols-cases/NAME/:
#
#   perf.data.zst       the recording
#   symbols/            what names it: the program, its debug files (zstd)
#   self.txt            perf report: self period per (dso, symbol)
#   script.txt.zst      perf script: every sample with its physical frames
#   inline.txt.zst      addr2line -i (LLVM's for clang and C++) for every address of the program on a stack
#   commands.txt        the commands that made all of this
#
# C++ and Rust names in the truth files were demangled by c++filt. Run as root, with an empty environment. Variables:
# RECORD_LOCK (a file to flock around each single case), RECORD_WORK (where the programs are built and run, default
# /tmp/tripod-sym).
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
src=$here/symbols-cases/src
rec=${RECORD_WORK:-/tmp/tripod-sym}
ms=1000

need() { # PROGRAM DEBIAN-PACKAGE
    command -v "$1" >/dev/null || { echo "record-symbols.sh: $1 is missing (Debian package $2)" >&2; exit 2; }
}
need gcc gcc
need g++ g++
need clang clang
need rustc rustc
need llvm-dwp llvm
need llvm-addr2line llvm
need perf linux-perf
need zstd zstd
need python3 python3
[ "$(id -u)" = 0 ] || { echo "record-symbols.sh: must run as root (perf)" >&2; exit 2; }
rustc=$(rustup which rustc 2>/dev/null || command -v rustc)

# The programs see nothing of the environment of whoever records; the host's name is in every perf.data.
clean() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/tmp "$@"; }
named() { clean unshare --uts sh -c 'hostname testdata; exec "$@"' sh "$@"; }

# Says what it does, then does it; the log keeps the words.
does() {
    printf '%s\n' "$*" >> commands.txt
    "$@"
}

flags="-Wall -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -ffile-prefix-map=$src=/src -fdebug-prefix-map=$rec=/rec"
sampling="-F 997 -e cpu-clock --call-graph fp"
dumping="-F 199 -e cpu-clock --call-graph dwarf,4096"

begin() { # CASE
    rm -rf "${rec:?}/$1"
    mkdir -p "$rec/$1/symbols"
    cd "$rec/$1"
    : > commands.txt
}

# shellcheck disable=SC2086 # flags are lists of words
build() { # CASE
    case $1 in
    c-pie | c-dwarf | sysroot) does gcc $flags -o hot "$src/hot.c" ;;
    c-nopie) does gcc $flags -no-pie -o hot "$src/hot.c" ;;
    c-static) does gcc $flags -static -o hot "$src/hot.c" ;;
    c-clang) does clang $flags -gdwarf-5 -o hot "$src/hot.c" ;;
    cpp-gz | cpp-dwarf) does g++ $flags -gz=zlib -o hot "$src/hot.cpp" ;;
    rust) does "$rustc" --edition 2024 -O -g -C panic=abort -C lto=fat -C force-frame-pointers=yes \
        --remap-path-prefix "$src=/src" -C link-arg=-Wl,--gc-sections -o hot "$src/hot.rs" ;;
    # addr2line of binutils reads no split DWARF: it gets a twin with the same code.
    split-dwo | split-dwp)
        version=4
        [ "$1" = split-dwo ] || version=5
        does gcc $flags -gdwarf-$version -gsplit-dwarf -c "$src/hot.c" -o hot.o
        does gcc -o hot hot.o
        does gcc $flags -gdwarf-$version -c "$src/hot.c" -o twin.o
        does gcc -o twin twin.o
        for file in hot twin; do objcopy -O binary --only-section=.text $file $file.text; done
        cmp hot.text twin.text
        # The path of the compiler's directory was mapped away.
        # (dwp of binutils knows DWARF 4 only.)
        [ "$1" = split-dwo ] || does llvm-dwp hot.dwo -o hot.dwp ;;
    debuglink)
        does gcc $flags -Wl,--build-id=none -o hot "$src/hot.c"
        does objcopy --only-keep-debug hot hot.debug
        does objcopy --strip-all --add-gnu-debuglink=hot.debug hot ;;
    jit-map | jit-dump) does gcc $flags -o jit "$src/jit.c" ;;
    esac
}

# shellcheck disable=SC2086
record() { # CASE
    case $1 in
    *-dwarf) does named perf record -q $dumping -o perf.data ./hot $ms ;;
    jit-map) does named perf record -q $sampling -o perf.data ./jit map $ms ;;
    jit-dump) does named perf record -q -k mono $sampling -o perf.data ./jit dump $ms ;;
    sysroot)
        mkdir -p root/opt/app root/lib64 root/lib/x86_64-linux-gnu
        cp hot root/opt/app/
        cp /lib64/ld-linux-x86-64.so.2 root/lib64/
        cp /lib/x86_64-linux-gnu/libc.so.6 root/lib/x86_64-linux-gnu/
        does named perf record -q --buildid-mmap $sampling -o perf.data chroot root /opt/app/hot $ms ;;
    *) does named perf record -q $sampling -o perf.data ./hot $ms ;;
    esac
}

# What names the program goes into symbols/; sets elf and program for addr2line.
collect() { # CASE
    elf=hot program=hot extra=""
    case $1 in
    jit-map) elf=jit program=jit; pid=$(pid_of jit); mv "/tmp/perf-$pid.map" .; cp "perf-$pid.map" symbols/ ;;
    jit-dump) elf=jit program=jit; mv jit-*.dump symbols/ ;;
    split-dwo) elf=twin extra=hot.dwo ;;
    split-dwp) elf=twin extra=hot.dwp ;;
    debuglink) elf=hot.debug extra=hot.debug ;;
    esac
    # shellcheck disable=SC2086
    cp $program $extra symbols/
}

pid_of() { perf script -i perf.data -F comm,pid 2>/dev/null | awk -v name="$1" '$1 == name && !n++ {print $2}'; }

# perf looks for the programs at their recorded paths; those of another root are put there, for its eyes only.
# (With --symfs it would not name the kernel.)
seen() { # CASE COMMAND...
    local name=$1
    shift
    printf '%s\n' "$*" >> commands.txt
    # shellcheck disable=SC2016
    if [ "$name" = sysroot ]; then
        unshare --mount sh -c 'mount --bind root/opt /opt && exec "$@"' sh "$@"
    else
        "$@"
    fi
}

truth() { # CASE
    local data=perf.data
    if [ "$1" = jit-dump ]; then
        cp symbols/jit-*.dump .
        does perf inject --jit -i perf.data -o jitted.data 2>/dev/null
        data=jitted.data
    fi
    [ "$1" != jit-map ] || cp perf-*.map /tmp/
    # shellcheck disable=SC2086
    {
        seen "$1" perf report -i $data --no-children --no-inline --no-demangle --stdio -g none -w 0 \
            -F period,sample,dso,sym --sort dso,sym -t '|' 2>/dev/null | grep -v '^#' | grep . | c++filt > self.txt
        seen "$1" perf script -i $data --no-inline --no-demangle --ns -F comm,pid,tid,time,period,ip,sym,symoff,dso 2>/dev/null |
            c++filt > script.txt
        perf script -i $data --no-inline -F ip,dso 2>/dev/null > raw.txt
    }
    case $1 in *-dwarf) unwound=unwound ;; *) unwound="" ;; esac
    # shellcheck disable=SC2086 # nothing, or one word
    python3 "$src/addresses.py" raw.txt "$program" "$program" $unwound > addresses.txt
    # addr2line of binutils 2.40 loses the innermost function where its code is in several pieces (clang), and names it
    # after the symbol where it has no linkage name (C++): there LLVM's is asked.
    case $1 in
    c-clang | cpp-*)
        printf 'llvm-addr2line -i -f -a -e %s < addresses.txt | c++filt\n' "$elf" >> commands.txt
        llvm-addr2line -i -f -a -e "$elf" < addresses.txt | c++filt > inline.txt ;;
    *)
        printf 'addr2line -i -f -C -a -e %s < addresses.txt\n' "$elf" >> commands.txt
        addr2line -i -f -C -a -e "$elf" < addresses.txt > inline.txt ;;
    esac
    [ "$1" != jit-map ] || rm -f /tmp/"$(basename perf-*.map)"
}

keep() { # CASE
    local to=$here/symbols-cases/$1
    rm -rf "$to"
    mkdir -p "$to/symbols"
    for file in perf.data script.txt inline.txt; do zstd -q -19 "$file" -o "$to/$file.zst"; done
    for file in symbols/*; do
        zstd -q -19 "$file" -o "$to/$file.zst"
    done
    cp self.txt "$to/"
    sed -e "s#$src#src#g" -e "s#$rec/##g" -e "s#$rustc#rustc#" -e 's# /\?[^ ]*=/rec##' commands.txt > "$to/commands.txt"
    chmod -R a+rX "$to"
}

all="c-pie c-nopie c-static c-clang cpp-gz rust split-dwo split-dwp debuglink jit-map jit-dump sysroot c-dwarf cpp-dwarf"
one() {
    begin "$1"
    build "$1"
    record "$1"
    collect "$1"
    truth "$1"
    keep "$1"
    echo "$1: $(du -sk "$here/symbols-cases/$1" | cut -f1) kB, $(grep -c . "$rec/$1/inline.txt") lines of addr2line"
}

{
    for name in ${*:-$all}; do
        if [ -n "${RECORD_LOCK:-}" ]; then exec 9>>"$RECORD_LOCK"; flock 9; fi
        one "$name"
        exec 9>&-
    done
    exit 0
}
