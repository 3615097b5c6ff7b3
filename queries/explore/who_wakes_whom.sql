-- question: Which thread ends the waits of which other thread?
-- row: one pair of thread names and one reason in one recording; waker_name null: nobody was seen; swapper: an interrupt on an idle CPU, which a thread elsewhere, a timer or a device may have asked for
-- units: waits counted, ns of the woken threads' waiting
-- empty: nothing recorded wakeups (perf record -e sched:sched_switch,sched:sched_wakeup)
WITH pairs AS (
    SELECT w.artifact_id AS artifact_id, v.name AS waker_name, t.name AS woken_name, w.reason AS reason, w.dur_ns AS dur_ns
    FROM waits AS w
    JOIN threads AS t ON w.thread_id = t.thread_id
    LEFT JOIN threads AS v ON w.waker_thread_id = v.thread_id
    WHERE NOT w.is_aggregate AND t.is_target AND w.reason <> 'preempted'
),
summed AS (
    SELECT artifact_id AS artifact_id, waker_name AS waker_name, woken_name AS woken_name, reason AS reason, CAST(COUNT(dur_ns) AS BIGINT) AS waits,
        CAST(SUM(dur_ns) AS BIGINT) AS total_ns, MAX(dur_ns) AS longest_ns
    FROM pairs
    GROUP BY artifact_id, waker_name, woken_name, reason
)
SELECT a.path AS artifact_path, s.waker_name AS waker_name, s.woken_name AS woken_name, s.reason AS reason, s.waits AS waits, s.total_ns AS total_ns,
    s.longest_ns AS longest_ns
FROM summed AS s
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
ORDER BY total_ns DESC NULLS LAST, artifact_path ASC NULLS LAST, waker_name ASC NULLS LAST, woken_name ASC NULLS LAST, reason ASC NULLS LAST
