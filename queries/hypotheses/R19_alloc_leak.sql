-- id: R19
-- name: alloc.leak
-- claim: Memory grows without bound: what is allocated at one place is never freed.
-- category: Memory
-- scope: allocation-site
-- resource: memory
-- explains: R22 all
-- cost: A.leaked_share
-- effort: 2
-- advice: Name the site and the bytes kept per call; bound the cache, fix ownership, look for cycles.
-- false_positives: Caches and arenas that are freed by exit; a batch program that ends at its peak; fragmentation; thread stacks.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: live at the end
-- mechanism: M3
-- probe: malloc_hook
-- metric: leaked_share unit=share reject=0.05 support=0.50 saturate=0.95 scale=linear interval=complete min_n=1 basis=memory source=house:"rules.md R19 A"
-- metric: leaked_bytes unit=bytes reject=131072 support=1048576 saturate=104857600 scale=log10 interval=complete min_n=1 basis=memory source=house:"1 MiB; below 128 KiB the one-time pool of libstdc++ (72.7 KB in every recording) is most of it; rules.md R19 A"
-- needs: allocations
-- evidence: {leaked_share.part} of {leaked_share.whole} bytes of the peak are never freed
-- record: heaptrack -o heaptrack {argv}
WITH sums AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(leaked_bytes) AS BIGINT) AS leaked, CAST(SUM(peak_bytes) AS BIGINT) AS peak,
        CAST(SUM(calls) AS BIGINT) AS calls
    FROM allocations
    GROUP BY artifact_id
),
by_site AS (
    SELECT a.artifact_id AS artifact_id, k.site_function_id AS function_id, CAST(SUM(a.leaked_bytes) AS BIGINT) AS leaked
    FROM allocations AS a
    JOIN alloc_sites AS k ON a.stack_id = k.stack_id
    GROUP BY a.artifact_id, k.site_function_id
)
SELECT s.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'leaked_share' AS metric,
    s.leaked AS part, s.peak AS whole, s.calls AS n, CAST(NULL AS BIGINT) AS certain,
    'sum=allocations.leaked_bytes' AS part_anchor, 'sum=allocations.peak_bytes' AS whole_anchor
FROM sums AS s
UNION ALL
SELECT s.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'leaked_bytes' AS metric,
    s.leaked AS part, CAST(1 AS BIGINT) AS whole, s.calls AS n, CAST(NULL AS BIGINT) AS certain,
    'sum=allocations.leaked_bytes' AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM sums AS s
UNION ALL
SELECT b.artifact_id AS artifact_id, 'function' AS site_kind, CAST(b.function_id AS BIGINT) AS site_id, 'site' AS metric,
    b.leaked AS part, s.leaked AS whole, s.calls AS n, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM by_site AS b
JOIN sums AS s ON b.artifact_id = s.artifact_id
--
-- slot: B
-- alternate: resident set over time
-- mechanism: M10
-- probe: procfs
-- metric: growth_share unit=share reject=0.05 support=0.20 saturate=0.60 scale=linear interval=accounting min_n=20 basis=memory source=house:"a snapshot is no leak proof; rules.md R19 B"
-- metric: trend_p unit=ratio reject=0.05 support=0.01 saturate=0.0001 scale=linear interval=complete min_n=20 basis=memory source=house:"Mann-Kendall over the last two thirds of the run; rules.md R19 B"
-- needs: series_trends
-- evidence: the resident set grows by {growth_share.part} of {growth_share.whole} bytes over the last two thirds of the run, p {trend_p.value}
-- record: PROGRAM & pid=$!; while kill -0 $pid; do cat /proc/$pid/smaps_rollup; sleep 0.05; done
SELECT t.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'growth_share' AS metric,
    CASE WHEN t.growth_bytes > 0 THEN t.growth_bytes ELSE CAST(0 AS BIGINT) END AS part, t.max_bytes AS whole, t.n AS n,
    CASE WHEN t.growth_bytes > 0 THEN 'sum=series_trends.growth_bytes' ELSE CAST(NULL AS STRING) END AS part_anchor, 'sum=series_trends.max_bytes' AS whole_anchor
