-- id: R23
-- name: io.major_faults
-- claim: Pages that the program touches are not in memory: it waits for the disk inside page faults.
-- category: I/O
-- scope: run
-- resource: off-cpu
-- explains: R22 all
-- cost: B.page_in_share
-- effort: 2
-- advice: Read ahead (MAP_POPULATE, madvise WILLNEED, fadvise), make the working set smaller, add memory, lay data out in the order of use.
-- false_positives: A cold first run (compare a warm one); the exec of a big binary; swap on a machine that others filled.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: major faults
-- mechanism: M10
-- probe: mm_counters
-- metric: major_faults_per_second unit=1/s reject=1 support=100 saturate=10000 scale=log10 interval=accounting min_n=0 basis=memory source=house:"a site rule in use alarms at 1 000 per second on a whole machine (GitLab); rules.md R23 A"
-- normalizer: the wall time of the same run
-- needs: artifacts where kind = 'time-v'
-- needs: executions where major_faults IS NOT NULL AND wall_ns IS NOT NULL
-- evidence: {part} major faults, {value} per second of wall time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'major_faults_per_second' AS metric,
    e.major_faults AS part, e.wall_ns AS whole, e.major_faults AS n, '@major_faults' AS part_anchor, '@wall_ns' AS whole_anchor
