-- id: R25
-- name: io.small_write
-- claim: The program hands many small pieces to the kernel, each with a system call of its own.
-- category: I/O
-- scope: syscall
-- resource: cpu
-- explains: R29
-- cost: B.write_path_share, C.system_share
-- effort: 1
-- advice: Buffer 8 to 64 KiB before writing (BufWriter, setvbuf), use writev, flush at boundaries and never per record.
-- false_positives: Interactive output by design; sockets with TCP_NODELAY (R31); /dev/null in a test; log lines that must be durable (R27).
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: calls_per_second unit=1/s reject=100 support=10000 saturate=100000 scale=log10 interval=complete min_n=0 basis=count cost=system_call source=house:"10 000 calls of 1 us are 1 % of a core; rules.md R25"
-- metric: bytes_per_call unit=bytes reject=4096 support=512 saturate=32 scale=log10 interval=complete min_n=20 basis=count source=house:"4 KiB page, 8 KiB stdio buffer; rules.md R25"
-- normalizer: wall time of the bare run, or what the descriptors are (pipes and sockets do not count; each write is answered by a switch)
-- needs: syscalls
-- needs: artifacts where tool = 'strace'
-- with: syscall_events where name IN ('write', 'pwrite64', 'writev', 'pwritev', 'pwritev2') AND length IS NOT NULL
-- evidence: {calls_per_second.part} write calls, {calls_per_second.value} per second of the bare run, {bytes_per_call.value} bytes each
-- record: strace -f -c -o strace-c.txt -- {argv}; strace -k -f -ttt -T -e trace=write,pwrite64,writev,fsync,fdatasync,futex,clock_nanosleep -o calls.strace -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM syscalls
),
family AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM syscalls
    WHERE name IN ('write', 'pwrite64', 'writev', 'pwritev', 'pwritev2')
    GROUP BY artifact_id
),
logged AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(length) AS BIGINT) AS bytes, CAST(COUNT(line_no) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN fd_kind IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS unknown
    FROM syscall_events
    WHERE name IN ('write', 'pwrite64', 'writev', 'pwritev', 'pwritev2') AND length IS NOT NULL
        AND COALESCE(fd_kind, 'unknown') NOT IN ('pipe', 'socket', 'eventfd', 'tty')
    GROUP BY artifact_id
),
answered AS (
    SELECT MAX(CAST(f.calls AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE)) AS calls
    FROM family AS f
    JOIN admitted AS d ON f.artifact_id = d.artifact_id
),
sized AS (
    SELECT l.artifact_id AS artifact_id, l.bytes AS bytes, l.calls AS calls,
        CASE WHEN l.unknown * 2 > l.calls AND CAST(b.voluntary_switches AS DOUBLE) * CAST(2 AS DOUBLE) >= w.calls THEN CAST(NULL AS BIGINT)
            ELSE l.calls END AS trusted_calls
    FROM logged AS l
    CROSS JOIN answered AS w
    CROSS JOIN bare AS b
),
sites AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM call_sites WHERE class = 'WRITE_PATH' GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_second' AS metric,
    COALESCE(f.calls, 0) AS part, b.wall_ns AS whole, COALESCE(f.calls, 0) AS n, d.work_up AS scale_up, d.work_down AS scale_down,
    CAST(NULL AS BIGINT) AS certain, 'sum=syscalls.calls&name=write,pwrite64,writev,pwritev,pwritev2' AS part_anchor, '@wall_ns' AS whole_anchor,
    CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM covered AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
LEFT JOIN family AS f ON c.artifact_id = f.artifact_id
CROSS JOIN bare AS b
UNION ALL
SELECT l.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'bytes_per_call' AS metric,
    l.bytes AS part, l.trusted_calls AS whole, l.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down,
    CAST(NULL AS BIGINT) AS certain, 'sum=syscall_events.length&name=write,pwrite64,writev,pwritev,pwritev2&not_fd=pipe,socket,eventfd,tty' AS part_anchor,
    'sum=syscall_events.calls&name=write,pwrite64,writev,pwritev,pwritev2&not_fd=pipe,socket,eventfd,tty' AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM sized AS l
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric,
    s.calls AS part, t.calls AS whole, t.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down,
    CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_sites AS s
