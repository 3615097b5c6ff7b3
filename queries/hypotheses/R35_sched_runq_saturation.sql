-- id: R35
-- name: sched.runq_saturation
-- claim: The program has more threads that want to run than there are CPUs: they wait for each other to leave.
-- category: Scheduler
-- scope: run
-- resource: off-cpu
-- applies_if: threads_per_cpu > 1
-- cost: A.runnable_share
-- effort: 2
-- advice: Run as many threads as there are CPUs, let idle ones steal work, make fewer threads runnable at a time, set affinity, or take a larger machine.
-- false_positives: Other programs on the machine make the same waits: those are the surroundings (Q29), so the program's own demand must exceed the CPUs; a cgroup quota looks alike (R36); the recording tool wakes up, too.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: waiting for a CPU
-- mechanism: M4
-- probe: tp_sched
-- metric: runnable_share unit=share reject=0.05 support=0.20 saturate=0.60 scale=linear interval=complete min_n=0 basis=time source=house:"perf sched timehist calls it sch delay; rules.md R35 A"
-- metric: demand_per_cpu unit=ratio reject=1.0 support=1.2 saturate=4.0 scale=linear interval=complete min_n=0 basis=time source=house:"what the threads of this program alone ask for, running or waiting to; below 1 they would fit, and it is others that take the CPUs (rules.md R35, attribution)"
-- normalizer: the life of the program in the recorded window, times the CPUs
-- needs: off_cpu where is_aggregate = 0
-- evidence: {runnable_share.percent} of the time in which the workers could run they waited for a CPU; alone they ask for {demand_per_cpu.value} times the CPUs
-- record: perf record -a -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'runnable_share' AS metric, o.runnable_ns AS part,
    o.on_cpu_ns + o.runnable_ns AS whole, CAST(1 AS BIGINT) AS n, CAST(1 AS BIGINT) AS scale_down,
    'sum=thread_states.runnable_ns&role=worker' AS part_anchor, CAST(NULL AS VARCHAR) AS whole_anchor
FROM off_cpu AS o
WHERE o.is_aggregate = 0
UNION ALL
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'demand_per_cpu' AS metric,
    o.on_cpu_ns + o.runnable_ns AS part, w.life_ns AS whole, CAST(1 AS BIGINT) AS n, l.cpus AS scale_down, CAST(NULL AS VARCHAR) AS part_anchor,
    CAST(NULL AS VARCHAR) AS whole_anchor
FROM off_cpu AS o
JOIN program_lives AS w ON o.artifact_id = w.artifact_id
CROSS JOIN lanes AS l
WHERE o.is_aggregate = 0 AND l.cpus IS NOT NULL
--
-- slot: B
-- alternate: pressure of the CPU
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.02 support=0.20 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R35 B; a run queue longer than the CPUs is saturation (60-second checklist)"
-- normalizer: the wall time of the bare runs
-- needs: artifacts where kind = 'manifest'
-- needs: environment where metric = 'psi_cpu_some'
-- evidence: during {percent} of the bare run some task waited for a CPU
-- record: cat /proc/pressure/cpu before and after {argv} (psi_cpu_share in manifest.json)
WITH means AS (
    SELECT artifact_id AS artifact_id, AVG(value) AS value, CAST(COUNT(value) AS BIGINT) AS n FROM environment
    WHERE metric = 'psi_cpu_some' AND value >= 0 AND value <= 1
    GROUP BY artifact_id
)
SELECT m.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pressure_share' AS metric,
    CAST(m.value * CAST(1000000 AS DOUBLE) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole, m.n AS n
FROM means AS m
--
-- slot: C
-- alternate: CPU per thread
-- mechanism: M9
-- probe: cputime
-- metric: cpu_per_thread unit=share reject=0.98 support=0.80 saturate=0.25 scale=linear interval=accounting min_n=0 basis=cputime source=house:"rules.md R35 C divides by the lesser of threads and CPUs, which is 1 when the program itself takes them all; per thread it is what each was given"
-- metric: involuntary_per_second unit=1/s reject=5 support=50 saturate=250 scale=log10 interval=accounting min_n=0 basis=count source=house:"50 per second and CPU (2 528 in 10 s on two CPUs were measured); per thread, as in rules.md R35 C, it falls with their number"
-- normalizer: the wall time of the same run, per thread or per CPU that the threads can use
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL AND involuntary_switches IS NOT NULL AND wall_ns IS NOT NULL
-- evidence: each thread was given {cpu_per_thread.value} of a CPU; {involuntary_per_second.part} involuntary switches, {involuntary_per_second.value} per second and CPU
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cpu_per_thread' AS metric,
    e.user_ns + e.system_ns AS part, CASE WHEN l.threads > 1 THEN e.wall_ns ELSE CAST(NULL AS BIGINT) END AS whole,
    CAST(CAST(e.user_ns + e.system_ns AS DOUBLE) / CAST(10000000 AS DOUBLE) AS BIGINT) AS n, l.threads AS scale_down,
    '@user_ns+system_ns' AS part_anchor, '@wall_ns' AS whole_anchor
FROM executions AS e
CROSS JOIN lanes AS l
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
UNION ALL
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'involuntary_per_second' AS metric,
    e.involuntary_switches AS part, e.wall_ns AS whole, e.involuntary_switches AS n, l.lanes AS scale_down, '@involuntary_switches' AS part_anchor,
    '@wall_ns' AS whole_anchor
FROM executions AS e
CROSS JOIN lanes AS l
WHERE e.involuntary_switches IS NOT NULL
