-- id: R07
-- name: mem.false_sharing
-- claim: Threads write to different variables that lie in one cache line, which travels between their CPUs.
-- category: Memory
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R03
-- cost: B.self_share
-- effort: 2
-- advice: Pad and align, keep copies per thread, set hot and cold fields apart.
-- false_positives: True sharing of one variable (R32 or an atomic counter); readers and a writer of one hot flag; structures of the kernel; a machine with one node has no remote hits by construction.
-- status: preview
-- since: 0.2
--
-- slot: A
-- alternate: perf c2c
-- mechanism: M7
-- probe: pmu_overflow
-- metric: hitm_share unit=share reject=0.0001 support=0.05 saturate=0.50 scale=log10 interval=accounting min_n=0 basis=share source=tool:"toplev: False_Sharing above 0.05; the reject bound is a house figure; rules.md R07 A"
-- needs: counters where event = 'c2c.hitm_share'
-- evidence: {percent} of the loads of the worst line hit a line that another CPU had changed
-- record: perf c2c record -o c2c.perf.data -- {argv}; perf c2c report -i c2c.perf.data --stdio > c2c.txt
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'hitm_share' AS metric, value AS part, CAST(1000000 AS BIGINT) AS whole,
    value AS n, 'sum=counters.value&event=c2c.hitm_share' AS part_anchor
-- No importer reads perf c2c yet, so nothing fills this angle: the SELECT is a form for the day one does.
FROM counters
WHERE event = 'c2c.hitm_share'
-- alternate: top-down metric of false sharing
-- mechanism: M7
-- probe: pmu_count
-- metric: false_sharing unit=share reject=0.005 support=0.05 saturate=0.30 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: False_Sharing above 0.05; the reject bound is a house figure; rules.md R07 A"
-- needs: pmu_ratios where name = 'tma_false_sharing' AND source = 'metric'
-- evidence: {percent} of the cycles are lost to false sharing
-- record: perf stat -j -o topdown.json -M tma_contested_accesses,tma_false_sharing -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'false_sharing' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_false_sharing' AND source = 'metric'
-- alternate: top-down metric of contested accesses
-- mechanism: M7
-- probe: pmu_count
-- metric: contested_accesses unit=share reject=0.005 support=0.05 saturate=0.30 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Contested_Accesses above 0.05; the reject bound is a house figure; rules.md R07 A"
-- needs: pmu_ratios where name = 'tma_contested_accesses' AND source = 'metric'
-- evidence: {percent} of the cycles wait for lines that other CPUs changed
-- record: perf stat -j -o topdown.json -M tma_contested_accesses -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'contested_accesses' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_contested_accesses' AND source = 'metric'
--
-- slot: B
-- alternate: one function outside locks
-- mechanism: M1
-- probe: event
-- metric: self_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=leaf source=house:"10 % is the lower edge of impact 3, outside locks; rules.md R07 B"
-- needs: cpu_events where unwinding IS NOT NULL
-- evidence: {percent} of {n} CPU samples end in it
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
WITH places AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, weight AS weight FROM plain_leaves
)
SELECT c.artifact_id AS artifact_id, 'function' AS site_kind, CAST(l.function_id AS BIGINT) AS site_id, 'self_share' AS metric,
    COALESCE(l.weight, 0) AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(1 AS BIGINT) AS certain,
    'sum=samples.weight&leaf=@site' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN places AS l ON c.artifact_id = l.artifact_id
--
-- slot: C
-- alternate: scaling over threads
-- mechanism: M9
-- probe: clock
-- metric: speed_up unit=ratio reject=0.8N support=0.5N saturate=0.25N scale=linear interval=given min_n=5 basis=time source=house:"less than half of what N threads should give, constant total work; the reject bound is a house figure; rules.md R07 C"
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
-- alternate: the same work with padded data
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.10 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"10 % faster with an interval that excludes 0; rules.md R07 C"
-- needs: saved_shares where variant IN ('padded', 'aligned', 'padding', 'per-thread')
-- evidence: {percent} of the wall time goes away
-- record: hyperfine -N --runs 10 -L variant packed,padded --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('padded', 'aligned', 'padding', 'per-thread')
