-- question: How does the share of a kind of work (allocation, copying, locking, ...) develop from run to run?
-- row: one symbol class in one run with CPU samples; 0 where no sample of the run has the class
-- units: shares 0 to 1 of the run's CPU weight; self: the function at the leaf is of the class; total: one anywhere on the stack is
-- empty: no run sampled the CPU
-- reads: events, stack_costs, stack_classes, executions, host; of each run the first CPU event. Runs are in the order of their names: let names begin
--   with the date (d20260131-1200-web7)
-- edit: for one class only, add WHERE k.class = 'ALLOC' to the SELECT of present
WITH firsts AS (
    SELECT run AS run, MIN(event_id) AS event_id FROM events WHERE role = 'cpu' AND target_weight > 0 GROUP BY run
),
wholes AS (
    SELECT e.run AS run, e.event_id AS event_id, e.target_weight AS whole, e.target_n AS samples
    FROM firsts AS x
    JOIN events AS e ON x.run = e.run AND x.event_id = e.event_id
),
weighed AS (
    SELECT w.run AS run, k.class AS class, CAST(SUM(CASE WHEN k.is_leaf THEN c.self_weight ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS self_weight,
        CAST(SUM(c.self_weight) AS BIGINT) AS total_weight
    FROM wholes AS w
    JOIN stack_costs AS c ON w.run = c.run AND w.event_id = c.event_id
    JOIN stack_classes AS k ON c.run = k.run AND c.stack_id = k.stack_id
    GROUP BY w.run, k.class
),
present AS (
    SELECT DISTINCT k.class AS class FROM weighed AS k
),
wanted AS (
    SELECT w.run AS run, p.class AS class, w.whole AS whole, w.samples AS samples
    FROM wholes AS w
    CROSS JOIN present AS p
),
programs AS (
    SELECT run AS run, MIN(program) AS program FROM executions GROUP BY run
),
machines AS (
    SELECT run AS run, MIN(value) AS hostname FROM host WHERE key = 'hostname' GROUP BY run
)
SELECT w.class AS class, w.run AS run, p.program AS program, m.hostname AS hostname,
    CAST(COALESCE(g.self_weight, 0) AS DOUBLE) / CAST(w.whole AS DOUBLE) AS self_share,
    CAST(COALESCE(g.total_weight, 0) AS DOUBLE) / CAST(w.whole AS DOUBLE) AS total_share, w.samples AS samples
FROM wanted AS w
LEFT JOIN weighed AS g ON w.run = g.run AND w.class = g.class
LEFT JOIN programs AS p ON w.run = p.run
LEFT JOIN machines AS m ON w.run = m.run
ORDER BY class ASC NULLS LAST, run ASC NULLS LAST
