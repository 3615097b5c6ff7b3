-- id: R04
-- name: cpu.branch_mispredict
-- claim: The CPU often guesses branches wrongly and throws away what it did after them.
-- category: CPU
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- cost: A.branch_mispredicts, B.self_share
-- effort: 2
-- advice: Branchless code or a table, sorted or partitioned data, profile-guided optimization; likely hints last.
-- false_positives: Few branches at all (a high share of them that costs nothing, so slots are looked at first); counters that shared the PMU; the kernel flushes predictors on entry in virtual machines.
-- status: preview
-- since: 0.2
--
-- slot: A
-- alternate: top-down metrics
-- mechanism: M7
-- probe: pmu_count
-- metric: branch_mispredicts unit=share reject=0.05 support=0.10 saturate=0.30 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Branch_Mispredicts above 0.10; rules.md R04 A"
-- metric: bad_speculation unit=share reject=0.05 support=0.15 saturate=0.40 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Bad_Speculation above 0.15; rules.md R04 A"
-- needs: pmu_ratios where name = 'tma_branch_mispredicts' AND source = 'metric'
-- needs: pmu_ratios where name = 'tma_bad_speculation' AND source = 'metric'
-- evidence: {percent} of the pipeline slots are lost to wrong guesses
-- record: perf stat -j -o topdown.json -M tma_branch_mispredicts,tma_bad_speculation -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'branch_mispredicts' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_branch_mispredicts' AND source = 'metric'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'bad_speculation' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_bad_speculation' AND source = 'metric'
-- alternate: top-down events
-- mechanism: M7
-- probe: pmu_count
-- metric: branch_mispredicts unit=share reject=0.05 support=0.10 saturate=0.30 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Branch_Mispredicts above 0.10; rules.md R04 A"
-- metric: bad_speculation unit=share reject=0.05 support=0.15 saturate=0.40 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Bad_Speculation above 0.15; rules.md R04 A"
-- needs: pmu_ratios where name = 'tma_branch_mispredicts' AND source = 'topdown'
-- needs: pmu_ratios where name = 'tma_bad_speculation' AND source = 'topdown'
-- evidence: {percent} of the pipeline slots are lost to wrong guesses
-- record: perf stat -j -o perf-stat.json -e slots,topdown-br-mispredict,topdown-bad-spec -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'branch_mispredicts' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_branch_mispredicts' AND source = 'topdown'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'bad_speculation' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_bad_speculation' AND source = 'topdown'
-- alternate: instructions per wrong guess
-- mechanism: M7
-- probe: pmu_count
-- metric: instructions_per_miss unit=ratio reject=1000 support=200 saturate=50 scale=log10 interval=counter min_n=0 basis=count source=tool:"toplev: fewer than 200 instructions per mispredicted branch; the reject bound is a house figure; rules.md R04 A"
-- needs: pmu_ratios where name = 'instructions_per_miss' AND source = 'counts'
-- evidence: a wrong guess every {value} instructions
-- record: perf stat -j -o perf-stat.json -e instructions,branch-misses -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'instructions_per_miss' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'instructions_per_miss' AND source = 'counts'
-- alternate: wrong guesses per branch
-- mechanism: M7
-- probe: pmu_count
-- metric: branch_miss_share unit=share reject=0.01 support=0.05 saturate=0.20 scale=linear interval=counter min_n=0 basis=count source=house:"5 % of the branches; rules.md R04 A"
-- needs: pmu_ratios where name = 'branch_miss_share' AND source = 'counts'
-- evidence: {percent} of the branches are guessed wrongly
-- record: perf stat -j -o perf-stat.json -e branches,branch-misses -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'branch_miss_share' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'branch_miss_share' AND source = 'counts'
--
-- slot: B
-- alternate: one function
-- mechanism: M1
-- probe: event
-- metric: self_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=leaf source=house:"10 % is the lower edge of impact 3; rules.md R04 B"
-- needs: cpu_events where unwinding IS NOT NULL
-- evidence: {percent} of {n} CPU samples end in it
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
WITH places AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, weight AS weight FROM leaf_functions
)
SELECT c.artifact_id AS artifact_id, 'function' AS site_kind, CAST(l.function_id AS BIGINT) AS site_id, 'self_share' AS metric,
    COALESCE(l.weight, 0) AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(1 AS BIGINT) AS certain,
    'sum=samples.weight&leaf=@site' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN places AS l ON c.artifact_id = l.artifact_id
--
-- slot: C
-- alternate: the same work on sorted data or without the branch
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R04 C"
-- needs: saved_shares where variant IN ('sorted', 'branchless', 'branch-free', 'no-branch', 'partitioned')
-- evidence: {percent} of the wall time goes away
-- record: hyperfine -N --runs 10 -L variant unsorted,sorted --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('sorted', 'branchless', 'branch-free', 'no-branch', 'partitioned')
