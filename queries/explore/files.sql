-- question: Which files does the program name in its system calls, and how often in vain?
-- row: one path in one recording, the two hundred named most often
-- units: calls counted, ns of wall time (null where the recording has no time); call_low, call_high: first and last name of such a call in the alphabet
-- empty: nothing recorded single calls with their path (strace; perf only where the kernel copied it)
WITH named AS (
    SELECT artifact_id AS artifact_id, path AS file_path, CAST(COUNT(line_no) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN error IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END) AS BIGINT) AS failed,
        CAST(SUM(dur_ns) AS BIGINT) AS total_ns, MIN(name) AS call_low, MAX(name) AS call_high
    FROM syscall_events
    WHERE path IS NOT NULL
    GROUP BY artifact_id, path
)
SELECT a.path AS artifact_path, n.file_path AS file_path, n.calls AS calls, n.failed AS failed, n.total_ns AS total_ns, n.call_low AS call_low,
    n.call_high AS call_high
FROM named AS n
JOIN artifacts AS a ON n.artifact_id = a.artifact_id
ORDER BY calls DESC NULLS LAST, artifact_path ASC NULLS LAST, file_path ASC NULLS LAST
LIMIT 200
