-- Who makes the calls of a family: the nearest function of the program, from the calls recorded with their stack (strace -k, perf record -g).
WITH placed AS (
    SELECT e.artifact_id AS artifact_id, e.name AS name, k.site_function_id AS function_id, CAST(COUNT(e.line_no) AS BIGINT) AS calls,
        CAST(SUM(COALESCE(e.dur_ns, 0)) AS BIGINT) AS call_ns
    FROM syscall_events AS e
    JOIN stack_sites AS k ON e.stack_id = k.stack_id
    WHERE k.site_function_id IS NOT NULL
    GROUP BY e.artifact_id, e.name, k.site_function_id
),
by_place AS (
    SELECT p.artifact_id AS artifact_id, m.family AS family, p.function_id AS function_id, CAST(SUM(p.calls) AS BIGINT) AS calls,
        CAST(SUM(p.call_ns) AS BIGINT) AS call_ns
    FROM placed AS p
    JOIN call_members AS m ON p.name = m.name
    GROUP BY p.artifact_id, m.family, p.function_id
),
wholes AS (
    SELECT artifact_id AS artifact_id, family AS family, CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(call_ns) AS BIGINT) AS call_ns
    FROM by_place
    GROUP BY artifact_id, family
)
SELECT p.artifact_id AS artifact_id, p.family AS family, p.function_id AS function_id, p.calls AS calls, p.call_ns AS call_ns,
    w.calls AS all_calls, w.call_ns AS all_ns
FROM by_place AS p
JOIN wholes AS w ON p.artifact_id = w.artifact_id AND p.family = w.family
