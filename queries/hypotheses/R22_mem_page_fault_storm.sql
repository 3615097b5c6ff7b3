-- id: R22
-- name: mem.page_fault_storm
-- claim: The CPU is busy giving the program pages it touches for the first time.
-- category: Memory
-- scope: call path
-- resource: cpu
-- explains: R29
-- cost: B.fault_share, C.system_share
-- effort: 2
-- advice: Reuse buffers, use huge pages, touch memory beforehand in parallel, avoid calloc of giant buffers.
-- false_positives: The first touch at start-up; fork with copy on write (look for clone calls); NUMA hinting faults; a memory balloon.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: faults of the bare run
-- mechanism: M10
-- probe: mm_counters
-- metric: faults_per_cpu_second unit=1/s reject=1000 support=50000 saturate=500000 scale=log10 interval=accounting min_n=10 basis=memory source=measured:"a 4 KiB fault cost 1.9 us, so 50 000/s are 10 % of a core; 50 to 120 faults are start-up (rules.md R22)"
-- normalizer: the CPU time of the same run
-- needs: artifacts where kind = 'time-v'
-- needs: executions where minor_faults IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {part} minor faults in {whole_s} s of CPU time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'faults_per_cpu_second' AS metric, e.minor_faults AS part,
    e.user_ns + e.system_ns AS whole, CAST(CAST(e.user_ns + e.system_ns AS DOUBLE) / CAST(10000000 AS DOUBLE) AS BIGINT) AS n,
    '@minor_faults' AS part_anchor, '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.minor_faults IS NOT NULL AND e.user_ns IS NOT NULL AND e.system_ns IS NOT NULL
-- alternate: faults counted by perf stat
-- mechanism: M10
-- probe: sw_count
-- metric: faults_per_cpu_second unit=1/s reject=1000 support=50000 saturate=500000 scale=log10 interval=accounting min_n=10 basis=memory source=measured:"a 4 KiB fault cost 1.9 us, so 50 000/s are 10 % of a core; 50 to 120 faults are start-up (rules.md R22)"
-- normalizer: the CPU time of the same run
-- needs: counters where event = 'page-faults' AND value IS NOT NULL
-- needs: counters where event = 'task-clock' AND value IS NOT NULL
-- evidence: {part} faults in {whole_s} s of CPU time
-- record: perf stat -j -o perf-stat.json -e task-clock,page-faults,user_time,system_time -- {argv}
WITH faults AS (
    SELECT artifact_id AS artifact_id, MAX(value) AS value FROM counters WHERE event = 'page-faults' AND value IS NOT NULL GROUP BY artifact_id
),
clock AS (
    SELECT artifact_id AS artifact_id, MAX(value) AS value FROM counters WHERE event = 'task-clock' AND value IS NOT NULL GROUP BY artifact_id
)
SELECT f.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'faults_per_cpu_second' AS metric, f.value AS part, c.value AS whole,
    CAST(CAST(c.value AS DOUBLE) / CAST(10000000 AS DOUBLE) AS BIGINT) AS n, 'sum=counters.value&event=page-faults' AS part_anchor,
    'sum=counters.value&event=task-clock' AS whole_anchor
FROM faults AS f
JOIN clock AS c ON f.artifact_id = c.artifact_id
--
-- slot: B
-- alternate: fault share
-- mechanism: M1
-- probe: event
-- metric: fault_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples handle page faults
-- record: perf record -F 997 --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
WITH path AS (
    SELECT artifact_id AS artifact_id, total_weight AS weight, total_count AS n FROM class_costs WHERE class = 'FAULT'
),
sites AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, weight AS weight, certain AS certain FROM class_sites WHERE class = 'FAULT'
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'fault_share' AS metric, COALESCE(p.weight, 0) AS part, c.weight AS whole,
    c.n AS n, c.n_eff AS n_eff, CAST(NULL AS BIGINT) AS certain, 'sum=samples.weight&class=FAULT' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN path AS p ON c.artifact_id = p.artifact_id
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.weight AS part,
    p.weight AS whole, p.n AS n, CAST(NULL AS DOUBLE) AS n_eff, CAST(s.certain AS BIGINT) AS certain, CAST(NULL AS VARCHAR) AS part_anchor, CAST(NULL AS VARCHAR) AS whole_anchor
FROM sites AS s
JOIN path AS p ON s.artifact_id = p.artifact_id
--
-- slot: C
-- alternate: system share of the repetitions
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.1 support=0.3 saturate=0.7 scale=linear interval=accounting min_n=10 basis=cputime source=house:"rules.md R22 C"
-- needs: benchmarks where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {percent} of the CPU time of the repetitions is system time
-- record: for i in 1 2 3 4 5 6 7 8 9 10; do hyperfine -N --runs 1 --export-json bench-$i.json '{argv}'; done
WITH own AS (
    SELECT r.artifact_id AS artifact_id, CAST(SUM(r.system_ns) AS BIGINT) AS system_ns, CAST(SUM(r.user_ns) AS BIGINT) AS user_ns
    FROM benchmarks AS r
    CROSS JOIN bare AS b
    WHERE r.system_ns IS NOT NULL AND r.user_ns IS NOT NULL AND r.threads IS NULL
        AND COALESCE(r.variant, b.variant, 'none') = COALESCE(b.variant, r.variant, 'none')
    GROUP BY r.artifact_id
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'system_share' AS metric, o.system_ns AS part,
    o.user_ns + o.system_ns AS whole, CAST(CAST(o.user_ns + o.system_ns AS DOUBLE) / CAST(10000000 AS DOUBLE) AS BIGINT) AS n,
    '@@system_ns' AS part_anchor, '@@user_ns+system_ns' AS whole_anchor
FROM own AS o
-- alternate: system share
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.1 support=0.3 saturate=0.7 scale=linear interval=accounting min_n=10 basis=cputime source=house:"rules.md R22 C"
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {percent} of the CPU time is system time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'system_share' AS metric, e.system_ns AS part,
    e.user_ns + e.system_ns AS whole, CAST(CAST(e.user_ns + e.system_ns AS DOUBLE) / CAST(10000000 AS DOUBLE) AS BIGINT) AS n,
    '@system_ns' AS part_anchor, '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
