-- id: Q03
-- name: sampling in step with timers
-- advice: Record with an odd frequency (-F 997, -F 199).
--
-- measure: frequency
-- level: warn above 0 effect none
-- message: the sampling frequency is a divisor or multiple of 100, 250 or 1000 Hz, the rhythm of most timers
-- fine: the sampling frequency is in step with no usual timer
-- short: round frequency
-- unchecked: no CPU samples
-- source: doc: 99, 997 and 999 Hz are fine (Gregg), 1000 Hz read 63.0 % where 68.7 % is true; rules.md Q03
WITH told AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM diagnostics WHERE kind = 'perf_lockstep'
)
SELECT c.artifact_id AS artifact_id, CASE WHEN t.artifact_id IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END AS part, CAST(1 AS BIGINT) AS whole
FROM cpu_events AS c
LEFT JOIN told AS t ON c.artifact_id = t.artifact_id
-- measure: rhythm
-- level: demote above 0.10 effect demote:M1:share,demote:M1:leaf
-- message: {percent} of the program's waits ({part} of {whole}) are of threads that wake in step with the sampling
-- short: {percent} of the waits in step
-- unchecked: no scheduler recording tells how the program's threads wake
-- source: house: 10 % of the events; rules.md Q03
SELECT f.artifact_id AS artifact_id, f.part AS part, f.whole AS whole
FROM recording_facts AS f
WHERE f.fact = 'in_step'
