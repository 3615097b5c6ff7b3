-- id: R18
-- name: alloc.churn
-- claim: Calls into the allocator cost real time.
-- category: Allocation
-- scope: allocation site
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R01 class ALLOC
-- cost: B.alloc_share
-- effort: 2
-- advice: Hoist and reuse buffers, reserve capacity, use small vectors, arenas or interning; exchange the allocator last.
-- false_positives: heaptrack slows the run ninefold, hence the bare run's CPU time as denominator; custom pools are invisible to LD_PRELOAD; static linking gives 0 calls, which is not measured.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: heap trace
-- mechanism: M3
-- probe: malloc_hook
-- metric: calls_per_cpu_second unit=1/s reject=250000 support=2500000 saturate=25000000 scale=log10 interval=complete min_n=0 basis=count source=measured:"malloc and free cost 7 ns (cached) to 41 ns (20 000 live blocks); 2.5e6/s are 10 % of a core at 41 ns (rules.md R18)"
-- normalizer: the CPU time of the bare run
-- needs: artifacts where kind = 'heaptrack'
-- evidence: {part} allocation calls, {value} per CPU second of the bare run's work
-- record: heaptrack -o heaptrack -- {argv}
WITH counted AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM allocations GROUP BY artifact_id
),
sites AS (
    SELECT a.artifact_id AS artifact_id, k.site_function_id AS function_id, CAST(SUM(a.calls) AS BIGINT) AS amount
    FROM allocations AS a
    JOIN stack_classes AS k ON a.stack_id = k.stack_id
    WHERE k.class = 'ALLOC_SITE' AND k.site_function_id IS NOT NULL
    GROUP BY a.artifact_id, k.site_function_id
)
SELECT a.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_cpu_second' AS metric, COALESCE(c.calls, 0) AS part,
    b.cpu_ns AS whole, COALESCE(c.calls, 0) AS n, d.work_up AS scale_up, d.work_down AS scale_down, 'sum=allocations.calls' AS part_anchor,
    '@user_ns+system_ns' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM artifacts AS a
JOIN admitted AS d ON a.artifact_id = d.artifact_id
LEFT JOIN counted AS c ON a.artifact_id = c.artifact_id
CROSS JOIN bare AS b
WHERE a.kind = 'heaptrack'
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.amount AS part,
    c.calls AS whole, c.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS VARCHAR) AS part_anchor, CAST(NULL AS VARCHAR) AS whole_anchor,
    CAST(NULL AS BIGINT) AS whole_artifact_id
