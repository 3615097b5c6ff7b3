-- id: R01
-- name: cpu.hot_function
-- claim: One function owns a large part of the CPU time, and the CPU is what limits the run.
-- category: CPU
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- cost: A.self_share
-- effort: 3
-- advice: Read the call path, not the leaf; reduce the number of calls before the cost of one; then the data structure, then the micro-architecture.
-- false_positives: An inlined callee is charged to its caller; skid; spinning is not work; a debug build; interrupts-off time charged to the instruction
--   that re-enables them (those are left out); a span's time holds its waits unless its log counts CPU time.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: self weight
-- mechanism: M1
-- probe: event
-- metric: self_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=leaf source=house:"10 % is the lower edge of impact 3; PerfExpert's example cut is 0.1; rules.md 3.0"
-- needs: cpu_events where unwinding IS NOT NULL
-- evidence: {percent} of {n} CPU samples end in it
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
SELECT c.artifact_id AS artifact_id, 'function' AS site_kind, CAST(l.function_id AS BIGINT) AS site_id, 'self_share' AS metric,
    l.weight AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(1 AS BIGINT) AS certain,
    'sum=samples.weight&leaf=@site' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
JOIN leaf_functions AS l ON c.artifact_id = l.artifact_id
--
-- slot: B
-- alternate: hardware counter
-- mechanism: M7
-- probe: event
-- metric: self_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=leaf source=house:"as slot A; rules.md R01 B"
-- needs: events where mechanism = 'M7' AND role = 'cpu'
-- evidence: {percent} of {n} samples of the hardware counter end in it
-- record: perf record -F 997 -e cycles:pp --call-graph fp -o cycles.perf.data -- {argv}
SELECT c.artifact_id AS artifact_id, 'function' AS site_kind, CAST(l.function_id AS BIGINT) AS site_id, 'self_share' AS metric,
    l.weight AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(1 AS BIGINT) AS certain,
    'sum=samples.weight&leaf=@site' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
JOIN leaf_functions AS l ON c.artifact_id = l.artifact_id
-- alternate: self time of a span
-- mechanism: M2
-- probe: span_api
-- metric: span_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=given min_n=1 basis=time source=house:"as slot A; rules.md R01 B"
-- normalizer: duration of the logged runs, or the time of the spans at the root where that is more
-- needs: span_costs where self_ns IS NOT NULL AND category IN ('CPU', 'Wall')
-- evidence: one span's own time is {part_s} s of {whole_s} s
-- record: PROGRAM 2> profile.jsonl (a build that logs perf.profile.span_summary with the parent of each span)
SELECT s.artifact_id AS artifact_id, CASE WHEN s.function_id IS NULL THEN 'span' ELSE 'function' END AS site_kind,
    CAST(s.function_id AS BIGINT) AS site_id, 'span_share' AS metric, s.self_ns AS part, g.whole_ns AS whole, COALESCE(s.calls, s.summaries) AS n,
    CAST(s.self_ns AS DOUBLE) / CAST(g.whole_ns AS DOUBLE) AS lo,
    CAST(s.self_ns + COALESCE(g.outside_ns, g.whole_ns - s.self_ns) AS DOUBLE) / CAST(g.whole_ns AS DOUBLE) AS hi, CAST(1 AS BIGINT) AS certain,
    s.self_at AS part_anchor, g.whole_at AS whole_anchor
FROM span_costs AS s
JOIN span_logs AS g ON s.artifact_id = g.artifact_id
WHERE s.self_ns IS NOT NULL AND s.category IN ('CPU', 'Wall')
--
-- slot: C
-- alternate: blocked share
-- mechanism: M4
-- probe: bpf_map
-- metric: blocked_share unit=share reject=0.5 support=0.2 saturate=0.02 scale=linear interval=complete min_n=0 basis=time source=house:"rules.md R01 C"
-- normalizer: life time of the workers in the recorded window
-- needs: off_cpu where is_aggregate = 1
-- evidence: {percent} of the workers' time is spent blocked
-- record: offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt
WITH blocked AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns, CAST(SUM(n) AS BIGINT) AS n FROM off_cpu_reasons GROUP BY artifact_id
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'blocked_share' AS metric,
    COALESCE(w.wait_ns, 0) AS part, o.lived_ns AS whole, COALESCE(w.n, 0) AS n, o.lives AS scale_down, 'sum=waits.dur_ns' AS part_anchor,
    o.anchor AS whole_anchor
FROM off_cpu AS o
LEFT JOIN blocked AS w ON o.artifact_id = w.artifact_id
-- alternate: busy CPU
-- mechanism: M9
-- probe: cputime
-- metric: cpu_share unit=share reject=0.5 support=0.8 saturate=0.98 scale=linear interval=accounting min_n=0 basis=cputime source=tool:"VTune calls less than half a CPU idle; 0.8 is a house figure; rules.md R01 C"
-- normalizer: wall time of the bare run
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {part_s} s on the CPU of {whole_s} s of wall time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'cpu_share' AS metric, e.user_ns + e.system_ns AS part,
    e.wall_ns AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n,
    '@user_ns+system_ns' AS part_anchor, '@wall_ns' AS whole_anchor
FROM executions AS e
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
--
-- slot: D
-- alternate: benchmark of the function
-- mechanism: M9
-- probe: clock
-- metric: benchmark_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"as slot A; rules.md R01 D"
-- normalizer: wall time of the bare run, the calls scaled by the declared work
-- needs: benchmark_stats where function IS NOT NULL
-- evidence: as many calls of it alone take {percent} of the wall time
-- record: hyperfine -N --runs 10 -L function NAME -L n CALLS --export-json function.json './bench {function} {n}' (a program that calls NAME as often as the recorded run did)
WITH named AS (
    SELECT name AS name, MIN(function_id) AS function_id FROM functions GROUP BY name
)
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(f.function_id AS BIGINT) AS site_id, 'benchmark_share' AS metric,
    s.median_ns AS part, b.wall_ns AS whole, s.n AS n,
    CASE WHEN b.work > 0 AND s.work > 0 THEN b.work ELSE CAST(1 AS BIGINT) END AS scale_up,
    CASE WHEN b.work > 0 AND s.work > 0 THEN s.work ELSE CAST(1 AS BIGINT) END AS scale_down,
    CAST(s.lo_ns AS DOUBLE) / CAST(b.wall_ns AS DOUBLE) * CASE WHEN b.work > 0 AND s.work > 0 THEN CAST(b.work AS DOUBLE) / CAST(s.work AS DOUBLE)
        ELSE CAST(1 AS DOUBLE) END AS lo,
    CAST(s.hi_ns AS DOUBLE) / CAST(b.wall_ns AS DOUBLE) * CASE WHEN b.work > 0 AND s.work > 0 THEN CAST(b.work AS DOUBLE) / CAST(s.work AS DOUBLE)
        ELSE CAST(1 AS DOUBLE) END AS hi,
    CAST(1 AS BIGINT) AS certain, 'rows=benchmarks.wall_ns&function=@site' AS part_anchor, '@wall_ns' AS whole_anchor,
    CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM benchmark_stats AS s
JOIN named AS f ON s.function = f.name
CROSS JOIN bare AS b
