-- id: R36
-- name: sched.throttled
-- claim: A quota stops the program: its cgroup has used up its CPU time and must wait for the next period.
-- category: Scheduler
-- scope: run
-- resource: off-cpu
-- cost: B.stopped_share
-- effort: 1
-- advice: Raise the quota or the limit, allow bursts, run no more threads than the quota has CPUs.
-- false_positives: A quota on a parent cgroup, which the cgroup's own cpu.stat does not show; long waits for a CPU that others use (R35). Steal by a hypervisor is an hypothesis of its own (R36S): the two have no angle in common and are never mixed.
-- status: preview
-- since: 0.2
--
-- slot: A
-- alternate: throttled periods of cpu.stat
-- mechanism: M8
-- probe: psi_cgroup
-- metric: throttled_share unit=share reject=0.01 support=0.25 saturate=0.75 scale=linear interval=accounting min_n=0 basis=time source=tool:"kubernetes-mixin alarms at cpuThrottlingPercent 25; rules.md R36 A"
-- normalizer: the periods of the quota in which the group ran
-- needs: cpu_quota
-- evidence: the quota stopped the group in {part} of {whole} periods
-- record: cat /sys/fs/cgroup/CGROUP/cpu.stat > before.txt; {argv}; cat /sys/fs/cgroup/CGROUP/cpu.stat > after.txt
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'throttled_share' AS metric, throttled AS part, periods AS whole,
    periods AS n, 'rows=accounting.value&key=nr_throttled&moment=first,last&scope=' || scope AS part_anchor,
    'rows=accounting.value&key=nr_periods&moment=first,last&scope=' || scope AS whole_anchor
