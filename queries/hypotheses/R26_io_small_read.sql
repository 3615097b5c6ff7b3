-- id: R26
-- name: io.small_read
-- claim: The program fetches its input from the kernel in many small pieces, each with a system call of its own.
-- category: I/O
-- scope: syscall
-- resource: cpu
-- explains: R29
-- cost: B.read_path_share, C.system_share
-- effort: 1
-- advice: Read through a buffer of 8 to 64 KiB (BufReader, setvbuf), map the file, use readv, make records bigger.
-- false_positives: Interactive input by design; pipes and sockets that hand over what there is; /proc and /dev/urandom; a read that returns nothing at the end of a file that grows.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: calls_per_second unit=1/s reject=100 support=10000 saturate=100000 scale=log10 interval=complete min_n=0 basis=count source=house:"10 000 calls of 1 us are 1 % of a core; rules.md R26"
-- metric: bytes_per_call unit=bytes reject=4096 support=512 saturate=32 scale=log10 interval=complete min_n=20 basis=count source=house:"4 KiB page, 8 KiB stdio buffer; rules.md R26"
-- normalizer: the wall time of the bare run, or what the descriptors are (pipes and sockets do not count; each read is answered by a switch)
-- needs: call_families where family = 'read' AND source = 'summary'
-- with: syscall_events where name IN ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'getdents', 'getdents64') AND (result >= 0 OR length IS NOT NULL)
-- evidence: {calls_per_second.part} read calls, {calls_per_second.value} per second of the bare run, {bytes_per_call.value} bytes each
-- record: strace -f -c -o strace-c.txt -- {argv}; strace -k -f -ttt -T -e trace=read,pread64,readv -o reads.strace -- {argv}
WITH logged AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN result >= 0 THEN result ELSE length END) AS BIGINT) AS bytes, CAST(COUNT(line_no) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN fd_kind IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS unknown
    FROM syscall_events
    WHERE name IN ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'getdents', 'getdents64') AND (result >= 0 OR length IS NOT NULL) AND COALESCE(fd_kind, 'unknown') NOT IN ('pipe', 'socket', 'eventfd', 'tty')
    GROUP BY artifact_id
),
sized AS (
    SELECT l.artifact_id AS artifact_id, l.bytes AS bytes, l.calls AS calls,
        CASE WHEN l.unknown * 2 > l.calls AND CAST(b.voluntary_switches AS DOUBLE) * CAST(2 AS DOUBLE) * CAST(d.work_down AS DOUBLE)
            >= CAST(l.calls AS DOUBLE) * CAST(d.work_up AS DOUBLE) THEN CAST(NULL AS BIGINT) ELSE l.calls END AS trusted_calls
    FROM logged AS l
    JOIN admitted AS d ON l.artifact_id = d.artifact_id
    CROSS JOIN bare AS b
),
logs AS (
    SELECT CAST(COUNT(artifact_id) AS BIGINT) AS n FROM sized
)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'read' AND source = 'summary'
UNION ALL
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'bytes_per_call' AS metric, CAST(NULL AS BIGINT) AS part,
    CAST(NULL AS BIGINT) AS whole, c.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families AS c
CROSS JOIN logs AS l
WHERE c.family = 'read' AND c.source = 'summary' AND l.n = 0
UNION ALL
SELECT l.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'bytes_per_call' AS metric, l.bytes AS part,
    l.trusted_calls AS whole, l.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM sized AS l
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'read'
-- alternate: log
-- mechanism: M5
-- probe: ptrace_stop
-- metric: calls_per_second unit=1/s reject=100 support=10000 saturate=100000 scale=log10 interval=complete min_n=0 basis=count source=house:"10 000 calls of 1 us are 1 % of a core; rules.md R26"
-- metric: bytes_per_call unit=bytes reject=4096 support=512 saturate=32 scale=log10 interval=complete min_n=20 basis=count source=house:"4 KiB page, 8 KiB stdio buffer; rules.md R26"
-- normalizer: the wall time of the bare run, or what the descriptors are (pipes and sockets do not count; each read is answered by a switch)
-- needs: call_families where family = 'read' AND source = 'log'
-- evidence: {calls_per_second.part} read calls, {calls_per_second.value} per second of the bare run, {bytes_per_call.value} bytes each
-- record: strace -f -c -o strace-c.txt -- {argv}; strace -k -f -ttt -T -e trace=read,pread64,readv -o reads.strace -- {argv}
WITH logged AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN result >= 0 THEN result ELSE length END) AS BIGINT) AS bytes, CAST(COUNT(line_no) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN fd_kind IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS unknown
    FROM syscall_events
    WHERE name IN ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'getdents', 'getdents64') AND (result >= 0 OR length IS NOT NULL) AND COALESCE(fd_kind, 'unknown') NOT IN ('pipe', 'socket', 'eventfd', 'tty')
    GROUP BY artifact_id
),
sized AS (
    SELECT l.artifact_id AS artifact_id, l.bytes AS bytes, l.calls AS calls,
        CASE WHEN l.unknown * 2 > l.calls AND CAST(b.voluntary_switches AS DOUBLE) * CAST(2 AS DOUBLE) * CAST(d.work_down AS DOUBLE)
            >= CAST(l.calls AS DOUBLE) * CAST(d.work_up AS DOUBLE) THEN CAST(NULL AS BIGINT) ELSE l.calls END AS trusted_calls
    FROM logged AS l
    JOIN admitted AS d ON l.artifact_id = d.artifact_id
    CROSS JOIN bare AS b
)
SELECT l.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_second' AS metric, l.calls AS part,
    b.wall_ns AS whole, l.calls AS n, d.work_up AS scale_up, d.work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, '@wall_ns' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM logged AS l
