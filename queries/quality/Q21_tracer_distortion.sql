-- id: Q21
-- name: distortion by the tracer
-- level: warn above 1.2 effect none
-- level: demote above 2 effect demote:M5:time
-- level: demote below 0.8 effect demote:M5:time
-- message: the traced run took {value} times as long as the bare run, for the same work
-- short: {value} times as long
-- unchecked: the wall time of the traced or of the bare run is unknown
-- advice: Trace fewer calls (-e trace=...), use perf trace or bpftrace; counts are used, times are not.
-- source: measured: 17.6 times for 100 000 writes, 442 times at worst (dd); rules.md Q21
WITH twins AS (
    SELECT e.work AS work, e.signature AS signature, MIN(e.wall_ns) AS wall_ns
    FROM executions AS e
    JOIN artifacts AS a ON e.artifact_id = a.artifact_id
    WHERE a.kind = 'manifest' AND e.wrapper = 'bare' AND e.user_ns IS NULL AND e.work IS NOT NULL
    GROUP BY e.work, e.signature
)
SELECT a.artifact_id AS artifact_id,
    CASE WHEN t.wall_ns IS NOT NULL THEN a.wall_ns
        ELSE CAST(CAST(a.wall_ns AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE)
        - CAST(a.wall_ns AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT) END AS part,
    COALESCE(t.wall_ns, b.wall_ns) AS whole
FROM artifacts AS a
JOIN admitted AS d ON a.artifact_id = d.artifact_id
LEFT JOIN executions AS x ON a.execution_id = x.execution_id
LEFT JOIN twins AS t ON x.work = t.work AND x.signature = t.signature
CROSS JOIN bare AS b
WHERE a.tool = 'strace'
