-- id: R17
-- name: cpu.spin_wait
-- claim: Threads wait on the CPU: they yield, try a lock again and again or spin, instead of blocking until they are woken.
-- category: Sync
-- scope: call path
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R38, R29, R35 all, R01 class SPIN
-- cost: A.spin_share
-- effort: 2
-- advice: Block on a futex or condition variable, park, back off exponentially; shorten the section that is waited for (R32).
-- false_positives: Latency-critical polling by design (DPDK, busy_poll); short adaptive spinning that succeeds. A loop around pause or a plain load has no function of its own: only spin locks, yields and tries are seen by name.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: time in yields and spinning
-- mechanism: M1
-- probe: event
-- metric: spin_share unit=share reject=0.02 support=0.1 saturate=0.5 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3; the class covers all that sched_yield does in the kernel, interrupt sinks included (rules.md R17 A)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are yields, spin locks and tries
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'spin_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, n_eff AS n_eff,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM class_shares
WHERE class = 'SPIN'
--
-- slot: B
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: yields_per_second unit=1/s reject=100 support=10000 saturate=1000000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R17 B; a yield costs about 1 us, so 10 000 are 1 % of a core, and the loop around it burns the rest"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'yield' AND source = 'summary'
-- with: call_places where family = 'yield'
-- evidence: {part} sched_yield calls, {value} per second of the bare run
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'yields_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'yield' AND source = 'summary'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'yield'
-- alternate: log
-- mechanism: M5
-- probe: ptrace_stop
-- metric: yields_per_second unit=1/s reject=100 support=10000 saturate=1000000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R17 B; a yield costs about 1 us, so 10 000 are 1 % of a core, and the loop around it burns the rest"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'yield' AND source = 'log'
-- evidence: {part} sched_yield calls, {value} per second of the bare run
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'yields_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'yield' AND source = 'log'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'yield'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: yields_per_second unit=1/s reject=100 support=10000 saturate=1000000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R17 B; a yield costs about 1 us, so 10 000 are 1 % of a core, and the loop around it burns the rest"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'yield' AND source = 'trace'
-- evidence: {part} sched_yield calls, {value} per second of the bare run
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'yields_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'yield' AND source = 'trace'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'yield'
-- alternate: syscount
-- mechanism: M8
-- probe: tp_syscall
-- metric: yields_per_second unit=1/s reject=100 support=10000 saturate=1000000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R17 B; a yield costs about 1 us, so 10 000 are 1 % of a core, and the loop around it burns the rest"
-- normalizer: how long the tool watched (a table of the busiest calls only says nothing about those that are not in it)
-- needs: artifacts where kind = 'syscount' AND (syscall_filter IS NULL OR syscall_filter = 'the most frequent only')
-- needs: syscalls
-- evidence: {part} sched_yield calls, {value} per second
-- record: syscount -p $(pgrep -n PROGRAM) -T 400 -d 5 > syscount.txt while {argv} runs
WITH yields AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM syscalls WHERE name = 'sched_yield' GROUP BY artifact_id
)
SELECT a.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'yields_per_second' AS metric, COALESCE(y.calls, 0) AS part,
    CASE WHEN y.calls IS NULL AND a.syscall_filter IS NOT NULL THEN CAST(NULL AS BIGINT) ELSE COALESCE(a.window_ns, a.wall_ns) END AS whole,
    COALESCE(y.calls, 0) AS n, 'sum=syscalls.calls&name=sched_yield' AS part_anchor,
    CASE WHEN a.window_ns IS NULL THEN 'sum=artifacts.wall_ns' ELSE 'sum=artifacts.window_ns' END AS whole_anchor
FROM artifacts AS a
LEFT JOIN yields AS y ON a.artifact_id = y.artifact_id
WHERE a.kind = 'syscount'
--
-- slot: C
-- alternate: yielding switches
-- mechanism: M4
-- probe: tp_sched
-- metric: yield_switches_per_second unit=1/s reject=500 support=10000 saturate=500000 scale=log10 interval=complete min_n=0 basis=count source=tool:"JMC warns at 10 000 context switches per second; the reject bound is a house figure (rules.md R17 C)"
-- normalizer: the life of the program in the recorded window and the CPUs that its threads can use
-- needs: off_cpu where is_aggregate = 0
-- evidence: {part} switches of runnable threads below sched_yield, {value} per second and CPU
-- record: perf record -a -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH yields AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(n) AS BIGINT) AS n FROM wait_topics WHERE topic = 'yield' GROUP BY artifact_id
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'yield_switches_per_second' AS metric,
    COALESCE(y.n, 0) AS part, w.life_ns AS whole, COALESCE(y.n, 0) AS n, l.lanes AS scale_down, CAST(NULL AS STRING) AS whole_anchor
FROM off_cpu AS o
JOIN program_lives AS w ON o.artifact_id = w.artifact_id
LEFT JOIN yields AS y ON o.artifact_id = y.artifact_id
CROSS JOIN lanes AS l
WHERE o.is_aggregate = 0
-- alternate: time given away
-- mechanism: M4
-- probe: bpf_map
-- metric: yielded_share unit=share reject=0.01 support=0.10 saturate=0.50 scale=linear interval=complete min_n=0 basis=time source=house:"two threads that yield to each other on one CPU are off it half of the time; rules.md R17 C counts switches, which this recording does not"
-- normalizer: the life of the worker threads in the recorded window
-- needs: off_cpu where is_aggregate = 1
-- evidence: {percent} of the threads' time is off the CPU below sched_yield
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'yielded_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, scale_down AS scale_down,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM wait_shares
WHERE topic = 'yield'
-- alternate: involuntary switches
-- mechanism: M4
-- probe: switch_counters
-- metric: involuntary_per_second unit=1/s reject=500 support=10000 saturate=500000 scale=log10 interval=accounting min_n=0 basis=count source=tool:"JMC warns at 10 000 context switches per second; the scheduler by itself preempts at most a few hundred times per second and CPU, a yield counts as involuntary, too; the reject bound is a house figure (rules.md R17 C)"
-- normalizer: the wall time of the same run and the CPUs that the threads can use
-- needs: artifacts where kind = 'time-v'
-- needs: executions where involuntary_switches IS NOT NULL AND wall_ns IS NOT NULL
-- evidence: {part} involuntary switches, {value} per second and CPU
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'involuntary_per_second' AS metric,
    e.involuntary_switches AS part, e.wall_ns AS whole, e.involuntary_switches AS n, l.lanes AS scale_down, '@involuntary_switches' AS part_anchor,
    '@wall_ns' AS whole_anchor
FROM executions AS e
CROSS JOIN lanes AS l
WHERE e.involuntary_switches IS NOT NULL AND e.wall_ns IS NOT NULL
