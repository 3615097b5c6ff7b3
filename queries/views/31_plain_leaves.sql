-- CPU weight per function at the leaf, per recording, of the program's own code: without stacks that go through the allocator, a lock or the kernel.
WITH other AS (
    SELECT DISTINCT stack_id AS stack_id FROM stack_classes WHERE class IN ('ALLOC', 'SYNC', 'KENTRY', 'SPIN')
),
classed AS (
    SELECT c.artifact_id AS artifact_id, s.leaf_function_id AS function_id, s.self_weight AS weight, s.self_count AS n, o.stack_id AS other
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    LEFT JOIN other AS o ON s.stack_id = o.stack_id
    WHERE COALESCE(s.classes, 1) > 0 AND s.leaf_function_id IS NOT NULL AND NOT s.leaf_is_kernel
),
leaves AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, weight AS weight, n AS n FROM classed WHERE other IS NULL
    UNION ALL
    SELECT c.artifact_id AS artifact_id, s.leaf_function_id AS function_id, s.self_weight AS weight, s.self_count AS n
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    WHERE s.classes = 0 AND s.leaf_function_id IS NOT NULL AND NOT s.leaf_is_kernel
)
SELECT artifact_id AS artifact_id, function_id AS function_id, CAST(SUM(weight) AS BIGINT) AS weight, CAST(SUM(n) AS BIGINT) AS n
FROM leaves
GROUP BY artifact_id, function_id
