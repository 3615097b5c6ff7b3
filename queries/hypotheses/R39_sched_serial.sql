-- id: R39
-- name: sched.serial
-- claim: One thread does nearly all the work while the others wait for it.
-- category: Scheduler
-- scope: thread
-- resource: cpu
-- applies_if: threads >= 2 and cpus >= 2 and cpu_share >= 0.8
-- cost: A.top_thread_share
-- effort: 4
-- advice: Partition the work, pipeline it, let idle threads steal; find the serial section and move work out of it.
-- false_positives: A program with one thread by design (not applicable); a thread that spins while nobody waits for it (R17).
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: samples per thread
-- mechanism: M1
-- probe: event
-- metric: top_thread_share unit=share reject=0.60 support=0.90 saturate=0.99 scale=linear interval=wilson min_n=100 basis=share source=house:"JMC counts threads with at least 4 samples per hardware thread; rules.md R39 A"
-- normalizer: the samples of a program with two threads or more
-- needs: cpu_events where unwinding IS NOT NULL
-- evidence: {percent} of {n} CPU samples are of one thread
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
SELECT c.artifact_id AS artifact_id, 'thread' AS site_kind, CAST(t.thread_id AS BIGINT) AS site_id, 'top_thread_share' AS metric, t.weight AS part,
    CASE WHEN l.threads >= 2 THEN c.weight ELSE CAST(NULL AS BIGINT) END AS whole, c.n AS n, c.n_eff AS n_eff, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
