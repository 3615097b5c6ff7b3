-- id: R27
-- name: io.fsync_bound
-- claim: The program waits for the disk to confirm its writes: fsync and its kin take a large part of the time.
-- category: I/O
-- scope: syscall
-- resource: off-cpu
-- cost: B.fsync_wait_share, A.fsync_time_share
-- effort: 3
-- advice: Commit in groups, use fdatasync on preallocated files or a write-ahead log; give durability up only where the contract allows it.
-- false_positives: Device latency of a shared VM varies tenfold between runs, so only ratios count; tmpfs syncs for free; a barrier at close or rename; a database that already commits in groups.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: summary in wall time
-- mechanism: M5
-- probe: ptrace_stop
-- metric: fsync_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R27 A"
-- normalizer: the wall time of the traced run, per thread
-- needs: syscalls where clock = 'wall'
-- needs: artifacts where tool = 'strace'
-- with: syscall_events where stack_id IS NOT NULL AND name IN ('fsync', 'fdatasync', 'sync_file_range', 'msync', 'syncfs', 'sync')
-- evidence: {n} fsync calls took {part_s} s; the traced run lasted {whole_s} s
-- record: strace -f -c -w -o strace-cw.txt -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM syscalls WHERE clock = 'wall'
),
family AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(total_ns) AS BIGINT) AS total_ns, CAST(SUM(calls) AS BIGINT) AS calls FROM syscalls
    WHERE name IN ('fsync', 'fdatasync', 'sync_file_range', 'msync', 'syncfs', 'sync')
    GROUP BY artifact_id
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, dur_ns AS dur_ns, calls AS calls FROM call_sites WHERE class = 'FSYNC_WAIT'
),
placed AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS dur_ns FROM sites GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'fsync_time_share' AS metric, COALESCE(f.total_ns, 0) AS part,
    a.wall_ns AS whole, COALESCE(f.calls, 0) AS n, COALESCE(r.threads, 1) AS scale_down, 'sum=syscalls.total_ns&name=fsync,fdatasync,sync_file_range,msync,syncfs,sync' AS part_anchor,
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
-- metric: fsync_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R27 A"
-- normalizer: the wall time of the traced run, per thread
-- needs: syscall_events where dur_ns IS NOT NULL
-- needs: artifacts where kind = 'strace-log' AND (syscall_filter IS NULL OR syscall_filter LIKE '%fsync%')
-- evidence: {n} fsync calls took {part_s} s; the traced run lasted {whole_s} s
-- record: strace -k -f -ttt -T -e trace=write,pwrite64,writev,fsync,fdatasync,futex,clock_nanosleep -o calls.strace -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM syscall_events WHERE dur_ns IS NOT NULL
),
family AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS total_ns, CAST(COUNT(line_no) AS BIGINT) AS calls FROM syscall_events
    WHERE name IN ('fsync', 'fdatasync', 'sync_file_range', 'msync', 'syncfs', 'sync')
    GROUP BY artifact_id
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, dur_ns AS dur_ns, calls AS calls FROM call_sites WHERE class = 'FSYNC_WAIT'
),
placed AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS dur_ns FROM sites GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'fsync_time_share' AS metric, COALESCE(f.total_ns, 0) AS part,
    a.wall_ns AS whole, COALESCE(f.calls, 0) AS n, COALESCE(r.threads, 1) AS scale_down,
    'sum=syscall_events.dur_ns&name=fsync,fdatasync,sync_file_range,msync,syncfs,sync' AS part_anchor, 'sum=artifacts.wall_ns' AS whole_anchor
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
-- metric: fsync_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R27 A"
-- normalizer: the wall time of the traced run, per thread
-- needs: call_families where family = 'fsync' AND source = 'trace' AND call_ns IS NOT NULL
-- evidence: {n} fsync calls took {part_s} s; the traced run lasted {whole_s} s
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'fsync_time_share' AS metric, call_ns AS part,
    own_wall_ns AS whole, calls AS n, threads AS scale_down, CAST(NULL AS BIGINT) AS certain, time_anchor AS part_anchor, wall_anchor AS whole_anchor
FROM call_families
WHERE family = 'fsync' AND source = 'trace'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.call_ns AS part,
    p.all_ns AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor,
    CAST(NULL AS STRING) AS whole_anchor
