-- id: R09
-- name: cpu.copy
-- claim: Copying and zeroing memory takes a large part of the CPU time.
-- category: CPU
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R01 class COPY
-- cost: A.copy_share
-- effort: 2
-- advice: Borrow instead of cloning, reserve capacity, move, zero-copy input and output.
-- false_positives: Pages that the kernel clears belong to R22, which explains them; memcpy that was inlined is not seen; with frame pointers the caller of the libc leaf is lost (Q11).
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: copying
-- mechanism: M1
-- probe: event
-- metric: copy_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples copy or fill memory
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id, CASE WHEN site_kind = 'run' THEN 'copy_share' ELSE 'site' END AS metric,
    part AS part, whole AS whole, n AS n, n_eff AS n_eff, certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM tax_shares
WHERE tax = 'copy'
--
-- slot: B
-- alternate: large allocations
-- mechanism: M3
-- probe: malloc_hook
-- metric: mean_bytes unit=bytes reject=4096 support=65536 saturate=1048576 scale=log10 interval=complete min_n=0 basis=memory source=house:"64 KiB a piece; a page is what rejects; fewer than 100 calls are no allocations worth a copy; rules.md R09 B"
-- needs: allocations
-- evidence: {part} bytes in {whole} allocation calls: {value} a piece (0 for fewer than 100 calls)
-- record: heaptrack -o heaptrack {argv}
WITH whole AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(bytes) AS BIGINT) AS bytes FROM allocations GROUP BY artifact_id
)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'mean_bytes' AS metric,
    CASE WHEN calls >= 100 THEN bytes ELSE CAST(0 AS BIGINT) END AS part, calls AS whole, calls AS n,
    CASE WHEN calls >= 100 THEN 'sum=allocations.bytes' ELSE CAST(NULL AS STRING) END AS part_anchor, 'sum=allocations.calls' AS whole_anchor
FROM whole
-- alternate: large reads and writes
-- mechanism: M5
-- probe: ptrace_stop
-- metric: mean_bytes unit=bytes reject=4096 support=65536 saturate=1048576 scale=log10 interval=complete min_n=10 basis=count source=house:"64 KiB a call; a page is what rejects; rules.md R09 B"
-- needs: syscall_events where length IS NOT NULL AND name IN ('read', 'pread64', 'readv', 'write', 'pwrite64', 'writev')
-- evidence: {part} bytes in {whole} reads and writes: {value} a call
-- record: strace -f -ttt -T -e trace=read,pread64,readv,write,pwrite64,writev -o calls.strace -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'mean_bytes' AS metric, CAST(SUM(length) AS BIGINT) AS part,
    CAST(COUNT(line_no) AS BIGINT) AS whole, CAST(COUNT(line_no) AS BIGINT) AS n,
    'sum=syscall_events.length&name=read,pread64,readv,write,pwrite64,writev' AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM syscall_events
WHERE length IS NOT NULL AND name IN ('read', 'pread64', 'readv', 'write', 'pwrite64', 'writev')
GROUP BY artifact_id
--
-- slot: C
-- alternate: top-down metric of bandwidth
-- mechanism: M7
-- probe: pmu_count
-- metric: mem_bandwidth unit=share reject=0.05 support=0.20 saturate=0.50 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: MEM_Bandwidth above 0.20; the reject bound is a quarter of it; rules.md R09 C"
-- needs: pmu_ratios where name = 'tma_mem_bandwidth' AND source = 'metric'
-- evidence: {percent} of the cycles wait for the bandwidth of memory
-- record: perf stat -j -o topdown.json -M tma_mem_bandwidth -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'mem_bandwidth' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_mem_bandwidth' AND source = 'metric'
-- alternate: memory touched again and again
-- mechanism: M10
-- probe: mm_counters
-- metric: touched_ratio unit=ratio reject=1.0 support=2.0 saturate=10.0 scale=log10 interval=accounting min_n=0 basis=memory source=house:"fresh pages for twice the largest resident set; once is what every program touches; rules.md R09 C"
-- needs: artifacts where kind = 'time-v'
-- needs: executions where minor_faults IS NOT NULL AND max_rss_bytes IS NOT NULL
-- evidence: {part} bytes were touched anew, {value} times the largest resident set
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'touched_ratio' AS metric, e.minor_faults * 4096 AS part,
    e.max_rss_bytes AS whole, e.minor_faults AS n, '@minor_faults' AS part_anchor, '@max_rss_bytes' AS whole_anchor
FROM executions AS e
WHERE e.minor_faults IS NOT NULL AND e.max_rss_bytes IS NOT NULL
