-- question: Which were the longest waits of the program, and who ended them?
-- row: one wait, the hundred longest; waker_*: the thread that made it runnable and where that thread was
-- units: ns; start_s in seconds since the first wait of that recording; clipped: it began before or ended after the recording
-- empty: nothing recorded single waits (perf record -e sched:sched_switch,sched:sched_wakeup); stacks that a tool summed have no single waits
WITH firsts AS (
    SELECT artifact_id AS artifact_id, MIN(start_ns) AS first_ns FROM waits WHERE NOT is_aggregate GROUP BY artifact_id
)
SELECT a.path AS artifact_path, CAST(w.start_ns - b.first_ns AS DOUBLE) / CAST(1000000000 AS DOUBLE) AS start_s, w.dur_ns AS dur_ns,
    w.runnable_ns AS runnable_ns, w.reason AS reason, t.tid AS tid, t.name AS thread_name, f.name AS site, v.tid AS waker_tid,
    v.name AS waker_name, g.name AS waker_site, w.clipped AS clipped, w.record_no AS record_no, w.thread_id AS thread_id
FROM waits AS w
JOIN artifacts AS a ON w.artifact_id = a.artifact_id
JOIN firsts AS b ON w.artifact_id = b.artifact_id
JOIN threads AS t ON w.thread_id = t.thread_id
LEFT JOIN stack_sites AS k ON w.stack_id = k.stack_id
LEFT JOIN functions AS f ON k.site_function_id = f.function_id
LEFT JOIN threads AS v ON w.waker_thread_id = v.thread_id
LEFT JOIN stack_sites AS l ON w.waker_stack_id = l.stack_id
LEFT JOIN functions AS g ON l.site_function_id = g.function_id
WHERE NOT w.is_aggregate AND t.is_target AND w.reason <> 'preempted'
ORDER BY dur_ns DESC NULLS LAST, artifact_path ASC NULLS LAST, record_no ASC NULLS LAST, thread_id ASC NULLS LAST
LIMIT 100
