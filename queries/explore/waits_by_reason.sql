-- question: What do the threads of the program wait for?
-- row: one reason in one recording; aggregate: a tool summed the stacks, so there is no number of waits
-- units: ns; runnable_ns is the time from the wakeup until the thread ran, which is no wait; preempted: it wanted to run all the time
-- empty: nothing recorded waits (perf record -e sched:sched_switch,sched:sched_wakeup, or offcputime)
SELECT a.path AS artifact_path, w.reason AS reason, w.is_aggregate AS is_aggregate,
    CAST(SUM(CASE WHEN w.is_aggregate THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END) AS BIGINT) AS waits,
    CAST(SUM(w.dur_ns) AS BIGINT) AS total_ns, MAX(CASE WHEN w.is_aggregate THEN CAST(NULL AS BIGINT) ELSE w.dur_ns END) AS longest_ns,
    CAST(SUM(COALESCE(w.runnable_ns, 0)) AS BIGINT) AS runnable_ns
FROM waits AS w
JOIN artifacts AS a ON w.artifact_id = a.artifact_id
LEFT JOIN threads AS t ON w.thread_id = t.thread_id
WHERE w.is_aggregate OR COALESCE(t.is_target, FALSE)
GROUP BY a.path, w.reason, w.is_aggregate
ORDER BY total_ns DESC NULLS LAST, artifact_path ASC NULLS LAST, reason ASC NULLS LAST, is_aggregate ASC NULLS LAST
