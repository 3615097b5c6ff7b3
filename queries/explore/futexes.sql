-- question: At which user-space locks (futex words) do threads wait longest, and in which function?
-- row: one futex word, operation and site in one recording, the two hundred with most time; an address means one lock only while the process lives
-- units: calls counted, ns of wall time in the call (null where the recording has no time)
-- empty: nothing recorded single futex calls (strace -f -T, perf record -e syscalls:sys_enter_futex,...)
SELECT a.path AS artifact_path, e.address AS address, e.operation AS operation, f.name AS site, CAST(COUNT(e.line_no) AS BIGINT) AS calls,
    CAST(SUM(e.dur_ns) AS BIGINT) AS total_ns, MAX(e.dur_ns) AS longest_ns, k.site_function_id AS site_function_id
FROM syscall_events AS e
JOIN artifacts AS a ON e.artifact_id = a.artifact_id
LEFT JOIN stack_sites AS k ON e.stack_id = k.stack_id
LEFT JOIN functions AS f ON k.site_function_id = f.function_id
WHERE e.name = 'futex'
GROUP BY a.path, e.address, e.operation, f.name, k.site_function_id
ORDER BY total_ns DESC NULLS LAST, calls DESC NULLS LAST, artifact_path ASC NULLS LAST, address ASC NULLS LAST, operation ASC NULLS LAST,
    site_function_id ASC NULLS LAST
LIMIT 200