FROM executions AS e
WHERE e.major_faults IS NOT NULL AND e.wall_ns IS NOT NULL
-- alternate: major-faults counter
-- mechanism: M10
-- probe: sw_count
-- metric: major_faults_per_second unit=1/s reject=1 support=100 saturate=10000 scale=log10 interval=accounting min_n=0 basis=memory source=house:"a site rule in use alarms at 1 000 per second on a whole machine (GitLab); rules.md R23 A"
-- normalizer: duration_time of the same run
-- needs: counters where event = 'major-faults' AND value IS NOT NULL AND interval_ns IS NULL
-- evidence: {part} major faults, {value} per second of wall time
-- record: perf stat -j -o perf-stat.json -e task-clock,page-faults,major-faults,context-switches,duration_time,user_time,system_time -- {argv}
WITH walls AS (
    SELECT artifact_id AS artifact_id, MAX(value) AS wall_ns FROM counters WHERE event = 'duration_time' AND interval_ns IS NULL GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'major_faults_per_second' AS metric, c.value AS part,
    w.wall_ns AS whole, c.value AS n, 'sum=counters.value&event=major-faults' AS part_anchor,
    'sum=counters.value&event=duration_time' AS whole_anchor
FROM counters AS c
JOIN walls AS w ON c.artifact_id = w.artifact_id
WHERE c.event = 'major-faults' AND c.value IS NOT NULL AND c.interval_ns IS NULL
--
-- slot: B
-- alternate: off-CPU
-- mechanism: M4
-- probe: sched_switch
-- metric: page_in_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=complete min_n=0 basis=time source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- normalizer: the life of the worker threads in the recorded window
-- needs: off_cpu
-- evidence: {percent} of the workers' time is blocked in page faults that wait for the disk
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs; or perf record -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'page_in_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, scale_down AS scale_down,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM wait_shares
WHERE topic = 'page-in'
--
-- slot: C
-- alternate: requests of the block layer
-- mechanism: M8
-- probe: tp_block
-- metric: read_busy_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=complete min_n=0 basis=time source=house:"the time that reads were in service, over the window; rules.md R23 C"
-- normalizer: the recorded window
-- needs: block_requests
-- evidence: {n} reads were served for {part_s} s in {whole_s} s
-- record: perf record -a -e 'block:*' -o block.perf.data -- {argv}
WITH served AS (
    SELECT b.artifact_id AS artifact_id, CAST(SUM(b.dur_ns) AS BIGINT) AS dur_ns, CAST(COUNT(b.dur_ns) AS BIGINT) AS n
    FROM block_requests AS b
    WHERE b.dur_ns IS NOT NULL AND b.operation LIKE 'R%'
    GROUP BY b.artifact_id
),
covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM block_requests
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'read_busy_share' AS metric, COALESCE(s.dur_ns, 0) AS part,
    COALESCE(a.window_ns, a.wall_ns) AS whole, COALESCE(s.n, 0) AS n, 'sum=artifacts.window_ns' AS whole_anchor
FROM covered AS c
JOIN artifacts AS a ON c.artifact_id = a.artifact_id
LEFT JOIN served AS s ON c.artifact_id = s.artifact_id
-- alternate: reads of the block layer
-- mechanism: M8
-- probe: bpf_map
-- metric: read_busy_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=given min_n=0 basis=time source=house:"rules.md R23 C"
-- normalizer: how long the tool watched (a histogram says between which bounds the time lies)
-- needs: block_time where kind = 'read'
-- evidence: reads from the busiest disk took at least {part_s} s of {whole_s} s ({n} requests)
-- record: biolatency -D -F 5 1 > biolatency.txt while {argv} runs
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'read_busy_share' AS metric, least_ns AS part, window_ns AS whole,
    n AS n, CAST(least_ns AS DOUBLE) / CAST(window_ns AS DOUBLE) AS lo, CAST(most_ns AS DOUBLE) / CAST(window_ns AS DOUBLE) AS hi,
    anchor AS part_anchor, window_anchor AS whole_anchor
FROM block_time
WHERE kind = 'read'
-- alternate: pressure of the disk between snapshots
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R23 C"
-- normalizer: the time between the snapshots
-- needs: pressure where key = 'psi_io_some'
-- evidence: for {part_s} s of {whole_s} s some task waited for the disk
-- record: tail -n +1 /proc/uptime /proc/pressure/io > before.txt; {argv}; tail -n +1 /proc/uptime /proc/pressure/io > after.txt
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pressure_share' AS metric, waited_ns AS part,
    window_ns AS whole, CAST(2 AS BIGINT) AS n, anchor AS part_anchor, window_anchor AS whole_anchor
FROM pressure
WHERE key = 'psi_io_some'
-- alternate: pressure of the memory between snapshots
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R23 C"
-- normalizer: the time between the snapshots
-- needs: pressure where key = 'psi_memory_some'
-- evidence: for {part_s} s of {whole_s} s some task waited for memory
-- record: tail -n +1 /proc/uptime /proc/pressure/memory > before.txt; {argv}; tail -n +1 /proc/uptime /proc/pressure/memory > after.txt
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pressure_share' AS metric, waited_ns AS part,
    window_ns AS whole, CAST(2 AS BIGINT) AS n, anchor AS part_anchor, window_anchor AS whole_anchor
FROM pressure
WHERE key = 'psi_memory_some'
-- alternate: pressure of the disk
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R23 C"
-- normalizer: the wall time of the bare runs
-- needs: artifacts where kind = 'manifest'
-- needs: environment where metric = 'psi_io_some'
-- evidence: during {percent} of the bare run some task waited for the disk
-- record: cat /proc/pressure/io before and after {argv} (psi_io_share in manifest.json)
WITH means AS (
    SELECT artifact_id AS artifact_id, AVG(value) AS value, CAST(COUNT(value) AS BIGINT) AS n FROM environment WHERE metric = 'psi_io_some' AND value >= 0 AND value <= 1
    GROUP BY artifact_id
)
SELECT m.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pressure_share' AS metric,
    CAST(m.value * CAST(1000000 AS DOUBLE) - m.value * CAST(1000000 AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole, m.n AS n
FROM means AS m
-- alternate: pressure of the memory
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R23 C"
-- normalizer: the wall time of the bare runs
-- needs: artifacts where kind = 'manifest'
-- needs: environment where metric = 'psi_memory_some'
-- evidence: during {percent} of the bare run some task waited for the memory
-- record: cat /proc/pressure/memory before and after {argv} (psi_memory_share in manifest.json)
WITH means AS (
    SELECT artifact_id AS artifact_id, AVG(value) AS value, CAST(COUNT(value) AS BIGINT) AS n FROM environment WHERE metric = 'psi_memory_some' AND value >= 0 AND value <= 1
    GROUP BY artifact_id
)
SELECT m.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pressure_share' AS metric,
    CAST(m.value * CAST(1000000 AS DOUBLE) - m.value * CAST(1000000 AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole, m.n AS n
FROM means AS m
-- alternate: pressure of the disk at the end
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R23 C"
-- normalizer: the last 10 s of a run of at least 10 s
-- needs: accounting where key = 'psi_io_some_avg10' AND moment = 'average'
-- evidence: in the 10 s before the snapshot some task waited for the disk {percent} of the time
-- record: {argv}; tail -n +1 /proc/pressure/io > after.txt
WITH chosen AS (
    SELECT artifact_id AS artifact_id, MAX(scope) AS scope FROM accounting WHERE key = 'psi_io_some_avg10' AND moment = 'average' GROUP BY artifact_id
),
averages AS (
    SELECT artifact_id AS artifact_id, scope AS scope, value AS value, line_no AS line_no FROM accounting
    WHERE key = 'psi_io_some_avg10' AND moment = 'average'
)
SELECT v.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pressure_share' AS metric, v.value AS part,
    CASE WHEN b.wall_ns >= 10000000000 THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS whole, CAST(1 AS BIGINT) AS n,
    'L=' || CAST(v.line_no AS STRING) AS part_anchor
FROM averages AS v
JOIN chosen AS c ON v.artifact_id = c.artifact_id AND v.scope = c.scope
CROSS JOIN bare AS b
