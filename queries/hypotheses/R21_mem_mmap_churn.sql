-- id: R21
-- name: mem.mmap_churn
-- claim: The program maps and unmaps memory again and again, and the kernel pays for every mapping.
-- category: Memory
-- scope: call path
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R22 all, R29
-- cost: B.mm_share
-- effort: 2
-- advice: Keep a pool of mappings, MAP_POPULATE or huge pages once, raise M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, use an allocator that keeps its extents.
-- false_positives: The program's start (its loader maps some 30 times); dlopen; stacks of threads (R37); readers that map files. glibc's dynamic threshold hides churn through malloc after the first free.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: map_calls_per_cpu_second unit=1/s reject=100 support=5000 saturate=100000 scale=log10 interval=given min_n=0 basis=count source=measured:"40 000 pairs in 0.74 s of CPU time; t and r are house figures, the interval is the spread of the bare runs (rules.md R21 A)"
-- metric: unbalanced_share unit=share reject=0.6 support=0.2 saturate=0.02 scale=linear interval=complete min_n=1 basis=count source=house:"munmap/mmap within 0.8 to 1.2 (rules.md R21 A)"
-- normalizer: the CPU time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'map' AND source = 'summary'
-- with: call_places where family = 'map'
-- evidence: {map_calls_per_cpu_second.part} mmap, munmap and madvise calls, {map_calls_per_cpu_second.value} per second of CPU time; {unbalanced_share.part} of {unbalanced_share.whole} mappings without their munmap
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'map_calls_per_cpu_second' AS metric, calls AS part,
    bare_cpu_ns AS whole, calls AS n,
    CAST(calls AS DOUBLE) * CAST(1000000000 AS DOUBLE) * CAST(work_up AS DOUBLE) / CAST(work_down AS DOUBLE) / CAST(cpu_most_ns AS DOUBLE) AS lo,
    CAST(calls AS DOUBLE) * CAST(1000000000 AS DOUBLE) * CAST(work_up AS DOUBLE) / CAST(work_down AS DOUBLE) / CAST(cpu_least_ns AS DOUBLE) AS hi,
    work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor, '@user_ns+system_ns' AS whole_anchor,
    bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'map' AND source = 'summary'
UNION ALL
SELECT u.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'unbalanced_share' AS metric,
    ABS(u.calls - m.calls) AS part, m.calls AS whole, m.calls AS n, CAST(NULL AS DOUBLE) AS lo, CAST(NULL AS DOUBLE) AS hi,
    CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families AS u
JOIN call_families AS m ON u.artifact_id = m.artifact_id
WHERE u.family = 'munmap' AND m.family = 'mmap' AND m.source = 'summary'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(NULL AS DOUBLE) AS lo, CAST(NULL AS DOUBLE) AS hi, CAST(1 AS BIGINT) AS scale_up,
    CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor,
    CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'map'
-- alternate: log
-- mechanism: M5
-- probe: ptrace_stop
-- metric: map_calls_per_cpu_second unit=1/s reject=100 support=5000 saturate=100000 scale=log10 interval=given min_n=0 basis=count source=measured:"40 000 pairs in 0.74 s of CPU time; t and r are house figures, the interval is the spread of the bare runs (rules.md R21 A)"
-- metric: unbalanced_share unit=share reject=0.6 support=0.2 saturate=0.02 scale=linear interval=complete min_n=1 basis=count source=house:"munmap/mmap within 0.8 to 1.2 (rules.md R21 A)"
-- normalizer: the CPU time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'map' AND source = 'log'
-- evidence: {map_calls_per_cpu_second.part} mmap, munmap and madvise calls, {map_calls_per_cpu_second.value} per second of CPU time; {unbalanced_share.part} of {unbalanced_share.whole} mappings without their munmap
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'map_calls_per_cpu_second' AS metric, calls AS part,
    bare_cpu_ns AS whole, calls AS n,
    CAST(calls AS DOUBLE) * CAST(1000000000 AS DOUBLE) * CAST(work_up AS DOUBLE) / CAST(work_down AS DOUBLE) / CAST(cpu_most_ns AS DOUBLE) AS lo,
    CAST(calls AS DOUBLE) * CAST(1000000000 AS DOUBLE) * CAST(work_up AS DOUBLE) / CAST(work_down AS DOUBLE) / CAST(cpu_least_ns AS DOUBLE) AS hi,
    work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor, '@user_ns+system_ns' AS whole_anchor,
    bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'map' AND source = 'log'
UNION ALL
SELECT u.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'unbalanced_share' AS metric,
    ABS(u.calls - m.calls) AS part, m.calls AS whole, m.calls AS n, CAST(NULL AS DOUBLE) AS lo, CAST(NULL AS DOUBLE) AS hi,
    CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families AS u
JOIN call_families AS m ON u.artifact_id = m.artifact_id
WHERE u.family = 'munmap' AND m.family = 'mmap' AND m.source = 'log'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(NULL AS DOUBLE) AS lo, CAST(NULL AS DOUBLE) AS hi, CAST(1 AS BIGINT) AS scale_up,
    CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor,
    CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'map'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: map_calls_per_cpu_second unit=1/s reject=100 support=5000 saturate=100000 scale=log10 interval=given min_n=0 basis=count source=measured:"40 000 pairs in 0.74 s of CPU time; t and r are house figures, the interval is the spread of the bare runs (rules.md R21 A)"