FROM series_trends AS t
WHERE t.metric = 'rss_bytes'
UNION ALL
SELECT t.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'trend_p' AS metric,
    CAST(t.mann_kendall_p * CAST(1000000000 AS DOUBLE)
        - t.mann_kendall_p * CAST(1000000000 AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT) AS part, CAST(1000000000 AS BIGINT) AS whole, t.n AS n,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM series_trends AS t
WHERE t.metric = 'rss_bytes'
--
-- slot: C
-- alternate: memory asked of the kernel
-- mechanism: M5
-- probe: ptrace_stop
-- metric: mapped_share unit=share reject=0.10 support=0.50 saturate=0.90 scale=linear interval=complete min_n=1 basis=count source=house:"rules.md R19 C; below 10 % the program's own start is most of it"
-- metric: returned_share unit=share reject=0.80 support=0.50 saturate=0.05 scale=linear interval=complete min_n=1 basis=count source=house:"rules.md R19 C"
-- normalizer: largest resident set of the bare run, bytes scaled by the declared work
-- needs: syscall_events where name IN ('brk', 'mmap') AND result IS NOT NULL
-- needs: artifacts where syscall_filter IS NULL OR syscall_filter LIKE '%brk%'
-- needs: artifacts where tool = 'strace'
-- evidence: {mapped_share.part} bytes net came from brk and anonymous mmap; {returned_share.part} munmap for {returned_share.whole} brk and mmap calls
-- record: strace -f -ttt -e trace=brk,mmap,munmap,mremap,madvise -o mem.strace {argv}
WITH heap AS (
    SELECT artifact_id AS artifact_id, MAX(result) - MIN(result) AS bytes FROM syscall_events WHERE name = 'brk' AND result > 0 GROUP BY artifact_id
),
mapped AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(length) AS BIGINT) AS bytes FROM syscall_events
    WHERE name = 'mmap' AND error IS NULL AND operation LIKE '%MAP_ANONYMOUS%' AND operation NOT LIKE '%MAP_FIXED%'
    GROUP BY artifact_id
),
unmapped AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(length) AS BIGINT) AS bytes, CAST(COUNT(line_no) AS BIGINT) AS calls FROM syscall_events
    WHERE name = 'munmap' AND error IS NULL
    GROUP BY artifact_id
),
asked AS (
    SELECT artifact_id AS artifact_id, CAST(COUNT(line_no) AS BIGINT) AS calls FROM syscall_events WHERE name IN ('brk', 'mmap') GROUP BY artifact_id
),
net AS (
    SELECT a.artifact_id AS artifact_id, a.calls AS calls, COALESCE(u.calls, 0) AS unmap_calls,
        COALESCE(h.bytes, 0) + COALESCE(m.bytes, 0) - COALESCE(u.bytes, 0) AS bytes
    FROM asked AS a
    LEFT JOIN heap AS h ON a.artifact_id = h.artifact_id
    LEFT JOIN mapped AS m ON a.artifact_id = m.artifact_id
    LEFT JOIN unmapped AS u ON a.artifact_id = u.artifact_id
)
SELECT n.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'mapped_share' AS metric,
    CASE WHEN n.bytes > 0 THEN n.bytes ELSE CAST(0 AS BIGINT) END AS part, b.max_rss_bytes AS whole, n.calls AS n, d.work_up AS scale_up, d.work_down AS scale_down,
    CAST(NULL AS STRING) AS part_anchor, '@max_rss_bytes' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM net AS n
JOIN admitted AS d ON n.artifact_id = d.artifact_id
CROSS JOIN bare AS b
UNION ALL
SELECT n.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'returned_share' AS metric,
    n.unmap_calls AS part, n.calls AS whole, n.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down,
    'sum=syscall_events.calls&name=munmap' AS part_anchor, 'sum=syscall_events.calls&name=brk,mmap' AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM net AS n
-- alternate: perf trace of memory asked of the kernel
-- mechanism: M5
-- probe: tp_syscall
-- metric: mapped_share unit=share reject=0.10 support=0.50 saturate=0.90 scale=linear interval=complete min_n=1 basis=count source=house:"rules.md R19 C; below 10 % the program's own start is most of it"
-- metric: returned_share unit=share reject=0.80 support=0.50 saturate=0.05 scale=linear interval=complete min_n=1 basis=count source=house:"rules.md R19 C"
-- normalizer: largest resident set of the bare run, bytes scaled by the declared work
-- needs: mapped_bytes where tool = 'perf'
-- evidence: {mapped_share.part} bytes net came from brk and anonymous mmap; {returned_share.part} munmap for {returned_share.whole} brk and mmap calls
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT m.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'mapped_share' AS metric,
    CASE WHEN m.net_bytes > 0 THEN m.net_bytes ELSE CAST(0 AS BIGINT) END AS part, b.max_rss_bytes AS whole, m.asked_calls AS n,
    d.work_up AS scale_up, d.work_down AS scale_down, '@max_rss_bytes' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM mapped_bytes AS m
JOIN admitted AS d ON m.artifact_id = d.artifact_id
CROSS JOIN bare AS b
UNION ALL
SELECT m.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'returned_share' AS metric, m.unmap_calls AS part,
    m.asked_calls AS whole, m.asked_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM mapped_bytes AS m
