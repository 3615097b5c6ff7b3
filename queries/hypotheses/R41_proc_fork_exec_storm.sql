-- id: R41
-- name: proc.fork_exec_storm
-- claim: The program starts processes at a high rate, and starting them costs more than what they do.
-- category: Process
-- scope: syscall
-- resource: cpu
-- explains: R29
-- cost: C.exec_share, B.child_wait_share
-- effort: 2
-- advice: Call a library instead of a program, hand many items to one process (xargs -n), keep a pool or a zygote.
-- false_positives: Build systems and shells start programs by nature.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: spawns_per_second unit=1/s reject=1 support=50 saturate=1000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R41 A"
-- metric: spawns unit=count reject=1 support=20 saturate=1000 scale=log10 interval=complete min_n=0 basis=count source=house:"a short script may start three programs in 20 ms; that is no storm"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'exec' AND source = 'summary'
-- with: call_places where family = 'exec'
-- evidence: {spawns_per_second.part} times a process was made or a program started, {spawns_per_second.value} per second of the bare run (the program itself not counted)
-- record: strace -f -c -o strace-c.txt -- {argv}
WITH made AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN family = 'exec' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS execs,
        CAST(SUM(CASE WHEN family = 'fork' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS forks,
        CAST(SUM(CASE WHEN family = 'clone' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS clones,
        CAST(SUM(CASE WHEN family = 'reap' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS reaped
    FROM call_families
    WHERE family IN ('exec', 'fork', 'clone', 'reap')
    GROUP BY artifact_id
),
spawned AS (
    SELECT artifact_id AS artifact_id, CASE WHEN execs > 1 THEN execs - 1 ELSE CAST(0 AS BIGINT) END + forks
        + CASE WHEN reaped <= forks THEN CAST(0 AS BIGINT) WHEN reaped - forks < clones THEN reaped - forks ELSE clones END AS spawns
    FROM made
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'spawns_per_second' AS metric, s.spawns AS part,
    c.bare_wall_ns AS whole, s.spawns AS n, c.work_up AS scale_up, c.work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    '@wall_ns' AS whole_anchor, c.bare_artifact_id AS whole_artifact_id
FROM call_families AS c
JOIN spawned AS s ON c.artifact_id = s.artifact_id
WHERE c.family = 'exec' AND c.source = 'summary'
UNION ALL
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'spawns' AS metric, s.spawns AS part,
    CAST(1 AS BIGINT) AS whole, s.spawns AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families AS c
JOIN spawned AS s ON c.artifact_id = s.artifact_id
WHERE c.family = 'exec' AND c.source = 'summary'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'exec'
-- alternate: log
-- mechanism: M5
-- probe: ptrace_stop
-- metric: spawns_per_second unit=1/s reject=1 support=50 saturate=1000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R41 A"
-- metric: spawns unit=count reject=1 support=20 saturate=1000 scale=log10 interval=complete min_n=0 basis=count source=house:"a short script may start three programs in 20 ms; that is no storm"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'exec' AND source = 'log'
-- evidence: {spawns_per_second.part} times a process was made or a program started, {spawns_per_second.value} per second of the bare run (the program itself not counted)
-- record: strace -k -f -ttt -e trace=clone,clone3,fork,vfork,execve,wait4 -o tasks.strace -- {argv}
WITH made AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN family = 'exec' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS execs,
        CAST(SUM(CASE WHEN family = 'fork' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS forks,
        CAST(SUM(CASE WHEN family = 'clone' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS clones,
        CAST(SUM(CASE WHEN family = 'reap' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS reaped
    FROM call_families
    WHERE family IN ('exec', 'fork', 'clone', 'reap')
    GROUP BY artifact_id
),
spawned AS (
    SELECT artifact_id AS artifact_id, CASE WHEN execs > 1 THEN execs - 1 ELSE CAST(0 AS BIGINT) END + forks
        + CASE WHEN reaped <= forks THEN CAST(0 AS BIGINT) WHEN reaped - forks < clones THEN reaped - forks ELSE clones END AS spawns
    FROM made
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'spawns_per_second' AS metric, s.spawns AS part,
    c.bare_wall_ns AS whole, s.spawns AS n, c.work_up AS scale_up, c.work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    '@wall_ns' AS whole_anchor, c.bare_artifact_id AS whole_artifact_id
FROM call_families AS c
JOIN spawned AS s ON c.artifact_id = s.artifact_id
WHERE c.family = 'exec' AND c.source = 'log'
UNION ALL
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'spawns' AS metric, s.spawns AS part,
    CAST(1 AS BIGINT) AS whole, s.spawns AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families AS c
JOIN spawned AS s ON c.artifact_id = s.artifact_id
WHERE c.family = 'exec' AND c.source = 'log'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'exec'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: spawns_per_second unit=1/s reject=1 support=50 saturate=1000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R41 A"
-- metric: spawns unit=count reject=1 support=20 saturate=1000 scale=log10 interval=complete min_n=0 basis=count source=house:"a short script may start three programs in 20 ms; that is no storm"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'exec' AND source = 'trace'
-- evidence: {spawns_per_second.part} times a process was made or a program started, {spawns_per_second.value} per second of the bare run (the program itself not counted)
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
WITH made AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN family = 'exec' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS execs,
        CAST(SUM(CASE WHEN family = 'fork' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS forks,
        CAST(SUM(CASE WHEN family = 'clone' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS clones,
        CAST(SUM(CASE WHEN family = 'reap' THEN calls - errors ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS reaped
    FROM call_families
    WHERE family IN ('exec', 'fork', 'clone', 'reap')
    GROUP BY artifact_id
),
spawned AS (
    SELECT artifact_id AS artifact_id, CASE WHEN execs > 1 THEN execs - 1 ELSE CAST(0 AS BIGINT) END + forks
        + CASE WHEN reaped <= forks THEN CAST(0 AS BIGINT) WHEN reaped - forks < clones THEN reaped - forks ELSE clones END AS spawns
    FROM made
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'spawns_per_second' AS metric, s.spawns AS part,
    c.bare_wall_ns AS whole, s.spawns AS n, c.work_up AS scale_up, c.work_down AS scale_down, CAST(NULL AS BIGINT) AS certain,
    '@wall_ns' AS whole_anchor, c.bare_artifact_id AS whole_artifact_id
FROM call_families AS c
JOIN spawned AS s ON c.artifact_id = s.artifact_id
WHERE c.family = 'exec' AND c.source = 'trace'
UNION ALL
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'spawns' AS metric, s.spawns AS part,
    CAST(1 AS BIGINT) AS whole, s.spawns AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families AS c
JOIN spawned AS s ON c.artifact_id = s.artifact_id
WHERE c.family = 'exec' AND c.source = 'trace'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'exec'
--
-- slot: B
-- alternate: processes of the recording
-- mechanism: M4
-- probe: tp_sched
-- metric: processes_per_second unit=1/s reject=0.5 support=25 saturate=500 scale=log10 interval=complete min_n=0 basis=count source=house:"a process is a fork and an exec of slot A; rules.md R41 B"
-- metric: processes unit=count reject=1 support=10 saturate=500 scale=log10 interval=complete min_n=0 basis=count source=house:"as slot A: a few are no storm"
-- normalizer: the life of the program in the recorded window
-- needs: off_cpu where is_aggregate = 0
-- evidence: {processes_per_second.part} processes beside the first in {processes_per_second.whole_s} s
-- record: perf record -a -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH made AS (
    SELECT artifact_id AS artifact_id, CAST(COUNT(process_id) AS BIGINT) - 1 AS n FROM processes WHERE is_target GROUP BY artifact_id
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'processes_per_second' AS metric, m.n AS part,
    w.life_ns AS whole, m.n AS n
FROM off_cpu AS o
JOIN program_lives AS w ON o.artifact_id = w.artifact_id
JOIN made AS m ON o.artifact_id = m.artifact_id
WHERE o.is_aggregate = 0
UNION ALL
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'processes' AS metric, m.n AS part,
    CAST(1 AS BIGINT) AS whole, m.n AS n
FROM off_cpu AS o
JOIN made AS m ON o.artifact_id = m.artifact_id
WHERE o.is_aggregate = 0
-- alternate: waiting for children
-- mechanism: M4
-- probe: bpf_map
-- metric: child_wait_share unit=share reject=0.05 support=0.25 saturate=0.75 scale=linear interval=complete min_n=0 basis=time source=house:"what the parent waits is what its children take; as the other waits of rules.md"
-- normalizer: the life of the worker threads in the recorded window
-- needs: off_cpu where is_aggregate = 1
-- evidence: {percent} of the program's own time is blocked until a child ends
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'child_wait_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, scale_down AS scale_down,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM wait_shares
WHERE topic = 'child'
--
-- slot: C
-- alternate: the same work in the process
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R41 C"
-- needs: bench_partners where variant IN ('in-process', 'inprocess', 'inline', 'library', 'builtin')
-- evidence: {percent} of the wall time goes away when the work is done in the process
-- record: hyperfine -N --runs 10 -L variant spawning,in-process --export-json bench.json 'PROGRAM {variant}'
SELECT p.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric,
    CASE WHEN p.base_ns > p.median_ns THEN p.base_ns - p.median_ns ELSE CAST(0 AS BIGINT) END AS part, p.base_ns AS whole, p.n AS n,
    CAST(p.base_lo_ns - p.hi_ns AS DOUBLE) / CAST(p.base_ns AS DOUBLE) AS lo,
    CAST(p.base_hi_ns - p.lo_ns AS DOUBLE) / CAST(p.base_ns AS DOUBLE) AS hi, 'rows=benchmarks.wall_ns&variant=' || p.shown AS part_anchor,
    'rows=benchmarks.wall_ns&variant=' || p.base_variant AS whole_anchor
FROM bench_partners AS p
WHERE p.variant IN ('in-process', 'inprocess', 'inline', 'library', 'builtin')
-- alternate: starting and tearing down
-- mechanism: M1
-- probe: event
-- metric: exec_share unit=share reject=0.02 support=0.1 saturate=0.5 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in the starting of programs and the copying and tearing down of their memory
-- record: perf record -a -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'exec_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, n_eff AS n_eff,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM class_shares
WHERE class = 'EXEC'