FROM cpu_quota
-- alternate: throttled periods
-- mechanism: M8
-- probe: psi_cgroup
-- metric: throttled_share unit=share reject=0.01 support=0.25 saturate=0.75 scale=linear interval=accounting min_n=0 basis=time source=tool:"kubernetes-mixin alarms at cpuThrottlingPercent 25; rules.md R36 A"
-- normalizer: the periods of the bare run
-- needs: artifacts where kind = 'manifest'
-- needs: environment where metric = 'throttled_periods'
-- evidence: in {percent} of its periods the quota stopped the program
-- record: cat /sys/fs/cgroup/CGROUP/cpu.stat before and after {argv} (throttled_share in manifest.json: nr_throttled / nr_periods)
WITH means AS (
    SELECT artifact_id AS artifact_id, AVG(value) AS value, CAST(COUNT(value) AS BIGINT) AS n FROM environment
    WHERE metric = 'throttled_periods' AND value >= 0 AND value <= 1
    GROUP BY artifact_id
)
SELECT m.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'throttled_share' AS metric,
    CAST(m.value * CAST(1000000 AS DOUBLE) - m.value * CAST(1000000 AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole, m.n AS n
FROM means AS m
--
-- slot: B
-- alternate: gaps on the grid of the period
-- mechanism: M4
-- probe: tp_sched
-- metric: stopped_share unit=share reject=0.01 support=0.05 saturate=0.50 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R36 B; gaps of 10 ms or more that end at the same phase of 100 ms, the default period"
-- metric: on_grid_share unit=share reject=0.2 support=0.5 saturate=0.9 scale=linear interval=complete min_n=5 basis=time source=house:"the share of all long gaps in the two fullest of 20 bins of 5 ms; without a period they would hold a tenth"
-- normalizer: the time in which the workers could run
-- needs: off_cpu where is_aggregate = 0
-- evidence: {stopped_share.percent} of the time in which it could run passed in gaps that end on one grid of 100 ms, {on_grid_share.percent} of all long gaps
-- record: perf record -a -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH gaps AS (
    SELECT w.artifact_id AS artifact_id, w.dur_ns AS dur_ns, CAST(w.start_ns + w.dur_ns AS DOUBLE) / CAST(100000000 AS DOUBLE) AS periods
    FROM waits AS w
    JOIN thread_states AS s ON w.thread_id = s.thread_id AND w.artifact_id = s.artifact_id
    JOIN threads AS t ON w.thread_id = t.thread_id
    WHERE w.reason = 'preempted' AND NOT w.is_aggregate AND t.is_target AND s.role = 'worker' AND w.dur_ns >= 10000000
),
binned AS (
    SELECT artifact_id AS artifact_id, dur_ns AS dur_ns, CAST(ROUND((periods - ROUND(periods)) * CAST(20 AS DOUBLE)) AS BIGINT) AS bin FROM gaps
),
folded AS (
    SELECT artifact_id AS artifact_id, dur_ns AS dur_ns, CASE WHEN bin = -10 THEN CAST(10 AS BIGINT) ELSE bin END AS bin FROM binned
),
bins AS (
    SELECT artifact_id AS artifact_id, bin AS bin, CAST(SUM(dur_ns) AS BIGINT) AS dur_ns, CAST(COUNT(dur_ns) AS BIGINT) AS n FROM folded
    GROUP BY artifact_id, bin
),
shifted AS (
    SELECT artifact_id AS artifact_id, CASE WHEN bin = 10 THEN CAST(-9 AS BIGINT) ELSE bin + 1 END AS bin, dur_ns AS dur_ns FROM bins
),
pairs AS (
    SELECT b.artifact_id AS artifact_id, b.dur_ns + COALESCE(s.dur_ns, 0) AS dur_ns FROM bins AS b
    LEFT JOIN shifted AS s ON b.artifact_id = s.artifact_id AND b.bin = s.bin
),
fullest AS (
    SELECT artifact_id AS artifact_id, MAX(dur_ns) AS dur_ns FROM pairs GROUP BY artifact_id
),
totals AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS dur_ns, CAST(SUM(n) AS BIGINT) AS n FROM bins GROUP BY artifact_id
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'stopped_share' AS metric, COALESCE(f.dur_ns, 0) AS part,
    o.on_cpu_ns + o.runnable_ns AS whole, COALESCE(t.n, 0) AS n
FROM off_cpu AS o
LEFT JOIN fullest AS f ON o.artifact_id = f.artifact_id
LEFT JOIN totals AS t ON o.artifact_id = t.artifact_id
WHERE o.is_aggregate = 0
UNION ALL
SELECT f.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'on_grid_share' AS metric, f.dur_ns AS part,
    t.dur_ns AS whole, t.n AS n
FROM fullest AS f
JOIN totals AS t ON f.artifact_id = t.artifact_id
--
-- slot: C
-- alternate: wall time without waits
-- mechanism: M9
-- probe: cputime
-- metric: wall_per_cpu unit=ratio reject=1.05 support=1.3 saturate=3.0 scale=linear interval=accounting min_n=10 basis=cputime source=house:"rules.md R36 C"
-- metric: voluntary_per_second unit=1/s reject=500 support=20 saturate=1 scale=log10 interval=accounting min_n=0 basis=count source=house:"a program that hardly ever blocks cannot lose wall time to waits; rules.md R36 C asks for none in D or S"
-- normalizer: the CPU time of a run with one thread
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL AND voluntary_switches IS NOT NULL AND wall_ns IS NOT NULL
-- evidence: the wall time is {wall_per_cpu.value} times the CPU time, with {voluntary_per_second.part} voluntary switches
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'wall_per_cpu' AS metric, e.wall_ns AS part,
    CASE WHEN COALESCE(r.threads, 1) <= 1 THEN e.user_ns + e.system_ns ELSE CAST(NULL AS BIGINT) END AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n, '@wall_ns' AS part_anchor,
    '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
CROSS JOIN run_threads AS r
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
UNION ALL
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'voluntary_per_second' AS metric,
    e.voluntary_switches AS part, e.wall_ns AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n,
    '@voluntary_switches' AS part_anchor, '@wall_ns' AS whole_anchor
FROM executions AS e
WHERE e.voluntary_switches IS NOT NULL
