-- The waits of the program's threads, summed by thread, reason and stack. Stacks summed by their tool have no threads with a role of their own.
WITH summed AS (
    SELECT artifact_id AS artifact_id, is_aggregate AS is_aggregate, thread_id AS thread_id, reason AS reason, stack_id AS stack_id,
        CAST(SUM(wait_ns) AS BIGINT) AS wait_ns, CAST(SUM(n) AS BIGINT) AS n
    FROM wait_pairs
    GROUP BY artifact_id, is_aggregate, thread_id, reason, stack_id
)
SELECT m.artifact_id AS artifact_id, CAST(0 AS BIGINT) AS is_aggregate, m.thread_id AS thread_id, s.role AS role, m.reason AS reason,
    m.stack_id AS stack_id, m.wait_ns AS wait_ns, m.n AS n
FROM summed AS m
JOIN thread_states AS s ON m.thread_id = s.thread_id AND m.artifact_id = s.artifact_id
JOIN threads AS t ON m.thread_id = t.thread_id
WHERE NOT m.is_aggregate AND t.is_target
UNION ALL
SELECT artifact_id AS artifact_id, CAST(1 AS BIGINT) AS is_aggregate, thread_id AS thread_id, 'worker' AS role, reason AS reason,
    stack_id AS stack_id, wait_ns AS wait_ns, n AS n
FROM summed
WHERE is_aggregate
