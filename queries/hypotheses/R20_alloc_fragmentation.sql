-- id: R20
-- name: alloc.fragmentation
-- claim: Memory that the program freed stays with the process: the heap is fragmented, or its allocator keeps what it got.
-- category: Memory
-- scope: run
-- resource: memory
-- explains: R22 all
-- cost: A.retained_ratio
-- effort: 1
-- advice: Call malloc_trim at the end of a phase, give each phase an arena of its own, lower MALLOC_ARENA_MAX, let jemalloc decay (background thread).
-- false_positives: Page cache that a cgroup counts; allocators that give memory back later; huge pages; a program that frees everything at exit (the last tenth of the recording counts, not its end).
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: resident against live
-- mechanism: M10
-- probe: procfs
-- metric: retained_ratio unit=ratio reject=1.3 support=2.0 saturate=8.0 scale=linear interval=given min_n=5 basis=memory source=house:"rules.md R20 A; 32 was measured for 199.8 MB resident with 6.25 MB live"
-- metric: retained_bytes unit=bytes reject=4194304 support=16777216 saturate=268435456 scale=log10 interval=given min_n=5 basis=memory source=house:"a process with an empty heap already has 3 MB resident, so the ratio alone says nothing about a small heap (rules.md 3.0b on R18 C)"
-- normalizer: the live heap in the last tenth of a heap recording of the same work
-- needs: memory
-- evidence: {retained_ratio.part} bytes resident at the end, {retained_ratio.whole} of them live
-- record: PROGRAM & pid=$!; while kill -0 $pid; do cat /proc/$pid/smaps_rollup; sleep 0.05; done
WITH ends AS (
    SELECT artifact_id AS artifact_id, MAX(ts_ns) AS last_ns FROM memory GROUP BY artifact_id
),
tail AS (
    SELECT m.artifact_id AS artifact_id, MIN(m.rss_bytes) AS least, MAX(m.rss_bytes) AS most, CAST(COUNT(m.rss_bytes) AS BIGINT) AS n
    FROM memory AS m
    JOIN ends AS e ON m.artifact_id = e.artifact_id
    WHERE CAST(m.ts_ns AS DOUBLE) >= CAST(e.last_ns AS DOUBLE) * CAST(9 AS DOUBLE) / CAST(10 AS DOUBLE)
    GROUP BY m.artifact_id
),
lengths AS (
    SELECT artifact_id AS artifact_id, CAST(COUNT(rss_bytes) AS BIGINT) AS points FROM memory GROUP BY artifact_id
),
heaps AS (
    SELECT h.artifact_id AS artifact_id, h.live_bytes AS live_bytes, d.work_up AS work_up, d.work_down AS work_down
    FROM heap_end AS h
    JOIN admitted AS d ON h.artifact_id = d.artifact_id
    WHERE d.standing IN ('same', 'unknown') AND h.live_bytes > 0
),
heap AS (
    SELECT m.artifact_id AS artifact_id, MAX(h.artifact_id) AS heap_id, MAX(h.live_bytes) AS live_bytes
    FROM admitted AS m
    JOIN heaps AS h ON m.work_up = h.work_up AND m.work_down = h.work_down
    GROUP BY m.artifact_id
)
SELECT t.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'retained_ratio' AS metric, t.least AS part,
    h.live_bytes AS whole, s.points AS n, CAST(t.least AS DOUBLE) / CAST(h.live_bytes AS DOUBLE) AS lo,
    CAST(t.most AS DOUBLE) / CAST(h.live_bytes AS DOUBLE) AS hi, CAST(h.heap_id AS BIGINT) AS whole_artifact_id
FROM tail AS t
JOIN lengths AS s ON t.artifact_id = s.artifact_id
LEFT JOIN heap AS h ON t.artifact_id = h.artifact_id
UNION ALL
SELECT t.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'retained_bytes' AS metric,
    CASE WHEN t.least > h.live_bytes THEN t.least - h.live_bytes ELSE CAST(0 AS BIGINT) END AS part,
    CASE WHEN h.live_bytes > 0 THEN CAST(1 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS whole, s.points AS n,
    CAST(CASE WHEN t.least > h.live_bytes THEN t.least - h.live_bytes ELSE CAST(0 AS BIGINT) END AS DOUBLE) AS lo,
    CAST(CASE WHEN t.most > h.live_bytes THEN t.most - h.live_bytes ELSE CAST(0 AS BIGINT) END AS DOUBLE) AS hi,
    CAST(NULL AS BIGINT) AS whole_artifact_id
FROM tail AS t
JOIN lengths AS s ON t.artifact_id = s.artifact_id
LEFT JOIN heap AS h ON t.artifact_id = h.artifact_id
--
-- slot: B
-- alternate: heap after its peak
-- mechanism: M3
-- probe: malloc_hook
-- metric: fallen_ratio unit=ratio reject=1.5 support=4.0 saturate=32.0 scale=linear interval=complete min_n=5 basis=memory source=house:"rules.md R20 B asks for 4; a heap that keeps two thirds of its peak did not fall"
-- metric: fallen_bytes unit=bytes reject=1048576 support=8388608 saturate=134217728 scale=log10 interval=complete min_n=5 basis=memory source=house:"below a few MiB nothing is worth giving back"
-- needs: heap_timeline
-- evidence: the heap fell from {fallen_ratio.part} to {fallen_ratio.whole} bytes by the last tenth of the recording
-- record: heaptrack -o heaptrack {argv}
WITH points AS (
    SELECT artifact_id AS artifact_id, CAST(COUNT(live_bytes) AS BIGINT) AS n FROM heap_timeline GROUP BY artifact_id
)
SELECT h.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'fallen_ratio' AS metric, h.peak_bytes AS part,
    h.live_bytes AS whole, p.n AS n
FROM heap_end AS h
JOIN points AS p ON h.artifact_id = p.artifact_id
UNION ALL
SELECT h.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'fallen_bytes' AS metric,
    h.peak_bytes - h.live_bytes AS part, CAST(1 AS BIGINT) AS whole, p.n AS n
FROM heap_end AS h
JOIN points AS p ON h.artifact_id = p.artifact_id
--
-- slot: C
-- alternate: memory given back
-- mechanism: M5
-- probe: ptrace_stop
-- metric: returned_share unit=share reject=0.5 support=0.1 saturate=0.01 scale=linear interval=complete min_n=1 basis=count source=house:"rules.md R20 C asks for hardly any call that gives memory back; the share of the bytes says how much that was"
-- needs: mapped_bytes where tool = 'strace'
-- evidence: {part} of {whole} bytes that came from the kernel were given back (munmap, a lower brk, MADV_DONTNEED)
-- record: strace -f -ttt -e trace=brk,mmap,munmap,mremap,madvise -o mem.strace {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'returned_share' AS metric, returned_bytes AS part,
    got_bytes AS whole, asked_calls AS n
FROM mapped_bytes
-- alternate: perf trace of memory given back
-- mechanism: M5
-- probe: tp_syscall
-- metric: returned_share unit=share reject=0.5 support=0.1 saturate=0.01 scale=linear interval=complete min_n=1 basis=count source=house:"rules.md R20 C asks for hardly any call that gives memory back; the share of the bytes says how much that was"
-- needs: mapped_bytes where tool = 'perf'
-- evidence: {part} of {whole} bytes that came from the kernel were given back (munmap, a lower brk, MADV_DONTNEED)
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'returned_share' AS metric, returned_bytes AS part,
    got_bytes AS whole, asked_calls AS n
FROM mapped_bytes
