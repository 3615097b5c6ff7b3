-- CPU weight under each symbol class, per recording: anywhere on the stack (total) and at its leaf (self).
SELECT c.artifact_id AS artifact_id, c.event_id AS event_id, k.class AS class, CAST(SUM(s.self_weight) AS BIGINT) AS total_weight,
    CAST(SUM(CASE WHEN k.is_leaf THEN s.self_weight ELSE 0 END) AS BIGINT) AS self_weight, CAST(SUM(s.self_count) AS BIGINT) AS total_count
FROM cpu_events AS c
JOIN stack_costs AS s ON c.event_id = s.event_id
JOIN stack_classes AS k ON s.stack_id = k.stack_id
WHERE COALESCE(s.classes, 1) > 0
GROUP BY c.artifact_id, c.event_id, k.class
