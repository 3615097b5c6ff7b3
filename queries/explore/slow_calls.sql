-- question: Which single system calls took longest, on what, and where were they made?
-- row: one call, the hundred longest of the program
-- units: start_s in seconds since the first call of that recording, ns, bytes asked for; result: what the call returned.
--   strace -k knows exported functions only: a static one shows under the name of the exported one before it
-- empty: nothing recorded single calls with their time (strace -T -ttt, perf record -e raw_syscalls:*)
WITH firsts AS (
    SELECT artifact_id AS artifact_id, MIN(start_ns) AS first_ns FROM syscall_events GROUP BY artifact_id
)
SELECT a.path AS artifact_path, e.name AS syscall_name, e.dur_ns AS dur_ns, CAST(e.start_ns - b.first_ns AS DOUBLE) / CAST(1000000000 AS DOUBLE) AS start_s,
    t.tid AS tid, t.name AS thread_name, e.fd AS fd, e.fd_kind AS fd_kind, e.length AS length, e.path AS file_path, e.result AS result,
    e.error AS error, f.name AS site, e.line_no AS line_no
FROM syscall_events AS e
JOIN artifacts AS a ON e.artifact_id = a.artifact_id
JOIN firsts AS b ON e.artifact_id = b.artifact_id
LEFT JOIN threads AS t ON e.thread_id = t.thread_id
LEFT JOIN stack_sites AS k ON e.stack_id = k.stack_id
LEFT JOIN functions AS f ON k.site_function_id = f.function_id
WHERE e.dur_ns IS NOT NULL AND COALESCE(t.is_target, TRUE)
ORDER BY dur_ns DESC NULLS LAST, artifact_path ASC NULLS LAST, line_no ASC NULLS LAST, tid ASC NULLS LAST
LIMIT 100
