-- question: In which program, library or part of the kernel is the CPU time spent?
-- row: one file (or what stands for one) at the leaf of the samples of one CPU event; dso_name null: addresses in no mapping
-- units: weights in the event's unit, counts in samples, share 0 to 1 of the event's weight; unnamed_weight: of the samples in it that no function names
-- empty: nothing sampled the CPU
WITH tips AS (
    SELECT event_id AS event_id, leaf_dso_id AS dso_id, self_weight AS weight, self_count AS n,
        CASE WHEN leaf_function_id IS NULL THEN self_weight ELSE CAST(0 AS BIGINT) END AS unnamed
    FROM stack_costs
),
summed AS (
    SELECT event_id AS event_id, dso_id AS dso_id, CAST(SUM(weight) AS BIGINT) AS weight, CAST(SUM(n) AS BIGINT) AS n,
        CAST(SUM(unnamed) AS BIGINT) AS unnamed
    FROM tips
    GROUP BY event_id, dso_id
)
SELECT e.name AS event_name, d.name AS dso_name, d.kind AS dso_kind, d.path AS dso_path, s.weight AS weight, s.n AS samples,
    CAST(s.weight AS DOUBLE) / CAST(e.target_weight AS DOUBLE) AS share, s.unnamed AS unnamed_weight, s.event_id AS event_id, s.dso_id AS dso_id
FROM summed AS s
JOIN events AS e ON s.event_id = e.event_id
LEFT JOIN dsos AS d ON s.dso_id = d.dso_id
WHERE e.role = 'cpu' AND e.target_weight > 0
ORDER BY event_id ASC NULLS LAST, weight DESC NULLS LAST, dso_id ASC NULLS LAST
