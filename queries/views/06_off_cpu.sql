-- Per recording of waits: how long the workers lived in its window. Threads that only wait for others (joiners, idle pools) are left out. Stacks summed
-- by their tool have no threads of their own: their window counts once per thread (lives). anchor: where lived_ns stands.
WITH traced AS (
    SELECT s.artifact_id AS artifact_id, CAST(SUM(s.window_ns) AS BIGINT) AS lived_ns, CAST(SUM(s.on_cpu_ns) AS BIGINT) AS on_cpu_ns,
        CAST(SUM(s.runnable_ns) AS BIGINT) AS runnable_ns
    FROM thread_states AS s
    JOIN threads AS t ON s.thread_id = t.thread_id
    WHERE t.is_target AND s.role = 'worker'
    GROUP BY s.artifact_id
),
aggregated AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM wait_pairs WHERE is_aggregate
),
windows AS (
    SELECT g.artifact_id AS artifact_id, COALESCE(a.window_ns, a.wall_ns) AS lived_ns, COALESCE(r.threads, 1) AS lives,
        CASE WHEN a.window_ns IS NULL THEN 'sum=artifacts.wall_ns' ELSE 'sum=artifacts.window_ns' END AS anchor
    FROM aggregated AS g
    JOIN artifacts AS a ON g.artifact_id = a.artifact_id
    CROSS JOIN run_threads AS r
)
SELECT artifact_id AS artifact_id, CAST(0 AS BIGINT) AS is_aggregate, lived_ns AS lived_ns, on_cpu_ns AS on_cpu_ns, runnable_ns AS runnable_ns,
    CAST(1 AS BIGINT) AS lives, 'sum=thread_states.window_ns&role=worker' AS anchor
FROM traced
UNION ALL
SELECT artifact_id AS artifact_id, CAST(1 AS BIGINT) AS is_aggregate, lived_ns AS lived_ns, CAST(NULL AS BIGINT) AS on_cpu_ns,
    CAST(NULL AS BIGINT) AS runnable_ns, lives AS lives, anchor AS anchor
FROM windows
