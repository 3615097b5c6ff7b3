-- question: Which system calls are made, how often, and how long do they take?
-- row: one system call in one summary
SELECT a.path AS artifact_path, s.name AS syscall_name, s.clock AS clock,
       CAST(SUM(s.calls) AS BIGINT) AS calls,
       CAST(SUM(COALESCE(s.errors, 0)) AS BIGINT) AS errors,
       CAST(SUM(COALESCE(s.total_ns, 0)) AS BIGINT) AS total_ns
FROM syscalls AS s
JOIN artifacts AS a ON a.artifact_id = s.artifact_id
GROUP BY a.path, s.name, s.clock
ORDER BY calls DESC NULLS LAST, a.path ASC NULLS LAST, s.name ASC NULLS LAST, s.clock ASC NULLS LAST
