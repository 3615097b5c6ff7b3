-- Waiting time of the workers by reason, per recording. Preempted time is no wait.
WITH summed AS (
    SELECT artifact_id AS artifact_id, thread_id AS thread_id, reason AS reason, CAST(SUM(dur_ns) AS BIGINT) AS wait_ns,
        CAST(COUNT(record_no) AS BIGINT) AS n
    FROM waits
    WHERE NOT is_aggregate
    GROUP BY artifact_id, thread_id, reason
),
traced AS (
    SELECT w.artifact_id AS artifact_id, w.reason AS reason, CAST(SUM(w.wait_ns) AS BIGINT) AS wait_ns, CAST(SUM(w.n) AS BIGINT) AS n
    FROM summed AS w
    JOIN thread_states AS s ON w.thread_id = s.thread_id AND w.artifact_id = s.artifact_id
    JOIN threads AS t ON w.thread_id = t.thread_id
    WHERE t.is_target AND s.role = 'worker'
    GROUP BY w.artifact_id, w.reason
),
aggregated AS (
    SELECT artifact_id AS artifact_id, reason AS reason, CAST(SUM(dur_ns) AS BIGINT) AS wait_ns, CAST(COUNT(record_no) AS BIGINT) AS n
    FROM waits
    WHERE is_aggregate
    GROUP BY artifact_id, reason
)
SELECT artifact_id AS artifact_id, reason AS reason, wait_ns AS wait_ns, n AS n FROM traced WHERE reason <> 'preempted'
UNION ALL
SELECT artifact_id AS artifact_id, reason AS reason, wait_ns AS wait_ns, n AS n FROM aggregated WHERE reason <> 'preempted'
