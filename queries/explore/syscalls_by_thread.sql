-- question: Which thread makes which system calls?
-- row: one system call of one thread in one recording (tid null: the recording sums over all threads)
-- units: total_ns in the clock of the next column: wall, system (CPU time in the kernel) or unknown; null where the recording has no time
-- empty: nothing recorded system calls
WITH in_summaries AS (
    SELECT DISTINCT artifact_id AS artifact_id, 'yes' AS has FROM syscalls
),
calls_of AS (
    SELECT artifact_id AS artifact_id, thread_id AS thread_id, name AS name, calls AS calls, COALESCE(errors, 0) AS errors, total_ns AS total_ns, clock AS clock
    FROM syscalls
    UNION ALL
    SELECT e.artifact_id AS artifact_id, e.thread_id AS thread_id, e.name AS name, CAST(1 AS BIGINT) AS calls,
        CASE WHEN e.error IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END AS errors, e.dur_ns AS total_ns, 'wall' AS clock
    FROM syscall_events AS e
    LEFT JOIN in_summaries AS i ON e.artifact_id = i.artifact_id
    WHERE i.has IS NULL
),
summed AS (
    SELECT artifact_id AS artifact_id, thread_id AS thread_id, name AS name, clock AS clock, CAST(SUM(calls) AS BIGINT) AS calls,
        CAST(SUM(errors) AS BIGINT) AS errors, CAST(SUM(total_ns) AS BIGINT) AS total_ns
    FROM calls_of
    GROUP BY artifact_id, thread_id, name, clock
)
SELECT a.path AS artifact_path, t.tid AS tid, t.name AS thread_name, s.name AS syscall_name, s.calls AS calls, s.errors AS errors,
    s.total_ns AS total_ns, s.clock AS clock, s.thread_id AS thread_id
FROM summed AS s
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
LEFT JOIN threads AS t ON s.thread_id = t.thread_id
ORDER BY artifact_path ASC NULLS LAST, thread_id ASC NULLS LAST, calls DESC NULLS LAST, syscall_name ASC NULLS LAST, clock ASC NULLS LAST
