-- id: Q05
-- name: time with interrupts off charged elsewhere
-- level: warn above 0.05 effect none
-- level: demote above 0.30 effect demote:M1:leaf
-- message: {percent} of the samples end where interrupts are enabled again; they are shown under the system call they belong to
-- short: sinks {percent}
-- unchecked: no CPU samples
-- advice: Rank by call path; on a machine with a PMU record cycles instead of cpu-clock.
-- source: measured: finish_task_switch held 31 to 81 % of the samples of waiting programs; rules.md Q05
WITH sinks AS (
    SELECT artifact_id AS artifact_id, self_weight AS weight FROM class_costs WHERE class = 'IRQ_SINK'
)
SELECT c.artifact_id AS artifact_id, CASE WHEN c.probe = 'hrtimer' THEN COALESCE(s.weight, 0) ELSE CAST(0 AS BIGINT) END AS part, c.weight AS whole
FROM cpu_events AS c
LEFT JOIN sinks AS s ON c.artifact_id = s.artifact_id
