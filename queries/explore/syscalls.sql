-- question: Which system calls are made, how often, and how long do they take?
-- row: one system call in one recording: of a summary (strace -c), of perf's syscall tracepoints, of syscount
-- units: total_ns in the clock of the next column: wall, system (CPU time in the kernel) or unknown; null where the recording has no time
-- empty: nothing summarized system calls; for a log of single calls see syscalls_by_thread.sql and slow_calls.sql
SELECT a.path AS artifact_path, s.name AS syscall_name, s.clock AS clock,
    CAST(SUM(s.calls) AS BIGINT) AS calls,
    CAST(SUM(COALESCE(s.errors, 0)) AS BIGINT) AS errors,
    CAST(SUM(s.total_ns) AS BIGINT) AS total_ns
FROM syscalls AS s
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
GROUP BY a.path, s.name, s.clock
ORDER BY calls DESC NULLS LAST, artifact_path ASC NULLS LAST, syscall_name ASC NULLS LAST, clock ASC NULLS LAST
