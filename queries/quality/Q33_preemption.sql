-- id: Q33
-- name: preemption among the waits
-- advice: Nothing to do: preempted threads wait for a CPU and for nothing else. Record on a quiet machine to have fewer.
--
-- measure: share
-- level: warn above 0.20 effect none
-- message: {percent} of the time off the CPU is preemption: it counts as waiting for a CPU, not for a lock or for I/O
-- short: preemption {percent}
-- unchecked: no waits
-- source: house: 20 %; rules.md Q33
SELECT w.artifact_id AS artifact_id, CAST(SUM(CASE WHEN w.reason = 'preempted' THEN w.dur_ns + COALESCE(w.runnable_ns, 0) ELSE 0 END) AS BIGINT) AS part,
    CAST(SUM(w.dur_ns + COALESCE(w.runnable_ns, 0)) AS BIGINT) AS whole
FROM waits AS w
GROUP BY w.artifact_id
-- measure: kept
-- level: demote above 0.02 effect demote:M4:time
-- message: {percent} of the waits' time has state R (runnable) and a stack that waits: whether it waited is unclear
-- short: {percent} runnable waits
-- unchecked: no waits with a scheduler state
-- source: house: 2 %; rules.md Q33
SELECT artifact_id AS artifact_id,
    CAST(SUM(CASE WHEN state IN ('R', 'R+') AND reason NOT IN ('preempted', 'other', 'unknown') THEN dur_ns ELSE 0 END) AS BIGINT) AS part,
    CAST(SUM(dur_ns) AS BIGINT) AS whole
FROM waits
WHERE state IS NOT NULL
GROUP BY artifact_id
