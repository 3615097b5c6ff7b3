-- question: Which runs are there, of what program on which host, and what did each find?
-- row: one run
-- units: wall_ns: shortest wall time of the program itself (no tracer) at the most work it was given (executions.work; two runs compare where it is
--   the same); counts; top_wall_share: lower bound of the first hotspot's share of the wall clock
-- empty: the dataset has no runs
-- reads: artifacts, executions, host, hypotheses, hotspots
WITH files AS (
    SELECT run AS run, CAST(COUNT(artifact_id) AS BIGINT) AS artifacts FROM artifacts GROUP BY run
),
programs AS (
    SELECT run AS run, MIN(program) AS program FROM executions GROUP BY run
),
bares AS (
    SELECT run AS run, COALESCE(work, 0) AS work, wall_ns AS wall_ns FROM executions WHERE wrapper = 'bare' AND wall_ns IS NOT NULL
),
largest AS (
    SELECT run AS run, MAX(work) AS work FROM bares GROUP BY run
),
walls AS (
    SELECT b.run AS run, MIN(b.wall_ns) AS wall_ns
    FROM bares AS b
    JOIN largest AS l ON b.run = l.run AND b.work = l.work
    GROUP BY b.run
),
machines AS (
    SELECT run AS run, MIN(CASE WHEN key = 'hostname' THEN value ELSE CAST(NULL AS STRING) END) AS hostname,
        MIN(CASE WHEN key = 'kernel_release' THEN value ELSE CAST(NULL AS STRING) END) AS kernel_release
    FROM host
    GROUP BY run
),
found AS (
    SELECT run AS run, CAST(SUM(CASE WHEN label = 'KERNEL' THEN 1 ELSE 0 END) AS BIGINT) AS kernels,
        CAST(SUM(CASE WHEN label = 'DISPUTED' THEN 1 ELSE 0 END) AS BIGINT) AS disputed,
        CAST(SUM(CASE WHEN handed_off THEN 1 ELSE 0 END) AS BIGINT) AS handed_off
    FROM hypotheses
    GROUP BY run
),
tops AS (
    SELECT run AS run, location AS location, wall_share AS wall_share FROM hotspots WHERE rank = 1
)
SELECT f.run AS run, p.program AS program, m.hostname AS hostname, m.kernel_release AS kernel_release, f.artifacts AS artifacts, w.wall_ns AS wall_ns,
    h.kernels AS kernels, h.disputed AS disputed, h.handed_off AS handed_off, t.location AS top_hotspot, t.wall_share AS top_wall_share
FROM files AS f
LEFT JOIN programs AS p ON f.run = p.run
LEFT JOIN walls AS w ON f.run = w.run
LEFT JOIN machines AS m ON f.run = m.run
LEFT JOIN found AS h ON f.run = h.run
LEFT JOIN tops AS t ON f.run = t.run
ORDER BY run ASC NULLS LAST
