-- id: R06
-- name: cpu.frontend_icache
-- claim: The code itself is too big or too scattered: the CPU waits for instructions.
-- category: CPU
-- scope: run
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- cost: A.frontend_bound
-- effort: 2
-- advice: Profile-guided and link-time optimization, BOLT, hot and cold code apart, fewer instances of generic code.
-- false_positives: Interpreters (R14); a JIT compiler that warms up; start-up.
-- status: preview
-- since: 0.2
--
-- slot: A
-- alternate: top-down metrics, instruction cache
-- mechanism: M7
-- probe: pmu_count
-- metric: frontend_bound unit=share reject=0.05 support=0.15 saturate=0.40 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Frontend_Bound above 0.15; the reject bound is a third of it; rules.md R06 A"
-- metric: icache_misses unit=share reject=0.01 support=0.05 saturate=0.20 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: ICache_Misses above 0.05; the reject bound is a fifth of it; rules.md R06 A"
-- needs: pmu_ratios where name = 'tma_frontend_bound' AND source = 'metric'
-- needs: pmu_ratios where name = 'tma_icache_misses' AND source = 'metric'
-- evidence: {percent} of the pipeline slots wait for instructions, {icache_misses.percent} of the cycles for the instruction cache
-- record: perf stat -j -o topdown.json -M tma_frontend_bound,tma_icache_misses,tma_itlb_misses -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'frontend_bound' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_frontend_bound' AND source = 'metric'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'icache_misses' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_icache_misses' AND source = 'metric'
-- alternate: top-down metrics, instruction TLB
-- mechanism: M7
-- probe: pmu_count
-- metric: frontend_bound unit=share reject=0.05 support=0.15 saturate=0.40 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Frontend_Bound above 0.15; the reject bound is a third of it; rules.md R06 A"
-- metric: itlb_misses unit=share reject=0.01 support=0.05 saturate=0.20 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: ITLB_Misses above 0.05; the reject bound is a fifth of it; rules.md R06 A"
-- needs: pmu_ratios where name = 'tma_frontend_bound' AND source = 'metric'
-- needs: pmu_ratios where name = 'tma_itlb_misses' AND source = 'metric'
-- evidence: {percent} of the pipeline slots wait for instructions, {itlb_misses.percent} of the cycles for their addresses
-- record: perf stat -j -o topdown.json -M tma_frontend_bound,tma_icache_misses,tma_itlb_misses -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'frontend_bound' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_frontend_bound' AND source = 'metric'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'itlb_misses' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_itlb_misses' AND source = 'metric'
--
-- slot: B
-- alternate: flat profile
-- mechanism: M1
-- probe: event
-- metric: largest_share unit=share reject=0.10 support=0.02 saturate=0.005 scale=linear interval=wilson min_n=200 basis=leaf source=house:"no function above 2 %; one with 10 % is a hot function (R01); rules.md R06 B"
-- metric: functions_80 unit=count reject=50 support=200 saturate=1000 scale=log10 interval=complete min_n=200 basis=share source=house:"200 functions hold 80 %; the reject bound is a quarter of it; rules.md R06 B"
-- needs: cpu_events where unwinding IS NOT NULL
-- evidence: the largest function holds {percent} of {n} CPU samples; {functions_80.part} functions hold 80 %
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'largest_share' AS metric, l.largest_weight AS part,
    c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(NULL AS STRING) AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
JOIN leaf_spreads AS l ON c.event_id = l.event_id
UNION ALL
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'functions_80' AS metric, l.functions_80 AS part,
    CAST(1 AS BIGINT) AS whole, c.n AS n, CAST(NULL AS DOUBLE) AS n_eff, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM cpu_events AS c
JOIN leaf_spreads AS l ON c.event_id = l.event_id
--
-- slot: C
-- alternate: size of the code
-- mechanism: M10
-- probe: procfs
-- metric: code_bytes unit=bytes reject=1048576 support=8388608 saturate=67108864 scale=log10 interval=accounting min_n=0 basis=memory source=house:"8 MiB of mapped code; 1 MiB fits into the second cache; rules.md R06 C"
-- needs: mappings
-- evidence: {part} bytes of code of the program are mapped
-- record: heaptrack -o heaptrack {argv} (any recording that notes the mappings of the program)
WITH loaded AS (
    SELECT m.artifact_id AS artifact_id, m.dso_id AS dso_id, MAX(m.end_avma - m.start_avma) AS bytes FROM mappings AS m GROUP BY m.artifact_id, m.dso_id
),
programs AS (
    SELECT DISTINCT artifact_id AS artifact_id, program AS program FROM executions WHERE program IS NOT NULL
)
SELECT l.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'code_bytes' AS metric, CAST(SUM(l.bytes) AS BIGINT) AS part,
    CAST(1 AS BIGINT) AS whole, CAST(COUNT(l.dso_id) AS BIGINT) AS n, CAST(NULL AS STRING) AS part_anchor
FROM loaded AS l
JOIN programs AS p ON l.artifact_id = p.artifact_id
JOIN dsos AS d ON l.dso_id = d.dso_id AND p.program = d.name
GROUP BY l.artifact_id
-- alternate: the same work, laid out by a profile
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R06 C"
-- needs: saved_shares where variant IN ('pgo', 'bolt', 'lto', 'propeller')
-- evidence: {percent} of the wall time goes away
-- record: hyperfine -N --runs 10 -L variant plain,pgo --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('pgo', 'bolt', 'lto', 'propeller')
