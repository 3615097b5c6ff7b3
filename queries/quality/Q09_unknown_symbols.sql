-- id: Q09
-- name: unknown symbols
-- level: warn above 0.05 effect none
-- level: demote above 0.20 effect demote:M1:location
-- message: {percent} of the samples end in code that nothing names
-- short: {percent} without a name
-- unchecked: no CPU samples
-- advice: Give the debug symbols with --symbol-dir, the kernel's with --kallsyms, a perf map for JIT code.
-- source: house: rules.md Q09
WITH unnamed AS (
    SELECT c.artifact_id AS artifact_id, CAST(SUM(s.self_weight) AS BIGINT) AS weight
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    WHERE s.leaf_function_id IS NULL
    GROUP BY c.artifact_id
)
SELECT c.artifact_id AS artifact_id, COALESCE(u.weight, 0) AS part, c.weight AS whole
FROM cpu_events AS c
LEFT JOIN unnamed AS u ON c.artifact_id = u.artifact_id
