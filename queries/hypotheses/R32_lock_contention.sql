-- id: R32
-- name: lock.contention
-- claim: Threads wait for a lock of the program that another thread holds.
-- category: Sync
-- scope: lock site
-- resource: off-cpu
-- cost: A.lock_wait_share
-- effort: 3
-- advice: Shorten the section, move I/O and sleep out of it, shard it, use a read path without lock or state per thread. A holder that sleeps is the cause (see R34 for where).
-- false_positives: Condition variables and idle pools (classed apart by their caller); joining threads at exit (the main thread's one long wait); a holder that sleeps or was preempted.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: off-CPU
-- mechanism: M4
-- probe: sched_switch
-- metric: lock_wait_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R32 A; JMC scores monitor wait / recording = 1 with 75"
-- normalizer: the life of the worker threads in the recorded window
-- needs: off_cpu
-- evidence: {percent} of the workers' time is blocked on a lock
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs; or perf record -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH reasons AS (
    SELECT artifact_id AS artifact_id, wait_ns AS wait_ns, n AS n FROM off_cpu_reasons WHERE reason = 'lock'
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, wait_ns AS wait_ns, certain AS certain FROM off_cpu_sites WHERE reason = 'lock'
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'lock_wait_share' AS metric, COALESCE(w.wait_ns, 0) AS part,
    o.lived_ns AS whole, COALESCE(w.n, 0) AS n, o.lives AS scale_down, CAST(NULL AS BIGINT) AS certain, 'sum=waits.dur_ns&reason=lock' AS part_anchor,
    o.anchor AS whole_anchor
FROM off_cpu AS o
LEFT JOIN reasons AS w ON o.artifact_id = w.artifact_id
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.wait_ns AS part,
    w.wait_ns AS whole, w.n AS n, CAST(1 AS BIGINT) AS scale_down, CAST(s.certain AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM sites AS s
JOIN reasons AS w ON s.artifact_id = w.artifact_id
--
-- slot: B
-- alternate: summary in wall time
-- mechanism: M5
-- probe: ptrace_stop
-- metric: futex_calls_per_second unit=1/s reject=50 support=1000 saturate=20000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R32 B"
-- metric: futex_wait_us unit=us reject=5 support=50 saturate=500 scale=log10 interval=complete min_n=1 basis=time source=house:"rules.md R32 B; a futex call that does not block takes about 1 us under strace"
-- normalizer: the wall time of the bare run, or of the calls
-- needs: syscalls where clock = 'wall'
-- needs: artifacts where tool = 'strace'
-- with: syscall_events where stack_id IS NOT NULL AND name = 'futex'
-- evidence: {futex_calls_per_second.part} futex calls, {futex_calls_per_second.value} per second of the bare run, {futex_wait_us.value} us each
-- record: strace -f -c -w -o strace-cw.txt -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM syscalls WHERE clock = 'wall'
),
family AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN clock = 'wall' THEN total_ns ELSE CAST(NULL AS BIGINT) END) AS BIGINT) AS total_ns, MIN(clock) AS clock
    FROM syscalls WHERE name = 'futex' GROUP BY artifact_id
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, dur_ns AS dur_ns, calls AS calls FROM call_sites WHERE class = 'LOCK_WAIT'
),
placed AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS dur_ns FROM sites GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'futex_calls_per_second' AS metric, COALESCE(f.calls, 0) AS part,
    b.wall_ns AS whole, COALESCE(f.calls, 0) AS n, d.work_up AS scale_up, d.work_down AS scale_down, 'sum=syscalls.calls&name=futex' AS part_anchor,
    '@wall_ns' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM covered AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
LEFT JOIN family AS f ON c.artifact_id = f.artifact_id
CROSS JOIN bare AS b
UNION ALL
SELECT f.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'futex_wait_us' AS metric,
    CASE WHEN f.clock = 'wall' THEN f.total_ns ELSE CAST(NULL AS BIGINT) END AS part, f.calls AS whole, f.calls AS n, CAST(1 AS BIGINT) AS scale_up,
    CAST(1 AS BIGINT) AS scale_down, 'sum=syscalls.total_ns&name=futex' AS part_anchor, 'sum=syscalls.calls&name=futex' AS whole_anchor,
    CAST(NULL AS BIGINT) AS whole_artifact_id
FROM family AS f
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.dur_ns AS part,
    p.dur_ns AS whole, s.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor,
    CAST(NULL AS BIGINT) AS whole_artifact_id
