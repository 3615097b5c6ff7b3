-- question: Which threads of the program spend the CPU time, and how much of it in the kernel?
-- row: one thread in one CPU event
-- units: weights in the event's unit (events.unit: ns or events), counts in samples, shares 0 to 1: of the event, and of the thread
-- empty: nothing sampled the CPU
WITH tips AS (
    SELECT n.stack_id AS stack_id, f.is_kernel AS is_kernel
    FROM stacks AS n
    JOIN frames AS f ON n.frame_id = f.frame_id
),
summed AS (
    SELECT s.event_id AS event_id, s.thread_id AS thread_id, CAST(SUM(s.weight) AS BIGINT) AS weight, CAST(COUNT(s.record_no) AS BIGINT) AS n,
        CAST(SUM(CASE WHEN COALESCE(t.is_kernel, FALSE) THEN s.weight ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS kernel_weight
    FROM samples AS s
    LEFT JOIN tips AS t ON s.stack_id = t.stack_id
    GROUP BY s.event_id, s.thread_id
)
SELECT e.name AS event_name, t.tid AS tid, t.name AS thread_name, s.weight AS weight, s.n AS samples,
    CAST(s.weight AS DOUBLE) / CAST(e.target_weight AS DOUBLE) AS share, s.kernel_weight AS kernel_weight,
    CAST(s.kernel_weight AS DOUBLE) / CAST(s.weight AS DOUBLE) AS kernel_share, s.event_id AS event_id, s.thread_id AS thread_id
FROM summed AS s
JOIN events AS e ON s.event_id = e.event_id
JOIN threads AS t ON s.thread_id = t.thread_id
WHERE e.role = 'cpu' AND t.is_target AND e.target_weight > 0 AND s.weight > 0
ORDER BY event_id ASC NULLS LAST, weight DESC NULLS LAST, thread_id ASC NULLS LAST
