# shellcheck shell=bash disable=SC2034,SC2154 # part of record.sh: variables and functions come from and go there
#
# The scenarios: which program, which variant, how much work, and where a single
# tool needs less of it. rules.md section 5 says what each one is about;
# labels.md what must be found in it.

scenarios="s0 s1 s2 s3 s4 s6 s7 s1r s3r sqlite3 system-wide"
scenarios="$scenarios s2b s3b s3c s4t s5 s7f s8 s8f s9 s10 s11 s12 s13 s14 s15 s16 s17 s18 s19 s20 s21 s22 s23 s24"

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
        s0-again) # S0 with less of everything, for record-s0.sh
            only="bare time-v perf-stat cpu-fp cpu-dwarf sched strace-c strace-cw mem heaptrack rss bench" work_bench=8000 hz_dwarf=499
            record s0-clean s0 clean 50000 ;;
        s1) work_strace=300000 work_calls=5000 bench_variants=unbuffered,buffered
            record s1-unbuffered-writes s1 unbuffered 6000000
            with_bench=0 work_calls=1000000 offcpu_s=1
            record s1p-buffered-writes s1 buffered 40000000 ;;
        s2) work_calls=1500 work_series=4500 series_threads=1,2,4 bench_variants=convoy,sharded
            record s2-lock-convoy s2 convoy 5000 4
            with_bench=0 work_calls=1500 work_series=2000 series_threads=1,2,4 offcpu=folded offcpu_s=1
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
        *) more "$1" ;;
    esac
}

# The partners take what decides and no more.
near="bare time-v perf-stat cpu-fp cpu-dwarf offcpu strace-cw heaptrack"
partner() { # [ARTIFACTS]
    with_bench=0 offcpu_s=1 only="$near ${1:-}"
}

