-- Who spends that weight: the nearest function of the program above the class. certain = 1 where unwinding kept the caller of at least half of it.
WITH weighed AS (
    SELECT c.artifact_id AS artifact_id, k.class AS class, k.site_function_id AS function_id, s.self_weight AS weight,
        CASE WHEN c.callers_kept = 1 OR k.caller_certain THEN s.self_weight ELSE 0 END AS certain_weight
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    JOIN stack_classes AS k ON s.stack_id = k.stack_id
    WHERE COALESCE(s.classes, 1) > 0 AND k.site_function_id IS NOT NULL
),
summed AS (
    SELECT artifact_id AS artifact_id, class AS class, function_id AS function_id, CAST(SUM(weight) AS BIGINT) AS weight,
        CAST(SUM(certain_weight) AS BIGINT) AS certain_weight
    FROM weighed
    GROUP BY artifact_id, class, function_id
)
SELECT artifact_id AS artifact_id, class AS class, function_id AS function_id, weight AS weight,
    CASE WHEN certain_weight * 2 >= weight THEN 1 ELSE 0 END AS certain
FROM summed