JOIN thread_costs AS t ON c.artifact_id = t.artifact_id
CROSS JOIN lanes AS l
--
-- slot: B
-- alternate: waits that the busy thread ends
-- mechanism: M4
-- probe: tp_sched
-- metric: others_wait_share unit=share reject=0.4 support=0.8 saturate=0.98 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R39 B"
-- metric: woken_by_busy_share unit=share reject=0.1 support=0.5 saturate=0.9 scale=linear interval=complete min_n=5 basis=time source=house:"rules.md R39 as amended: somebody must wait for the busy thread; one that spins alone is R17"
-- normalizer: the life of the other threads in the recorded window
-- needs: off_cpu where is_aggregate = 0
-- evidence: the other threads wait for {others_wait_share.percent} of their life; the busy thread ends {woken_by_busy_share.percent} of that
-- record: perf record -a -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH own AS (
    SELECT s.artifact_id AS artifact_id, s.thread_id AS thread_id, s.on_cpu_ns AS on_cpu_ns, s.window_ns AS window_ns,
        s.window_ns - s.on_cpu_ns - s.runnable_ns - s.unknown_ns AS wait_ns, s.role AS role
    FROM thread_states AS s
    JOIN threads AS t ON s.thread_id = t.thread_id
    WHERE t.is_target
),
most AS (
    SELECT artifact_id AS artifact_id, MAX(on_cpu_ns) AS on_cpu_ns FROM own GROUP BY artifact_id
),
busiest AS (
    SELECT o.artifact_id AS artifact_id, MIN(o.thread_id) AS thread_id FROM own AS o
    JOIN most AS m ON o.artifact_id = m.artifact_id AND o.on_cpu_ns = m.on_cpu_ns
    GROUP BY o.artifact_id
),
others AS (
    SELECT o.artifact_id AS artifact_id, o.thread_id AS thread_id, o.window_ns AS window_ns, o.wait_ns AS wait_ns, b.thread_id AS busy_id
    FROM own AS o
    JOIN busiest AS b ON o.artifact_id = b.artifact_id
    WHERE o.thread_id <> b.thread_id AND o.role <> 'joiner'
),
summed AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(window_ns) AS BIGINT) AS window_ns, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns, CAST(COUNT(thread_id) AS BIGINT) AS n
    FROM others GROUP BY artifact_id
),
ended AS (
    SELECT o.artifact_id AS artifact_id, CAST(SUM(w.wait_ns) AS BIGINT) AS all_ns, CAST(SUM(w.n) AS BIGINT) AS n,
        CAST(SUM(CASE WHEN w.waker_thread_id = o.busy_id THEN w.wait_ns ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS by_busy_ns
    FROM others AS o
    JOIN wakeups AS w ON o.artifact_id = w.artifact_id AND o.thread_id = w.thread_id
    WHERE w.waker_thread_id IS NOT NULL
    GROUP BY o.artifact_id
)
SELECT s.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'others_wait_share' AS metric, s.wait_ns AS part,
    s.window_ns AS whole, s.n AS n
FROM summed AS s
UNION ALL
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'woken_by_busy_share' AS metric, e.by_busy_ns AS part,
    e.all_ns AS whole, e.n AS n
FROM ended AS e
-- alternate: off-CPU by thread
-- mechanism: M4
-- probe: bpf_map
-- metric: others_wait_share unit=share reject=0.4 support=0.8 saturate=0.98 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R39 B; counted are waits that a thread of the program ends (locks, conditions, pipes). Where a scheduler recording shows that another than the busy thread ends them, this is not trusted"
-- normalizer: the window of all threads but one, where nothing shows that others than the busy thread end those waits
-- needs: off_cpu where is_aggregate = 1
-- evidence: the other threads wait for locks, conditions and pipes for {percent} of their time
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs
WITH others AS (
    SELECT s.artifact_id AS artifact_id, s.thread_id AS thread_id, s.thread_id AS other_id, s.on_cpu_ns AS on_cpu_ns
    FROM thread_states AS s
    JOIN threads AS t ON s.thread_id = t.thread_id
    WHERE t.is_target
),
most AS (
    SELECT artifact_id AS artifact_id, MAX(on_cpu_ns) AS on_cpu_ns FROM others GROUP BY artifact_id
),
busiest AS (
    SELECT o.artifact_id AS artifact_id, MIN(o.thread_id) AS busy_id FROM others AS o
    JOIN most AS m ON o.artifact_id = m.artifact_id AND o.on_cpu_ns = m.on_cpu_ns
    GROUP BY o.artifact_id
),
ended AS (
    SELECT CAST(SUM(w.wait_ns) AS BIGINT) AS all_ns,
        CAST(SUM(CASE WHEN w.waker_thread_id = b.busy_id THEN w.wait_ns ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS by_busy_ns
    FROM wakeups AS w
    JOIN busiest AS b ON w.artifact_id = b.artifact_id
    JOIN admitted AS d ON w.artifact_id = d.artifact_id
    WHERE w.waker_thread_id IS NOT NULL AND w.thread_id <> b.busy_id AND w.reason <> 'join' AND d.standing IN ('same', 'unknown')
),
waited AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns, CAST(COUNT(wait_ns) AS BIGINT) AS n FROM wait_sums
    WHERE is_aggregate = 1 AND reason IN ('lock', 'condvar', 'pipe')
    GROUP BY artifact_id
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'others_wait_share' AS metric,
    COALESCE(w.wait_ns, 0) AS part,
    CASE WHEN l.threads < 2 THEN CAST(NULL AS BIGINT) WHEN COALESCE(e.all_ns, 0) > COALESCE(e.by_busy_ns, 0) * 2 THEN CAST(NULL AS BIGINT) ELSE o.lived_ns END AS whole,
    COALESCE(w.n, 0) AS n, l.threads - 1 AS scale_down, 'sum=waits.dur_ns&reason=lock,condvar,pipe' AS part_anchor, o.anchor AS whole_anchor
FROM off_cpu AS o
LEFT JOIN waited AS w ON o.artifact_id = w.artifact_id
CROSS JOIN ended AS e
CROSS JOIN lanes AS l
WHERE o.is_aggregate = 1
--
-- slot: C
-- alternate: one CPU busy
-- mechanism: M9
-- probe: cputime
-- metric: cpus_used unit=ratio reject=1.5 support=1.1 saturate=0.9 scale=linear interval=accounting min_n=0 basis=cputime source=house:"rules.md R39 C"
-- metric: cpu_share unit=share reject=0.5 support=0.8 saturate=0.98 scale=linear interval=accounting min_n=0 basis=cputime source=house:"rules.md R39 as amended: the busy thread must be busy"
-- normalizer: the wall time of a run with two threads or more on two CPUs or more
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {cpu_share.part_s} s on the CPU of {cpu_share.whole_s} s of wall time: {cpus_used.value} CPUs
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cpus_used' AS metric, e.user_ns + e.system_ns AS part,
    CASE WHEN l.cpus >= 2 AND l.threads >= 2 THEN e.wall_ns ELSE CAST(NULL AS BIGINT) END AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n, '@user_ns+system_ns' AS part_anchor,
    '@wall_ns' AS whole_anchor
FROM executions AS e
CROSS JOIN lanes AS l
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
UNION ALL
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cpu_share' AS metric, e.user_ns + e.system_ns AS part,
    CASE WHEN l.cpus >= 2 AND l.threads >= 2 THEN e.wall_ns ELSE CAST(NULL AS BIGINT) END AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n, '@user_ns+system_ns' AS part_anchor,
    '@wall_ns' AS whole_anchor
FROM executions AS e
CROSS JOIN lanes AS l
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
-- alternate: scaling series
-- mechanism: M9
-- probe: clock
-- metric: speed_up unit=ratio reject=0.7N support=1.2 saturate=1.0 scale=linear interval=given min_n=5 basis=time source=house:"constant total work from 1 to N threads, as R32 C; rules.md R39 C"
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