FROM call_places AS p
WHERE p.family = 'fsync'
-- alternate: counts
-- mechanism: M5
-- probe: ptrace_stop
-- metric: fsync_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=count source=house:"rules.md R27 A"
-- normalizer: the wall time of these calls (the seconds of this file are not wall time)
-- needs: syscalls
-- needs: artifacts where tool = 'strace'
-- evidence: {n} fsync calls; how long they took is not in this file
-- record: strace -f -c -w -o strace-cw.txt -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM syscalls
),
family AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM syscalls
    WHERE name IN ('fsync', 'fdatasync', 'sync_file_range', 'msync', 'syncfs', 'sync')
    GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'fsync_time_share' AS metric, COALESCE(f.calls, 0) AS part,
    CASE WHEN COALESCE(f.calls, 0) = 0 THEN CAST(1 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS whole, COALESCE(f.calls, 0) AS n,
    'sum=syscalls.calls&name=fsync,fdatasync,sync_file_range,msync,syncfs,sync' AS part_anchor
FROM covered AS c
LEFT JOIN family AS f ON c.artifact_id = f.artifact_id
--
-- slot: B
-- alternate: off-CPU
-- mechanism: M4
-- probe: sched_switch
-- metric: fsync_wait_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R27 B"
-- normalizer: the life of the worker threads in the recorded window
-- needs: off_cpu
-- evidence: {percent} of the workers' time is blocked below fsync
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs; or perf record -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH reasons AS (
    SELECT artifact_id AS artifact_id, wait_ns AS wait_ns, n AS n FROM off_cpu_reasons WHERE reason = 'fsync'
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, wait_ns AS wait_ns, certain AS certain FROM off_cpu_sites WHERE reason = 'fsync'
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'fsync_wait_share' AS metric, COALESCE(w.wait_ns, 0) AS part,
    o.lived_ns AS whole, COALESCE(w.n, 0) AS n, o.lives AS scale_down, CAST(NULL AS BIGINT) AS certain, 'sum=waits.dur_ns&reason=fsync' AS part_anchor,
    o.anchor AS whole_anchor
FROM off_cpu AS o
LEFT JOIN reasons AS w ON o.artifact_id = w.artifact_id
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.wait_ns AS part,
    w.wait_ns AS whole, w.n AS n, CAST(1 AS BIGINT) AS scale_down, CAST(s.certain AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM sites AS s
JOIN reasons AS w ON s.artifact_id = w.artifact_id
--
-- slot: C
-- alternate: flushes and synchronous writes of the block layer
-- mechanism: M8
-- probe: bpf_map
-- metric: sync_busy_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=given min_n=0 basis=time source=house:"rules.md R27 C as amended: the block layer first; the bounds are those of A and B"
-- normalizer: how long the tool watched (a histogram says between which bounds the time lies)
-- needs: block_time where kind = 'sync'
-- evidence: flushes and synchronous writes of the busiest disk took at least {part_s} s of {whole_s} s ({n} requests)
-- record: biolatency -D -F 5 1 > biolatency.txt while {argv} runs
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'sync_busy_share' AS metric, least_ns AS part, window_ns AS whole,
    n AS n, CAST(least_ns AS DOUBLE) / CAST(window_ns AS DOUBLE) AS lo, CAST(most_ns AS DOUBLE) / CAST(window_ns AS DOUBLE) AS hi,
    anchor AS part_anchor, window_anchor AS whole_anchor
FROM block_time
WHERE kind = 'sync'
-- alternate: requests of the block layer
-- mechanism: M8
-- probe: bpf_map
-- metric: request_busy_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=given min_n=0 basis=time source=house:"rules.md R27 C as amended; the tool did not tell requests apart, so reads count, too"
-- normalizer: how long the tool watched (a histogram says between which bounds the time lies)
-- needs: block_time where kind = 'all'
-- evidence: requests to the busiest disk took at least {part_s} s of {whole_s} s ({n} requests)
-- record: biolatency -D -F 5 1 > biolatency.txt while {argv} runs
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'request_busy_share' AS metric, least_ns AS part, window_ns AS whole,
    n AS n, CAST(least_ns AS DOUBLE) / CAST(window_ns AS DOUBLE) AS lo, CAST(most_ns AS DOUBLE) / CAST(window_ns AS DOUBLE) AS hi,
    anchor AS part_anchor, window_anchor AS whole_anchor
FROM block_time
WHERE kind = 'all'
-- alternate: idle CPU
-- mechanism: M9
-- probe: cputime
-- metric: cpu_share unit=share reject=0.8 support=0.3 saturate=0.05 scale=linear interval=accounting min_n=0 basis=cputime source=house:"VTune calls less than half a CPU idle; the cut is rules.md R27 C"
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
