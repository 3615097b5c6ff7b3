-- question: Which files would name the code that no function names, heaviest first?
-- row: one file in one CPU event with samples that end in it without a name; dso_name null: addresses in no mapping
-- units: weights in the event's unit, counts in samples, share 0 to 1 of the event's weight; addresses: different ones without a name
-- empty: every sample of the program ends in code with a name, or nothing sampled the CPU
WITH tips AS (
    SELECT c.event_id AS event_id, f.dso_id AS dso_id, f.frame_id AS frame_id, c.self_weight AS weight, c.self_count AS n
    FROM stack_costs AS c
    JOIN stacks AS s ON c.stack_id = s.stack_id
    JOIN frames AS f ON s.frame_id = f.frame_id
    WHERE c.leaf_function_id IS NULL
),
by_frame AS (
    SELECT event_id AS event_id, dso_id AS dso_id, frame_id AS frame_id, CAST(SUM(weight) AS BIGINT) AS weight, CAST(SUM(n) AS BIGINT) AS n
    FROM tips
    GROUP BY event_id, dso_id, frame_id
),
summed AS (
    SELECT event_id AS event_id, dso_id AS dso_id, CAST(SUM(weight) AS BIGINT) AS weight, CAST(SUM(n) AS BIGINT) AS n,
        CAST(COUNT(frame_id) AS BIGINT) AS addresses
    FROM by_frame
    GROUP BY event_id, dso_id
)
SELECT e.name AS event_name, d.name AS dso_name, d.kind AS dso_kind, d.path AS dso_path, d.build_id AS build_id, d.symbol_source AS symbol_source,
    s.weight AS weight, s.n AS samples, CAST(s.weight AS DOUBLE) / CAST(e.target_weight AS DOUBLE) AS share, s.addresses AS addresses,
    s.event_id AS event_id, s.dso_id AS dso_id
FROM summed AS s
JOIN events AS e ON s.event_id = e.event_id
LEFT JOIN dsos AS d ON s.dso_id = d.dso_id
WHERE e.role = 'cpu' AND e.target_weight > 0
ORDER BY weight DESC NULLS LAST, event_id ASC NULLS LAST, dso_id ASC NULLS LAST
