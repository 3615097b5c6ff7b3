-- Who wakes whom: waits of the program's threads with a known waker, by pair. Sleepers, disks and children are not woken by a thread of the
-- program; preempted threads are not woken at all (so who yields is left out, too).
-- The idle task (tid 0) wakes nobody: there the kernel carries out what a thread on another CPU, a timer or a device asked for, so its
-- waker is unknown.
WITH summed AS (
    SELECT artifact_id AS artifact_id, thread_id AS thread_id, waker_thread_id AS waker_thread_id, reason AS reason,
        CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns
    FROM wait_pairs
    WHERE NOT is_aggregate AND reason NOT IN ('preempted', 'sleep', 'fsync', 'disk', 'fault', 'child', 'stopped')
    GROUP BY artifact_id, thread_id, waker_thread_id, reason
)
SELECT m.artifact_id AS artifact_id, m.thread_id AS thread_id, CASE WHEN k.tid = 0 THEN CAST(NULL AS INT) ELSE m.waker_thread_id END AS waker_thread_id,
    m.reason AS reason, m.n AS n, m.wait_ns AS wait_ns
FROM summed AS m
JOIN threads AS t ON m.thread_id = t.thread_id
LEFT JOIN threads AS k ON m.waker_thread_id = k.thread_id
WHERE t.is_target
