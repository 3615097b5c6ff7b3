-- Allocation calls made under the classes that allocate for a purpose, per heap recording; 0 where none was seen.
WITH whole AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM allocations GROUP BY artifact_id
),
wanted AS (
    SELECT artifact_id AS artifact_id, 'SERDE' AS class FROM whole
    UNION ALL
    SELECT artifact_id AS artifact_id, 'UNWIND' AS class FROM whole
),
classed AS (
    SELECT a.artifact_id AS artifact_id, k.class AS class, CAST(SUM(a.calls) AS BIGINT) AS calls
    FROM allocations AS a
    JOIN stack_classes AS k ON a.stack_id = k.stack_id
    GROUP BY a.artifact_id, k.class
)
SELECT w.artifact_id AS artifact_id, n.class AS class, COALESCE(c.calls, 0) AS calls, w.calls AS all_calls
FROM whole AS w
JOIN wanted AS n ON w.artifact_id = n.artifact_id
LEFT JOIN classed AS c ON n.artifact_id = c.artifact_id AND n.class = c.class
