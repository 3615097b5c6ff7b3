-- Who wakes whom: waits of the program's threads with a known waker, by pair. Sleepers, disks and children are not woken by a thread of the
-- program; preempted threads are not woken at all (so who yields is left out, too).
WITH summed AS (
    SELECT artifact_id AS artifact_id, thread_id AS thread_id, waker_thread_id AS waker_thread_id, reason AS reason,
        CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns
    FROM wait_pairs
    WHERE NOT is_aggregate AND reason NOT IN ('preempted', 'sleep', 'fsync', 'disk', 'fault', 'child', 'stopped')
    GROUP BY artifact_id, thread_id, waker_thread_id, reason
)
SELECT m.artifact_id AS artifact_id, m.thread_id AS thread_id, m.waker_thread_id AS waker_thread_id, m.reason AS reason, m.n AS n,
    m.wait_ns AS wait_ns
FROM summed AS m
JOIN threads AS t ON m.thread_id = t.thread_id
WHERE t.is_target
