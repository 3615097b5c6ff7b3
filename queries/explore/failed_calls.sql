-- question: Which system calls fail, with which error, and on what?
-- row: one system call and error in one recording
-- units: calls counted, ns of wall time; example_path: the first path in the alphabet among them
-- empty: no single call that failed was recorded (summaries count errors without naming them: syscalls.sql)
WITH failed AS (
    SELECT artifact_id AS artifact_id, name AS syscall_name, error AS error, CAST(COUNT(line_no) AS BIGINT) AS calls, CAST(SUM(dur_ns) AS BIGINT) AS total_ns,
        MIN(path) AS example_path
    FROM syscall_events
    WHERE error IS NOT NULL
    GROUP BY artifact_id, name, error
)
SELECT a.path AS artifact_path, f.syscall_name AS syscall_name, f.error AS error, f.calls AS calls, f.total_ns AS total_ns, f.example_path AS example_path
FROM failed AS f
JOIN artifacts AS a ON f.artifact_id = a.artifact_id
ORDER BY calls DESC NULLS LAST, artifact_path ASC NULLS LAST, syscall_name ASC NULLS LAST, error ASC NULLS LAST