JOIN admitted AS d ON l.artifact_id = d.artifact_id
CROSS JOIN bare AS b
UNION ALL
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_second' AS metric, CAST(0 AS BIGINT) AS part,
    c.bare_wall_ns AS whole, CAST(0 AS BIGINT) AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    c.calls_anchor AS part_anchor, '@wall_ns' AS whole_anchor, c.bare_artifact_id AS whole_artifact_id
FROM call_families AS c
LEFT JOIN logged AS l ON c.artifact_id = l.artifact_id
WHERE c.family = 'read' AND c.source = 'log' AND l.artifact_id IS NULL
UNION ALL
SELECT l.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'bytes_per_call' AS metric, l.bytes AS part,
    l.trusted_calls AS whole, l.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM sized AS l
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'read'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: calls_per_second unit=1/s reject=100 support=10000 saturate=100000 scale=log10 interval=complete min_n=0 basis=count source=house:"10 000 calls of 1 us are 1 % of a core; rules.md R26"
-- metric: bytes_per_call unit=bytes reject=4096 support=512 saturate=32 scale=log10 interval=complete min_n=20 basis=count source=house:"4 KiB page, 8 KiB stdio buffer; rules.md R26"
-- normalizer: the wall time of the bare run, or what the descriptors are (pipes and sockets do not count; each read is answered by a switch)
-- needs: call_families where family = 'read' AND source = 'trace'
-- evidence: {calls_per_second.part} read calls, {calls_per_second.value} per second of the bare run, {bytes_per_call.value} bytes each
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
WITH logged AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN result >= 0 THEN result ELSE length END) AS BIGINT) AS bytes, CAST(COUNT(line_no) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN fd_kind IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS unknown
    FROM syscall_events
    WHERE name IN ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'getdents', 'getdents64') AND (result >= 0 OR length IS NOT NULL) AND COALESCE(fd_kind, 'unknown') NOT IN ('pipe', 'socket', 'eventfd', 'tty')
    GROUP BY artifact_id
),
sized AS (
    SELECT l.artifact_id AS artifact_id, l.bytes AS bytes, l.calls AS calls,
        CASE WHEN l.unknown * 2 > l.calls AND CAST(b.voluntary_switches AS DOUBLE) * CAST(2 AS DOUBLE) * CAST(d.work_down AS DOUBLE)
            >= CAST(l.calls AS DOUBLE) * CAST(d.work_up AS DOUBLE) THEN CAST(NULL AS BIGINT) ELSE l.calls END AS trusted_calls
    FROM logged AS l
    JOIN admitted AS d ON l.artifact_id = d.artifact_id
    CROSS JOIN bare AS b
)
SELECT l.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_second' AS metric, l.calls AS part,
    b.wall_ns AS whole, l.calls AS n, d.work_up AS scale_up, d.work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, '@wall_ns' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM logged AS l
JOIN admitted AS d ON l.artifact_id = d.artifact_id
CROSS JOIN bare AS b
UNION ALL
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_second' AS metric, CAST(0 AS BIGINT) AS part,
    c.bare_wall_ns AS whole, CAST(0 AS BIGINT) AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    c.calls_anchor AS part_anchor, '@wall_ns' AS whole_anchor, c.bare_artifact_id AS whole_artifact_id
FROM call_families AS c
LEFT JOIN logged AS l ON c.artifact_id = l.artifact_id
WHERE c.family = 'read' AND c.source = 'trace' AND l.artifact_id IS NULL
UNION ALL
SELECT l.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'bytes_per_call' AS metric, l.bytes AS part,
    l.trusted_calls AS whole, l.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM sized AS l
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'read'
--
-- slot: B
-- alternate: read path
-- mechanism: M1
-- probe: event
-- metric: read_path_share unit=share reject=0.02 support=0.1 saturate=0.5 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in the read path
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'read_path_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, n_eff AS n_eff,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM class_shares
WHERE class = 'READ_PATH'
--
-- slot: C
-- alternate: the same work through a buffer
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R26 C"
-- needs: bench_partners where variant IN ('buffered', 'bufreader', 'setvbuf', 'batched-reads', 'mmap')
-- evidence: {percent} of the wall time goes away when the same bytes are read through a buffer
-- record: hyperfine -N --runs 10 -L variant unbuffered,buffered --export-json bench.json 'PROGRAM {variant}'
SELECT p.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric,
    CASE WHEN p.base_ns > p.median_ns THEN p.base_ns - p.median_ns ELSE CAST(0 AS BIGINT) END AS part, p.base_ns AS whole, p.n AS n,
    CAST(p.base_lo_ns - p.hi_ns AS DOUBLE) / CAST(p.base_ns AS DOUBLE) AS lo,
    CAST(p.base_hi_ns - p.lo_ns AS DOUBLE) / CAST(p.base_ns AS DOUBLE) AS hi, 'rows=benchmarks.wall_ns&variant=' || p.shown AS part_anchor,
    'rows=benchmarks.wall_ns&variant=' || p.base_variant AS whole_anchor
FROM bench_partners AS p
WHERE p.variant IN ('buffered', 'bufreader', 'setvbuf', 'batched-reads', 'mmap')
-- alternate: system share
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.1 support=0.3 saturate=0.7 scale=linear interval=accounting min_n=10 basis=cputime source=house:"rules.md R26 C, as R25 C"
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {percent} of the CPU time is system time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'system_share' AS metric, e.system_ns AS part,
    e.user_ns + e.system_ns AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n,
    '@system_ns' AS part_anchor, '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
