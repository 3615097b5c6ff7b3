-- question: For which locks of the kernel do the program's threads wait, and where?
-- row: one kind of lock and innermost function of the wait in one recording
-- units: waits counted, ns (null where no end was recorded)
-- empty: nothing recorded the kernel's lock contention (perf record -e lock:contention_begin,lock:contention_end)
WITH tips AS (
    SELECT n.stack_id AS stack_id, f.function_id AS function_id
    FROM stacks AS n
    JOIN frames AS f ON n.frame_id = f.frame_id
)
SELECT a.path AS artifact_path, l.kind AS kind, f.name AS function_name, CAST(COUNT(l.record_no) AS BIGINT) AS waits,
    CAST(SUM(l.dur_ns) AS BIGINT) AS total_ns, MAX(l.dur_ns) AS longest_ns, p.function_id AS function_id
FROM lock_contentions AS l
JOIN artifacts AS a ON l.artifact_id = a.artifact_id
LEFT JOIN tips AS p ON l.stack_id = p.stack_id
LEFT JOIN functions AS f ON p.function_id = f.function_id
GROUP BY a.path, l.kind, f.name, p.function_id
ORDER BY total_ns DESC NULLS LAST, waits DESC NULLS LAST, artifact_path ASC NULLS LAST, kind ASC NULLS LAST, function_id ASC NULLS LAST
