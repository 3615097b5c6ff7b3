-- question: How long do threads of the program wait for a CPU after they were woken or preempted?
-- row: one thread in one recording
-- units: ns; woken_*: from a wakeup until it ran; preempted_*: it was taken off its CPU and wanted to go on
-- empty: nothing recorded wakeups (perf record -e sched:sched_switch,sched:sched_wakeup)
WITH own AS (
    SELECT artifact_id AS artifact_id, thread_id AS thread_id,
        CASE WHEN reason = 'preempted' OR runnable_ns IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END AS is_woken,
        CASE WHEN reason = 'preempted' THEN CAST(0 AS BIGINT) ELSE COALESCE(runnable_ns, 0) END AS woken_ns,
        CASE WHEN reason = 'preempted' THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS is_preempted,
        CASE WHEN reason = 'preempted' THEN dur_ns + COALESCE(runnable_ns, 0) ELSE CAST(0 AS BIGINT) END AS preempted_ns
    FROM waits
    WHERE NOT is_aggregate
)
SELECT a.path AS artifact_path, t.tid AS tid, t.name AS thread_name, CAST(SUM(o.is_woken) AS BIGINT) AS woken,
    CAST(SUM(o.woken_ns) AS BIGINT) AS woken_ns, MAX(o.woken_ns) AS woken_longest_ns, CAST(SUM(o.is_preempted) AS BIGINT) AS preempted,
    CAST(SUM(o.preempted_ns) AS BIGINT) AS preempted_ns, MAX(o.preempted_ns) AS preempted_longest_ns, o.thread_id AS thread_id
FROM own AS o
JOIN artifacts AS a ON o.artifact_id = a.artifact_id
JOIN threads AS t ON o.thread_id = t.thread_id
WHERE t.is_target
GROUP BY a.path, t.tid, t.name, o.thread_id
ORDER BY woken_ns DESC NULLS LAST, preempted_ns DESC NULLS LAST, artifact_path ASC NULLS LAST, thread_id ASC NULLS LAST
