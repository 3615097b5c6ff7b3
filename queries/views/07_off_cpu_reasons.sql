-- Waiting time of the workers by reason, per recording. Preempted time is no wait.
WITH traced AS (
    SELECT w.artifact_id AS artifact_id, w.reason AS reason, CAST(SUM(w.dur_ns) AS BIGINT) AS wait_ns, CAST(COUNT(w.record_no) AS BIGINT) AS n
    FROM waits AS w
    JOIN thread_states AS s ON w.thread_id = s.thread_id AND w.artifact_id = s.artifact_id
    JOIN threads AS t ON w.thread_id = t.thread_id
    WHERE NOT w.is_aggregate AND t.is_target AND s.role = 'worker'
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
