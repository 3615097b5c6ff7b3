-- id: R05
-- name: mem.dtlb
-- claim: The CPU spends much time on translating addresses: more pages are in use than its TLB reaches.
-- category: Memory
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- cost: A.dtlb_load
-- effort: 2
-- advice: MADV_HUGEPAGE on large arenas, pool allocators, a denser layout.
-- false_positives: Nested paging of a virtual machine doubles the cost of a walk; sparse scans in order are prefetched; compaction for huge pages shows as system time.
-- status: preview
-- since: 0.2
--
-- slot: A
-- alternate: page walks of loads
-- mechanism: M7
-- probe: pmu_count
-- metric: dtlb_load unit=share reject=0.02 support=0.10 saturate=0.30 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: DTLB_Load above 0.10; the reject bound is a house figure; rules.md R05 A"
-- needs: pmu_ratios where name = 'tma_dtlb_load' AND source = 'metric'
-- evidence: {percent} of the cycles wait for page walks
-- record: perf stat -j -o topdown.json -M tma_dtlb_load -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'dtlb_load' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_dtlb_load' AND source = 'metric'
-- alternate: page walks of stores
-- mechanism: M7
-- probe: pmu_count
-- metric: dtlb_store unit=share reject=0.02 support=0.05 saturate=0.20 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: DTLB_Store above 0.05; the reject bound is a house figure; rules.md R05 A"
-- needs: pmu_ratios where name = 'tma_dtlb_store' AND source = 'metric'
-- evidence: {percent} of the cycles wait for page walks
-- record: perf stat -j -o topdown.json -M tma_dtlb_store -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'dtlb_store' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_dtlb_store' AND source = 'metric'
-- alternate: active page walks
-- mechanism: M7
-- probe: pmu_count
-- metric: dtlb_load unit=share reject=0.02 support=0.10 saturate=0.30 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: as DTLB_Load; rules.md R05 A"
-- needs: pmu_ratios where name = 'load_walk_share' AND source = 'counts'
-- evidence: {percent} of the cycles have a page walk of a load
-- record: perf stat -j -o perf-stat.json -e cycles,dtlb_load_misses.walk_active -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'dtlb_load' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'load_walk_share' AND source = 'counts'
--
-- slot: B
-- alternate: memory that is not in huge pages
-- mechanism: M10
-- probe: procfs
-- metric: huge_page_share unit=share reject=0.50 support=0.10 saturate=0.01 scale=linear interval=accounting min_n=0 basis=memory source=house:"at most 10 % of the resident set in huge pages while it is eight times what the TLB reaches; the reject bound is a house figure; rules.md R05 B"
-- needs: counters where event = 'smaps.AnonHugePages'
-- evidence: {percent} of the resident set are in huge pages
-- record: grep -E "^(Rss|AnonHugePages)" /proc/$(pgrep -n PROGRAM)/smaps_rollup > smaps.txt while {argv} runs
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'huge_page_share' AS metric, value AS part, CAST(1000000 AS BIGINT) AS whole,
    value AS n, 'sum=counters.value&event=smaps.AnonHugePages' AS part_anchor
-- No importer keeps AnonHugePages yet, so nothing fills this angle: the SELECT is a form for the day one does.
FROM counters
WHERE event = 'smaps.AnonHugePages'
--
-- slot: C
-- alternate: the same work in huge pages
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.03 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"3 % faster with an interval that excludes 0; rules.md R05 C"
-- needs: saved_shares where variant IN ('thp', 'hugepages', 'huge-pages', 'hugetlbfs', 'thp-always', 'madvise')
-- evidence: {percent} of the wall time goes away
-- record: hyperfine -N --runs 10 -L variant plain,hugepages --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('thp', 'hugepages', 'huge-pages', 'hugetlbfs', 'thp-always', 'madvise')