FROM sites AS s
JOIN placed AS p ON s.artifact_id = p.artifact_id
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: futex_calls_per_second unit=1/s reject=50 support=1000 saturate=20000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R32 B"
-- metric: futex_wait_us unit=us reject=5 support=50 saturate=500 scale=log10 interval=complete min_n=1 basis=time source=house:"rules.md R32 B; a futex call that does not block takes about 1 us"
-- normalizer: the wall time of the bare run, or of the calls
-- needs: call_families where family = 'futex' AND source = 'trace' AND call_ns IS NOT NULL
-- evidence: {futex_calls_per_second.part} futex calls, {futex_calls_per_second.value} per second of the bare run, {futex_wait_us.value} us each
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'futex_calls_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'futex' AND source = 'trace'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'futex_wait_us' AS metric, call_ns AS part, calls AS whole,
    calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain, time_anchor AS part_anchor,
    calls_anchor AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families
WHERE family = 'futex' AND source = 'trace' AND calls > 0
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.call_ns AS part,
    p.all_ns AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'futex'
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: futex_calls_per_second unit=1/s reject=50 support=1000 saturate=20000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R32 B"
-- metric: futex_wait_us unit=us reject=5 support=50 saturate=500 scale=log10 interval=complete min_n=1 basis=time source=house:"rules.md R32 B; a futex call that does not block takes about 1 us under strace"
-- normalizer: the wall time of the bare run, or of the calls
-- needs: syscalls
-- needs: artifacts where tool = 'strace'
-- with: syscall_events where stack_id IS NOT NULL AND name = 'futex'
-- evidence: {futex_calls_per_second.part} futex calls, {futex_calls_per_second.value} per second of the bare run, {futex_wait_us.value} us each
-- record: strace -f -c -w -o strace-cw.txt -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM syscalls
),
family AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN clock = 'wall' THEN total_ns ELSE CAST(NULL AS BIGINT) END) AS BIGINT) AS total_ns, MIN(clock) AS clock
    FROM syscalls WHERE name = 'futex' GROUP BY artifact_id
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, dur_ns AS dur_ns, calls AS calls FROM call_sites WHERE class = 'LOCK_WAIT'
),
placed AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS dur_ns FROM sites GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'futex_calls_per_second' AS metric, COALESCE(f.calls, 0) AS part,
    b.wall_ns AS whole, COALESCE(f.calls, 0) AS n, d.work_up AS scale_up, d.work_down AS scale_down, 'sum=syscalls.calls&name=futex' AS part_anchor,
    '@wall_ns' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM covered AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
LEFT JOIN family AS f ON c.artifact_id = f.artifact_id
CROSS JOIN bare AS b
UNION ALL
SELECT f.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'futex_wait_us' AS metric,
    CASE WHEN f.clock = 'wall' THEN f.total_ns ELSE CAST(NULL AS BIGINT) END AS part, f.calls AS whole, f.calls AS n, CAST(1 AS BIGINT) AS scale_up,
    CAST(1 AS BIGINT) AS scale_down, 'sum=syscalls.total_ns&name=futex' AS part_anchor, 'sum=syscalls.calls&name=futex' AS whole_anchor,
    CAST(NULL AS BIGINT) AS whole_artifact_id
FROM family AS f
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.dur_ns AS part,
    p.dur_ns AS whole, s.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor,
    CAST(NULL AS BIGINT) AS whole_artifact_id
FROM sites AS s
JOIN placed AS p ON s.artifact_id = p.artifact_id
--
-- slot: C
-- alternate: waits by lock
-- mechanism: M6
-- probe: tp_syscall
-- metric: top_lock_share unit=share reject=0.10 support=0.50 saturate=0.90 scale=linear interval=complete min_n=10 basis=time source=house:"rules.md R32 C"
-- metric: waited_share unit=share reject=0.01 support=0.05 saturate=0.50 scale=linear interval=complete min_n=0 basis=time source=house:"a lock that hardly anybody waits for is none to repair, however much of the waiting is at it"
-- normalizer: all waits of the table; how long the tool watched, per thread
-- needs: locks where kind = 'futex' AND wait_ns IS NOT NULL
-- evidence: {top_lock_share.percent} of the time in futex is spent at one lock; {waited_share.percent} of the time of all threads at any
-- record: bpftrace -e 'tracepoint:syscalls:sys_enter_futex /comm == "PROGRAM" && (args->op & 127) == 0/ { @at[tid] = nsecs; @lock[tid] = args->uaddr; } tracepoint:syscalls:sys_exit_futex /@at[tid]/ { @futex_wait_ns[@lock[tid]] = sum(nsecs - @at[tid]); @futex_waits[@lock[tid]] = count(); delete(@at[tid]); delete(@lock[tid]); } interval:s:5 { clear(@at); clear(@lock); exit(); }' > futex.txt while {argv} runs
WITH futexes AS (
    SELECT artifact_id AS artifact_id, wait_ns AS wait_ns, contended AS contended, line_no AS line_no FROM locks
    WHERE kind = 'futex' AND wait_ns IS NOT NULL
),
summed AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns, MAX(wait_ns) AS top_ns, CAST(SUM(COALESCE(contended, 1)) AS BIGINT) AS n
    FROM futexes
    GROUP BY artifact_id
),
waits_of AS (
    SELECT s.artifact_id AS artifact_id, s.wait_ns AS wait_ns, s.top_ns AS top_ns, s.n AS n, MIN(f.line_no) AS line_no
    FROM summed AS s
    JOIN futexes AS f ON s.artifact_id = f.artifact_id AND s.top_ns = f.wait_ns
    GROUP BY s.artifact_id, s.wait_ns, s.top_ns, s.n
)
SELECT w.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'top_lock_share' AS metric, w.top_ns AS part, w.wait_ns AS whole,
    w.n AS n, CAST(1 AS BIGINT) AS scale_down, 'L=' || CAST(w.line_no AS STRING) AS part_anchor, 'sum=locks.wait_ns&kind=futex' AS whole_anchor
