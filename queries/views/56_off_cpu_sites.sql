-- Who waits: the nearest function of the program above the class that gave the wait its reason.
WITH reasons AS (
    SELECT w.artifact_id AS artifact_id, w.reason AS reason, w.wait_ns AS dur_ns, w.stack_id AS stack_id,
        CASE WHEN w.reason = 'fsync' THEN 'FSYNC_WAIT' WHEN w.reason = 'sleep' THEN 'SLEEP_WAIT' WHEN w.reason = 'lock' THEN 'LOCK_WAIT'
            ELSE 'NONE' END AS class
    FROM wait_pairs AS w
),
placed AS (
    SELECT r.artifact_id AS artifact_id, r.reason AS reason, k.site_function_id AS function_id, r.dur_ns AS dur_ns,
        CASE WHEN COALESCE(a.unwinding, 'unknown') IN ('dwarf', 'lbr', 'libunwind') OR k.caller_certain THEN r.dur_ns ELSE 0 END AS certain_ns
    FROM reasons AS r
    JOIN stack_classes AS k ON r.stack_id = k.stack_id AND r.class = k.class
    JOIN artifacts AS a ON r.artifact_id = a.artifact_id
    WHERE k.site_function_id IS NOT NULL
),
summed AS (
    SELECT artifact_id AS artifact_id, reason AS reason, function_id AS function_id, CAST(SUM(dur_ns) AS BIGINT) AS wait_ns,
        CAST(SUM(certain_ns) AS BIGINT) AS certain_ns
    FROM placed
    GROUP BY artifact_id, reason, function_id
)
SELECT artifact_id AS artifact_id, reason AS reason, function_id AS function_id, wait_ns AS wait_ns,
    CASE WHEN certain_ns * 2 >= wait_ns THEN 1 ELSE 0 END AS certain
FROM summed
