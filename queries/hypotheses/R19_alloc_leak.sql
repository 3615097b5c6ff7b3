-- id: R19
-- name: alloc.leak
-- claim: Memory grows without bound: what is allocated is not given back.
-- category: Memory
-- scope: allocation site
-- resource: memory
-- explains: R22 all
-- cost: A.leaked_share
-- effort: 2
-- advice: Name the site and the bytes it keeps per call; bound the cache, clear ownership, look for cycles.
-- false_positives: Caches and arenas that are still reachable at exit; a batch program that ends at its peak; fragmentation (R20); thread stacks.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: heap trace
-- mechanism: M3
-- probe: malloc_hook
-- metric: leaked_share unit=share reject=0.05 support=0.5 saturate=0.95 scale=linear interval=complete min_n=0 basis=memory source=house:"rules.md R19 A"
-- metric: leaked_bytes unit=bytes reject=131072 support=1048576 saturate=104857600 scale=log10 interval=complete min_n=0 basis=memory source=house:"at least 1 MiB; the C++ runtime keeps 72.7 KB in every run (rules.md R19 A)"
-- needs: artifacts where kind = 'heaptrack'
-- evidence: {leaked_share.part} of {leaked_share.whole} bytes of the peak are never freed
-- record: heaptrack -o heaptrack -- {argv}
WITH counted AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(leaked_bytes) AS BIGINT) AS leaked, CAST(SUM(peak_bytes) AS BIGINT) AS peak,
        CAST(SUM(calls) AS BIGINT) AS calls
    FROM allocations GROUP BY artifact_id
),
sites AS (
    SELECT a.artifact_id AS artifact_id, k.site_function_id AS function_id, CAST(SUM(a.leaked_bytes) AS BIGINT) AS amount
    FROM allocations AS a
    JOIN stack_classes AS k ON a.stack_id = k.stack_id
    WHERE k.class = 'ALLOC_SITE' AND k.site_function_id IS NOT NULL
    GROUP BY a.artifact_id, k.site_function_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'leaked_share' AS metric,
    CASE WHEN c.leaked > c.peak THEN c.peak ELSE c.leaked END AS part, c.peak AS whole, c.calls AS n, 'sum=allocations.leaked_bytes' AS part_anchor,
    'sum=allocations.peak_bytes' AS whole_anchor
FROM counted AS c
UNION ALL
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'leaked_bytes' AS metric, c.leaked AS part, CAST(1 AS BIGINT) AS whole,
    c.calls AS n, 'sum=allocations.leaked_bytes' AS part_anchor, CAST(NULL AS VARCHAR) AS whole_anchor
FROM counted AS c
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.amount AS part,
    c.leaked AS whole, c.calls AS n, CAST(NULL AS VARCHAR) AS part_anchor, CAST(NULL AS VARCHAR) AS whole_anchor
FROM sites AS s
JOIN counted AS c ON s.artifact_id = c.artifact_id
--
-- slot: B
-- alternate: memory series
-- mechanism: M10
-- probe: procfs
-- metric: growth_share unit=share reject=0.05 support=0.2 saturate=0.5 scale=linear interval=accounting min_n=20 basis=memory source=house:"rules.md R19 B; JMC flags 1 %/s of the live set"
-- normalizer: the largest resident set
-- needs: series_trends where metric = 'rss_bytes'
-- evidence: over the last two thirds of {n} points the resident set grows by {part} of {whole} bytes
-- record: while sleep 0.05; do grep -h Rss /proc/$(pgrep -n PROGRAM)/smaps_rollup; done (see testdata/rss.sh for the columns) while {argv} runs
SELECT t.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'growth_share' AS metric,
    CASE WHEN t.mann_kendall_p < CAST(0.01 AS DOUBLE) AND t.slope_lo > CAST(0 AS DOUBLE) AND t.growth_bytes > 0 THEN t.growth_bytes
        ELSE CAST(0 AS BIGINT) END AS part,
    t.max_bytes AS whole, t.n AS n, 'sum=series_trends.growth_bytes' AS part_anchor, 'max=memory.rss_bytes' AS whole_anchor
FROM series_trends AS t
WHERE t.metric = 'rss_bytes'
--
-- slot: C
-- alternate: mappings
-- mechanism: M5
-- probe: ptrace_stop
-- metric: net_mapped_share unit=share reject=0.05 support=0.5 saturate=0.9 scale=linear interval=complete min_n=1 basis=memory source=house:"rules.md R19 C"
-- metric: unmapped_ratio unit=ratio reject=0.9 support=0.5 saturate=0.05 scale=linear interval=complete min_n=0 basis=memory source=house:"rules.md R19 C; the reject bound is ours"
-- normalizer: the largest resident set of the bare run
-- needs: syscall_events where name = 'brk'
-- needs: artifacts where kind = 'strace-log' AND (syscall_filter IS NULL OR syscall_filter LIKE '%brk%')
-- evidence: brk and mmap added {net_mapped_share.part} bytes that were not unmapped, of {net_mapped_share.whole} bytes resident
-- record: strace -f -ttt -e trace=brk,mmap,munmap,mremap,madvise -o mem.strace -- {argv}
WITH moved AS (
    SELECT artifact_id AS artifact_id,
        MAX(CASE WHEN name = 'brk' THEN result ELSE CAST(NULL AS BIGINT) END) - MIN(CASE WHEN name = 'brk' THEN result ELSE CAST(NULL AS BIGINT) END) AS brk_peak,
        CAST(SUM(CASE WHEN name = 'mmap' AND error IS NULL AND operation LIKE '%ANONYMOUS%' AND operation NOT LIKE '%STACK%'
            AND operation NOT LIKE '%NORESERVE%' THEN length ELSE 0 END) AS BIGINT) AS mapped,
        CAST(SUM(CASE WHEN name = 'munmap' AND error IS NULL THEN length ELSE 0 END) AS BIGINT) AS unmapped,
        MAX(CASE WHEN name = 'brk' THEN line_no ELSE CAST(NULL AS BIGINT) END) AS last_brk, CAST(COUNT(line_no) AS BIGINT) AS n
    FROM syscall_events WHERE name IN ('brk', 'mmap', 'munmap') GROUP BY artifact_id
),
first_brk AS (
    SELECT artifact_id AS artifact_id, MIN(result) AS start FROM syscall_events WHERE name = 'brk' GROUP BY artifact_id
),
ended AS (
    SELECT e.artifact_id AS artifact_id, MAX(e.result) AS finish
    FROM syscall_events AS e
    JOIN moved AS m ON e.artifact_id = m.artifact_id AND e.line_no = m.last_brk
    GROUP BY e.artifact_id
),
net AS (
    SELECT m.artifact_id AS artifact_id, e.finish - f.start + m.mapped - m.unmapped AS net, m.mapped + m.brk_peak AS grown,
        m.unmapped + m.brk_peak - (e.finish - f.start) AS shrunk, m.n AS n
    FROM moved AS m
    JOIN first_brk AS f ON m.artifact_id = f.artifact_id
    JOIN ended AS e ON m.artifact_id = e.artifact_id
)
SELECT m.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'net_mapped_share' AS metric,
    CASE WHEN m.net > 0 THEN m.net ELSE CAST(0 AS BIGINT) END AS part, b.max_rss_bytes AS whole, m.n AS n, d.work_up AS scale_up,
    d.work_down AS scale_down, 'net=syscall_events.length' AS part_anchor, '@max_rss_bytes' AS whole_anchor,
    CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM net AS m
JOIN admitted AS d ON m.artifact_id = d.artifact_id
CROSS JOIN bare AS b
UNION ALL
SELECT m.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'unmapped_ratio' AS metric,
    CASE WHEN m.shrunk > 0 THEN m.shrunk ELSE CAST(0 AS BIGINT) END AS part, m.grown AS whole, m.n AS n, CAST(1 AS BIGINT) AS scale_up,
    CAST(1 AS BIGINT) AS scale_down, 'net=syscall_events.length' AS part_anchor, 'net=syscall_events.length' AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM net AS m
