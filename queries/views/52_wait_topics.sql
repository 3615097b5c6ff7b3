-- What the workers wait for, by place: every reason is a topic of its own; peer (network, or poll of a thread that works), kernel lock (a lock
-- of the kernel anywhere on the stack, page faults that wait for one too), page-in (a page fault that waits for the disk) and yield (gave its
-- CPU away and could have gone on) look at more than the reason. Preempted time is no wait, so it is in none of the others.
WITH base AS (
    SELECT artifact_id AS artifact_id, reason AS reason, stack_id AS stack_id, wait_ns AS wait_ns, n AS n
    FROM wait_sums
    WHERE role = 'worker'
),
marked AS (
    SELECT DISTINCT stack_id AS stack_id, class AS class FROM stack_classes WHERE class IN ('RWSEM', 'DISK', 'SPIN')
),
topics AS (
    SELECT artifact_id AS artifact_id, reason AS topic, stack_id AS stack_id, wait_ns AS wait_ns, n AS n FROM base WHERE reason <> 'preempted'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'peer' AS topic, stack_id AS stack_id, wait_ns AS wait_ns, n AS n FROM base
    WHERE reason IN ('network', 'poll')
    UNION ALL
    SELECT b.artifact_id AS artifact_id, 'kernel lock' AS topic, b.stack_id AS stack_id, b.wait_ns AS wait_ns, b.n AS n
    FROM base AS b
    JOIN marked AS m ON b.stack_id = m.stack_id
    WHERE m.class = 'RWSEM' AND b.reason <> 'preempted'
    UNION ALL
    SELECT b.artifact_id AS artifact_id, 'page-in' AS topic, b.stack_id AS stack_id, b.wait_ns AS wait_ns, b.n AS n
    FROM base AS b
    JOIN marked AS m ON b.stack_id = m.stack_id
    WHERE m.class = 'DISK' AND b.reason = 'fault'
    UNION ALL
    SELECT b.artifact_id AS artifact_id, 'yield' AS topic, b.stack_id AS stack_id, b.wait_ns AS wait_ns, b.n AS n
    FROM base AS b
    JOIN marked AS m ON b.stack_id = m.stack_id
    WHERE m.class = 'SPIN' AND b.reason = 'preempted'
),
placed AS (
    SELECT p.artifact_id AS artifact_id, p.topic AS topic, k.site_function_id AS function_id, p.wait_ns AS wait_ns, p.n AS n,
        CASE WHEN COALESCE(a.unwinding, 'unknown') IN ('dwarf', 'lbr', 'libunwind') OR COALESCE(k.caller_certain, FALSE) THEN p.wait_ns
            ELSE CAST(0 AS BIGINT) END AS certain_ns
    FROM topics AS p
    LEFT JOIN stack_sites AS k ON p.stack_id = k.stack_id
    JOIN artifacts AS a ON p.artifact_id = a.artifact_id
)
SELECT artifact_id AS artifact_id, topic AS topic, function_id AS function_id, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns,
    CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(certain_ns) AS BIGINT) AS certain_ns
FROM placed
GROUP BY artifact_id, topic, function_id
