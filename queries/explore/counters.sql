-- question: What do the hardware and software counters of the whole run say?
-- row: one counter of one perf stat file
-- units: value in the unit beside it, null where it was not counted; per_second: value over the run's task time where it is a count
-- empty: nothing counted the run (perf stat)
WITH clocks AS (
    SELECT artifact_id AS artifact_id, MAX(value) AS task_ns FROM counters
    WHERE event IN ('task-clock', 'cpu-clock') AND unit = 'ns' AND interval_ns IS NULL AND value > 0
    GROUP BY artifact_id
)
SELECT a.path AS artifact_path, c.event AS event, c.modifiers AS modifiers, c.scope AS scope, c.value AS value, c.unit AS unit, c.status AS status,
    CASE WHEN c.unit = 'count' THEN CAST(c.value AS DOUBLE) * CAST(1000000000 AS DOUBLE) / CAST(k.task_ns AS DOUBLE) ELSE CAST(NULL AS DOUBLE) END AS per_second,
    c.running_share AS running_share, c.line_no AS line_no
FROM counters AS c
JOIN artifacts AS a ON c.artifact_id = a.artifact_id
LEFT JOIN clocks AS k ON c.artifact_id = k.artifact_id
WHERE c.interval_ns IS NULL
ORDER BY artifact_path ASC NULLS LAST, event ASC NULLS LAST, modifiers ASC NULLS LAST, scope ASC NULLS LAST, line_no ASC NULLS LAST
