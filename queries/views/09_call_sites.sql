-- Who makes the system calls of a log with stacks: per call name, the nearest function of the program.
WITH placed AS (
    SELECT e.artifact_id AS artifact_id, e.name AS name, k.class AS class, k.site_function_id AS function_id, COALESCE(e.dur_ns, 0) AS dur_ns,
        e.line_no AS line_no
    FROM syscall_events AS e
    JOIN stack_classes AS k ON e.stack_id = k.stack_id
    WHERE k.site_function_id IS NOT NULL
)
SELECT artifact_id AS artifact_id, class AS class, function_id AS function_id, CAST(COUNT(line_no) AS BIGINT) AS calls,
    CAST(SUM(dur_ns) AS BIGINT) AS dur_ns
FROM placed
GROUP BY artifact_id, class, function_id
