-- id: R33
-- name: lock.kernel
-- claim: Threads wait for a lock of the kernel, such as the one that guards the address space or a directory.
-- category: Sync
-- scope: lock site
-- resource: off-cpu
-- cost: A.lock_wait_share, B.kernel_lock_share
-- effort: 2
-- advice: Map and unmap less from several threads, shard by process, use bigger arenas, MAP_POPULATE; spread files over directories.
-- false_positives: One long wait while its holder was preempted (so ten waits are asked for); waits inside the kernel that no program causes.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: contention tracepoints
-- mechanism: M6
-- probe: lock_tp
-- metric: lock_wait_share unit=share reject=0.01 support=0.10 saturate=0.50 scale=linear interval=complete min_n=0 basis=time source=house:"measured: mmap_lock held up 4 threads for 95 ms; rules.md R33 A"
-- metric: contentions unit=count reject=1 support=10 saturate=1000 scale=log10 interval=complete min_n=0 basis=count source=house:"one outlier under a preempted holder is no pattern; rules.md R33 A"
-- normalizer: the recorded window, per thread
-- needs: events where name = 'lock:contention_begin'
-- evidence: {contentions.value} waits for locks of the kernel, {lock_wait_share.percent} of the time of all threads
-- record: perf record -e lock:contention_begin,lock:contention_end -g -o lock.perf.data -- {argv}
WITH covered AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM events WHERE name = 'lock:contention_begin'
),
waited AS (
    SELECT c.artifact_id AS artifact_id, CAST(SUM(c.dur_ns) AS BIGINT) AS dur_ns, CAST(COUNT(c.record_no) AS BIGINT) AS n
    FROM lock_contentions AS c
    JOIN threads AS t ON c.thread_id = t.thread_id
    WHERE t.is_target
    GROUP BY c.artifact_id
),
by_site AS (
    SELECT c.artifact_id AS artifact_id, k.site_function_id AS function_id, CAST(SUM(c.dur_ns) AS BIGINT) AS dur_ns
    FROM lock_contentions AS c
    JOIN threads AS t ON c.thread_id = t.thread_id
    JOIN stack_sites AS k ON c.stack_id = k.stack_id
    WHERE t.is_target AND k.site_function_id IS NOT NULL
    GROUP BY c.artifact_id, k.site_function_id
)
SELECT v.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'lock_wait_share' AS metric, COALESCE(w.dur_ns, 0) AS part,
    COALESCE(a.window_ns, a.wall_ns) AS whole, COALESCE(w.n, 0) AS n, COALESCE(r.threads, 1) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    'sum=artifacts.window_ns' AS whole_anchor
FROM covered AS v
JOIN artifacts AS a ON v.artifact_id = a.artifact_id
LEFT JOIN waited AS w ON v.artifact_id = w.artifact_id
CROSS JOIN run_threads AS r
UNION ALL
SELECT v.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'contentions' AS metric, COALESCE(w.n, 0) AS part,
    CAST(1 AS BIGINT) AS whole, COALESCE(w.n, 0) AS n, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS whole_anchor
FROM covered AS v
LEFT JOIN waited AS w ON v.artifact_id = w.artifact_id
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.dur_ns AS part,
    w.dur_ns AS whole, w.n AS n, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain, CAST(NULL AS STRING) AS whole_anchor
FROM by_site AS s
JOIN waited AS w ON s.artifact_id = w.artifact_id
-- alternate: perf lock contention
-- mechanism: M6
-- probe: lock_tp
-- metric: lock_wait_share unit=share reject=0.01 support=0.10 saturate=0.50 scale=linear interval=given min_n=0 basis=time source=house:"measured: mmap_lock held up 4 threads for 95 ms; rules.md R33 A. The bounds are the sum without and with the longest wait: one outlier under a preempted holder is no pattern"
-- normalizer: how long the tool watched (else the bare run), per thread
-- needs: artifacts where kind = 'perf-lock' AND status <> 'truncated'
-- evidence: {n} waits for locks of the kernel took {part_s} s, {percent} of the time of all threads
-- record: perf lock record -o lock.data -- {argv}; perf lock contention -i lock.data 2> lock.txt
WITH waited AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(COALESCE(contended, acquired)) AS BIGINT) AS n, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns, MAX(wait_max_ns) AS longest_ns
    FROM locks
    WHERE is_kernel AND wait_ns IS NOT NULL
    GROUP BY artifact_id
),
timed AS (
    SELECT a.artifact_id AS artifact_id, COALESCE(w.n, 0) AS n, COALESCE(w.wait_ns, 0) AS wait_ns, COALESCE(w.longest_ns, 0) AS longest_ns,
        COALESCE(a.window_ns, a.wall_ns, b.wall_ns) AS window_ns, COALESCE(r.threads, 1) AS threads, b.artifact_id AS bare_artifact_id,
        CASE WHEN a.window_ns IS NOT NULL THEN 'sum=artifacts.window_ns' WHEN a.wall_ns IS NOT NULL THEN 'sum=artifacts.wall_ns' ELSE '@wall_ns' END AS anchor,
        CASE WHEN a.window_ns IS NULL AND a.wall_ns IS NULL THEN b.artifact_id ELSE a.artifact_id END AS whole_artifact_id
    FROM artifacts AS a
    LEFT JOIN waited AS w ON a.artifact_id = w.artifact_id
    CROSS JOIN run_threads AS r
    CROSS JOIN bare AS b
    WHERE a.kind = 'perf-lock'
)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'lock_wait_share' AS metric, wait_ns AS part, window_ns AS whole, n AS n,
    CAST(wait_ns - longest_ns AS DOUBLE) / CAST(window_ns * threads AS DOUBLE) AS lo, CAST(wait_ns AS DOUBLE) / CAST(window_ns * threads AS DOUBLE) AS hi,
    threads AS scale_down, 'sum=locks.wait_ns' AS part_anchor, anchor AS whole_anchor, CAST(whole_artifact_id AS BIGINT) AS whole_artifact_id
