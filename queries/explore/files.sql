-- question: Which files does the program name in its system calls, and how often in vain?
-- row: one path in one recording, the two hundred named most often
-- units: calls counted, ns of wall time (null where the recording has no time); call_low, call_high: first and last name of such a call in the alphabet
-- empty: nothing recorded single calls with their path (strace; perf only where the kernel copied it)
SELECT a.path AS artifact_path, e.path AS file_path, CAST(COUNT(e.line_no) AS BIGINT) AS calls,
    CAST(SUM(CASE WHEN e.error IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END) AS BIGINT) AS failed,
    CAST(SUM(e.dur_ns) AS BIGINT) AS total_ns, MIN(e.name) AS call_low, MAX(e.name) AS call_high
FROM syscall_events AS e
JOIN artifacts AS a ON e.artifact_id = a.artifact_id
WHERE e.path IS NOT NULL
GROUP BY a.path, e.path
ORDER BY calls DESC NULLS LAST, artifact_path ASC NULLS LAST, file_path ASC NULLS LAST
LIMIT 200
