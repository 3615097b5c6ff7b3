-- id: R38
-- name: sched.handoff
-- claim: Two threads hand work to each other in so small pieces that the switching costs more than the work.
-- category: Scheduler
-- scope: thread pair
-- resource: off-cpu
-- cost: A.handoff_wait_share
-- effort: 3
-- advice: Hand over batches, give each consumer one queue, put the two stages into one thread, spin briefly before blocking.
-- false_positives: Yields (R17) and sleeps (R34), which are left out; waits for a disk or a child, which no thread of the program ends.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: wakeups between two threads
-- mechanism: M4
-- probe: tp_sched
-- metric: switches_per_second unit=1/s reject=500 support=10000 saturate=200000 scale=log10 interval=complete min_n=0 basis=count source=tool:"JMC warns at 10 000 context switches per second; the reject bound is a house figure (rules.md R38 A)"
-- metric: pair_share unit=share reject=0.2 support=0.5 saturate=0.9 scale=linear interval=complete min_n=20 basis=count source=house:"rules.md R38 A"
-- metric: handoff_wait_share unit=share reject=0.01 support=0.05 saturate=0.5 scale=linear interval=complete min_n=0 basis=time source=house:"what nobody waits for costs nothing; below 1 % of the time of both threads there is nothing to win"
-- normalizer: the life of the program in the recorded window and the CPUs that its threads can use
-- needs: off_cpu where is_aggregate = 0
-- evidence: {switches_per_second.part} waits that another thread ended, {switches_per_second.value} per second and CPU, {pair_share.percent} of them between two threads
-- record: perf record -a -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH waited AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(n) AS BIGINT) AS n FROM wakeups GROUP BY artifact_id
),
woken AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(n) AS BIGINT) AS n FROM wakeups WHERE waker_thread_id IS NOT NULL GROUP BY artifact_id
),
ordered AS (
    SELECT artifact_id AS artifact_id, n AS n, wait_ns AS wait_ns, thread_id AS thread_id,
        CASE WHEN thread_id < waker_thread_id THEN thread_id ELSE waker_thread_id END AS one,
        CASE WHEN thread_id < waker_thread_id THEN waker_thread_id ELSE thread_id END AS other
    FROM wakeups
    WHERE waker_thread_id IS NOT NULL AND waker_thread_id <> thread_id
),
pairs AS (
    SELECT artifact_id AS artifact_id, one AS one, other AS other, CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns FROM ordered
    GROUP BY artifact_id, one, other
),
most AS (
    SELECT artifact_id AS artifact_id, MAX(n) AS n FROM pairs GROUP BY artifact_id
),
first_pair AS (
    SELECT p.artifact_id AS artifact_id, MIN(p.one) AS one, MAX(p.n) AS n, MAX(p.wait_ns) AS wait_ns
    FROM pairs AS p
    JOIN most AS m ON p.artifact_id = m.artifact_id AND p.n = m.n
    GROUP BY p.artifact_id
),
by_thread AS (
    SELECT o.artifact_id AS artifact_id, o.thread_id AS thread_id, CAST(SUM(o.n) AS BIGINT) AS n
    FROM ordered AS o
    JOIN first_pair AS f ON o.artifact_id = f.artifact_id AND o.one = f.one
    GROUP BY o.artifact_id, o.thread_id
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'switches_per_second' AS metric, COALESCE(w.n, 0) AS part,
    p.life_ns AS whole, COALESCE(w.n, 0) AS n, l.lanes AS scale_down
FROM off_cpu AS o
JOIN program_lives AS p ON o.artifact_id = p.artifact_id
LEFT JOIN waited AS w ON o.artifact_id = w.artifact_id
CROSS JOIN lanes AS l
WHERE o.is_aggregate = 0
UNION ALL
SELECT w.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pair_share' AS metric, COALESCE(f.n, 0) AS part,
    w.n AS whole, w.n AS n, CAST(1 AS BIGINT) AS scale_down
FROM woken AS w
LEFT JOIN first_pair AS f ON w.artifact_id = f.artifact_id
UNION ALL
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'handoff_wait_share' AS metric,
    COALESCE(f.wait_ns, 0) AS part, p.life_ns AS whole, COALESCE(f.n, 0) AS n, CAST(2 AS BIGINT) AS scale_down
FROM off_cpu AS o
JOIN program_lives AS p ON o.artifact_id = p.artifact_id
LEFT JOIN first_pair AS f ON o.artifact_id = f.artifact_id
WHERE o.is_aggregate = 0
UNION ALL
SELECT t.artifact_id AS artifact_id, 'thread' AS site_kind, CAST(t.thread_id AS BIGINT) AS site_id, 'site' AS metric, t.n AS part, f.n AS whole,
    f.n AS n, CAST(1 AS BIGINT) AS scale_down
FROM by_thread AS t
JOIN first_pair AS f ON t.artifact_id = f.artifact_id
--
-- slot: B
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: calls_per_second unit=1/s reject=250 support=5000 saturate=100000 scale=log10 interval=complete min_n=0 basis=count source=house:"half of what slot A asks of the switches, since there may be one call for two of them; rules.md R38 B gives the ratio alone, which says nothing about a program that hardly switches"
-- metric: calls_per_switch unit=ratio reject=0.1 support=0.5 saturate=2.0 scale=log10 interval=complete min_n=0 basis=count source=house:"one to two calls per handover; rules.md R38 B as amended (0.5 to 4)"
-- metric: switches_per_call unit=ratio reject=0.025 support=0.25 saturate=1.0 scale=log10 interval=complete min_n=0 basis=count source=house:"the other side of 0.5 to 4 calls per switch; rules.md R38 B as amended"
-- normalizer: the voluntary switches of the bare run
-- needs: call_families where family = 'handoff' AND source = 'summary' AND voluntary_switches IS NOT NULL
-- with: call_places where family = 'handoff'
-- evidence: {calls_per_switch.part} calls that block or wake (futex, read, write, send, receive), {calls_per_switch.value} per voluntary switch of the bare run
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'handoff' AND source = 'summary'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_switch' AS metric, calls AS part,
    voluntary_switches AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    calls_anchor AS part_anchor, '@voluntary_switches' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'handoff' AND source = 'summary'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'switches_per_call' AS metric, voluntary_switches AS part,
    calls AS whole, calls AS n, work_down AS scale_up, work_up AS scale_down, CAST(NULL AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor,
    calls_anchor AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families
WHERE family = 'handoff' AND source = 'summary'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'handoff'
-- alternate: log
-- mechanism: M5
-- probe: ptrace_stop
-- metric: calls_per_second unit=1/s reject=250 support=5000 saturate=100000 scale=log10 interval=complete min_n=0 basis=count source=house:"half of what slot A asks of the switches, since there may be one call for two of them; rules.md R38 B gives the ratio alone, which says nothing about a program that hardly switches"
-- metric: calls_per_switch unit=ratio reject=0.1 support=0.5 saturate=2.0 scale=log10 interval=complete min_n=0 basis=count source=house:"one to two calls per handover; rules.md R38 B as amended (0.5 to 4)"
-- metric: switches_per_call unit=ratio reject=0.025 support=0.25 saturate=1.0 scale=log10 interval=complete min_n=0 basis=count source=house:"the other side of 0.5 to 4 calls per switch; rules.md R38 B as amended"
-- normalizer: the voluntary switches of the bare run
-- needs: call_families where family = 'handoff' AND source = 'log' AND voluntary_switches IS NOT NULL
-- evidence: {calls_per_switch.part} calls that block or wake (futex, read, write, send, receive), {calls_per_switch.value} per voluntary switch of the bare run
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'handoff' AND source = 'log'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_switch' AS metric, calls AS part,
    voluntary_switches AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    calls_anchor AS part_anchor, '@voluntary_switches' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'handoff' AND source = 'log'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'switches_per_call' AS metric, voluntary_switches AS part,
    calls AS whole, calls AS n, work_down AS scale_up, work_up AS scale_down, CAST(NULL AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor,
    calls_anchor AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families
WHERE family = 'handoff' AND source = 'log'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'handoff'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: calls_per_second unit=1/s reject=250 support=5000 saturate=100000 scale=log10 interval=complete min_n=0 basis=count source=house:"half of what slot A asks of the switches, since there may be one call for two of them; rules.md R38 B gives the ratio alone, which says nothing about a program that hardly switches"
-- metric: calls_per_switch unit=ratio reject=0.1 support=0.5 saturate=2.0 scale=log10 interval=complete min_n=0 basis=count source=house:"one to two calls per handover; rules.md R38 B as amended (0.5 to 4)"
-- metric: switches_per_call unit=ratio reject=0.025 support=0.25 saturate=1.0 scale=log10 interval=complete min_n=0 basis=count source=house:"the other side of 0.5 to 4 calls per switch; rules.md R38 B as amended"
-- normalizer: the voluntary switches of the bare run
-- needs: call_families where family = 'handoff' AND source = 'trace' AND voluntary_switches IS NOT NULL
-- evidence: {calls_per_switch.part} calls that block or wake (futex, read, write, send, receive), {calls_per_switch.value} per voluntary switch of the bare run
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'handoff' AND source = 'trace'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_switch' AS metric, calls AS part,
    voluntary_switches AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    calls_anchor AS part_anchor, '@voluntary_switches' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'handoff' AND source = 'trace'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'switches_per_call' AS metric, voluntary_switches AS part,
    calls AS whole, calls AS n, work_down AS scale_up, work_up AS scale_down, CAST(NULL AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor,
    calls_anchor AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families
WHERE family = 'handoff' AND source = 'trace'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'handoff'
--
-- slot: C
-- alternate: the same work in batches
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R38 C"
-- needs: bench_partners where variant IN ('batched', 'batch', 'pinned', 'one-thread', 'fused')
-- evidence: {percent} of the wall time goes away when work is handed over in batches, or on one CPU
-- record: hyperfine -N --runs 10 -L variant pingpong,batched --export-json bench.json 'PROGRAM {variant}'
SELECT p.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric,
    CASE WHEN p.base_ns > p.median_ns THEN p.base_ns - p.median_ns ELSE CAST(0 AS BIGINT) END AS part, p.base_ns AS whole, p.n AS n,
    CAST(p.base_lo_ns - p.hi_ns AS DOUBLE) / CAST(p.base_ns AS DOUBLE) AS lo,
    CAST(p.base_hi_ns - p.lo_ns AS DOUBLE) / CAST(p.base_ns AS DOUBLE) AS hi, 'rows=benchmarks.wall_ns&variant=' || p.shown AS part_anchor,
    'rows=benchmarks.wall_ns&variant=' || p.base_variant AS whole_anchor
FROM bench_partners AS p
WHERE p.variant IN ('batched', 'batch', 'pinned', 'one-thread', 'fused')
-- alternate: run queue
-- mechanism: M8
-- probe: tp_sched
-- metric: queued_per_second unit=1/s reject=500 support=10000 saturate=200000 scale=log10 interval=complete min_n=0 basis=count source=tool:"JMC warns at 10 000 context switches per second; every handover passes the run queue once, so do yields and preemption; the same switches as A, so it never stands beside A (rules.md R38 C)"
-- normalizer: how long the tool watched and the CPUs that the threads can use
-- needs: histogram_sums where metric = 'runq_latency'
-- evidence: {part} times a thread waited in the run queue, {value} per second and CPU
-- record: runqlat -p $(pgrep -n PROGRAM) 5 1 > runqlat.txt while {argv} runs
WITH queued AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(n) AS BIGINT) AS n FROM histogram_sums WHERE metric = 'runq_latency' GROUP BY artifact_id
)
SELECT q.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'queued_per_second' AS metric, q.n AS part,
    COALESCE(a.window_ns, a.wall_ns) AS whole, q.n AS n, l.lanes AS scale_down, 'sum=histograms.count&metric=runq_latency' AS part_anchor,
    CASE WHEN a.window_ns IS NULL THEN 'sum=artifacts.wall_ns' ELSE 'sum=artifacts.window_ns' END AS whole_anchor
FROM queued AS q
JOIN artifacts AS a ON q.artifact_id = a.artifact_id
CROSS JOIN lanes AS l
