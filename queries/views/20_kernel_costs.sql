-- CPU weight of the samples that were taken in kernel code, per recording.
SELECT c.artifact_id AS artifact_id, c.event_id AS event_id, CAST(SUM(s.self_weight) AS BIGINT) AS weight, CAST(SUM(s.self_count) AS BIGINT) AS n
FROM cpu_events AS c
JOIN stack_costs AS s ON c.event_id = s.event_id
WHERE s.leaf_is_kernel
GROUP BY c.artifact_id, c.event_id
