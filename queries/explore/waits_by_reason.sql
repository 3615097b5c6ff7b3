-- question: What do the threads of the program wait for?
-- row: one reason in one recording; preempted time is runnable, not a wait
SELECT a.path AS artifact_path, w.reason AS reason, COUNT(*) AS waits,
       CAST(SUM(w.dur_ns) AS BIGINT) AS total_ns, MAX(w.dur_ns) AS longest_ns
FROM waits AS w
JOIN artifacts AS a ON a.artifact_id = w.artifact_id
JOIN threads AS t ON t.thread_id = w.thread_id
WHERE t.is_target
GROUP BY a.path, w.reason
ORDER BY total_ns DESC NULLS LAST, a.path ASC NULLS LAST, w.reason ASC NULLS LAST
