-- id: R34
-- name: sched.sleep_bound
-- claim: The program spends its time in sleeps and timers that it asked for.
-- category: Scheduler
-- scope: call path
-- resource: off-cpu
-- cost: A.sleep_share, B.sleep_time_share
-- effort: 2
-- advice: Wake on the event instead of sleeping, wait on a condition instead of polling, make back-off shorter or adaptive, remove retry sleeps.
-- false_positives: Background tickers and heartbeats, rate limiters and back-off by contract, waits of a test harness.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: off-CPU
-- mechanism: M4
-- probe: sched_switch
-- metric: sleep_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R34 A"
-- normalizer: the life of the worker threads in the recorded window
-- needs: off_cpu
-- evidence: {percent} of the workers' time is asleep
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs; or perf record -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH reasons AS (
    SELECT artifact_id AS artifact_id, wait_ns AS wait_ns, n AS n FROM off_cpu_reasons WHERE reason = 'sleep'
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, wait_ns AS wait_ns, certain AS certain FROM off_cpu_sites WHERE reason = 'sleep'
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'sleep_share' AS metric, COALESCE(w.wait_ns, 0) AS part,
    o.lived_ns AS whole, COALESCE(w.n, 0) AS n, o.lives AS scale_down, CAST(NULL AS BIGINT) AS certain, 'sum=waits.dur_ns&reason=sleep' AS part_anchor,
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
-- metric: sleep_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R34 B"
-- normalizer: the wall time of the traced run, per thread
-- needs: syscalls where clock = 'wall'
-- needs: artifacts where tool = 'strace'
-- with: syscall_events where stack_id IS NOT NULL AND name IN ('nanosleep', 'clock_nanosleep')
-- evidence: {n} sleep calls took {part_s} s; the traced run lasted {whole_s} s
-- record: strace -f -c -w -o strace-cw.txt -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM syscalls WHERE clock = 'wall'
),
family AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(total_ns) AS BIGINT) AS total_ns, CAST(SUM(calls) AS BIGINT) AS calls FROM syscalls
    WHERE name IN ('nanosleep', 'clock_nanosleep')
    GROUP BY artifact_id
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, dur_ns AS dur_ns, calls AS calls FROM call_sites WHERE class = 'SLEEP_WAIT'
),
placed AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS dur_ns FROM sites GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'sleep_time_share' AS metric, COALESCE(f.total_ns, 0) AS part,
    a.wall_ns AS whole, COALESCE(f.calls, 0) AS n, COALESCE(r.threads, 1) AS scale_down, 'sum=syscalls.total_ns&name=nanosleep,clock_nanosleep' AS part_anchor,
    'sum=artifacts.wall_ns' AS whole_anchor
FROM covered AS c
JOIN artifacts AS a ON c.artifact_id = a.artifact_id
LEFT JOIN family AS f ON c.artifact_id = f.artifact_id
CROSS JOIN run_threads AS r
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.dur_ns AS part,
    p.dur_ns AS whole, s.calls AS n, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM sites AS s
JOIN placed AS p ON s.artifact_id = p.artifact_id
-- alternate: log with times
-- mechanism: M5
-- probe: ptrace_stop
-- metric: sleep_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R34 B"
-- normalizer: the wall time of the traced run, per thread
-- needs: syscall_events where dur_ns IS NOT NULL
-- needs: artifacts where kind = 'strace-log' AND (syscall_filter IS NULL OR syscall_filter LIKE '%nanosleep%')
-- evidence: {n} sleep calls took {part_s} s; the traced run lasted {whole_s} s
-- record: strace -k -f -ttt -T -e trace=write,pwrite64,writev,fsync,fdatasync,futex,clock_nanosleep -o calls.strace -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM syscall_events WHERE dur_ns IS NOT NULL
),
family AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS total_ns, CAST(COUNT(line_no) AS BIGINT) AS calls FROM syscall_events
    WHERE name IN ('nanosleep', 'clock_nanosleep')
    GROUP BY artifact_id
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, dur_ns AS dur_ns, calls AS calls FROM call_sites WHERE class = 'SLEEP_WAIT'
),
placed AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS dur_ns FROM sites GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'sleep_time_share' AS metric, COALESCE(f.total_ns, 0) AS part,
    a.wall_ns AS whole, COALESCE(f.calls, 0) AS n, COALESCE(r.threads, 1) AS scale_down,
    'sum=syscall_events.dur_ns&name=nanosleep,clock_nanosleep' AS part_anchor, 'sum=artifacts.wall_ns' AS whole_anchor
FROM covered AS c
JOIN artifacts AS a ON c.artifact_id = a.artifact_id
LEFT JOIN family AS f ON c.artifact_id = f.artifact_id
CROSS JOIN run_threads AS r
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.dur_ns AS part,
    p.dur_ns AS whole, s.calls AS n, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM sites AS s
JOIN placed AS p ON s.artifact_id = p.artifact_id
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: sleep_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R34 B"
-- normalizer: the wall time of the traced run, per thread
-- needs: call_families where family = 'sleep' AND source = 'trace' AND call_ns IS NOT NULL
-- evidence: {n} sleep calls took {part_s} s; the traced run lasted {whole_s} s
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'sleep_time_share' AS metric, call_ns AS part,
    own_wall_ns AS whole, calls AS n, threads AS scale_down, CAST(NULL AS BIGINT) AS certain, time_anchor AS part_anchor, wall_anchor AS whole_anchor
FROM call_families
WHERE family = 'sleep' AND source = 'trace'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.call_ns AS part,
    p.all_ns AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor,
    CAST(NULL AS STRING) AS whole_anchor
FROM call_places AS p
WHERE p.family = 'sleep'
-- alternate: counts
-- mechanism: M5
-- probe: ptrace_stop
-- metric: sleep_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=count source=house:"rules.md R34 B"
-- normalizer: the wall time of these calls (the seconds of this file are not wall time)
-- needs: syscalls
-- needs: artifacts where tool = 'strace'
-- evidence: {n} sleep calls; how long they took is not in this file
-- record: strace -f -c -w -o strace-cw.txt -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM syscalls
),
family AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM syscalls
    WHERE name IN ('nanosleep', 'clock_nanosleep')
    GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'sleep_time_share' AS metric, COALESCE(f.calls, 0) AS part,
    CASE WHEN COALESCE(f.calls, 0) = 0 THEN CAST(1 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS whole, COALESCE(f.calls, 0) AS n,
    'sum=syscalls.calls&name=nanosleep,clock_nanosleep' AS part_anchor
FROM covered AS c
LEFT JOIN family AS f ON c.artifact_id = f.artifact_id
--
-- slot: C
-- alternate: idle CPU
-- mechanism: M9
-- probe: cputime
-- metric: cpu_share unit=share reject=0.8 support=0.3 saturate=0.05 scale=linear interval=accounting min_n=0 basis=cputime source=house:"rules.md R34 C"
-- normalizer: the wall time of a run with one thread (with several it would not say which wait)
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {part_s} s on the CPU of {whole_s} s of wall time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cpu_share' AS metric, e.user_ns + e.system_ns AS part,
    CASE WHEN COALESCE(r.threads, 1) <= 1 THEN e.wall_ns ELSE CAST(NULL AS BIGINT) END AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n,
    '@user_ns+system_ns' AS part_anchor, '@wall_ns' AS whole_anchor
FROM executions AS e
CROSS JOIN run_threads AS r
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