FROM timed
-- alternate: klockstat
-- mechanism: M6
-- probe: bpf_map
-- metric: lock_wait_share unit=share reject=0.01 support=0.10 saturate=0.50 scale=linear interval=given min_n=0 basis=time source=house:"measured: mmap_lock held up 4 threads for 95 ms; rules.md R33 A. The bounds are the sum without and with the longest wait: one outlier under a preempted holder is no pattern"
-- normalizer: how long the tool watched (else the bare run), per thread
-- needs: artifacts where kind = 'klockstat' AND status <> 'truncated'
-- evidence: taking mutexes of the kernel {n} times took {part_s} s, {percent} of the time of all threads
-- record: klockstat -p $(pgrep -n PROGRAM) -d 5 > klockstat.txt while {argv} runs
WITH waited AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(acquired) AS BIGINT) AS n, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns, MAX(wait_max_ns) AS longest_ns
    FROM locks
    WHERE is_kernel AND wait_ns IS NOT NULL
    GROUP BY artifact_id
),
timed AS (
    SELECT a.artifact_id AS artifact_id, COALESCE(w.n, 0) AS n, COALESCE(w.wait_ns, 0) AS wait_ns, COALESCE(w.longest_ns, 0) AS longest_ns,
        COALESCE(a.window_ns, a.wall_ns, b.wall_ns) AS window_ns, COALESCE(r.threads, 1) AS threads, b.artifact_id AS bare_artifact_id,
        CASE WHEN a.window_ns IS NOT NULL THEN 'sum=artifacts.window_ns' WHEN a.wall_ns IS NOT NULL THEN 'sum=artifacts.wall_ns' ELSE '@wall_ns' END AS anchor,
        CASE WHEN a.window_ns IS NULL AND a.wall_ns IS NULL THEN b.artifact_id ELSE a.artifact_id END AS whole_artifact_id
    FROM artifacts AS a
    LEFT JOIN waited AS w ON a.artifact_id = w.artifact_id
    CROSS JOIN run_threads AS r
    CROSS JOIN bare AS b
    WHERE a.kind = 'klockstat'
)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'lock_wait_share' AS metric, wait_ns AS part, window_ns AS whole, n AS n,
    CAST(wait_ns - longest_ns AS DOUBLE) / CAST(window_ns * threads AS DOUBLE) AS lo, CAST(wait_ns AS DOUBLE) / CAST(window_ns * threads AS DOUBLE) AS hi,
    threads AS scale_down, 'sum=locks.wait_ns' AS part_anchor, anchor AS whole_anchor, CAST(whole_artifact_id AS BIGINT) AS whole_artifact_id
FROM timed
--
-- slot: B
-- alternate: off-CPU
-- mechanism: M4
-- probe: sched_switch
-- metric: kernel_lock_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=complete min_n=0 basis=time source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- normalizer: the life of the worker threads in the recorded window
-- needs: off_cpu
-- evidence: {percent} of the workers' time is blocked on a lock of the kernel
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs; or perf record -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'kernel_lock_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, scale_down AS scale_down,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM wait_shares
WHERE topic = 'kernel lock'
--
-- slot: C
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: mapping_calls_per_second unit=1/s reject=10 support=1000 saturate=50000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R33 C asks for a program heavy in mapping calls; 1 000 per second are ten times what a start makes"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'mm' AND source = 'summary'
-- evidence: {part} mapping calls, {value} per second of the bare run
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'mapping_calls_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, calls_anchor AS part_anchor, '@wall_ns' AS whole_anchor,
    bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'mm' AND source = 'summary'
-- alternate: log
-- mechanism: M5
-- probe: ptrace_stop
-- metric: mapping_calls_per_second unit=1/s reject=10 support=1000 saturate=50000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R33 C asks for a program heavy in mapping calls; 1 000 per second are ten times what a start makes"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'mm' AND source = 'log'
-- evidence: {part} mapping calls, {value} per second of the bare run
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'mapping_calls_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, calls_anchor AS part_anchor, '@wall_ns' AS whole_anchor,
    bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'mm' AND source = 'log'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: mapping_calls_per_second unit=1/s reject=10 support=1000 saturate=50000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R33 C asks for a program heavy in mapping calls; 1 000 per second are ten times what a start makes"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'mm' AND source = 'trace'
-- evidence: {part} mapping calls, {value} per second of the bare run
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'mapping_calls_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, calls_anchor AS part_anchor, '@wall_ns' AS whole_anchor,
    bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'mm' AND source = 'trace'
-- alternate: lock path of the kernel
-- mechanism: M1
-- probe: event
-- metric: lock_path_share unit=share reject=0.02 support=0.1 saturate=0.5 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in locks of the kernel
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'lock_path_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, n_eff AS n_eff,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM class_shares
WHERE class = 'RWSEM'
