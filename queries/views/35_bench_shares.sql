-- A benchmark of one function, run as often as the recorded run does it, as a share of that run's wall time. class: what the function is, by its name.
WITH named AS (
    SELECT f.name AS name, k.class AS class, MIN(f.function_id) AS function_id
    FROM functions AS f
    JOIN stack_classes AS k ON f.function_id = k.class_function_id
    GROUP BY f.name, k.class
)
SELECT s.artifact_id AS artifact_id, f.class AS class, f.function_id AS function_id, s.median_ns AS part, b.wall_ns AS whole, s.n AS n,
    CASE WHEN b.work > 0 AND s.work > 0 THEN b.work ELSE CAST(1 AS BIGINT) END AS scale_up,
    CASE WHEN b.work > 0 AND s.work > 0 THEN s.work ELSE CAST(1 AS BIGINT) END AS scale_down,
    CAST(s.lo_ns AS DOUBLE) / CAST(b.wall_ns AS DOUBLE) * CASE WHEN b.work > 0 AND s.work > 0 THEN CAST(b.work AS DOUBLE) / CAST(s.work AS DOUBLE)
        ELSE CAST(1 AS DOUBLE) END AS lo,
    CAST(s.hi_ns AS DOUBLE) / CAST(b.wall_ns AS DOUBLE) * CASE WHEN b.work > 0 AND s.work > 0 THEN CAST(b.work AS DOUBLE) / CAST(s.work AS DOUBLE)
        ELSE CAST(1 AS DOUBLE) END AS hi,
    CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM benchmark_stats AS s
JOIN named AS f ON s.function = f.name
CROSS JOIN bare AS b
