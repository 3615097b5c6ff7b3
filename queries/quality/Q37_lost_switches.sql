-- id: Q37
-- name: scheduler events lost without a record
-- advice: Pin the program to one CPU (taskset -c 0), or record it alone with --switch-events.
--
-- measure: any
-- level: warn above 0 effect none
-- message: {part} of {whole} waits have a switch without its counterpart; they are clipped
-- short: {part} switches lost
-- unchecked: no recording of context switches
-- source: measured: 581 of 2 001 switches out of the idle task on one CPU; rules.md 3.0b Q37
WITH told AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(count) AS BIGINT) AS unmatched FROM diagnostics WHERE kind = 'sched_unmatched' GROUP BY artifact_id
),
seen AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(n) AS BIGINT) AS waits FROM wait_pairs WHERE NOT is_aggregate GROUP BY artifact_id
)
SELECT s.artifact_id AS artifact_id, COALESCE(t.unmatched, 0) AS part, s.waits AS whole
FROM seen AS s
LEFT JOIN told AS t ON s.artifact_id = t.artifact_id
-- measure: share
-- level: demote above 0.03 effect demote:M4:time
-- message: {percent} of the waits are clipped for it (fewer than 5 count as none)
-- short: {percent} of the switches lost
-- unchecked: no recording of context switches
-- source: house: 3 % of the waits, "above a few per cent"; rules.md 3.0b Q37
WITH told AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(count) AS BIGINT) AS unmatched FROM diagnostics WHERE kind = 'sched_unmatched' GROUP BY artifact_id
),
seen AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(n) AS BIGINT) AS waits FROM wait_pairs WHERE NOT is_aggregate GROUP BY artifact_id
)
SELECT s.artifact_id AS artifact_id, CASE WHEN COALESCE(t.unmatched, 0) < 5 THEN CAST(0 AS BIGINT) ELSE t.unmatched END AS part, s.waits AS whole
FROM seen AS s
LEFT JOIN told AS t ON s.artifact_id = t.artifact_id
