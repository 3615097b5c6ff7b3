-- id: R01
-- name: cpu.hot_function
-- claim: One function owns the CPU time.
-- category: CPU
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- cost: A.self_share
-- effort: 3
-- advice: Read the call path, not the leaf; make fewer calls before making a call cheaper; then the data structure, then the micro-architecture.
-- false_positives: Sinks of time with interrupts off (left out here); an inlined callee counts for its caller; skid; spinning is not work (R17); a debug build (R08).
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: self share
-- mechanism: M1
-- probe: event
-- metric: self_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=leaf source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events
-- evidence: {site} holds {percent} of {n} CPU samples itself
-- record: perf record -F 997 --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
WITH sinks AS (
    SELECT DISTINCT f.function_id AS function_id
    FROM stack_classes AS k
    JOIN stacks AS s ON k.stack_id = s.stack_id
    JOIN frames AS f ON s.frame_id = f.frame_id
    WHERE k.class = 'IRQ_SINK' AND k.is_leaf AND f.function_id IS NOT NULL
)
SELECT c.artifact_id AS artifact_id, 'function' AS site_kind, CAST(t.function_id AS BIGINT) AS site_id, 'self_share' AS metric,
    t.self_weight AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff, 'sum=samples.weight&self=function' AS part_anchor,
    'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
JOIN function_costs AS t ON c.event_id = t.event_id
LEFT JOIN sinks AS x ON t.function_id = x.function_id
WHERE t.view = 'physical' AND t.self_weight > 0 AND x.function_id IS NULL
--
-- slot: B
-- alternate: instructions by symbol
-- mechanism: M7
-- probe: event
-- metric: instruction_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=leaf source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: events where name LIKE '%instructions%' AND target_weight > 0
-- evidence: {site} retires {percent} of the instructions
-- record: perf record -e instructions:up --call-graph fp -o instructions.perf.data -- {argv}
SELECT e.artifact_id AS artifact_id, 'function' AS site_kind, CAST(t.function_id AS BIGINT) AS site_id, 'instruction_share' AS metric,
    t.self_weight AS part, e.target_weight AS whole, e.target_n AS n, e.n_eff AS n_eff, 'sum=samples.weight&self=function' AS part_anchor,
    'sum=samples.weight' AS whole_anchor
FROM events AS e
JOIN function_costs AS t ON e.event_id = t.event_id
WHERE t.view = 'physical' AND t.self_weight > 0 AND e.name LIKE '%instructions%'
--
-- slot: C
-- alternate: hardly blocked
-- mechanism: M4
-- probe: sched_switch
-- metric: blocked_share unit=share reject=0.5 support=0.2 saturate=0.02 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R01 C"
-- normalizer: the life of the worker threads in the recorded window
-- needs: off_cpu
-- evidence: {percent} of the workers' time is blocked
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs; or perf record -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}
WITH blocked AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns, CAST(SUM(n) AS BIGINT) AS n FROM off_cpu_reasons GROUP BY artifact_id
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'blocked_share' AS metric, COALESCE(w.wait_ns, 0) AS part,
    o.lived_ns AS whole, COALESCE(w.n, 0) AS n, 'sum=waits.dur_ns&reason=blocked' AS part_anchor,
    CASE WHEN o.is_aggregate = 1 THEN 'sum=artifacts.window_ns' ELSE 'sum=thread_states.window_ns&role=worker' END AS whole_anchor
FROM off_cpu AS o
LEFT JOIN blocked AS w ON o.artifact_id = w.artifact_id
-- alternate: busy CPU
-- mechanism: M9
-- probe: cputime
-- metric: cpu_share unit=share reject=0.5 support=0.8 saturate=1.0 scale=linear interval=accounting min_n=10 basis=cputime source=house:"VTune calls less than half a CPU idle; 80 % is rules.md R01 C"
-- normalizer: the wall time of the same run
-- needs: artifacts where kind = 'time-v'
-- needs: executions where user_ns IS NOT NULL AND wall_ns IS NOT NULL
-- evidence: {part_s} s on the CPU of {whole_s} s of wall time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cpu_share' AS metric, e.user_ns + e.system_ns AS part, e.wall_ns AS whole,
    CAST(CAST(e.user_ns + e.system_ns AS DOUBLE) / CAST(10000000 AS DOUBLE) AS BIGINT) AS n, '@user_ns+system_ns' AS part_anchor,
    '@wall_ns' AS whole_anchor
FROM executions AS e
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL AND e.wall_ns IS NOT NULL
