-- id: R37
-- name: sched.thread_churn
-- claim: Threads are made and thrown away again for little work each.
-- category: Scheduler
-- scope: call path
-- resource: cpu
-- explains: R29, R38
-- cost: C.clone_share
-- effort: 2
-- advice: Keep a pool of threads, use async tasks, reuse scoped threads; give each more work.
-- false_positives: Programs that start processes (R41); the start of a runtime that makes its threads once (Go, Tokio).
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: threads_per_second unit=1/s reject=10 support=500 saturate=15000 scale=log10 interval=complete min_n=0 basis=count source=house:"measured: 40 000 create and join in 2.6 s; rules.md R37 A"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'clone' AND source = 'summary'
-- with: call_places where family = 'clone'
-- evidence: {part} threads made, {value} per second of the bare run (clone calls that were waited for as processes are not counted)
-- record: strace -f -c -o strace-c.txt -- {argv}
WITH made AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN family = 'clone' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS clones,
        CAST(SUM(CASE WHEN family = 'reap' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS reaped,
        CAST(SUM(CASE WHEN family = 'fork' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS forks
    FROM call_families
    WHERE family IN ('clone', 'reap', 'fork')
    GROUP BY artifact_id
),
processes_of AS (
    SELECT artifact_id AS artifact_id, clones AS clones, CASE WHEN reaped > forks THEN reaped - forks ELSE CAST(0 AS BIGINT) END AS cloned FROM made
),
threads_of AS (
    SELECT artifact_id AS artifact_id, CASE WHEN clones > cloned THEN clones - cloned ELSE CAST(0 AS BIGINT) END AS threads_made FROM processes_of
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'threads_per_second' AS metric, m.threads_made AS part,
    c.bare_wall_ns AS whole, m.threads_made AS n, c.work_up AS scale_up, c.work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    '@wall_ns' AS whole_anchor, c.bare_artifact_id AS whole_artifact_id
FROM call_families AS c
JOIN threads_of AS m ON c.artifact_id = m.artifact_id
WHERE c.family = 'clone' AND c.source = 'summary'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'clone'
-- alternate: log
-- mechanism: M5
-- probe: ptrace_stop
-- metric: threads_per_second unit=1/s reject=10 support=500 saturate=15000 scale=log10 interval=complete min_n=0 basis=count source=house:"measured: 40 000 create and join in 2.6 s; rules.md R37 A"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'clone' AND source = 'log'
-- evidence: {part} threads made, {value} per second of the bare run (clone calls that were waited for as processes are not counted)
-- record: strace -k -f -ttt -e trace=clone,clone3,fork,vfork,execve,wait4 -o tasks.strace -- {argv}
WITH made AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN family = 'clone' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS clones,
        CAST(SUM(CASE WHEN family = 'reap' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS reaped,
        CAST(SUM(CASE WHEN family = 'fork' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS forks
    FROM call_families
    WHERE family IN ('clone', 'reap', 'fork')
    GROUP BY artifact_id
),
processes_of AS (
    SELECT artifact_id AS artifact_id, clones AS clones, CASE WHEN reaped > forks THEN reaped - forks ELSE CAST(0 AS BIGINT) END AS cloned FROM made
),
threads_of AS (
    SELECT artifact_id AS artifact_id, CASE WHEN clones > cloned THEN clones - cloned ELSE CAST(0 AS BIGINT) END AS threads_made FROM processes_of
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'threads_per_second' AS metric, m.threads_made AS part,
    c.bare_wall_ns AS whole, m.threads_made AS n, c.work_up AS scale_up, c.work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    '@wall_ns' AS whole_anchor, c.bare_artifact_id AS whole_artifact_id
FROM call_families AS c
JOIN threads_of AS m ON c.artifact_id = m.artifact_id
WHERE c.family = 'clone' AND c.source = 'log'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'clone'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: threads_per_second unit=1/s reject=10 support=500 saturate=15000 scale=log10 interval=complete min_n=0 basis=count source=house:"measured: 40 000 create and join in 2.6 s; rules.md R37 A"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'clone' AND source = 'trace'
-- evidence: {part} threads made, {value} per second of the bare run (clone calls that were waited for as processes are not counted)
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
WITH made AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN family = 'clone' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS clones,
        CAST(SUM(CASE WHEN family = 'reap' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS reaped,
        CAST(SUM(CASE WHEN family = 'fork' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS forks
    FROM call_families
    WHERE family IN ('clone', 'reap', 'fork')
    GROUP BY artifact_id
),
processes_of AS (
    SELECT artifact_id AS artifact_id, clones AS clones, CASE WHEN reaped > forks THEN reaped - forks ELSE CAST(0 AS BIGINT) END AS cloned FROM made
),
threads_of AS (
    SELECT artifact_id AS artifact_id, CASE WHEN clones > cloned THEN clones - cloned ELSE CAST(0 AS BIGINT) END AS threads_made FROM processes_of
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'threads_per_second' AS metric, m.threads_made AS part,
    c.bare_wall_ns AS whole, m.threads_made AS n, c.work_up AS scale_up, c.work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    '@wall_ns' AS whole_anchor, c.bare_artifact_id AS whole_artifact_id
FROM call_families AS c
JOIN threads_of AS m ON c.artifact_id = m.artifact_id
WHERE c.family = 'clone' AND c.source = 'trace'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'clone'
--
-- slot: B
-- alternate: lives of threads
-- mechanism: M4
-- probe: tp_sched
-- metric: threads_per_second unit=1/s reject=10 support=500 saturate=15000 scale=log10 interval=complete min_n=0 basis=count source=house:"as slot A; rules.md R37 B"
-- metric: short_lived_share unit=share reject=0.1 support=0.5 saturate=0.9 scale=linear interval=complete min_n=20 basis=time source=house:"half of them live 10 ms or less, that is, the median does; rules.md R37 B"
-- normalizer: the life of the program in the recorded window
-- needs: thread_states
-- evidence: {threads_per_second.part} threads beside the first of their process in {threads_per_second.whole_s} s; {short_lived_share.percent} of them lived 10 ms or less
-- record: perf record -a -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH lives AS (
    SELECT s.artifact_id AS artifact_id, CAST(COUNT(s.thread_id) AS BIGINT) AS n,
        CAST(SUM(CASE WHEN s.window_ns <= 10000000 THEN 1 ELSE 0 END) AS BIGINT) AS short_n
    FROM thread_states AS s
    JOIN threads AS t ON s.thread_id = t.thread_id
    JOIN processes AS p ON t.process_id = p.process_id
    WHERE t.is_target AND t.tid <> p.pid
    GROUP BY s.artifact_id
)
SELECT w.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'threads_per_second' AS metric,
    COALESCE(v.n, 0) AS part, w.life_ns AS whole, COALESCE(v.n, 0) AS n
FROM program_lives AS w
LEFT JOIN lives AS v ON w.artifact_id = v.artifact_id
UNION ALL
SELECT v.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'short_lived_share' AS metric, v.short_n AS part,
    v.n AS whole, v.n AS n
FROM lives AS v
--
-- slot: C
-- alternate: the same work with a pool
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R37 C"
-- needs: bench_partners where variant IN ('pool', 'pooled', 'threadpool', 'thread-pool', 'inline')
-- evidence: {percent} of the wall time goes away with a pool of threads
-- record: hyperfine -N --runs 10 -L variant churn,pool --export-json bench.json 'PROGRAM {variant}'
SELECT p.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric,
    CASE WHEN p.base_ns > p.median_ns THEN p.base_ns - p.median_ns ELSE CAST(0 AS BIGINT) END AS part, p.base_ns AS whole, p.n AS n,
    CAST(p.base_lo_ns - p.hi_ns AS DOUBLE) / CAST(p.base_ns AS DOUBLE) AS lo,
    CAST(p.base_hi_ns - p.lo_ns AS DOUBLE) / CAST(p.base_ns AS DOUBLE) AS hi, 'rows=benchmarks.wall_ns&variant=' || p.shown AS part_anchor,
    'rows=benchmarks.wall_ns&variant=' || p.base_variant AS whole_anchor
FROM bench_partners AS p
WHERE p.variant IN ('pool', 'pooled', 'threadpool', 'thread-pool', 'inline')
-- alternate: making and ending threads
-- mechanism: M1
-- probe: event
-- metric: clone_share unit=share reject=0.02 support=0.1 saturate=0.5 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in the making and ending of threads
-- record: perf record -a -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv} (or --no-inherit: threads that live shorter than a period are never sampled otherwise)
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'clone_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, n_eff AS n_eff,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM class_shares
WHERE class = 'CLONE'
-- alternate: idle CPU
-- mechanism: M9
-- probe: cputime
-- metric: cpu_share unit=share reject=0.9 support=0.5 saturate=0.1 scale=linear interval=accounting min_n=10 basis=cputime source=house:"making and joining one after the other leaves the CPU idle; rules.md R37 C"
-- normalizer: the wall time of the same run
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {part_s} s on the CPU of {whole_s} s of wall time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cpu_share' AS metric, e.user_ns + e.system_ns AS part,
    e.wall_ns AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n, '@user_ns+system_ns' AS part_anchor,
    '@wall_ns' AS whole_anchor
FROM executions AS e
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
