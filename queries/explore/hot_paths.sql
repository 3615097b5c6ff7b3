-- question: By which calls are the hottest functions reached?
-- row: one chain of three functions at the inner end of the stacks of one CPU event, the hundred heaviest; null: no name, or nothing further out
-- units: weights in the event's unit, counts in samples, share 0 to 1 of the event's weight
-- empty: nothing sampled the CPU
WITH places AS (
    SELECT s.stack_id AS stack_id, s.parent_stack_id AS parent_stack_id, f.function_id AS function_id
    FROM stacks AS s
    JOIN frames AS f ON s.frame_id = f.frame_id
),
chains AS (
    SELECT c.event_id AS event_id, p.function_id AS leaf_id, q.function_id AS caller_id, r.function_id AS outer_id, c.self_weight AS weight,
        c.self_count AS n
    FROM stack_costs AS c
    JOIN places AS p ON c.stack_id = p.stack_id
    LEFT JOIN places AS q ON p.parent_stack_id = q.stack_id
    LEFT JOIN places AS r ON q.parent_stack_id = r.stack_id
),
summed AS (
    SELECT event_id AS event_id, leaf_id AS leaf_id, caller_id AS caller_id, outer_id AS outer_id, CAST(SUM(weight) AS BIGINT) AS weight,
        CAST(SUM(n) AS BIGINT) AS n
    FROM chains
    GROUP BY event_id, leaf_id, caller_id, outer_id
)
SELECT e.name AS event_name, f.name AS function_name, g.name AS caller_name, h.name AS outer_caller_name, s.weight AS weight, s.n AS samples,
    CAST(s.weight AS DOUBLE) / CAST(e.target_weight AS DOUBLE) AS share, s.event_id AS event_id, s.leaf_id AS leaf_id, s.caller_id AS caller_id,
    s.outer_id AS outer_id
FROM summed AS s
JOIN events AS e ON s.event_id = e.event_id
LEFT JOIN functions AS f ON s.leaf_id = f.function_id
LEFT JOIN functions AS g ON s.caller_id = g.function_id
LEFT JOIN functions AS h ON s.outer_id = h.function_id
WHERE e.role = 'cpu' AND e.target_weight > 0
ORDER BY weight DESC NULLS LAST, event_id ASC NULLS LAST, leaf_id ASC NULLS LAST, caller_id ASC NULLS LAST, outer_id ASC NULLS LAST
LIMIT 100
