-- id: Q11
-- name: callers lost by the unwinder
-- advice: Record with --call-graph dwarf (a larger dump where stacks end early), or use libraries with frame pointers.
--
-- measure: lost
-- level: warn above 0.10 effect none
-- level: demote above 0.30 effect demote:M1:caller
-- message: {percent} of the samples lack callers: their stack reaches no start of a thread or program, or begins in libc, the vDSO or the like, where frame pointers lose the true caller; such a place agrees with another angle up to that caller only
-- fine: nine tenths of the samples have all their callers
-- short: {percent} without callers
-- unchecked: no CPU samples with stacks
-- source: measured: 94 % of the stacks of a leaking program; rules.md Q11
WITH weighed AS (
    SELECT c.artifact_id AS artifact_id, s.self_weight AS weight, c.unwinding AS unwinding, s.caller_certain AS caller_certain,
        s.site_function_id AS site_function_id, s.reaches_start AS reaches_start
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
),
lost AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(weight) AS BIGINT) AS weight
    FROM weighed
    WHERE (unwinding = 'fp' AND NOT caller_certain) OR (NOT reaches_start AND (site_function_id IS NOT NULL OR NOT caller_certain))
    GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, COALESCE(u.weight, 0) AS part, c.weight AS whole
FROM cpu_events AS c
LEFT JOIN lost AS u ON c.artifact_id = u.artifact_id
WHERE c.unwinding <> 'none' AND c.unwinding <> 'unknown'
-- measure: skipped
-- level: warn above 0.10 effect none
-- message: {percent} of the samples end where the function has not set up its frame (frames.has_frame): its direct caller was skipped, and what is printed as its caller is the caller's caller
-- fine: nine tenths of the samples end where the function has a frame of its own
-- short: {percent} skip a caller
-- unchecked: no CPU samples along frame pointers
-- source: house: a tenth, as for lost callers; rules.md Q11
SELECT artifact_id AS artifact_id, part AS part, whole AS whole FROM recording_facts WHERE fact = 'leaf_without_frame'
