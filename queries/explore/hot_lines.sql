-- question: On which source lines does the CPU time end?
-- row: one line of one function in one CPU event, the two hundred heaviest
-- units: weights in the event's unit, counts in samples, share 0 to 1 of the event's weight
-- empty: nothing sampled the CPU, or the programs have no line information (give the debug files with --symbol-dir)
WITH tips AS (
    SELECT c.event_id AS event_id, f.function_id AS function_id, f.line AS line, c.self_weight AS weight, c.self_count AS n
    FROM stack_costs AS c
    JOIN stacks AS s ON c.stack_id = s.stack_id
    JOIN frames AS f ON s.frame_id = f.frame_id
    WHERE f.line IS NOT NULL AND f.function_id IS NOT NULL
),
summed AS (
    SELECT event_id AS event_id, function_id AS function_id, line AS line, CAST(SUM(weight) AS BIGINT) AS weight, CAST(SUM(n) AS BIGINT) AS n
    FROM tips
    GROUP BY event_id, function_id, line
)
SELECT e.name AS event_name, f.name AS function_name, f.file AS file, s.line AS line, s.weight AS weight, s.n AS samples,
    CAST(s.weight AS DOUBLE) / CAST(e.target_weight AS DOUBLE) AS share, s.event_id AS event_id, s.function_id AS function_id
FROM summed AS s
JOIN events AS e ON s.event_id = e.event_id
JOIN functions AS f ON s.function_id = f.function_id
WHERE e.role = 'cpu' AND e.target_weight > 0
ORDER BY weight DESC NULLS LAST, event_id ASC NULLS LAST, function_id ASC NULLS LAST, line ASC NULLS LAST
LIMIT 200
