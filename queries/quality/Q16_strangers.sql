-- id: Q16
-- name: other processes in the recording
-- advice: Record the program alone, or say which process is meant with --comm or --pid.
--
-- measure: samples
-- level: warn above 0.10 effect none
-- message: {part} of {whole} samples belong to other processes and are left out
-- short: {percent} of others
-- unchecked: no CPU samples
-- source: house: 10 % of the samples; rules.md Q16
SELECT e.artifact_id AS artifact_id, e.n - e.target_n AS part, e.n AS whole
FROM events AS e
JOIN cpu_events AS c ON e.event_id = c.event_id
-- measure: waits
-- level: warn above 0.10 effect none
-- message: {part} of {whole} waits belong to other processes and are left out
-- short: {percent} of the waits of others
-- unchecked: no waits of known threads
-- source: house: 10 % of the waits; rules.md 3.0b Q16
SELECT w.artifact_id AS artifact_id, CAST(SUM(CASE WHEN t.is_target THEN CAST(0 AS BIGINT) ELSE w.n END) AS BIGINT) AS part, CAST(SUM(w.n) AS BIGINT) AS whole
FROM wait_pairs AS w
JOIN threads AS t ON w.thread_id = t.thread_id
GROUP BY w.artifact_id
-- measure: namesakes
-- level: warn above 1 effect none
-- message: {part} separate process trees are taken for the program; a filter by name does not tell another run of it from this one
-- fine: one process tree is taken for the program
-- short: {part} runs of the program
-- unchecked: no processes of the program in a perf recording
-- source: measured: a comm filter catches strangers of the same name; rules.md 3.0b Q16
WITH owned AS (
    SELECT process_id AS parent_id, is_target AS parent_is_target FROM processes
)
SELECT p.artifact_id AS artifact_id,
    CAST(SUM(CASE WHEN COALESCE(o.parent_is_target, FALSE) THEN 0 ELSE 1 END) AS BIGINT) AS part, CAST(1 AS BIGINT) AS whole
FROM processes AS p
JOIN artifacts AS a ON p.artifact_id = a.artifact_id
LEFT JOIN owned AS o ON p.parent_process_id = o.parent_id
WHERE p.is_target AND a.kind = 'perf.data'
GROUP BY p.artifact_id
