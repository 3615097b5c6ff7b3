-- id: R18
-- name: alloc.churn
-- claim: The program allocates and frees so often that the allocator costs real time.
-- category: Allocation
-- scope: allocation-site
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R01 class ALLOC
-- cost: B.alloc_share
-- effort: 2
-- advice: Hoist and reuse buffers, reserve capacity, use small-vector types, arenas or interning; change the allocator last.
-- false_positives: heaptrack slows the run down, so calls are counted there and divided by the bare run's CPU time; custom pools and static linking are
--   invisible to it; its "temporary" share is a hint only (the next event of the same allocation info freed it).
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: calls per CPU second
-- mechanism: M3
-- probe: malloc_hook
-- metric: allocations_per_cpu_second unit=1/s reject=250000 support=2500000 saturate=25000000 scale=log10 interval=complete min_n=0 basis=count cost=malloc_pair source=measured:"a malloc and free pair costs 7 ns (thread cache), 17 ns (4 KiB), 41 ns (20 000 live blocks): 2.5e6/s are 10 % of a core at 41 ns; rules.md R18"
-- normalizer: CPU time of the bare run, counts scaled by the declared work
-- needs: allocations
-- evidence: {part} allocation calls, {value} per second of CPU time
-- record: heaptrack -o heaptrack {argv}
WITH calls AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM allocations GROUP BY artifact_id
),
by_site AS (
    SELECT a.artifact_id AS artifact_id, k.site_function_id AS function_id, CAST(SUM(a.calls) AS BIGINT) AS calls
    FROM allocations AS a
    JOIN alloc_sites AS k ON a.stack_id = k.stack_id
    GROUP BY a.artifact_id, k.site_function_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'allocations_per_cpu_second' AS metric,
    c.calls AS part, b.cpu_ns AS whole, c.calls AS n, d.work_up AS scale_up, d.work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    'sum=allocations.calls' AS part_anchor, '@user_ns+system_ns' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM calls AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
CROSS JOIN bare AS b
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric,
    s.calls AS part, c.calls AS whole, c.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM by_site AS s
JOIN calls AS c ON s.artifact_id = c.artifact_id
--
-- slot: B
-- alternate: time in the allocator
-- mechanism: M1
-- probe: event
-- metric: alloc_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3; rules.md 3.0"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in the allocator
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
WITH of_class AS (
    SELECT artifact_id AS artifact_id, total_weight AS weight FROM class_costs WHERE class = 'ALLOC'
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'alloc_share' AS metric,
    COALESCE(k.weight, 0) AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(NULL AS BIGINT) AS certain,
    'sum=samples.weight&has=ALLOC' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN of_class AS k ON c.artifact_id = k.artifact_id
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric,
    s.weight AS part, k.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(s.certain AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM class_sites AS s
JOIN of_class AS k ON s.artifact_id = k.artifact_id
JOIN cpu_events AS c ON s.artifact_id = c.artifact_id
WHERE s.class = 'ALLOC'
--
-- slot: C
-- alternate: the heap does not grow
-- mechanism: M10
-- probe: mm_counters
-- metric: faults_per_cpu_second unit=1/s reject=50000 support=5000 saturate=500 scale=log10 interval=accounting min_n=0 basis=memory cost=page_fault source=measured:"a minor fault costs 1.9 us: 5 000/s are 1 % of a core; rules.md R18 C"
-- normalizer: CPU time of the same run, at least 2 s (start-up faults blur shorter ones)
-- exclusion: yes
-- needs: artifacts where kind = 'time-v'
-- needs: executions where minor_faults IS NOT NULL AND user_ns IS NOT NULL AND system_ns IS NOT NULL
-- evidence: {part} minor faults, {value} per second of CPU time: memory is recycled, not grown
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'faults_per_cpu_second' AS metric,
    e.minor_faults AS part, CASE WHEN e.user_ns + e.system_ns >= 2000000000 THEN e.user_ns + e.system_ns ELSE CAST(NULL AS BIGINT) END AS whole,
    e.minor_faults AS n, '@minor_faults' AS part_anchor, '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.minor_faults IS NOT NULL AND e.user_ns IS NOT NULL AND e.system_ns IS NOT NULL
-- alternate: the same work with buffers reused or another allocator
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R18 C"
-- needs: saved_shares where variant IN ('reused', 'reuse', 'preallocated', 'pooled', 'arena', 'jemalloc', 'mimalloc', 'tcmalloc')
-- evidence: {percent} of the wall time goes away when memory is reused, or another allocator is used
-- record: hyperfine -N --runs 10 -L variant churn,reused --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('reused', 'reuse', 'preallocated', 'pooled', 'arena', 'jemalloc', 'mimalloc', 'tcmalloc')
