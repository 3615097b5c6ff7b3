-- id: R28
-- name: io.disk_wait
-- claim: The program waits for block I/O that is no fsync: reads that miss the page cache, direct writes.
-- category: I/O
-- scope: call path
-- resource: off-cpu
-- cost: A.disk_wait_share, B.file_time_share
-- effort: 3
-- advice: Keep several requests in flight (threads, io_uring), read ahead, read in the order of the disk, cache what is read twice.
-- false_positives: D state also covers some locks of the kernel and network file systems; warming up of the page cache after a start.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: off-CPU
-- mechanism: M4
-- probe: sched_switch
-- metric: disk_wait_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R28 A"
-- normalizer: the life of the worker threads in the recorded window
-- needs: off_cpu
-- evidence: {percent} of the workers' time is blocked on the disk (fsync and page faults not counted)
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs; or perf record -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'disk_wait_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, scale_down AS scale_down,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM wait_shares
WHERE topic = 'disk'
--
-- slot: B
-- alternate: summary in wall time
-- mechanism: M5
-- probe: ptrace_stop
-- metric: file_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R28 B"
-- normalizer: the wall time of the traced run, per thread
-- needs: call_families where family = 'file' AND source = 'summary' AND call_ns IS NOT NULL
-- with: call_places where family = 'file'
-- evidence: {n} reads and positioned writes took {part_s} s; the traced run lasted {whole_s} s
-- record: strace -f -c -w -o strace-cw.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'file_time_share' AS metric, call_ns AS part,
    own_wall_ns AS whole, calls AS n, threads AS scale_down, CAST(NULL AS BIGINT) AS certain, time_anchor AS part_anchor, wall_anchor AS whole_anchor
FROM call_families
WHERE family = 'file' AND source = 'summary'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.call_ns AS part,
    p.all_ns AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor,
    CAST(NULL AS STRING) AS whole_anchor
FROM call_places AS p
WHERE p.family = 'file'
-- alternate: log with times
-- mechanism: M5
-- probe: ptrace_stop
-- metric: file_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R28 B"
-- normalizer: the wall time of the traced run, per thread
-- needs: call_families where family = 'file' AND source = 'log' AND call_ns IS NOT NULL
-- evidence: {n} reads and positioned writes took {part_s} s; the traced run lasted {whole_s} s
-- record: strace -k -f -ttt -T -e trace=read,pread64,readv,pwrite64 -o reads.strace -- {argv}
WITH logged AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS call_ns, CAST(COUNT(dur_ns) AS BIGINT) AS calls FROM syscall_events
    WHERE name IN ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'pwrite64', 'pwritev', 'pwritev2') AND dur_ns IS NOT NULL AND COALESCE(fd_kind, 'unknown') NOT IN ('pipe', 'socket', 'eventfd', 'tty')
    GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'file_time_share' AS metric,
    COALESCE(l.call_ns, 0) AS part, c.own_wall_ns AS whole, COALESCE(l.calls, 0) AS n, c.threads AS scale_down, CAST(NULL AS BIGINT) AS certain,
    c.wall_anchor AS whole_anchor
FROM call_families AS c
LEFT JOIN logged AS l ON c.artifact_id = l.artifact_id
WHERE c.family = 'file' AND c.source = 'log'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.call_ns AS part,
    p.all_ns AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS whole_anchor
FROM call_places AS p
WHERE p.family = 'file'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: file_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R28 B"
-- normalizer: the wall time of the traced run, per thread
-- needs: call_families where family = 'file' AND source = 'trace' AND call_ns IS NOT NULL
-- evidence: {n} reads and positioned writes took {part_s} s; the traced run lasted {whole_s} s
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
WITH logged AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(dur_ns) AS BIGINT) AS call_ns, CAST(COUNT(dur_ns) AS BIGINT) AS calls FROM syscall_events
    WHERE name IN ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'pwrite64', 'pwritev', 'pwritev2') AND dur_ns IS NOT NULL AND COALESCE(fd_kind, 'unknown') NOT IN ('pipe', 'socket', 'eventfd', 'tty')
    GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'file_time_share' AS metric,
    COALESCE(l.call_ns, 0) AS part, c.own_wall_ns AS whole, COALESCE(l.calls, 0) AS n, c.threads AS scale_down, CAST(NULL AS BIGINT) AS certain,
    c.wall_anchor AS whole_anchor
FROM call_families AS c
LEFT JOIN logged AS l ON c.artifact_id = l.artifact_id
WHERE c.family = 'file' AND c.source = 'trace'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.call_ns AS part,
    p.all_ns AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS whole_anchor