FROM sites AS s
JOIN counted AS c ON s.artifact_id = c.artifact_id
--
-- slot: B
-- alternate: alloc share
-- mechanism: M1
-- probe: event
-- metric: alloc_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in the allocator
-- record: perf record -F 997 --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
WITH path AS (
    SELECT artifact_id AS artifact_id, total_weight AS weight, total_count AS n FROM class_costs WHERE class = 'ALLOC'
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, weight AS weight, certain AS certain FROM class_sites WHERE class = 'ALLOC'
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'alloc_share' AS metric, COALESCE(p.weight, 0) AS part, c.weight AS whole,
    c.n AS n, c.n_eff AS n_eff, CAST(NULL AS BIGINT) AS certain, 'sum=samples.weight&class=ALLOC' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN path AS p ON c.artifact_id = p.artifact_id
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.weight AS part,
    p.weight AS whole, p.n AS n, CAST(NULL AS DOUBLE) AS n_eff, CAST(s.certain AS BIGINT) AS certain, CAST(NULL AS VARCHAR) AS part_anchor, CAST(NULL AS VARCHAR) AS whole_anchor
FROM sites AS s
JOIN path AS p ON s.artifact_id = p.artifact_id
--
-- slot: C
-- alternate: no growth
-- mechanism: M10
-- probe: mm_counters
-- metric: faults_per_cpu_second unit=1/s reject=50000 support=5000 saturate=500 scale=log10 interval=accounting min_n=200 basis=memory source=house:"5 000 faults/s are 1 % of a core at 1.9 us a fault; needs 2 s of CPU or start-up blurs it (rules.md R18)"
-- normalizer: the CPU time of the same run
-- needs: artifacts where kind = 'time-v'
-- needs: executions where minor_faults IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {part} minor faults in {whole_s} s of CPU time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'faults_per_cpu_second' AS metric, e.minor_faults AS part,
    e.user_ns + e.system_ns AS whole, CAST(CAST(e.user_ns + e.system_ns AS DOUBLE) / CAST(10000000 AS DOUBLE) AS BIGINT) AS n,
    '@minor_faults' AS part_anchor, '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.minor_faults IS NOT NULL AND e.user_ns IS NOT NULL AND e.system_ns IS NOT NULL
-- alternate: no growth by perf stat
-- mechanism: M10
-- probe: sw_count
-- metric: faults_per_cpu_second unit=1/s reject=50000 support=5000 saturate=500 scale=log10 interval=accounting min_n=200 basis=memory source=house:"5 000 faults/s are 1 % of a core at 1.9 us a fault; needs 2 s of CPU or start-up blurs it (rules.md R18)"
-- normalizer: the CPU time of the same run
-- needs: counters where event = 'page-faults' AND value IS NOT NULL
-- needs: counters where event = 'task-clock' AND value IS NOT NULL
-- evidence: {part} faults in {whole_s} s of CPU time
-- record: perf stat -j -o perf-stat.json -e task-clock,page-faults,user_time,system_time -- {argv}
WITH faults AS (
    SELECT artifact_id AS artifact_id, MAX(value) AS value FROM counters WHERE event = 'page-faults' AND value IS NOT NULL GROUP BY artifact_id
),
clock AS (
    SELECT artifact_id AS artifact_id, MAX(value) AS value FROM counters WHERE event = 'task-clock' AND value IS NOT NULL GROUP BY artifact_id
)
SELECT f.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'faults_per_cpu_second' AS metric, f.value AS part, c.value AS whole,
    CAST(CAST(c.value AS DOUBLE) / CAST(10000000 AS DOUBLE) AS BIGINT) AS n, 'sum=counters.value&event=page-faults' AS part_anchor,
    'sum=counters.value&event=task-clock' AS whole_anchor
FROM faults AS f
JOIN clock AS c ON f.artifact_id = c.artifact_id
-- alternate: repaired partner
-- mechanism: M9
-- probe: clock
-- metric: time_saved unit=share reject=0.01 support=0.05 saturate=0.5 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster, the interval excludes 0; rules.md R18 C"
-- normalizer: the median wall time of the run's own variant
-- needs: benchmarks where variant IN ('preallocated', 'reused', 'pooled')
-- admits: variant
-- evidence: the repaired partner saves {percent} of the wall time
-- record: for i in 1 2 3 4 5 6 7 8 9 10; do hyperfine -N --runs 1 --export-json bench-$i.json -L variant OWN,preallocated 'PROGRAM {variant} ARGS'; done
WITH own AS (
    SELECT MIN(s.artifact_id) AS artifact_id, MIN(s.median_ns) AS median_ns, MIN(s.lo_ns) AS lo_ns, MIN(s.hi_ns) AS hi_ns, MIN(s.n) AS n
    FROM benchmark_stats AS s
    JOIN bare AS b ON s.variant = b.variant
),
partner AS (
    SELECT MIN(median_ns) AS median_ns, MIN(lo_ns) AS lo_ns, MIN(hi_ns) AS hi_ns, MIN(n) AS n FROM benchmark_stats
    WHERE variant IN ('preallocated', 'reused', 'pooled')
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'time_saved' AS metric,
    CASE WHEN o.median_ns > p.median_ns THEN o.median_ns - p.median_ns ELSE 0 END AS part, o.median_ns AS whole,
    CASE WHEN o.n < p.n THEN o.n ELSE p.n END AS n,
    CAST(1 AS DOUBLE) - CAST(p.hi_ns AS DOUBLE) / CAST(o.lo_ns AS DOUBLE) AS lo,
    CAST(1 AS DOUBLE) - CAST(p.lo_ns AS DOUBLE) / CAST(o.hi_ns AS DOUBLE) AS hi,
    'rows=benchmarks.wall_ns&variant=preallocated' AS part_anchor, 'rows=benchmarks.wall_ns&variant=@own' AS whole_anchor
FROM own AS o
CROSS JOIN partner AS p
WHERE o.artifact_id IS NOT NULL
