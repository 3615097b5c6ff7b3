-- question: Which functions does each thread of the program spend its CPU time in, by themselves and with what they call?
-- row: one function of one thread of one CPU event, with at least a hundredth of the thread's weight
-- units: weights in the event's unit (events.unit: ns or events), shares 0 to 1 of the thread's weight
-- empty: nothing sampled the CPU
-- how: up_N is N callers up, step_N is N callers up or none; the steps 1, 2, 4, ... 128 one after another reach every caller of a stack (path),
--   up to 255 levels, without recursion
WITH sampled AS (
    SELECT s.event_id AS event_id, s.thread_id AS thread_id, s.stack_id AS stack_id, CAST(SUM(s.weight) AS BIGINT) AS weight
    FROM samples AS s
    JOIN events AS e ON s.event_id = e.event_id
    JOIN threads AS t ON s.thread_id = t.thread_id
    WHERE e.role = 'cpu' AND t.is_target
    GROUP BY s.event_id, s.thread_id, s.stack_id
),
wholes AS (
    SELECT event_id AS event_id, thread_id AS thread_id, CAST(SUM(weight) AS BIGINT) AS weight FROM sampled GROUP BY event_id, thread_id
),
leaves AS (
    SELECT DISTINCT stack_id AS stack_id FROM sampled WHERE stack_id IS NOT NULL
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
named AS (
    SELECT n.stack_id AS stack_id, f.function_id AS function_id
    FROM stacks AS n
    JOIN frames AS f ON n.frame_id = f.frame_id
    WHERE f.function_id IS NOT NULL
),
members AS (
    SELECT DISTINCT p.stack_id AS stack_id, n.function_id AS function_id
    FROM path AS p
    JOIN named AS n ON p.above_id = n.stack_id
),
totals AS (
    SELECT s.event_id AS event_id, s.thread_id AS thread_id, m.function_id AS function_id, CAST(SUM(s.weight) AS BIGINT) AS weight
    FROM sampled AS s
    JOIN members AS m ON s.stack_id = m.stack_id
    GROUP BY s.event_id, s.thread_id, m.function_id
),
selves AS (
    SELECT s.event_id AS event_id, s.thread_id AS thread_id, n.function_id AS function_id, CAST(SUM(s.weight) AS BIGINT) AS weight
    FROM sampled AS s
    JOIN named AS n ON s.stack_id = n.stack_id
    GROUP BY s.event_id, s.thread_id, n.function_id
)
SELECT e.name AS event_name, h.tid AS tid, h.name AS thread_name, f.name AS function_name, f.dso AS dso_name,
    COALESCE(s.weight, 0) AS self_weight, t.weight AS total_weight, w.weight AS thread_weight,
    CAST(COALESCE(s.weight, 0) AS DOUBLE) / CAST(w.weight AS DOUBLE) AS self_share,
    CAST(t.weight AS DOUBLE) / CAST(w.weight AS DOUBLE) AS total_share,
    t.event_id AS event_id, t.thread_id AS thread_id, t.function_id AS function_id
FROM totals AS t
JOIN wholes AS w ON t.event_id = w.event_id AND t.thread_id = w.thread_id
JOIN events AS e ON t.event_id = e.event_id
JOIN threads AS h ON t.thread_id = h.thread_id
JOIN functions AS f ON t.function_id = f.function_id
LEFT JOIN selves AS s ON t.event_id = s.event_id AND t.thread_id = s.thread_id AND t.function_id = s.function_id
WHERE w.weight > 0 AND CAST(t.weight AS DOUBLE) * CAST(100 AS DOUBLE) >= CAST(w.weight AS DOUBLE)
ORDER BY event_id ASC NULLS LAST, thread_weight DESC NULLS LAST, thread_id ASC NULLS LAST, self_weight DESC NULLS LAST,
    total_weight DESC NULLS LAST, function_id ASC NULLS LAST
