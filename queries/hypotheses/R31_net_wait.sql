-- id: R31
-- name: net.wait
-- claim: The program waits for a peer: an answer, a connection, a descriptor that becomes ready.
-- category: Network
-- scope: call path
-- resource: off-cpu
-- cost: A.peer_wait_share, B.network_time_share
-- effort: 3
-- advice: Keep several requests in flight or batch them, reuse connections, save round trips, set TCP_NODELAY or cork, bound waits with timeouts; then look at the peer.
-- false_positives: Idle servers (a program that only accepts connections waits for work); keep-alive threads; a peer on the same machine is CPU time of another process; poll is also used as a timer (R34) and for pipes.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: off-CPU
-- mechanism: M4
-- probe: sched_switch
-- metric: peer_wait_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R31 A"
-- normalizer: the life of the worker threads in the recorded window
-- needs: off_cpu
-- evidence: {percent} of the workers' time is blocked on sockets or polling
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs; or perf record -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'peer_wait_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, scale_down AS scale_down,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM wait_shares
WHERE topic = 'peer'
--
-- slot: B
-- alternate: summary in wall time
-- mechanism: M5
-- probe: ptrace_stop
-- metric: network_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=given min_n=0 basis=time source=house:"rules.md R31 B; JMC reports a socket read from 275 ms on"
-- normalizer: the wall time of the traced run, per thread (a program that only accepts connections waits for work, not for a peer)
-- needs: call_families where family = 'network' AND source = 'summary' AND call_ns IS NOT NULL
-- with: call_places where family = 'network'
-- evidence: {n} calls that wait for sockets took {part_s} s; the traced run lasted {whole_s} s
-- record: strace -f -c -w -o strace-cw.txt -- {argv}
WITH known AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN fd_kind = 'socket' THEN dur_ns ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS socket_ns,
        CAST(SUM(dur_ns) AS BIGINT) AS known_ns
    FROM syscall_events
    WHERE name IN ('read', 'readv') AND dur_ns IS NOT NULL AND fd_kind IS NOT NULL
    GROUP BY artifact_id
),
others AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN family = 'accept' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS accepts,
        CAST(SUM(CASE WHEN family = 'connect' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS connects,
        CAST(SUM(CASE WHEN family = 'file' THEN COALESCE(call_ns, 0) ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS read_ns
    FROM call_families
    WHERE family IN ('accept', 'connect', 'file')
    GROUP BY artifact_id
),
timed AS (
    SELECT c.artifact_id AS artifact_id, c.calls AS calls, c.threads AS threads, c.wall_anchor AS wall_anchor,
        c.call_ns + COALESCE(k.socket_ns, 0) AS call_ns,
        CASE WHEN COALESCE(k.socket_ns, 0) = 0 THEN c.time_anchor ELSE CAST(NULL AS STRING) END AS time_anchor,
        CASE WHEN COALESCE(o.accepts, 0) > 0 AND COALESCE(o.connects, 0) = 0 THEN CAST(NULL AS BIGINT) ELSE c.own_wall_ns END AS wall_ns,
        CASE WHEN COALESCE(o.connects, 0) > 0 AND COALESCE(o.read_ns, 0) > COALESCE(k.known_ns, 0) THEN o.read_ns - COALESCE(k.known_ns, 0)
            ELSE CAST(0 AS BIGINT) END AS unknown_ns
    FROM call_families AS c
    LEFT JOIN known AS k ON c.artifact_id = k.artifact_id
    LEFT JOIN others AS o ON c.artifact_id = o.artifact_id
    WHERE c.family = 'network' AND c.source = 'summary'
)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'network_time_share' AS metric, call_ns AS part,
    wall_ns AS whole, calls AS n, CAST(call_ns AS DOUBLE) / CAST(wall_ns AS DOUBLE) / CAST(threads AS DOUBLE) AS lo,
    CAST(call_ns + unknown_ns AS DOUBLE) / CAST(wall_ns AS DOUBLE) / CAST(threads AS DOUBLE) AS hi, threads AS scale_down,
    CAST(NULL AS BIGINT) AS certain, time_anchor AS part_anchor, wall_anchor AS whole_anchor
FROM timed
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.call_ns AS part,
    p.all_ns AS whole, p.all_calls AS n, CAST(NULL AS DOUBLE) AS lo, CAST(NULL AS DOUBLE) AS hi, CAST(1 AS BIGINT) AS scale_down,
    CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM call_places AS p
WHERE p.family = 'network'
-- alternate: log with times
-- mechanism: M5
-- probe: ptrace_stop
-- metric: network_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=given min_n=0 basis=time source=house:"rules.md R31 B; JMC reports a socket read from 275 ms on"
-- normalizer: the wall time of the traced run, per thread (a program that only accepts connections waits for work, not for a peer)
-- needs: call_families where family = 'network' AND source = 'log' AND call_ns IS NOT NULL
-- evidence: {n} calls that wait for sockets took {part_s} s; the traced run lasted {whole_s} s
-- record: strace -k -f -yy -ttt -T -e trace=read,recvfrom,recvmsg,poll,ppoll,epoll_wait,epoll_pwait,select,pselect6,connect,accept,accept4 -o net.strace -- {argv}
WITH known AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN fd_kind = 'socket' THEN dur_ns ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS socket_ns,
        CAST(SUM(dur_ns) AS BIGINT) AS known_ns
    FROM syscall_events
    WHERE name IN ('read', 'readv') AND dur_ns IS NOT NULL AND fd_kind IS NOT NULL
    GROUP BY artifact_id
),
others AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN family = 'accept' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS accepts,
        CAST(SUM(CASE WHEN family = 'connect' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS connects,
        CAST(SUM(CASE WHEN family = 'file' THEN COALESCE(call_ns, 0) ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS read_ns
    FROM call_families
    WHERE family IN ('accept', 'connect', 'file')
    GROUP BY artifact_id
),
timed AS (
    SELECT c.artifact_id AS artifact_id, c.calls AS calls, c.threads AS threads, c.wall_anchor AS wall_anchor,
        c.call_ns + COALESCE(k.socket_ns, 0) AS call_ns,
        CASE WHEN COALESCE(k.socket_ns, 0) = 0 THEN c.time_anchor ELSE CAST(NULL AS STRING) END AS time_anchor,
        CASE WHEN COALESCE(o.accepts, 0) > 0 AND COALESCE(o.connects, 0) = 0 THEN CAST(NULL AS BIGINT) ELSE c.own_wall_ns END AS wall_ns,
        CASE WHEN COALESCE(o.connects, 0) > 0 AND COALESCE(o.read_ns, 0) > COALESCE(k.known_ns, 0) THEN o.read_ns - COALESCE(k.known_ns, 0)
            ELSE CAST(0 AS BIGINT) END AS unknown_ns
    FROM call_families AS c
    LEFT JOIN known AS k ON c.artifact_id = k.artifact_id
    LEFT JOIN others AS o ON c.artifact_id = o.artifact_id
    WHERE c.family = 'network' AND c.source = 'log'
)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'network_time_share' AS metric, call_ns AS part,
    wall_ns AS whole, calls AS n, CAST(call_ns AS DOUBLE) / CAST(wall_ns AS DOUBLE) / CAST(threads AS DOUBLE) AS lo,
    CAST(call_ns + unknown_ns AS DOUBLE) / CAST(wall_ns AS DOUBLE) / CAST(threads AS DOUBLE) AS hi, threads AS scale_down,
    CAST(NULL AS BIGINT) AS certain, time_anchor AS part_anchor, wall_anchor AS whole_anchor
FROM timed
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.call_ns AS part,
    p.all_ns AS whole, p.all_calls AS n, CAST(NULL AS DOUBLE) AS lo, CAST(NULL AS DOUBLE) AS hi, CAST(1 AS BIGINT) AS scale_down,
    CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM call_places AS p
WHERE p.family = 'network'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: network_time_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=given min_n=0 basis=time source=house:"rules.md R31 B; JMC reports a socket read from 275 ms on"
-- normalizer: the wall time of the traced run, per thread (a program that only accepts connections waits for work, not for a peer)
-- needs: call_families where family = 'network' AND source = 'trace' AND call_ns IS NOT NULL
-- evidence: {n} calls that wait for sockets took {part_s} s; the traced run lasted {whole_s} s
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
WITH known AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN fd_kind = 'socket' THEN dur_ns ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS socket_ns,
        CAST(SUM(dur_ns) AS BIGINT) AS known_ns
    FROM syscall_events
    WHERE name IN ('read', 'readv') AND dur_ns IS NOT NULL AND fd_kind IS NOT NULL
    GROUP BY artifact_id
),
others AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN family = 'accept' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS accepts,
        CAST(SUM(CASE WHEN family = 'connect' THEN calls ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS connects,
        CAST(SUM(CASE WHEN family = 'file' THEN COALESCE(call_ns, 0) ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS read_ns
    FROM call_families
    WHERE family IN ('accept', 'connect', 'file')
    GROUP BY artifact_id
),
timed AS (
    SELECT c.artifact_id AS artifact_id, c.calls AS calls, c.threads AS threads, c.wall_anchor AS wall_anchor,
        c.call_ns + COALESCE(k.socket_ns, 0) AS call_ns,
        CASE WHEN COALESCE(k.socket_ns, 0) = 0 THEN c.time_anchor ELSE CAST(NULL AS STRING) END AS time_anchor,
        CASE WHEN COALESCE(o.accepts, 0) > 0 AND COALESCE(o.connects, 0) = 0 THEN CAST(NULL AS BIGINT) ELSE c.own_wall_ns END AS wall_ns,
        CASE WHEN COALESCE(o.connects, 0) > 0 AND COALESCE(o.read_ns, 0) > COALESCE(k.known_ns, 0) THEN o.read_ns - COALESCE(k.known_ns, 0)
            ELSE CAST(0 AS BIGINT) END AS unknown_ns
    FROM call_families AS c
    LEFT JOIN known AS k ON c.artifact_id = k.artifact_id
    LEFT JOIN others AS o ON c.artifact_id = o.artifact_id
    WHERE c.family = 'network' AND c.source = 'trace'
)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'network_time_share' AS metric, call_ns AS part,
    wall_ns AS whole, calls AS n, CAST(call_ns AS DOUBLE) / CAST(wall_ns AS DOUBLE) / CAST(threads AS DOUBLE) AS lo,
    CAST(call_ns + unknown_ns AS DOUBLE) / CAST(wall_ns AS DOUBLE) / CAST(threads AS DOUBLE) AS hi, threads AS scale_down,
    CAST(NULL AS BIGINT) AS certain, time_anchor AS part_anchor, wall_anchor AS whole_anchor
FROM timed
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.call_ns AS part,
    p.all_ns AS whole, p.all_calls AS n, CAST(NULL AS DOUBLE) AS lo, CAST(NULL AS DOUBLE) AS hi, CAST(1 AS BIGINT) AS scale_down,
    CAST(1 AS BIGINT) AS certain, CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM call_places AS p
WHERE p.family = 'network'
--
-- slot: C
-- alternate: CPU per thread
-- mechanism: M9
-- probe: sw_count
-- metric: cpu_share unit=share reject=0.8 support=0.3 saturate=0.05 scale=linear interval=accounting min_n=0 basis=cputime source=house:"VTune calls less than half a CPU idle; the cut is rules.md R31 C and R27 C"
-- normalizer: the wall time of the same run, per thread
-- needs: counters where event = 'task-clock' AND value IS NOT NULL AND interval_ns IS NULL AND scope <> 'process' AND scope <> 'system' AND scope NOT LIKE 'CPU%' AND scope NOT LIKE 'S_-%'
-- evidence: {n} threads were on the CPU for {part_s} s together; each could have been for {whole_s} s
-- record: perf stat --per-thread -e task-clock,duration_time -j -o perf-threads.json -- {argv}
WITH threads_of AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(value) AS BIGINT) AS cpu_ns, CAST(COUNT(value) AS BIGINT) AS n FROM counters
    WHERE event = 'task-clock' AND value IS NOT NULL AND interval_ns IS NULL AND scope <> 'process' AND scope <> 'system'
    GROUP BY artifact_id
)
SELECT t.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cpu_share' AS metric, t.cpu_ns AS part,
    a.wall_ns AS whole, t.n AS n, t.n AS scale_down, 'sum=counters.value&event=task-clock' AS part_anchor, 'sum=artifacts.wall_ns' AS whole_anchor
FROM threads_of AS t
JOIN artifacts AS a ON t.artifact_id = a.artifact_id
-- alternate: idle CPU
-- mechanism: M9
-- probe: cputime
-- metric: cpu_share unit=share reject=0.8 support=0.3 saturate=0.05 scale=linear interval=accounting min_n=0 basis=cputime source=house:"VTune calls less than half a CPU idle; the cut is rules.md R31 C and R27 C"
-- normalizer: the wall time of a run with one thread (with several it would not say which wait)
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {part_s} s on the CPU of {whole_s} s of wall time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cpu_share' AS metric, e.user_ns + e.system_ns AS part,
    CASE WHEN COALESCE(r.threads, 1) <= 1 THEN e.wall_ns ELSE CAST(NULL AS BIGINT) END AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n, '@user_ns+system_ns' AS part_anchor,
    '@wall_ns' AS whole_anchor
FROM executions AS e
CROSS JOIN run_threads AS r
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
