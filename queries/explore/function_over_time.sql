-- question: When does a function run: all the time, at the start, in bursts?
-- row: one twentieth of a recording (one CPU event) in which the program was sampled; slices without a sample have no row
-- units: slice 0 to 19, start_s in seconds since the first sample of the event, weights in the event's unit; self: samples that end in the function;
--   total: samples that have it anywhere on the stack; share: total over what the program spent in that slice, 0 to 1
-- empty: nothing sampled the CPU with time stamps
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
tips AS (
    SELECT n.stack_id AS stack_id, w.function_id AS function_id
    FROM stacks AS n
    JOIN frames AS f ON n.frame_id = f.frame_id
    JOIN wanted AS w ON f.function_id = w.function_id
),
own AS (
    SELECT s.event_id AS event_id, s.ts_ns AS ts_ns, s.stack_id AS stack_id, s.weight AS weight
    FROM samples AS s
    JOIN events AS e ON s.event_id = e.event_id
    JOIN threads AS t ON s.thread_id = t.thread_id
    WHERE e.role = 'cpu' AND t.is_target AND s.ts_ns IS NOT NULL
),
windows AS (
    SELECT event_id AS event_id, MIN(ts_ns) AS first_ns, MAX(ts_ns) - MIN(ts_ns) + 1 AS window_ns FROM own GROUP BY event_id
),
scaled AS (
    SELECT o.event_id AS event_id, o.stack_id AS stack_id, o.weight AS weight, w.window_ns AS window_ns, (o.ts_ns - w.first_ns) * 20 AS place
    FROM own AS o
    JOIN windows AS w ON o.event_id = w.event_id
),
placed AS (
    SELECT s.event_id AS event_id, s.window_ns AS window_ns, s.place - s.place % s.window_ns AS slice_start, s.weight AS weight,
        CASE WHEN o.stack_id IS NULL THEN CAST(0 AS BIGINT) ELSE s.weight END AS total_weight,
        CASE WHEN t.stack_id IS NULL THEN CAST(0 AS BIGINT) ELSE s.weight END AS self_weight
    FROM scaled AS s
    LEFT JOIN outermost AS o ON s.stack_id = o.stack_id
    LEFT JOIN tips AS t ON s.stack_id = t.stack_id
),
summed AS (
    SELECT event_id AS event_id, window_ns AS window_ns, slice_start AS slice_start, CAST(SUM(self_weight) AS BIGINT) AS self_weight,
        CAST(SUM(total_weight) AS BIGINT) AS total_weight, CAST(SUM(weight) AS BIGINT) AS all_weight
    FROM placed
    GROUP BY event_id, window_ns, slice_start
)
SELECT e.name AS event_name, CAST(ROUND(CAST(s.slice_start AS DOUBLE) / CAST(s.window_ns AS DOUBLE), 0) AS BIGINT) AS slice,
    CAST(s.slice_start AS DOUBLE) / CAST(20000000000 AS DOUBLE) AS start_s, s.self_weight AS self_weight, s.total_weight AS total_weight,
    s.all_weight AS all_weight, CAST(s.total_weight AS DOUBLE) / CAST(s.all_weight AS DOUBLE) AS share, s.event_id AS event_id
FROM summed AS s
JOIN events AS e ON s.event_id = e.event_id
WHERE s.all_weight > 0
ORDER BY event_id ASC NULLS LAST, slice ASC NULLS LAST