JOIN sites AS t ON s.artifact_id = t.artifact_id
WHERE s.class = 'WRITE_PATH'
-- alternate: log
-- mechanism: M5
-- probe: ptrace_stop
-- metric: calls_per_second unit=1/s reject=100 support=10000 saturate=100000 scale=log10 interval=complete min_n=0 basis=count cost=system_call source=house:"10 000 calls of 1 us are 1 % of a core; rules.md R25"
-- metric: bytes_per_call unit=bytes reject=4096 support=512 saturate=32 scale=log10 interval=complete min_n=20 basis=count source=house:"4 KiB page, 8 KiB stdio buffer; rules.md R25"
-- normalizer: wall time of the bare run, or what the descriptors are (pipes and sockets do not count; each write is answered by a switch)
-- needs: syscall_events
-- needs: artifacts where syscall_filter IS NULL OR syscall_filter LIKE '%write%'
-- needs: artifacts where tool = 'strace'
-- evidence: {calls_per_second.part} write calls, {calls_per_second.value} per second of the bare run, {bytes_per_call.value} bytes each
-- record: strace -k -f -ttt -T -e trace=write,pwrite64,writev,fsync,fdatasync,futex,clock_nanosleep -o calls.strace -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM syscall_events
),
logged AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(length) AS BIGINT) AS bytes, CAST(COUNT(line_no) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN fd_kind IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS unknown
    FROM syscall_events
    WHERE name IN ('write', 'pwrite64', 'writev', 'pwritev', 'pwritev2') AND length IS NOT NULL
        AND COALESCE(fd_kind, 'unknown') NOT IN ('pipe', 'socket', 'eventfd', 'tty')
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
sites AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM call_sites WHERE class = 'WRITE_PATH' GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_second' AS metric,
    COALESCE(l.calls, 0) AS part, b.wall_ns AS whole, COALESCE(l.calls, 0) AS n, d.work_up AS scale_up, d.work_down AS scale_down,
    CAST(NULL AS BIGINT) AS certain, 'sum=syscall_events.calls&name=write,pwrite64,writev,pwritev,pwritev2' AS part_anchor,
    '@wall_ns' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM covered AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
LEFT JOIN logged AS l ON c.artifact_id = l.artifact_id
CROSS JOIN bare AS b
UNION ALL
SELECT l.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'bytes_per_call' AS metric,
    l.bytes AS part, l.trusted_calls AS whole, l.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down,
    CAST(NULL AS BIGINT) AS certain, 'sum=syscall_events.length&name=write,pwrite64,writev,pwritev,pwritev2&not_fd=pipe,socket,eventfd,tty' AS part_anchor,
    'sum=syscall_events.calls&name=write,pwrite64,writev,pwritev,pwritev2&not_fd=pipe,socket,eventfd,tty' AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM sized AS l
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric,
    s.calls AS part, t.calls AS whole, t.calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down,
    CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_sites AS s
JOIN sites AS t ON s.artifact_id = t.artifact_id
WHERE s.class = 'WRITE_PATH'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: calls_per_second unit=1/s reject=100 support=10000 saturate=100000 scale=log10 interval=complete min_n=0 basis=count source=house:"10 000 calls of 1 us are 1 % of a core; rules.md R25"
-- metric: bytes_per_call unit=bytes reject=4096 support=512 saturate=32 scale=log10 interval=complete min_n=20 basis=count source=house:"4 KiB page, 8 KiB stdio buffer; rules.md R25"
-- normalizer: wall time of the bare run, or what the descriptors are (pipes and sockets do not count; each write is answered by a switch)
-- needs: call_families where family = 'write' AND source = 'trace'
-- evidence: {calls_per_second.part} write calls, {calls_per_second.value} per second of the bare run, {bytes_per_call.value} bytes each
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
WITH logged AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(length) AS BIGINT) AS bytes, CAST(COUNT(line_no) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN fd_kind IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS unknown
    FROM syscall_events
    WHERE name IN ('write', 'pwrite64', 'writev', 'pwritev', 'pwritev2') AND length IS NOT NULL AND COALESCE(fd_kind, 'unknown') NOT IN ('pipe', 'socket', 'eventfd', 'tty')
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
WHERE c.family = 'write' AND c.source = 'trace' AND l.artifact_id IS NULL
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
WHERE p.family = 'write'
--
-- slot: B
-- alternate: write path
-- mechanism: M1
-- probe: event
-- metric: write_path_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3; rules.md 3.0"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in the write path
-- record: perf record -F 997 --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
WITH of_class AS (
    SELECT event_id AS event_id, total_weight AS total_weight FROM class_costs WHERE class = 'WRITE_PATH'
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'write_path_share' AS metric,
    COALESCE(k.total_weight, 0) AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(NULL AS BIGINT) AS certain,
    'sum=samples.weight&has=WRITE_PATH' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN of_class AS k ON c.event_id = k.event_id
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric,
    s.weight AS part, k.total_weight AS whole, k.total_count AS n, CAST(NULL AS DOUBLE) AS n_eff, CAST(s.certain AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM class_sites AS s
JOIN class_costs AS k ON s.artifact_id = k.artifact_id AND s.class = k.class
WHERE s.class = 'WRITE_PATH'
--
-- slot: C
-- alternate: the same work through a buffer
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R25 C"
-- needs: saved_shares where variant IN ('buffered', 'bufwriter', 'setvbuf', 'batched-writes')
-- evidence: {percent} of the wall time goes away when the same bytes go through a buffer
-- record: hyperfine -N --runs 10 -L variant unbuffered,buffered --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('buffered', 'bufwriter', 'setvbuf', 'batched-writes')
-- alternate: system share
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.1 support=0.3 saturate=0.7 scale=linear interval=accounting min_n=10 basis=cputime source=house:"rules.md R25 C"
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
-- alternate: system share of the repetitions
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.1 support=0.3 saturate=0.7 scale=linear interval=accounting min_n=10 basis=cputime source=house:"rules.md R25 C"
-- needs: benchmarks where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {percent} of the CPU time is system time
-- record: hyperfine --runs 1 --export-json bench.json {argv}
SELECT r.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'system_share' AS metric,
    CAST(SUM(r.system_ns) AS BIGINT) AS part, CAST(SUM(r.user_ns + r.system_ns) AS BIGINT) AS whole,
    CAST(CAST(CAST(SUM(r.user_ns + r.system_ns) AS BIGINT) AS DOUBLE) / CAST(10000000 AS DOUBLE)
        - CAST(CAST(SUM(r.user_ns + r.system_ns) AS BIGINT) AS DOUBLE) / CAST(10000000 AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT) AS n,
    'sum=benchmarks.system_ns' AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM benchmarks AS r
CROSS JOIN bare AS b
WHERE r.system_ns IS NOT NULL AND r.user_ns IS NOT NULL AND r.function IS NULL AND COALESCE(r.variant, b.variant, 'none') = COALESCE(b.variant, r.variant, 'none')
GROUP BY r.artifact_id
