-- question: At which user-space locks (futex words) do threads wait longest, and in which function?
-- row: one futex word, operation and site in one recording, the two hundred with most time; an address means one lock only while the process lives
-- units: calls counted, ns of wall time in the call (null where the recording has no time)
-- empty: nothing recorded single futex calls (strace -f -T, perf record -e syscalls:sys_enter_futex,...)
WITH placed AS (
    SELECT e.artifact_id AS artifact_id, e.address AS address, e.operation AS operation, k.site_function_id AS function_id, e.dur_ns AS dur_ns,
        e.line_no AS line_no
    FROM syscall_events AS e
    LEFT JOIN stack_sites AS k ON e.stack_id = k.stack_id
    WHERE e.name = 'futex'
),
summed AS (
    SELECT artifact_id AS artifact_id, address AS address, operation AS operation, function_id AS function_id, CAST(COUNT(line_no) AS BIGINT) AS calls,
        CAST(SUM(dur_ns) AS BIGINT) AS total_ns, MAX(dur_ns) AS longest_ns
    FROM placed
    GROUP BY artifact_id, address, operation, function_id
)
SELECT a.path AS artifact_path, s.address AS address, s.operation AS operation, f.name AS site, s.calls AS calls, s.total_ns AS total_ns,
    s.longest_ns AS longest_ns, s.function_id AS site_function_id
FROM summed AS s
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
LEFT JOIN functions AS f ON s.function_id = f.function_id
ORDER BY total_ns DESC NULLS LAST, calls DESC NULLS LAST, artifact_path ASC NULLS LAST, address ASC NULLS LAST, operation ASC NULLS LAST,
    site_function_id ASC NULLS LAST
LIMIT 200
