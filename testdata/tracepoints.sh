#!/bin/sh
# Records the tracepoints of small programs, and what other tools say about the recordings.
#     tracepoints.sh            all of it anew, into this folder (as root)
#     tracepoints.sh truth      only what the other tools say
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$here/tracepoints
work=/tmp/tripod-rec/tracepoints

# name, kind of truth, options and program
record() {
    name=$1 kind=$2
    shift 2
    if [ "$mode" = all ]; then
        (cd "$work" && env -i PATH=/usr/bin LC_ALL=C perf record -q -N -o "$name.perf.data" "$@" >/dev/null 2>&1) || true
        zstd -q -19 -f "$work/$name.perf.data" -o "$out/$name.perf.data.zst"
    fi
    zstd -q -d -f "$out/$name.perf.data.zst" -o "$work/$name.perf.data"
    if [ "$kind" = events ]; then
        perf script -G -F event,period -i "$work/$name.perf.data"
    else
        perf script --ns --no-inline -F tid,cpu,time,event,trace,ip -i "$work/$name.perf.data"
    fi 2>/dev/null | "$here/tracepoints.py" "$kind" >"$out/$name.$kind.tsv"
}

mode=${1:-all}
mkdir -p "$work" "$out"
record raw-syscalls calls -g -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -- /usr/bin/sh -c 'seq 40000 | head -n 3; sleep 0.01; cat /nonexistent; wc -c < /etc/passwd'
record syscalls calls -g -e syscalls:sys_enter_write,syscalls:sys_exit_write,syscalls:sys_enter_openat,syscalls:sys_exit_openat -- /usr/bin/dd if=/dev/zero of=/dev/null bs=4096 count=100 status=none
record block block -a --synth=no -g -e 'block:*' -- /usr/bin/dd if=/dev/zero of=block.tmp bs=65536 count=24 oflag=sync conv=fsync status=none
record lock locks -g -e lock:contention_begin,lock:contention_end -- /usr/bin/sh -c 'yes | head -c 30000000 | cat | wc -c'
record faults interrupts -g -e exceptions:page_fault_user,exceptions:page_fault_kernel -- /usr/bin/sort /etc/services
record irq interrupts -a --synth=no -e irq:irq_handler_entry,irq:irq_handler_exit,irq:softirq_entry,irq:softirq_exit,irq:softirq_raise -- /usr/bin/taskset -c 1 /usr/bin/sh -c 'yes >/dev/null & dd if=/dev/zero of=irq.tmp bs=65536 count=8 oflag=sync status=none; kill $!'
record group events -i -g -c 100000 -e '{cpu-clock,page-faults,context-switches}:S' -- /usr/bin/seq 400000
record fallback events -F 1000 -- /usr/bin/seq 1500000
record sched-all events -a --synth=no -e 'sched:*' -- /usr/bin/sh -c 'seq 1000 | wc -l; sleep 0.005'
rm -f "$work"/*.tmp

