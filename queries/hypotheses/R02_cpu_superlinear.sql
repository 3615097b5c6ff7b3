-- id: R02
-- name: cpu.superlinear
-- claim: The cost of one function grows faster than the input: a scan inside a loop, a search that is repeated for every element.
-- category: CPU
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R01
-- cost: A.leaf_share
-- effort: 3
-- advice: Use an index, a hash table or one sort, bound the scan, batch the lookups; the series of benchmarks is the evidence.
-- false_positives: A cache that becomes too small between two sizes looks like a slope above 1 (three or more sizes over a factor of eight are needed); garbage collection; hash collisions; output that grows by itself.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: one leaf
-- mechanism: M1
-- probe: event
-- metric: leaf_share unit=share reject=0.20 support=0.50 saturate=0.90 scale=linear interval=wilson min_n=100 basis=leaf source=house:"one leaf holds half; rules.md R02 A"
-- metric: path_share unit=share reject=0.50 support=0.80 saturate=1.0 scale=linear interval=wilson min_n=20 basis=share source=house:"80 % of it by two call paths; the reject bound is where they are no majority; rules.md R02 A"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples end in one function, {path_share.percent} of them by its two commonest call paths
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
WITH leaves AS (
    SELECT c.artifact_id AS artifact_id, p.function_id AS function_id, p.self_weight AS weight, p.self_count AS n, p.two_paths_weight AS two_paths_weight
    FROM cpu_events AS c
    JOIN leaf_paths AS p ON c.event_id = p.event_id
    JOIN leaf_functions AS l ON c.artifact_id = l.artifact_id AND p.function_id = l.function_id
),
most AS (
    SELECT artifact_id AS artifact_id, MAX(weight) AS weight FROM leaves GROUP BY artifact_id
),
foremost AS (
    SELECT l.artifact_id AS artifact_id, MIN(l.function_id) AS function_id
    FROM leaves AS l
    JOIN most AS m ON l.artifact_id = m.artifact_id AND l.weight = m.weight
    GROUP BY l.artifact_id
),
best AS (
    SELECT l.artifact_id AS artifact_id, l.function_id AS function_id, l.weight AS weight, l.n AS n, l.two_paths_weight AS two_paths_weight
    FROM leaves AS l
    JOIN foremost AS f ON l.artifact_id = f.artifact_id AND l.function_id = f.function_id
)
SELECT c.artifact_id AS artifact_id, 'function' AS site_kind, CAST(t.function_id AS BIGINT) AS site_id, 'leaf_share' AS metric, COALESCE(t.weight, 0) AS part,
    c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(1 AS BIGINT) AS certain, 'sum=samples.weight&leaf=@site' AS part_anchor,
    'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN best AS t ON c.artifact_id = t.artifact_id
UNION ALL
SELECT t.artifact_id AS artifact_id, 'function' AS site_kind, CAST(t.function_id AS BIGINT) AS site_id, 'path_share' AS metric, t.two_paths_weight AS part,
    t.weight AS whole, t.n AS n, CAST(NULL AS DOUBLE) AS n_eff, CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor,
    'sum=samples.weight&leaf=@site' AS whole_anchor
FROM best AS t
--
-- slot: B
-- alternate: scaling series
-- mechanism: M9
-- probe: clock
-- metric: exponent unit=ratio reject=1.2 support=1.5 saturate=2.0 scale=linear interval=given min_n=5 basis=share source=house:"between n log n and n^2; rules.md R02 B"
-- needs: scaling where sizes >= 3 AND largest >= 8 * smallest AND function IS NULL AND threads IS NULL
-- evidence: the time grows with the size to the power of {value}; {n} repetitions of each size
-- record: hyperfine -N --runs 10 -L n 20000,40000,80000,160000 --export-json scaling.json 'PROGRAM {n}' (sizes over a factor of eight or more)
WITH fitting AS (
    SELECT s.series_id AS series_id, s.artifact_id AS artifact_id, s.sizes AS sizes
    FROM scaling AS s
    CROSS JOIN bare AS b
    WHERE s.sizes >= 3 AND s.largest >= 8 * s.smallest AND s.function IS NULL AND s.threads IS NULL
        AND COALESCE(s.variant, b.variant, 'none') = COALESCE(b.variant, s.variant, 'none')
),
longest AS (
    SELECT artifact_id AS artifact_id, MAX(sizes) AS sizes FROM fitting GROUP BY artifact_id
),
chosen AS (
    SELECT f.artifact_id AS artifact_id, MIN(f.series_id) AS series_id
    FROM fitting AS f
    JOIN longest AS l ON f.artifact_id = l.artifact_id AND f.sizes = l.sizes
    GROUP BY f.artifact_id
)
SELECT s.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'exponent' AS metric,
    CASE WHEN s.exponent > CAST(0 AS DOUBLE) THEN CAST(ROUND(s.exponent * CAST(1000 AS DOUBLE)) AS BIGINT) ELSE CAST(0 AS BIGINT) END AS part,
    CAST(1000 AS BIGINT) AS whole, s.n_least AS n, s.lo AS lo, s.hi AS hi, 'rows=benchmarks.wall_ns&series=' || CAST(s.series_id AS STRING) AS part_anchor,
    CAST(NULL AS STRING) AS whole_anchor
FROM scaling AS s
JOIN chosen AS c ON s.series_id = c.series_id
--
-- slot: C
-- alternate: hardly any allocation
-- mechanism: M3
-- probe: malloc_hook
-- metric: allocations_per_cpu_second unit=1/s reject=1000000 support=1000 saturate=10 scale=log10 interval=complete min_n=0 basis=count source=house:"allocations that grow with the elements would be seen; rules.md R02 C; an angle that excludes"
-- normalizer: CPU time of the bare run, counts scaled by the declared work
-- needs: allocations
-- exclusion: yes
-- evidence: {part} allocation calls, {value} per second of CPU time: the time is not spent on making more objects
-- record: heaptrack -o heaptrack {argv}
WITH calls AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM allocations GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'allocations_per_cpu_second' AS metric, c.calls AS part,
    b.cpu_ns AS whole, c.calls AS n, d.work_up AS scale_up, d.work_down AS scale_down, 'sum=allocations.calls' AS part_anchor,
    '@user_ns+system_ns' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM calls AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
CROSS JOIN bare AS b