FROM waits_of AS w
UNION ALL
SELECT w.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'waited_share' AS metric, w.wait_ns AS part,
    COALESCE(a.window_ns, a.wall_ns) AS whole, w.n AS n, COALESCE(r.threads, 1) AS scale_down, 'sum=locks.wait_ns&kind=futex' AS part_anchor,
    CASE WHEN a.window_ns IS NULL THEN 'sum=artifacts.wall_ns' ELSE 'sum=artifacts.window_ns' END AS whole_anchor
FROM waits_of AS w
JOIN artifacts AS a ON w.artifact_id = a.artifact_id
CROSS JOIN run_threads AS r
-- alternate: scaling series
-- mechanism: M9
-- probe: clock
-- metric: speed_up unit=ratio reject=0.7N support=1.2 saturate=1.0 scale=linear interval=given min_n=5 basis=time source=house:"constant total work from 1 to N threads; rules.md R32 C"
-- normalizer: the median wall time with the most threads
-- needs: benchmarks where threads IS NOT NULL
-- admits: threads
-- evidence: from one thread to the most the same work becomes {value} times as fast
-- record: for i in 1 2 3 4 5 6 7 8 9 10; do hyperfine -N --runs 1 --export-json threads-$i.json -L threads 1,2,4 'PROGRAM {threads} ARGS'; done
WITH most AS (
    SELECT MAX(threads) AS threads FROM benchmark_stats WHERE threads IS NOT NULL
),
one AS (
    SELECT MIN(artifact_id) AS artifact_id, MIN(median_ns) AS median_ns, MIN(lo_ns) AS lo_ns, MIN(hi_ns) AS hi_ns, MIN(n) AS n
    FROM benchmark_stats WHERE threads = 1
),
many AS (
    SELECT MIN(s.median_ns) AS median_ns, MIN(s.lo_ns) AS lo_ns, MIN(s.hi_ns) AS hi_ns, MIN(s.n) AS n, MAX(s.threads) AS threads
    FROM benchmark_stats AS s
    JOIN most AS m ON s.threads = m.threads
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'speed_up' AS metric, o.median_ns AS part,
    CASE WHEN m.threads > 1 THEN m.median_ns ELSE CAST(NULL AS BIGINT) END AS whole, CASE WHEN o.n < m.n THEN o.n ELSE m.n END AS n,
    CAST(o.lo_ns AS DOUBLE) / CAST(m.hi_ns AS DOUBLE) AS lo, CAST(o.hi_ns AS DOUBLE) / CAST(m.lo_ns AS DOUBLE) AS hi,
    CAST(m.threads AS DOUBLE) AS factor, 'rows=benchmarks.wall_ns&threads=1' AS part_anchor,
    'rows=benchmarks.wall_ns&threads=' || CAST(m.threads AS STRING) AS whole_anchor
FROM one AS o
CROSS JOIN many AS m
WHERE o.artifact_id IS NOT NULL
-- alternate: lock path
-- mechanism: M1
-- probe: event
-- metric: lock_path_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in lock functions
-- record: perf record -F 997 --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
WITH path AS (
    SELECT artifact_id AS artifact_id, total_weight AS weight, total_count AS n FROM class_costs WHERE class = 'SYNC'
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, weight AS weight, certain AS certain FROM class_sites WHERE class = 'SYNC'
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'lock_path_share' AS metric, COALESCE(p.weight, 0) AS part, c.weight AS whole,
    c.n AS n, c.n_eff AS n_eff, CAST(NULL AS BIGINT) AS certain, 'sum=samples.weight&has=SYNC' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN path AS p ON c.artifact_id = p.artifact_id
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.weight AS part,
    p.weight AS whole, p.n AS n, CAST(NULL AS DOUBLE) AS n_eff, CAST(s.certain AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM sites AS s
JOIN path AS p ON s.artifact_id = p.artifact_id
