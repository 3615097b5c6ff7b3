-- id: Q11
-- name: callers lost by the unwinder
-- level: warn above 0.10 effect none
-- level: demote above 0.30 effect demote:M1:caller
-- message: {percent} of the samples begin in libc, the vDSO or the like, where frame pointers lose the true caller; such a place agrees with another angle up to that caller only
-- unchecked: no CPU samples unwound by frame pointers
-- advice: Record with --call-graph dwarf, or use libraries with frame pointers.
-- source: measured: 94 % of the stacks of a leaking program; rules.md Q11
WITH lost AS (
    SELECT c.artifact_id AS artifact_id, CAST(SUM(s.self_weight) AS BIGINT) AS weight
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    JOIN stack_sites AS k ON s.stack_id = k.stack_id
    WHERE NOT k.caller_certain
    GROUP BY c.artifact_id
)
SELECT c.artifact_id AS artifact_id, COALESCE(u.weight, 0) AS part, c.weight AS whole
FROM cpu_events AS c
LEFT JOIN lost AS u ON c.artifact_id = u.artifact_id
WHERE c.unwinding = 'fp'