FROM call_places AS p
WHERE p.family = 'file'
--
-- slot: C
-- alternate: requests of the block layer
-- mechanism: M8
-- probe: tp_block
-- metric: request_busy_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=complete min_n=0 basis=time source=house:"the time that requests were in service over the window, flushes not counted (R27); rules.md R28 C"
-- normalizer: the recorded window
-- needs: block_requests
-- evidence: {n} requests were served for {part_s} s in {whole_s} s
-- record: perf record -a -e 'block:*' -o block.perf.data -- {argv}
WITH served AS (
    SELECT b.artifact_id AS artifact_id, CAST(SUM(b.dur_ns) AS BIGINT) AS dur_ns, CAST(COUNT(b.dur_ns) AS BIGINT) AS n
    FROM block_requests AS b
    WHERE b.dur_ns IS NOT NULL AND b.operation NOT LIKE 'F%'
    GROUP BY b.artifact_id
),
covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM block_requests
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'request_busy_share' AS metric,
    COALESCE(s.dur_ns, 0) AS part, COALESCE(a.window_ns, a.wall_ns) AS whole, COALESCE(s.n, 0) AS n, 'sum=artifacts.window_ns' AS whole_anchor
FROM covered AS c
JOIN artifacts AS a ON c.artifact_id = a.artifact_id
LEFT JOIN served AS s ON c.artifact_id = s.artifact_id
-- alternate: histogram of the block layer
-- mechanism: M8
-- probe: bpf_map
-- metric: request_busy_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=given min_n=0 basis=time source=house:"rules.md R28 C"
-- normalizer: how long the tool watched (a histogram says between which bounds the time lies)
-- needs: block_time where kind = 'all'
-- evidence: requests to the busiest disk took at least {part_s} s of {whole_s} s ({n} requests)
-- record: biolatency -D -F 5 1 > biolatency.txt while {argv} runs
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'request_busy_share' AS metric, least_ns AS part, window_ns AS whole,
    n AS n, CAST(least_ns AS DOUBLE) / CAST(window_ns AS DOUBLE) AS lo, CAST(most_ns AS DOUBLE) / CAST(window_ns AS DOUBLE) AS hi,
    anchor AS part_anchor, window_anchor AS whole_anchor
FROM block_time
WHERE kind = 'all'
-- alternate: busy disk
-- mechanism: M8
-- probe: procfs
-- metric: request_busy_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=accounting min_n=2 basis=time source=house:"rules.md R28 C; %util of iostat is the time with a request in service"
-- normalizer: the intervals of the tool
-- needs: accounting where key = 'busy' AND moment = 'interval'
-- evidence: over {n} intervals the busiest disk had a request in service {percent} of the time
-- record: iostat -x 1 > iostat.txt while {argv} runs
WITH disks AS (
    SELECT artifact_id AS artifact_id, scope AS scope, CAST(SUM(value) AS BIGINT) AS busy, CAST(COUNT(line_no) AS BIGINT) AS n FROM accounting
    WHERE key = 'busy' AND moment = 'interval'
    GROUP BY artifact_id, scope
),
most AS (
    SELECT artifact_id AS artifact_id, MAX(busy) AS busy FROM disks GROUP BY artifact_id
),
busiest AS (
    SELECT d.artifact_id AS artifact_id, MIN(d.scope) AS scope, MAX(d.busy) AS busy, MAX(d.n) AS n
    FROM disks AS d
    JOIN most AS m ON d.artifact_id = m.artifact_id AND d.busy = m.busy
    GROUP BY d.artifact_id
)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'request_busy_share' AS metric, busy AS part,
    n * 1000000 AS whole, n AS n, 'rows=accounting.value&key=busy&moment=interval&scope=' || scope AS part_anchor
FROM busiest
-- alternate: pressure of the disk between snapshots
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R28 C"
-- normalizer: the time between the snapshots
-- needs: pressure where key = 'psi_io_some'
-- evidence: for {part_s} s of {whole_s} s some task waited for the disk
-- record: tail -n +1 /proc/uptime /proc/pressure/io > before.txt; {argv}; tail -n +1 /proc/uptime /proc/pressure/io > after.txt
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pressure_share' AS metric, waited_ns AS part,
    window_ns AS whole, CAST(2 AS BIGINT) AS n, anchor AS part_anchor, window_anchor AS whole_anchor
FROM pressure
WHERE key = 'psi_io_some'
-- alternate: pressure of the disk
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R28 C"
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
-- alternate: pressure of the disk at the end
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.01 support=0.10 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R28 C"
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
