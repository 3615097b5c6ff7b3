-- Waiting time of the workers by reason, per recording. Preempted time is no wait.
SELECT artifact_id AS artifact_id, reason AS reason, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns, CAST(SUM(n) AS BIGINT) AS n
FROM wait_sums
WHERE role = 'worker' AND reason <> 'preempted'
GROUP BY artifact_id, reason
