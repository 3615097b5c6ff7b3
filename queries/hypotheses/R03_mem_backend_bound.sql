-- id: R03
-- name: mem.backend_bound
-- claim: The CPU waits for memory: it could do more instructions per cycle if the data were nearer.
-- category: Memory
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- cost: A.memory_bound, B.top_leaf_share
-- effort: 3
-- advice: Improve locality, use smaller types, a structure of arrays, prefetching, blocking, huge pages (R05).
-- false_positives: SIMD code has few instructions per cycle and is fast; loops that wait with PAUSE; the other hyperthread; a mean over phases. A throttled clock does not change it.
-- status: preview
-- since: 0.2
--
-- slot: A
-- alternate: top-down metrics
-- mechanism: M7
-- probe: pmu_count
-- metric: memory_bound unit=share reject=0.10 support=0.20 saturate=0.50 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Memory_Bound above 0.20; rules.md R03 A"
-- metric: backend_bound unit=share reject=0.10 support=0.20 saturate=0.60 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Backend_Bound above 0.20; rules.md R03 A"
-- needs: pmu_ratios where name = 'tma_memory_bound' AND source = 'metric'
-- needs: pmu_ratios where name = 'tma_backend_bound' AND source = 'metric'
-- evidence: {percent} of the pipeline slots wait for memory, {backend_bound.percent} for the back end
-- record: perf stat -j -o topdown.json -M tma_memory_bound,tma_backend_bound -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'memory_bound' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_memory_bound' AND source = 'metric'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'backend_bound' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_backend_bound' AND source = 'metric'
-- alternate: top-down events
-- mechanism: M7
-- probe: pmu_count
-- metric: memory_bound unit=share reject=0.10 support=0.20 saturate=0.50 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Memory_Bound above 0.20; rules.md R03 A"
-- metric: backend_bound unit=share reject=0.10 support=0.20 saturate=0.60 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Backend_Bound above 0.20; rules.md R03 A"
-- needs: pmu_ratios where name = 'tma_memory_bound' AND source = 'topdown'
-- needs: pmu_ratios where name = 'tma_backend_bound' AND source = 'topdown'
-- evidence: {percent} of the pipeline slots wait for memory, {backend_bound.percent} for the back end
-- record: perf stat -j -o perf-stat.json -e slots,topdown-mem-bound,topdown-be-bound -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'memory_bound' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_memory_bound' AND source = 'topdown'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'backend_bound' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_backend_bound' AND source = 'topdown'
-- alternate: instructions per cycle
-- mechanism: M7
-- probe: pmu_count
-- metric: ipc unit=ratio reject=2.0 support=1.0 saturate=0.5 scale=linear interval=counter min_n=0 basis=count source=tool:"VTune: about 1 is acceptable; below it likely stalled (Gregg); the reject bound is a house figure; rules.md R03 A"
-- needs: pmu_ratios where name = 'ipc' AND source = 'counts'
-- evidence: {value} instructions per cycle
-- record: perf stat -j -o perf-stat.json -e cycles,instructions -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'ipc' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'ipc' AND source = 'counts'
--
-- slot: B
-- alternate: three leaves
-- mechanism: M1
-- probe: event
-- metric: top_leaf_share unit=share reject=0.10 support=0.30 saturate=0.70 scale=linear interval=wilson min_n=100 basis=leaf source=house:"three leaves with 30 %, outside allocator, locks and kernel; the reject bound is a third of it; rules.md R03 B"
-- needs: cpu_events where unwinding IS NOT NULL
-- evidence: {percent} of {n} CPU samples end in three functions of the program's own
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
WITH weight_a AS (
    SELECT artifact_id AS artifact_id, MAX(weight) AS weight FROM plain_leaves GROUP BY artifact_id
),
leaf_a AS (
    SELECT p.artifact_id AS artifact_id, MIN(p.function_id) AS function_id FROM plain_leaves AS p
    JOIN weight_a AS w ON p.artifact_id = w.artifact_id AND p.weight = w.weight
    GROUP BY p.artifact_id
),
rest_b AS (
    SELECT p.artifact_id AS artifact_id, p.function_id AS function_id, p.weight AS weight, f.function_id AS taken FROM plain_leaves AS p
    LEFT JOIN leaf_a AS f ON p.artifact_id = f.artifact_id AND p.function_id = f.function_id
),
weight_b AS (
    SELECT artifact_id AS artifact_id, MAX(weight) AS weight FROM rest_b WHERE taken IS NULL GROUP BY artifact_id
),
leaf_b AS (
    SELECT p.artifact_id AS artifact_id, MIN(p.function_id) AS function_id FROM rest_b AS p
    JOIN weight_b AS w ON p.artifact_id = w.artifact_id AND p.weight = w.weight
    WHERE p.taken IS NULL
    GROUP BY p.artifact_id
),
rest_c AS (
    SELECT p.artifact_id AS artifact_id, p.weight AS weight, s.function_id AS taken FROM rest_b AS p
    LEFT JOIN leaf_b AS s ON p.artifact_id = s.artifact_id AND p.function_id = s.function_id
    WHERE p.taken IS NULL
),
weight_c AS (
    SELECT artifact_id AS artifact_id, MAX(weight) AS weight FROM rest_c WHERE taken IS NULL GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'top_leaf_share' AS metric,
    COALESCE(a.weight, 0) + COALESCE(b.weight, 0) + COALESCE(d.weight, 0) AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff,
    CAST(NULL AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN weight_a AS a ON c.artifact_id = a.artifact_id
LEFT JOIN weight_b AS b ON c.artifact_id = b.artifact_id
LEFT JOIN weight_c AS d ON c.artifact_id = d.artifact_id
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.weight AS part, c.weight AS whole,
    p.n AS n, CAST(NULL AS DOUBLE) AS n_eff, CAST(1 AS BIGINT) AS certain, 'sum=samples.weight&leaf=@site' AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM plain_leaves AS p
JOIN cpu_events AS c ON p.artifact_id = c.artifact_id
--
-- slot: C
-- alternate: working set beside the cache
-- mechanism: M10
-- probe: mm_counters
-- metric: cache_ratio unit=ratio reject=0.5 support=1.0 saturate=4.0 scale=linear interval=accounting min_n=0 basis=memory source=house:"the working set does not fit into the last-level cache; rules.md R03 C"
-- normalizer: the size of the last-level cache (llc_bytes of the host in manifest.json)
-- needs: artifacts where kind = 'time-v'
-- needs: executions where max_rss_bytes IS NOT NULL
-- evidence: the largest resident set is {value} times the last-level cache
-- record: /usr/bin/time -v -o time-v.txt {argv}, and "llc_bytes" under "host" in manifest.json (getconf LEVEL3_CACHE_SIZE)
WITH cache AS (
    SELECT MAX(number) AS bytes FROM host WHERE key = 'llc_bytes'
)
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cache_ratio' AS metric, e.max_rss_bytes AS part, c.bytes AS whole,
    e.max_rss_bytes AS n, '@max_rss_bytes' AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM executions AS e
CROSS JOIN cache AS c
WHERE e.max_rss_bytes IS NOT NULL
-- alternate: the same work on half of the data, or in huge pages
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R03 C"
-- needs: saved_shares where variant IN ('half', 'halved', 'half-set', 'hugepages', 'huge-pages', 'thp')
-- evidence: {percent} of the wall time goes away
-- record: hyperfine -N --runs 10 -L variant whole,half --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('half', 'halved', 'half-set', 'hugepages', 'huge-pages', 'thp')
