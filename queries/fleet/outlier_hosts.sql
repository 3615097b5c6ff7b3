-- question: On which hosts does the same program behave unlike on all others?
-- row: one measure of one program on one host with at least one other host to compare with
-- units: measure in ns, bytes or switches as its name says, per run the least that a recording without a tracer states at the most work; ratio: the host's mean over the
--   mean of all other hosts' runs; is_apart 1: every run of this host lies above (or every one below) all runs of the others
-- empty: no program was run on two hosts that state their hostname
-- reads: executions, host
WITH machines AS (
    SELECT run AS run, MIN(value) AS hostname FROM host WHERE key = 'hostname' GROUP BY run
),
largest AS (
    SELECT run AS run, MAX(COALESCE(work, 0)) AS work FROM executions WHERE wrapper = 'bare' GROUP BY run
),
bares AS (
    SELECT run AS run, program AS program, COALESCE(work, 0) AS work, wall_ns AS wall_ns, user_ns AS user_ns, system_ns AS system_ns,
        max_rss_bytes AS max_rss_bytes, involuntary_switches AS involuntary_switches
    FROM executions
    WHERE wrapper = 'bare' AND program IS NOT NULL
),
bare AS (
    SELECT e.run AS run, e.program AS program, MIN(e.wall_ns) AS wall_ns, MIN(e.user_ns) AS user_ns, MIN(e.system_ns) AS system_ns,
        MIN(e.max_rss_bytes) AS max_rss_bytes, MIN(e.involuntary_switches) AS involuntary_switches
    FROM bares AS e
    JOIN largest AS l ON e.run = l.run AND e.work = l.work
    GROUP BY e.run, e.program
),
measured AS (
    SELECT run AS run, program AS program, 'wall_ns' AS measure, wall_ns AS value FROM bare
    UNION ALL
    SELECT run AS run, program AS program, 'user_ns' AS measure, user_ns AS value FROM bare
    UNION ALL
    SELECT run AS run, program AS program, 'system_ns' AS measure, system_ns AS value FROM bare
    UNION ALL
    SELECT run AS run, program AS program, 'max_rss_bytes' AS measure, max_rss_bytes AS value FROM bare
    UNION ALL
    SELECT run AS run, program AS program, 'involuntary_switches' AS measure, involuntary_switches AS value FROM bare
),
on_host AS (
    SELECT m.hostname AS hostname, v.program AS program, v.measure AS measure, CAST(COUNT(v.run) AS BIGINT) AS runs, CAST(SUM(v.value) AS BIGINT) AS total,
        MIN(v.value) AS least, MAX(v.value) AS most
    FROM measured AS v
    JOIN machines AS m ON v.run = m.run
    WHERE v.value IS NOT NULL
    GROUP BY m.hostname, v.program, v.measure
),
others AS (
    SELECT h.hostname AS hostname, h.program AS program, h.measure AS measure, CAST(SUM(o.runs) AS BIGINT) AS runs, CAST(SUM(o.total) AS BIGINT) AS total,
        MIN(o.least) AS least, MAX(o.most) AS most
    FROM on_host AS h
    JOIN on_host AS o ON h.program = o.program AND h.measure = o.measure
    WHERE h.hostname <> o.hostname
    GROUP BY h.hostname, h.program, h.measure
)
SELECT h.hostname AS hostname, h.program AS program, h.measure AS measure, h.runs AS runs, o.runs AS other_runs,
    CAST(h.total AS DOUBLE) / CAST(h.runs AS DOUBLE) AS mean, CAST(o.total AS DOUBLE) / CAST(o.runs AS DOUBLE) AS others_mean,
    CAST(h.total AS DOUBLE) * CAST(o.runs AS DOUBLE) / CAST(CAST(o.total AS DOUBLE) * CAST(h.runs AS DOUBLE) AS DOUBLE) AS ratio,
    CASE WHEN h.least > o.most OR h.most < o.least THEN 1 ELSE 0 END AS is_apart
FROM on_host AS h
JOIN others AS o ON h.hostname = o.hostname AND h.program = o.program AND h.measure = o.measure
WHERE o.total > 0
ORDER BY is_apart DESC NULLS LAST, hostname ASC NULLS LAST, program ASC NULLS LAST, measure ASC NULLS LAST
