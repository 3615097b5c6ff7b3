-- question: What kind of work is the CPU time: allocation, copying, formatting, locking, system calls, ...?
-- row: one symbol class (queries/symbol_classes.json) in one CPU event; a sample may be in several classes, so the rows do not sum to 1
-- units: weights in the event's unit, shares 0 to 1 of the event's weight; self: the function at the leaf is of the class; total: one anywhere on the stack is.
--   Where time is charged by mistake (IRQ_SINK) and how the kernel is entered (KENTRY) mean something as self only
-- empty: nothing sampled the CPU, or no sample has a function of any class
WITH summed AS (
    SELECT c.event_id AS event_id, k.class AS class,
        CAST(SUM(CASE WHEN k.is_leaf THEN c.self_weight ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS self_weight,
        CAST(SUM(c.self_weight) AS BIGINT) AS total_weight, CAST(SUM(c.self_count) AS BIGINT) AS samples
    FROM stack_costs AS c
    JOIN stack_classes AS k ON c.stack_id = k.stack_id
    GROUP BY c.event_id, k.class
)
SELECT e.name AS event_name, s.class AS class, s.self_weight AS self_weight, s.total_weight AS total_weight, s.samples AS samples,
    CAST(s.self_weight AS DOUBLE) / CAST(e.target_weight AS DOUBLE) AS self_share,
    CAST(s.total_weight AS DOUBLE) / CAST(e.target_weight AS DOUBLE) AS total_share, s.event_id AS event_id
FROM summed AS s
JOIN events AS e ON s.event_id = e.event_id
WHERE e.role = 'cpu' AND e.target_weight > 0
ORDER BY event_id ASC NULLS LAST, total_weight DESC NULLS LAST, class ASC NULLS LAST
