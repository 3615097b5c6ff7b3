-- id: R16
-- name: rt.gc_pressure
-- claim: The garbage collector takes a large part of the CPU time.
-- category: Runtime
-- scope: run
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R01 class GC
-- cost: A.gc_share
-- effort: 2
-- advice: Allocate less (R18), pool, give the heap more room, tune the generations.
-- false_positives: A concurrent collector on idle cores; a program that warms up; collections that a benchmark forces.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: collecting
-- mechanism: M1
-- probe: event
-- metric: gc_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples collect garbage
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id, CASE WHEN site_kind = 'run' THEN 'gc_share' ELSE 'site' END AS metric,
    part AS part, whole AS whole, n AS n, n_eff AS n_eff, certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM tax_shares
WHERE tax = 'gc'
--
-- slot: B
-- alternate: log of the collector
-- mechanism: M2
-- probe: span_api
-- metric: pause_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=complete min_n=0 basis=time source=tool:"JMC GcPauseRatio: a warning at 10 %, a word at 5 %; the reject bound as of shares; rules.md R16 B"
-- needs: counters where event = 'gc.pause'
-- evidence: {percent} of the time the program was paused
-- record: GODEBUG=gctrace=1 {argv} 2> gc.txt; or java -Xlog:gc:gc.txt ...
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pause_share' AS metric, value AS part, CAST(1000000 AS BIGINT) AS whole,
    value AS n, 'sum=counters.value&event=gc.pause' AS part_anchor
-- No importer reads logs of collectors yet, so nothing fills this angle: the SELECT is a form for the day one does.
FROM counters
WHERE event = 'gc.pause'
--
-- slot: C
-- alternate: resident set like a saw
-- mechanism: M10
-- probe: procfs
-- metric: swing_share unit=share reject=0.05 support=0.30 saturate=0.80 scale=linear interval=complete min_n=10 basis=memory source=house:"it swings by 30 % of its largest; the reject bound is a sixth of it; rules.md R16 C"
-- metric: cycles unit=count reject=1 support=5 saturate=20 scale=linear interval=complete min_n=10 basis=memory source=house:"five times or more; once is no cycle; rules.md R16 C"
-- needs: series_trends where metric = 'rss_bytes' AND cycles IS NOT NULL
-- evidence: it swings by {percent} of its largest size, {cycles.part} times
-- record: {argv} & testdata/rss.sh $! > rss.tsv
SELECT t.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'swing_share' AS metric, t.max_bytes - t.min_bytes AS part,
    t.max_bytes AS whole, t.n AS n, CAST(NULL AS STRING) AS part_anchor, 'sum=series_trends.max_bytes' AS whole_anchor
FROM series_trends AS t
WHERE t.metric = 'rss_bytes' AND t.cycles IS NOT NULL
UNION ALL
SELECT t.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cycles' AS metric, t.cycles AS part, CAST(1 AS BIGINT) AS whole,
    t.n AS n, 'sum=series_trends.cycles' AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM series_trends AS t
WHERE t.metric = 'rss_bytes' AND t.cycles IS NOT NULL
-- alternate: allocation calls
-- mechanism: M3
-- probe: malloc_hook
-- metric: allocations_per_cpu_second unit=1/s reject=250000 support=2500000 saturate=25000000 scale=log10 interval=complete min_n=0 basis=count source=measured:"as R18 A: 2.5e6 pairs a second are 10 % of a core at 41 ns; rules.md R16 C"
-- normalizer: CPU time of the bare run, counts scaled by the declared work
-- needs: allocations
-- evidence: {part} allocation calls, {value} per second of CPU time
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
