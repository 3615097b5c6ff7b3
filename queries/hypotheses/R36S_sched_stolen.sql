-- id: R36S
-- name: sched.stolen
-- claim: The hypervisor takes the CPU away: the program seems to run, but does not.
-- category: Scheduler
-- scope: run
-- resource: off-cpu
-- cost: A.steal_share
-- effort: 1
-- advice: Ask for another host or a dedicated CPU, give back burst credits, run at another time; measure again before changing the program.
-- false_positives: A host may hide steal, so 0 % proves nothing there; tracing makes scheduled time longer than accounted time, too.
-- status: preview
-- since: 0.2
--
-- slot: A
-- alternate: steal of /proc/stat
-- mechanism: M8
-- probe: procfs
-- metric: steal_share unit=share reject=0.01 support=0.10 saturate=0.40 scale=linear interval=accounting min_n=0 basis=time source=doc:"a common alarm is steal over 10 %; rules.md R36 A"
-- normalizer: the time of all CPUs in all states
-- needs: steal
-- evidence: the hypervisor took {percent} of the CPU time
-- record: tail -n +1 /proc/stat > before.txt; {argv}; tail -n +1 /proc/stat > after.txt; or mpstat 1 > mpstat.txt while it runs
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'steal_share' AS metric, part AS part, whole AS whole,
    CAST(1 AS BIGINT) AS n, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM steal
-- alternate: steal time
-- mechanism: M8
-- probe: psi_cgroup
-- metric: steal_share unit=share reject=0.01 support=0.10 saturate=0.40 scale=linear interval=accounting min_n=0 basis=time source=doc:"a common alarm is steal over 10 %; rules.md R36 A"
-- normalizer: the CPU time of all states during the bare run
-- needs: artifacts where kind = 'manifest'
-- needs: environment where metric = 'steal'
-- evidence: the hypervisor took {percent} of the CPU time
-- record: grep "^cpu " /proc/stat before and after {argv} (steal_share in manifest.json: steal / all)
WITH means AS (
    SELECT artifact_id AS artifact_id, AVG(value) AS value, CAST(COUNT(value) AS BIGINT) AS n FROM environment
    WHERE metric = 'steal' AND value >= 0 AND value <= 1
    GROUP BY artifact_id
)
SELECT m.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'steal_share' AS metric,
    CAST(m.value * CAST(1000000 AS DOUBLE) - m.value * CAST(1000000 AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole, m.n AS n
FROM means AS m
--
-- slot: B
-- alternate: scheduled but not accounted
-- mechanism: M4
-- probe: tp_sched
-- metric: unaccounted_share unit=share reject=0.02 support=0.10 saturate=0.40 scale=linear interval=given min_n=0 basis=time source=house:"rules.md R36 B; the interval is the spread of the CPU time of the bare runs"
-- normalizer: the time that the scheduler gave the program; the CPU time is that of the bare run
-- needs: off_cpu where is_aggregate = 0
-- evidence: of {whole_s} s that the scheduler gave it, {part_s} s are no CPU time of the bare run
-- record: perf record -a -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH given AS (
    SELECT s.artifact_id AS artifact_id, CAST(SUM(s.on_cpu_ns) AS BIGINT) AS on_cpu_ns
    FROM thread_states AS s
    JOIN threads AS t ON s.thread_id = t.thread_id
    WHERE t.is_target
    GROUP BY s.artifact_id
),
scaled AS (
    SELECT g.artifact_id AS artifact_id, g.on_cpu_ns AS on_cpu_ns, CAST(b.cpu_ns AS DOUBLE) * CAST(d.work_down AS DOUBLE) / CAST(d.work_up AS DOUBLE) AS cpu_ns,
        CAST(b.cpu_least_ns AS DOUBLE) * CAST(d.work_down AS DOUBLE) / CAST(d.work_up AS DOUBLE) AS least_ns,
        CAST(b.cpu_most_ns AS DOUBLE) * CAST(d.work_down AS DOUBLE) / CAST(d.work_up AS DOUBLE) AS most_ns
    FROM given AS g
    JOIN admitted AS d ON g.artifact_id = d.artifact_id
    CROSS JOIN bare AS b
    WHERE b.cpu_ns IS NOT NULL
)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'unaccounted_share' AS metric,
    CASE WHEN CAST(on_cpu_ns AS DOUBLE) > cpu_ns THEN on_cpu_ns - CAST(cpu_ns AS BIGINT) ELSE CAST(0 AS BIGINT) END AS part, on_cpu_ns AS whole,
    CAST(1 AS BIGINT) AS n, CAST(CAST(on_cpu_ns AS DOUBLE) - most_ns AS DOUBLE) / CAST(on_cpu_ns AS DOUBLE) AS lo,
    CAST(CAST(on_cpu_ns AS DOUBLE) - least_ns AS DOUBLE) / CAST(on_cpu_ns AS DOUBLE) AS hi, 'sum=thread_states.on_cpu_ns' AS whole_anchor
FROM scaled
--
-- slot: C
-- alternate: walls differ, CPU times do not
-- mechanism: M9
-- probe: clock
-- metric: wall_cv unit=share reject=0.03 support=0.10 saturate=0.40 scale=linear interval=complete min_n=5 basis=share source=house:"rules.md R36 C"
-- metric: user_spread unit=share reject=0.30 support=0.05 saturate=0.005 scale=linear interval=complete min_n=5 basis=cputime source=house:"the same work takes the same CPU time: (most - least) / mean within 5 %; rules.md R36 C"
-- normalizer: the mean of the repetitions
-- needs: bench_base
-- needs: benchmarks where user_ns IS NOT NULL
-- evidence: the wall times of {wall_cv.n} repetitions vary by {wall_cv.percent} (standard deviation), their user times by {user_spread.percent} in all
-- record: for i in 1 2 3 4 5 6 7 8 9 10; do hyperfine -N --runs 1 --export-json bench/$i.json '{argv}'; done
WITH base AS (
    SELECT artifact_id AS artifact_id, command AS command, cv AS cv, n AS n FROM benchmark_stats
    WHERE threads IS NULL AND function IS NULL AND cv >= 0 AND cv < 1000
),
wanted AS (
    SELECT b.artifact_id AS artifact_id, MIN(b.command) AS command, MIN(b.cv) AS cv, MIN(b.n) AS n
    FROM base AS b
    JOIN bench_base AS s ON b.artifact_id = s.artifact_id
    GROUP BY b.artifact_id
),
spread AS (
    SELECT command AS command, MIN(user_ns) AS least_ns, MAX(user_ns) AS most_ns, AVG(user_ns) AS mean_ns, CAST(COUNT(user_ns) AS BIGINT) AS n FROM benchmarks
    WHERE user_ns IS NOT NULL
    GROUP BY command
)
SELECT w.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'wall_cv' AS metric,
    CAST(w.cv * CAST(1000000 AS DOUBLE) - w.cv * CAST(1000000 AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole, w.n AS n
FROM wanted AS w
UNION ALL
SELECT w.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'user_spread' AS metric, s.most_ns - s.least_ns AS part,
    CAST(s.mean_ns AS BIGINT) AS whole, s.n AS n
FROM wanted AS w
JOIN spread AS s ON w.command = s.command