-- metric: unbalanced_share unit=share reject=0.6 support=0.2 saturate=0.02 scale=linear interval=complete min_n=1 basis=count source=house:"munmap/mmap within 0.8 to 1.2 (rules.md R21 A)"
-- normalizer: the CPU time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'map' AND source = 'trace'
-- evidence: {map_calls_per_cpu_second.part} mmap, munmap and madvise calls, {map_calls_per_cpu_second.value} per second of CPU time; {unbalanced_share.part} of {unbalanced_share.whole} mappings without their munmap
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'map_calls_per_cpu_second' AS metric, calls AS part,
    bare_cpu_ns AS whole, calls AS n,
    CAST(calls AS DOUBLE) * CAST(1000000000 AS DOUBLE) * CAST(work_up AS DOUBLE) / CAST(work_down AS DOUBLE) / CAST(cpu_most_ns AS DOUBLE) AS lo,
    CAST(calls AS DOUBLE) * CAST(1000000000 AS DOUBLE) * CAST(work_up AS DOUBLE) / CAST(work_down AS DOUBLE) / CAST(cpu_least_ns AS DOUBLE) AS hi,
    work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor, '@user_ns+system_ns' AS whole_anchor,
    bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'map' AND source = 'trace'
UNION ALL
SELECT u.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'unbalanced_share' AS metric,
    ABS(u.calls - m.calls) AS part, m.calls AS whole, m.calls AS n, CAST(NULL AS DOUBLE) AS lo, CAST(NULL AS DOUBLE) AS hi,
    CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families AS u
JOIN call_families AS m ON u.artifact_id = m.artifact_id
WHERE u.family = 'munmap' AND m.family = 'mmap' AND m.source = 'trace'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(NULL AS DOUBLE) AS lo, CAST(NULL AS DOUBLE) AS hi, CAST(1 AS BIGINT) AS scale_up,
    CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor,
    CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'map'
--
-- slot: B
-- alternate: time in mappings
-- mechanism: M1
-- probe: event
-- metric: mm_share unit=share reject=0.02 support=0.1 saturate=0.5 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3; measured: 22 % exc_page_fault and 11 % flush_tlb_mm_range (rules.md R21 B)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in the mapping, unmapping and faulting in of memory
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id, CASE WHEN site_kind = 'run' THEN 'mm_share' ELSE 'site' END AS metric,
    part AS part, whole AS whole, n AS n, n_eff AS n_eff, certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM class_shares
WHERE class = 'MM'
--
-- slot: C
-- alternate: recycled pages
-- mechanism: M10
-- probe: mm_counters
-- metric: faults_per_cpu_second unit=1/s reject=1000 support=50000 saturate=500000 scale=log10 interval=accounting min_n=0 basis=memory source=measured:"640 050 faults in 0.74 s, 16 per mapping; t and r are house figures (rules.md R21 C)"
-- metric: recycled unit=ratio reject=2.0 support=100.0 saturate=2000.0 scale=log10 interval=accounting min_n=0 basis=memory source=house:"fault bytes over the largest resident set: each page is faulted in a hundred times over, memory is recycled and not grown. rules.md R21 C asks for at most 64 MiB resident, which leaves out large programs that churn"
-- normalizer: the CPU time of the same run
-- needs: artifacts where kind = 'time-v'
-- needs: executions where minor_faults IS NOT NULL AND user_ns IS NOT NULL AND system_ns IS NOT NULL
-- evidence: {faults_per_cpu_second.part} minor faults, {faults_per_cpu_second.value} per second of CPU time: {recycled.value} times the largest resident set
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'faults_per_cpu_second' AS metric, e.minor_faults AS part,
    e.user_ns + e.system_ns AS whole, e.minor_faults AS n, CAST(1 AS BIGINT) AS scale_up, '@minor_faults' AS part_anchor,
    '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.minor_faults IS NOT NULL AND e.user_ns IS NOT NULL AND e.system_ns IS NOT NULL
UNION ALL
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'recycled' AS metric, e.minor_faults AS part,
    e.max_rss_bytes AS whole, e.minor_faults AS n, CAST(4096 AS BIGINT) AS scale_up, '@minor_faults' AS part_anchor, '@max_rss_bytes' AS whole_anchor
FROM executions AS e
WHERE e.minor_faults IS NOT NULL AND e.max_rss_bytes IS NOT NULL
-- alternate: page-faults counter
-- mechanism: M10
-- probe: sw_count
-- metric: faults_per_cpu_second unit=1/s reject=1000 support=50000 saturate=500000 scale=log10 interval=accounting min_n=0 basis=memory source=measured:"640 050 faults in 0.74 s, 16 per mapping; t and r are house figures (rules.md R21 C)"
-- normalizer: task-clock of the same run
-- needs: counters where event = 'page-faults' AND value IS NOT NULL AND interval_ns IS NULL
-- evidence: {part} page faults, {value} per second of CPU time
-- record: perf stat -j -o perf-stat.json -e task-clock,page-faults,major-faults,context-switches,duration_time,user_time,system_time -- {argv}
WITH clocks AS (
    SELECT artifact_id AS artifact_id, MAX(value) AS cpu_ns FROM counters WHERE event = 'task-clock' AND interval_ns IS NULL GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'faults_per_cpu_second' AS metric, c.value AS part,
    k.cpu_ns AS whole, c.value AS n, 'sum=counters.value&event=page-faults' AS part_anchor, 'sum=counters.value&event=task-clock' AS whole_anchor
FROM counters AS c
JOIN clocks AS k ON c.artifact_id = k.artifact_id
WHERE c.event = 'page-faults' AND c.value IS NOT NULL AND c.interval_ns IS NULL
