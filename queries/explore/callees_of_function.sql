-- question: What does a function call, and where does its CPU time go?
-- row: one direct callee of the function in one CPU event (or the function itself); of a recursion the outermost call counts, so the rows of an event
--   sum to the function's total
-- units: weights in the event's unit, counts in samples, share 0 to 1 of the function's total
-- empty: nothing sampled the CPU, or the function is in no sample
-- edit: as it stands it asks for the function with the largest self weight. For another one, replace the SELECT of wanted by
--   SELECT function_id AS function_id FROM functions WHERE name = 'its name'   (or name LIKE '%part%': all that match count as one)
-- how: up_N is N callers up, step_N is N callers up or none; the steps 1, 2, 4, ... 128 one after another reach every caller of a stack (path),
--   up to 255 levels, without recursion
WITH wanted AS (
    SELECT c.function_id AS function_id
    FROM function_costs AS c
    JOIN events AS e ON c.event_id = e.event_id
    WHERE c.view = 'inlined' AND e.role = 'cpu'
    ORDER BY c.self_weight DESC NULLS LAST, c.function_id ASC NULLS LAST
    LIMIT 1
),
leaves AS (
    SELECT DISTINCT c.stack_id AS stack_id
    FROM stack_costs AS c
    JOIN events AS e ON c.event_id = e.event_id
    WHERE e.role = 'cpu'
),
up_1 AS (
    SELECT stack_id AS stack_id, parent_stack_id AS above_id FROM stacks WHERE parent_stack_id IS NOT NULL
),
up_2 AS (
    SELECT a.stack_id AS stack_id, b.above_id AS above_id FROM up_1 AS a JOIN up_1 AS b ON a.above_id = b.stack_id
),
up_4 AS (
    SELECT a.stack_id AS stack_id, b.above_id AS above_id FROM up_2 AS a JOIN up_2 AS b ON a.above_id = b.stack_id
),
up_8 AS (
    SELECT a.stack_id AS stack_id, b.above_id AS above_id FROM up_4 AS a JOIN up_4 AS b ON a.above_id = b.stack_id
),
up_16 AS (
    SELECT a.stack_id AS stack_id, b.above_id AS above_id FROM up_8 AS a JOIN up_8 AS b ON a.above_id = b.stack_id
),
up_32 AS (
    SELECT a.stack_id AS stack_id, b.above_id AS above_id FROM up_16 AS a JOIN up_16 AS b ON a.above_id = b.stack_id
),
up_64 AS (
    SELECT a.stack_id AS stack_id, b.above_id AS above_id FROM up_32 AS a JOIN up_32 AS b ON a.above_id = b.stack_id
),
up_128 AS (
    SELECT a.stack_id AS stack_id, b.above_id AS above_id FROM up_64 AS a JOIN up_64 AS b ON a.above_id = b.stack_id
),
step_1 AS (
    SELECT stack_id AS stack_id, stack_id AS above_id FROM stacks
    UNION ALL
    SELECT stack_id AS stack_id, above_id AS above_id FROM up_1
),
path_1 AS (
    SELECT p.stack_id AS stack_id, s.above_id AS above_id FROM leaves AS p JOIN step_1 AS s ON p.stack_id = s.stack_id
),
step_2 AS (
    SELECT stack_id AS stack_id, stack_id AS above_id FROM stacks
    UNION ALL
    SELECT stack_id AS stack_id, above_id AS above_id FROM up_2
),
path_2 AS (
    SELECT p.stack_id AS stack_id, s.above_id AS above_id FROM path_1 AS p JOIN step_2 AS s ON p.above_id = s.stack_id
),
step_4 AS (
    SELECT stack_id AS stack_id, stack_id AS above_id FROM stacks
    UNION ALL
    SELECT stack_id AS stack_id, above_id AS above_id FROM up_4
),
path_4 AS (
    SELECT p.stack_id AS stack_id, s.above_id AS above_id FROM path_2 AS p JOIN step_4 AS s ON p.above_id = s.stack_id
),
step_8 AS (
    SELECT stack_id AS stack_id, stack_id AS above_id FROM stacks
    UNION ALL
    SELECT stack_id AS stack_id, above_id AS above_id FROM up_8
),
path_8 AS (
    SELECT p.stack_id AS stack_id, s.above_id AS above_id FROM path_4 AS p JOIN step_8 AS s ON p.above_id = s.stack_id
),
step_16 AS (
    SELECT stack_id AS stack_id, stack_id AS above_id FROM stacks
    UNION ALL
    SELECT stack_id AS stack_id, above_id AS above_id FROM up_16
),
path_16 AS (
    SELECT p.stack_id AS stack_id, s.above_id AS above_id FROM path_8 AS p JOIN step_16 AS s ON p.above_id = s.stack_id
),
step_32 AS (
    SELECT stack_id AS stack_id, stack_id AS above_id FROM stacks
    UNION ALL
    SELECT stack_id AS stack_id, above_id AS above_id FROM up_32
),
path_32 AS (
    SELECT p.stack_id AS stack_id, s.above_id AS above_id FROM path_16 AS p JOIN step_32 AS s ON p.above_id = s.stack_id
),
step_64 AS (
    SELECT stack_id AS stack_id, stack_id AS above_id FROM stacks
    UNION ALL
    SELECT stack_id AS stack_id, above_id AS above_id FROM up_64
),
path_64 AS (
    SELECT p.stack_id AS stack_id, s.above_id AS above_id FROM path_32 AS p JOIN step_64 AS s ON p.above_id = s.stack_id
),
step_128 AS (
    SELECT stack_id AS stack_id, stack_id AS above_id FROM stacks
    UNION ALL
    SELECT stack_id AS stack_id, above_id AS above_id FROM up_128
),
path AS (
    SELECT p.stack_id AS stack_id, s.above_id AS above_id FROM path_64 AS p JOIN step_128 AS s ON p.above_id = s.stack_id
),
nodes AS (
    SELECT n.stack_id AS stack_id, n.parent_stack_id AS parent_stack_id, n.depth AS depth
    FROM stacks AS n
    JOIN frames AS f ON n.frame_id = f.frame_id
    JOIN wanted AS w ON f.function_id = w.function_id
),
hits AS (
    SELECT p.stack_id AS stack_id, n.stack_id AS node_id, n.parent_stack_id AS parent_stack_id, n.depth AS depth
    FROM path AS p
    JOIN nodes AS n ON p.above_id = n.stack_id
),
outermost AS (
    SELECT stack_id AS stack_id, MIN(depth) AS depth FROM hits GROUP BY stack_id
),
below AS (
    SELECT stack_id AS stack_id, depth + 1 AS depth FROM outermost
),
levels AS (
    SELECT p.stack_id AS stack_id, n.depth AS depth, n.frame_id AS frame_id
    FROM path AS p
    JOIN stacks AS n ON p.above_id = n.stack_id
),
called AS (
    SELECT l.stack_id AS stack_id, f.function_id AS function_id,
        CASE WHEN f.function_id IS NULL THEN 'no name' ELSE 'function' END AS kind
    FROM below AS b
    JOIN levels AS l ON b.stack_id = l.stack_id AND b.depth = l.depth
    JOIN frames AS f ON l.frame_id = f.frame_id
),
placed AS (
    SELECT o.stack_id AS stack_id, c.function_id AS callee_id, COALESCE(c.kind, 'itself') AS callee_kind
    FROM outermost AS o
    LEFT JOIN called AS c ON o.stack_id = c.stack_id
),
summed AS (
    SELECT s.event_id AS event_id, p.callee_kind AS callee_kind, p.callee_id AS callee_id, CAST(SUM(s.self_weight) AS BIGINT) AS weight,
        CAST(SUM(s.self_count) AS BIGINT) AS n
    FROM placed AS p
    JOIN stack_costs AS s ON p.stack_id = s.stack_id
    JOIN events AS e ON s.event_id = e.event_id
    WHERE e.role = 'cpu'
    GROUP BY s.event_id, p.callee_kind, p.callee_id
),
wholes AS (
    SELECT event_id AS event_id, CAST(SUM(weight) AS BIGINT) AS weight FROM summed GROUP BY event_id
)
SELECT e.name AS event_name, s.callee_kind AS callee_kind, f.name AS callee_name, f.dso AS callee_dso, s.weight AS weight, s.n AS samples,
    CAST(s.weight AS DOUBLE) / CAST(w.weight AS DOUBLE) AS share, s.event_id AS event_id, s.callee_id AS callee_id
FROM summed AS s
JOIN wholes AS w ON s.event_id = w.event_id
JOIN events AS e ON s.event_id = e.event_id
LEFT JOIN functions AS f ON s.callee_id = f.function_id
WHERE w.weight > 0
ORDER BY event_id ASC NULLS LAST, weight DESC NULLS LAST, callee_kind ASC NULLS LAST, callee_id ASC NULLS LAST
