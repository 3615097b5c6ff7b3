-- id: R22
-- name: mem.page_fault_storm
-- claim: The program touches fresh memory so fast that the kernel's page-fault work takes a large part of the CPU time.
-- category: Memory
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R29, R09
-- cost: B.fault_share
-- effort: 2
-- advice: Reuse buffers, use huge pages, prefault in parallel, avoid calloc of giant buffers.
-- false_positives: The first touch at start-up; copy-on-write after fork; a heap that grows (R19) or mappings that churn (R21) fault as a consequence.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: minor faults
-- mechanism: M10
-- probe: mm_counters
-- metric: faults_per_cpu_second unit=1/s reject=1000 support=50000 saturate=250000 scale=log10 interval=accounting min_n=0 basis=memory cost=page_fault source=measured:"a 4 KiB fault costs 1.9 us: 50 000/s are about 10 % of a core; rules.md R22"
-- normalizer: CPU time of the same run
-- needs: artifacts where kind = 'time-v'
-- needs: executions where minor_faults IS NOT NULL AND user_ns IS NOT NULL AND system_ns IS NOT NULL
-- evidence: {part} minor faults, {value} per second of CPU time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'faults_per_cpu_second' AS metric,
    e.minor_faults AS part, e.user_ns + e.system_ns AS whole, e.minor_faults AS n, '@minor_faults' AS part_anchor, '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.minor_faults IS NOT NULL AND e.user_ns IS NOT NULL AND e.system_ns IS NOT NULL
-- alternate: page-faults counter
-- mechanism: M10
-- probe: sw_count
-- metric: faults_per_cpu_second unit=1/s reject=1000 support=50000 saturate=250000 scale=log10 interval=accounting min_n=0 basis=memory cost=page_fault source=measured:"a 4 KiB fault costs 1.9 us: 50 000/s are about 10 % of a core; rules.md R22"
-- normalizer: task-clock of the same run
-- needs: counters where event = 'page-faults' AND value IS NOT NULL
-- evidence: {part} page faults, {value} per second of CPU time
-- record: perf stat -j -o perf-stat.json -e task-clock,page-faults,major-faults,duration_time,user_time,system_time -- {argv}
WITH clocks AS (
    SELECT artifact_id AS artifact_id, MAX(value) AS cpu_ns FROM counters WHERE event = 'task-clock' GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'faults_per_cpu_second' AS metric,
    c.value AS part, k.cpu_ns AS whole, c.value AS n, 'sum=counters.value&event=page-faults' AS part_anchor, 'sum=counters.value&event=task-clock' AS whole_anchor
FROM counters AS c
JOIN clocks AS k ON c.artifact_id = k.artifact_id
WHERE c.event = 'page-faults' AND c.value IS NOT NULL AND c.interval_ns IS NULL
--
-- slot: B
-- alternate: time in page faults
-- mechanism: M1
-- probe: event
-- metric: fault_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3; rules.md 3.0"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in page faults
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
WITH of_class AS (
    SELECT artifact_id AS artifact_id, total_weight AS weight FROM class_costs WHERE class = 'FAULT'
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'fault_share' AS metric,
    COALESCE(k.weight, 0) AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(NULL AS BIGINT) AS certain,
    'sum=samples.weight&has=FAULT' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN of_class AS k ON c.artifact_id = k.artifact_id
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric,
    s.weight AS part, k.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(s.certain AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM class_sites AS s
JOIN of_class AS k ON s.artifact_id = k.artifact_id
JOIN cpu_events AS c ON s.artifact_id = c.artifact_id
WHERE s.class = 'FAULT'
--
-- slot: C
-- alternate: system share of the repetitions
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.10 support=0.30 saturate=0.60 scale=linear interval=accounting min_n=1 basis=cputime source=house:"toplev flags a kernel utilization above 0.05 as information; rules.md R22 C"
-- needs: bench_base where user_ns IS NOT NULL AND system_ns IS NOT NULL
-- evidence: {percent} of the CPU time of {n} repetitions is system time
-- record: for i in 1 2 3 4 5 6 7 8 9 10; do hyperfine -N --runs 1 --export-json bench/$i.json '{argv}'; done
SELECT s.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'system_share' AS metric,
    s.system_ns AS part, s.user_ns + s.system_ns AS whole, s.n AS n
FROM bench_base AS s
WHERE s.user_ns IS NOT NULL AND s.system_ns IS NOT NULL
-- alternate: system share
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.10 support=0.30 saturate=0.60 scale=linear interval=accounting min_n=0 basis=cputime source=house:"toplev flags a kernel utilization above 0.05 as information; rules.md R22 C"
-- needs: artifacts where kind = 'time-v'
-- needs: executions where user_ns IS NOT NULL AND system_ns IS NOT NULL
-- evidence: {part_s} s of {whole_s} s of CPU time are system time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'system_share' AS metric,
    e.system_ns AS part, e.user_ns + e.system_ns AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n,
    '@system_ns' AS part_anchor, '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.user_ns IS NOT NULL AND e.system_ns IS NOT NULL
-- alternate: histogram of page faults
-- mechanism: M8
-- probe: tp_exceptions
-- metric: faults_per_second unit=1/s reject=1000 support=50000 saturate=250000 scale=log10 interval=complete min_n=0 basis=count source=measured:"a 4 KiB fault costs 1.9 us: 50 000/s are about 10 % of a core; rules.md R22"
-- normalizer: how long the tool watched
-- needs: histograms where metric LIKE 'page_fault%'
-- evidence: {part} page faults of user code, {value} per second
-- record: bpftrace -e 'tracepoint:exceptions:page_fault_user /comm == "PROGRAM"/ { @page_fault_address = hist(args->address); } interval:s:5 { exit(); }' while {argv} runs
WITH counted AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(count) AS BIGINT) AS n FROM histograms WHERE metric LIKE 'page_fault%' GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'faults_per_second' AS metric, c.n AS part,
    COALESCE(a.window_ns, a.wall_ns) AS whole, c.n AS n, 'sum=histograms.count' AS part_anchor,
    CASE WHEN a.window_ns IS NULL THEN 'sum=artifacts.wall_ns' ELSE 'sum=artifacts.window_ns' END AS whole_anchor
FROM counted AS c
JOIN artifacts AS a ON c.artifact_id = a.artifact_id