# shellcheck disable=SC2086
more() {
    # What the program and the tools need: about 2.5 s bare, few hundred kB in all. Many of these programs make the
    # pressure themselves, so there is no point in waiting for it to go.
    offcpu_s=1 settle=0
    case $1 in
        s2b) sched_on="" work_bench=40000 work_series=40000 series_threads=1,2,4 bench_variants=hammer,local
            record s2b-cpu-mutex s2b hammer 200000 4
            partner sched; sched_on=""
            record s2bp-local-totals s2b local 200000 4 ;;
        s3b) work_heap=60000 work_bench=16000000 bench_variants=formatted,quiet
            record s3b-format-churn s3b formatted 8000000
            partner; work_heap=60000
            record s3bp-quiet s3b quiet 40000000 ;;
        s3c) work_heap=60000 work_bench=60000 bench_variants=ring,reused
            record s3c-ring s3c ring 300000
            partner; work_heap=60000
            record s3cp-reused-blocks s3c reused 300000 ;;
        s4t) memory_up
            work_calls=300 work_strace=20000 bench_variants="" with_bench=0 hz=499
            record s4t-fsync-tmpfs s4 each 35000
            disk_down ;;
        s5) work_bench=1200000 bench_variants=every,no-hash
            record s5-hash s5 every 8000000
            partner
            record s5p-no-hash s5 no-hash 60000000 ;;
        s7f) with_bench=0
            record s7f-fragmentation s7f scattered 200000
            partner "mem rss"
            record s7fp-compacted s7f compact 200000 ;;
        s8) work_calls=800 work_mem=3000 work_strace=20000 work_heap=20000 work_bench=15000 calls_trace=mmap,munmap bench_variants=mapped,pooled
            record s8-mmap-churn s8 mapped 60000
            partner mem
            record s8p-pooled-mappings s8 pooled 15000000 ;;
        s8f) bench_variants=fresh,reused work_bench=3 calls_trace=mmap,munmap
            record s8f-fault-storm s8f fresh 14
            partner mem
            record s8fp-touched-once s8f reused 3500 ;;
        s9) with_bench=0 series_work=10000,20000,40000,80000
            record s9-scan s9 scan 100000
            partner bench-series; series_work=1000000,2000000,4000000,8000000
            record s9p-hash-set s9 hashed 24000000 ;;
        s10) extras=cpu-all work_sched=1000 work_calls=150 work_mem=4000 work_strace=4000 work_heap=8000 work_bench=2000 calls_more=-y
            calls_trace=clone,clone3,futex,mmap,munmap,mprotect bench_variants=threads,inline
            record s10-thread-churn s10 threads 10000
            partner "sched strace-c"; extras=cpu-all
            record s10p-one-thread s10 inline 16000 ;;
        s11) work_sched=40 work_calls=20 work_strace=400 work_heap=1000 work_mem=400 work_bench=600 calls_trace=sched_yield,futex
            sched_on="" bench_variants=yielding,blocking
            record s11-yield s11 yielding 4000 4
            partner sched; sched_on="" work_sched=1000
            record s11p-blocking s11 blocking 4000 4 ;;
        s12) extras="accounting runqlat" sched_on="" with_bench=0 series_threads=1,2,8 work_series=40000
            record s12-oversubscription s12 compute 400000 8
            partner sched; sched_on="" extras="accounting runqlat"
            record s12p-thread-per-cpu s12 compute 400000 2 ;;
        s13) work_sched=200 work_calls=40 work_mem=100 work_strace=150 work_bench=300 calls_trace=clone,vfork,execve,wait4 bench_variants=processes,inline
            only="bare time-v perf-stat cpu-fp cpu-dwarf sched offcpu strace-c strace-cw calls mem bench"
            record s13-fork-exec s13 processes 2500
            partner sched
            record s13p-in-process s13 inline 100000 ;;
        s14) work_calls=80 work_strace=15000 work_bench=40000 calls_trace=newfstatat,stat,openat,access calls_more=-y bench_variants=probing,cached
            record s14-metadata s14 probing 300000
            partner
            record s14p-cached-paths s14 cached 1500000 ;;
        s15) peer="$rec/bin/s15 serve"
            work_sched=600 work_calls=200 work_bench=300 sched_on="" calls_trace=sendto,recvfrom,connect calls_more=-y bench_variants=single,pipelined
            record s15-network-wait s15 single 2000
            partner "sched calls"; sched_on="" work_sched=3000 work_calls=200 calls_trace=sendto,recvfrom,connect calls_more=-y
            record s15p-pipelined s15 pipelined 30000
            peer="" ;;
        s16) extras="lock lock-contention" work_extras=2500 work_sched=1500 work_calls=200 work_mem=1500 work_strace=8000 work_heap=8000 work_bench=3000
            sched_on="" work_series=6000 series_threads=1,2,4 calls_trace=mmap,munmap bench_variants=mapping,keeping
            record s16-mmap-lock s16 mapping 20000 4
            partner sched; sched_on="" extras="lock lock-contention"
            record s16p-kept-mappings s16 keeping 5000000 4 ;;
        s17) work_sched=2000 work_calls=200 work_mem=20000 work_strace=10000 work_bench=40000 calls_trace=read,write calls_more=-y bench_variants=single,batched
            record s17-handoff s17 single 300000
            partner "sched calls"; work_calls=20000 calls_trace=read,write calls_more=-y work_sched=500000
            record s17p-batched s17 batched 8000000 ;;
        s18) extras=per-thread sched_on="" work_calls=150 work_bench=150 work_series=150 series_threads=1,2,4 bench_variants=serial,parallel
            record s18-serial s18 serial 1000 2
            partner "sched bench-threads"; extras=per-thread sched_on="" work_series=150 series_threads=1,2,4
            record s18p-parallel s18 parallel 1800 2 ;;
        s19) elfs="$rec/bin/s19 $rec/bin/s19many $rec/bin/s19one $libc $loader" work_sched=8 work_mem=2 work_strace=20 work_bench=8 work_calls=1
            calls_trace=openat,execve,write bench_variants=many,noop,one
            only="bare time-v perf-stat cpu-fp cpu-dwarf sched offcpu strace-c strace-cw mem calls bench"
            record s19-startup s19 many 80
            elfs="$rec/bin/s19 $rec/bin/s19many $rec/bin/s19one $libc $loader"
            with_bench=0 offcpu_s=1 only="bare time-v perf-stat cpu-fp cpu-dwarf offcpu strace-cw"
            record s19p-no-libraries s19 one 600 ;;
        s20) work_heap=20000 work_bench=600000 bench_variants=throwing,error-codes
            record s20-exceptions s20 throwing 1200000
            partner
            record s20p-error-codes s20 error-codes 10000000 ;;
        s21) work_bench=8000 bench_variants=copied,in-place
            record s21-memcpy s21 copied 60000
            partner mem
            record s21p-in-place s21 in-place 4000000 ;;
        s22) work_heap=60000 work_bench=4000000 bench_variants=json,binary
            record s22-serialize s22 json 3000000
            partner
            record s22p-binary s22 binary 60000000 ;;
        s23) work_bench=400 bench_variants=level-9,stored
            record s23-compress s23 level-9 2400
            partner
            record s23p-stored s23 stored 60000 ;;
        s24) before="$rec/bin/s24 warm 1" extras="biolatency accounting" work_sched=1500 work_calls=300 work_bench=2500 bench_variants=mapped,cold,warm
            calls_trace=pread64
            record s24-page-cache s24 mapped 14000
            partner "sched strace-c"
            before="$rec/bin/s24 warm 1" extras="biolatency accounting" work_sched=1500
            record s24b-cold-reads s24 cold 16000
            partner "sched strace-c"
            before="$rec/bin/s24 warm 1" extras="biolatency accounting"
            record s24p-warm-cache s24 warm 250000 ;;
        *) echo "record.sh: unknown scenario $1 (known: $scenarios)" >&2; exit 2 ;;
    esac
    unset settle
}
