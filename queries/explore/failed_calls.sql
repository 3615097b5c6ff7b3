-- question: Which system calls fail, with which error, and on what?
-- row: one system call and error in one recording
-- units: calls counted, ns of wall time; example_path: the first path by name among them
-- empty: no single call that failed was recorded (summaries count errors without naming them: syscalls.sql)
SELECT a.path AS artifact_path, e.name AS syscall_name, e.error AS error, CAST(COUNT(e.line_no) AS BIGINT) AS calls,
    CAST(SUM(e.dur_ns) AS BIGINT) AS total_ns, MIN(e.path) AS example_path
FROM syscall_events AS e
JOIN artifacts AS a ON e.artifact_id = a.artifact_id
WHERE e.error IS NOT NULL
GROUP BY a.path, e.name, e.error
ORDER BY calls DESC NULLS LAST, artifact_path ASC NULLS LAST, syscall_name ASC NULLS LAST, error ASC NULLS LAST
