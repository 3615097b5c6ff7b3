-- id: Q16
-- name: samples of other processes
-- level: warn above 0.10 effect none
-- message: {part} of {whole} samples belong to other processes and are left out
-- unchecked: no CPU samples
-- advice: Record the program alone, or say which process is meant with --comm or --pid.
-- source: house: rules.md Q16
SELECT e.artifact_id AS artifact_id, e.n - e.target_n AS part, e.n AS whole
FROM events AS e
JOIN cpu_events AS c ON e.event_id = c.event_id
