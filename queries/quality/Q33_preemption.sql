-- id: Q33
-- name: preemption among the waits
-- advice: Nothing to do: preempted threads wait for a CPU and for nothing else. Record on a quiet machine to have fewer.
--
-- measure: share
-- level: warn above 0.20 effect none
-- message: the program's threads wanted to run but were preempted {percent} of their time: that counts as waiting for a CPU, not for a lock or for I/O
-- short: preempted {percent} of the time
-- unchecked: no waits, or the window of their recording is unknown
-- source: house: 20 % of the threads' time; rules.md Q33
WITH preempted AS (
    SELECT w.artifact_id AS artifact_id, CAST(SUM(w.wait_ns + w.runnable_ns) AS BIGINT) AS preempted_ns
    FROM wait_pairs AS w
    LEFT JOIN threads AS t ON w.thread_id = t.thread_id
    WHERE w.reason = 'preempted' AND (w.is_aggregate OR COALESCE(t.is_target, FALSE))
    GROUP BY w.artifact_id
)
SELECT o.artifact_id AS artifact_id, COALESCE(p.preempted_ns, 0) AS part, o.lived_ns * o.lives AS whole
FROM off_cpu AS o
LEFT JOIN preempted AS p ON o.artifact_id = p.artifact_id
-- measure: kept
-- level: demote above 0.02 effect demote:M4:time
-- message: {percent} of the waits' time has state R (runnable) and a stack that waits: whether it waited is unclear
-- short: {percent} runnable waits
-- unchecked: no waits with a scheduler state
-- source: house: 2 %; rules.md Q33
SELECT artifact_id AS artifact_id,
    CAST(SUM(CASE WHEN state IN ('R', 'R+') AND reason NOT IN ('preempted', 'other', 'unknown') THEN wait_ns ELSE 0 END) AS BIGINT) AS part,
    CAST(SUM(wait_ns) AS BIGINT) AS whole
FROM wait_pairs
WHERE state IS NOT NULL
GROUP BY artifact_id
