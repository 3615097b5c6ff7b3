-- question: Which thread ends the waits of which other thread?
-- row: one pair of thread names and one reason in one recording; waker_name null: an interrupt, or nobody was seen
-- units: waits counted, ns of the woken threads' waiting
-- empty: nothing recorded wakeups (perf record -e sched:sched_switch,sched:sched_wakeup)
SELECT a.path AS artifact_path, v.name AS waker_name, t.name AS woken_name, w.reason AS reason, CAST(COUNT(w.record_no) AS BIGINT) AS waits,
    CAST(SUM(w.dur_ns) AS BIGINT) AS total_ns, MAX(w.dur_ns) AS longest_ns
FROM waits AS w
JOIN artifacts AS a ON w.artifact_id = a.artifact_id
JOIN threads AS t ON w.thread_id = t.thread_id
LEFT JOIN threads AS v ON w.waker_thread_id = v.thread_id
WHERE NOT w.is_aggregate AND t.is_target AND w.reason <> 'preempted'
GROUP BY a.path, v.name, t.name, w.reason
ORDER BY total_ns DESC NULLS LAST, artifact_path ASC NULLS LAST, waker_name ASC NULLS LAST, woken_name ASC NULLS LAST, reason ASC NULLS LAST
