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
    'sum=thread_states.runnable_ns&role=worker' AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM off_cpu AS o
WHERE o.is_aggregate = 0
UNION ALL
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'demand_per_cpu' AS metric,
    o.on_cpu_ns + o.runnable_ns AS part, w.life_ns AS whole, CAST(1 AS BIGINT) AS n, l.cpus AS scale_down, CAST(NULL AS STRING) AS part_anchor,
    CAST(NULL AS STRING) AS whole_anchor
FROM off_cpu AS o
JOIN program_lives AS w ON o.artifact_id = w.artifact_id
CROSS JOIN lanes AS l
WHERE o.is_aggregate = 0 AND l.cpus IS NOT NULL
--
-- slot: B
-- alternate: pressure of the CPU between snapshots
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.02 support=0.20 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R35 B"
-- normalizer: the time between the snapshots
-- needs: pressure where key = 'psi_cpu_some'
-- evidence: for {part_s} s of {whole_s} s some task waited for a CPU
-- record: tail -n +1 /proc/uptime /proc/pressure/cpu > before.txt; {argv}; tail -n +1 /proc/uptime /proc/pressure/cpu > after.txt
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pressure_share' AS metric, waited_ns AS part,
    window_ns AS whole, CAST(2 AS BIGINT) AS n, anchor AS part_anchor, window_anchor AS whole_anchor
FROM pressure
WHERE key = 'psi_cpu_some'
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
    CAST(m.value * CAST(1000000 AS DOUBLE) - m.value * CAST(1000000 AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole, m.n AS n
FROM means AS m
-- alternate: pressure of the CPU at the end
-- mechanism: M8
-- probe: psi_cgroup
-- metric: pressure_share unit=share reject=0.02 support=0.20 saturate=0.80 scale=linear interval=accounting min_n=0 basis=time source=house:"rules.md R35 B"
-- normalizer: the last 10 s of a run of at least 10 s
-- needs: accounting where key = 'psi_cpu_some_avg10' AND moment = 'average'
-- evidence: in the 10 s before the snapshot some task waited for a CPU {percent} of the time
-- record: {argv}; tail -n +1 /proc/pressure/cpu > after.txt
WITH chosen AS (
    SELECT artifact_id AS artifact_id, MAX(scope) AS scope FROM accounting WHERE key = 'psi_cpu_some_avg10' AND moment = 'average' GROUP BY artifact_id
),
averages AS (
    SELECT artifact_id AS artifact_id, scope AS scope, value AS value, line_no AS line_no FROM accounting
    WHERE key = 'psi_cpu_some_avg10' AND moment = 'average'
)
SELECT v.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'pressure_share' AS metric, v.value AS part,
    CASE WHEN b.wall_ns >= 10000000000 THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS whole, CAST(1 AS BIGINT) AS n,
    'L=' || CAST(v.line_no AS STRING) AS part_anchor
FROM averages AS v
JOIN chosen AS c ON v.artifact_id = c.artifact_id AND v.scope = c.scope
CROSS JOIN bare AS b
-- alternate: length of the run queue
-- mechanism: M8
-- probe: procfs
-- metric: runnable_per_cpu unit=ratio reject=0.8 support=1.2 saturate=4.0 scale=linear interval=accounting min_n=2 basis=time source=doc:"a run queue longer than the CPUs is saturation (60-second checklist); the margins are house figures"
-- normalizer: the CPUs of the machine, per interval
-- needs: accounting where key = 'run_queue' AND moment = 'interval'
-- evidence: over {n} intervals {value} tasks ran or wanted to per CPU
-- record: vmstat 1 > vmstat.txt while {argv} runs
WITH queues AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(value) AS BIGINT) AS tasks, CAST(COUNT(line_no) AS BIGINT) AS n FROM accounting
    WHERE key = 'run_queue' AND moment = 'interval'
    GROUP BY artifact_id
)
SELECT q.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'runnable_per_cpu' AS metric, q.tasks AS part,
    q.n * l.cpus AS whole, q.n AS n, 'rows=accounting.value&key=run_queue&moment=interval' AS part_anchor
FROM queues AS q
CROSS JOIN lanes AS l
-- alternate: waits in the run queue
-- mechanism: M8
-- probe: tp_sched
-- metric: queued_per_cpu unit=ratio reject=0.05 support=0.25 saturate=1.5 scale=linear interval=given min_n=0 basis=time source=house:"5, 20 and 60 % of the time in which threads could run, as in A, if the CPUs are busy all the time; the same switches as A, so it never stands beside A"
-- normalizer: how long the tool watched, per thread that can run at a time
-- needs: histogram_sums where metric = 'runq_latency'
-- evidence: {n} waits in the run queue took at least {part_s} s in {whole_s} s, {value} s per second and CPU
-- record: runqlat -p $(pgrep -n PROGRAM) 5 1 > runqlat.txt while {argv} runs
WITH queued AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(least_ns) AS BIGINT) AS least_ns, CAST(SUM(most_ns) AS BIGINT) AS most_ns
    FROM histogram_sums WHERE metric = 'runq_latency'
    GROUP BY artifact_id
),
timed AS (
    SELECT q.artifact_id AS artifact_id, q.n AS n, q.least_ns AS least_ns, q.most_ns AS most_ns, COALESCE(a.window_ns, a.wall_ns) AS window_ns, l.lanes AS lanes,
        CASE WHEN a.window_ns IS NULL THEN 'sum=artifacts.wall_ns' ELSE 'sum=artifacts.window_ns' END AS window_anchor
    FROM queued AS q
    JOIN artifacts AS a ON q.artifact_id = a.artifact_id
    CROSS JOIN lanes AS l
)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'queued_per_cpu' AS metric, least_ns AS part, window_ns AS whole, n AS n,
    CAST(least_ns AS DOUBLE) / CAST(window_ns * lanes AS DOUBLE) AS lo, CAST(most_ns AS DOUBLE) / CAST(window_ns * lanes AS DOUBLE) AS hi,
    lanes AS scale_down, 'sum=histograms.least&metric=runq_latency' AS part_anchor, window_anchor AS whole_anchor
FROM timed
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
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n, l.threads AS scale_down,
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
