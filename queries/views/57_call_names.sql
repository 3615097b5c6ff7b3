-- System calls by name, whatever recorded them: a summary (strace -c), a log (strace), a trace (perf record of the syscall tracepoints) or counts (syscount).
-- call_ns is wall time or null: the seconds of a summary may be CPU time. table_name: where verify finds the numbers.
WITH summed AS (
    SELECT artifact_id AS artifact_id, name AS name, CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(errors) AS BIGINT) AS errors,
        CAST(SUM(CASE WHEN clock = 'wall' THEN total_ns ELSE CAST(NULL AS BIGINT) END) AS BIGINT) AS call_ns,
        CAST(SUM(CASE WHEN clock = 'wall' AND total_ns IS NOT NULL THEN 1 ELSE 0 END) AS BIGINT) AS timed
    FROM syscalls
    GROUP BY artifact_id, name
),
in_summaries AS (
    SELECT DISTINCT artifact_id AS artifact_id, 'yes' AS has FROM summed
),
logged AS (
    SELECT artifact_id AS artifact_id, name AS name, CAST(COUNT(line_no) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN error IS NULL THEN 0 ELSE 1 END) AS BIGINT) AS errors, CAST(SUM(COALESCE(dur_ns, 0)) AS BIGINT) AS call_ns,
        CAST(COUNT(dur_ns) AS BIGINT) AS timed
    FROM syscall_events
    GROUP BY artifact_id, name
)
SELECT s.artifact_id AS artifact_id, s.name AS name, s.calls AS calls, COALESCE(s.errors, 0) AS errors,
    CASE WHEN s.timed > 0 THEN s.call_ns ELSE CAST(NULL AS BIGINT) END AS call_ns, 'syscalls' AS table_name,
    CASE WHEN a.tool = 'strace' THEN 'summary' WHEN a.kind = 'syscount' THEN 'syscount' ELSE 'trace' END AS source
FROM summed AS s
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
UNION ALL
SELECT l.artifact_id AS artifact_id, l.name AS name, l.calls AS calls, l.errors AS errors,
    CASE WHEN l.timed > 0 THEN l.call_ns ELSE CAST(NULL AS BIGINT) END AS call_ns, 'syscall_events' AS table_name,
    CASE WHEN a.tool = 'strace' THEN 'log' ELSE 'trace' END AS source
FROM logged AS l
JOIN artifacts AS a ON l.artifact_id = a.artifact_id
LEFT JOIN in_summaries AS i ON l.artifact_id = i.artifact_id
WHERE i.has IS NULL
