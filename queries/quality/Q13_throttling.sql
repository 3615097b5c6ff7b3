-- id: Q13
-- name: throttled sampling
-- advice: Record with a lower frequency (-F 199); kernel.perf_cpu_time_max_percent (25) and perf_event_max_sample_rate limit it.
--
-- measure: throttled time
-- level: warn above 0.01 effect none
-- level: demote above 0.10 effect demote:M1:share,demote:M1:leaf
-- message: the kernel took no samples in {percent} of the time of the CPUs or threads that it throttled ({part_s} s)
-- short: throttled {percent} of the time
-- unchecked: no perf recording
-- source: house: 1 % and 10 % of the time; rules.md Q13
SELECT f.artifact_id AS artifact_id, f.part AS part, f.whole AS whole
FROM recording_facts AS f
JOIN cpu_events AS c ON f.artifact_id = c.artifact_id
WHERE f.fact = 'throttled'
-- measure: rate
-- level: warn below 0.8 effect none
-- message: {part} samples a second of a running thread, {whole} were asked for
-- short: {part} of {whole} Hz
-- unchecked: the program's threads sleep, or what the bare run did is unknown: the gaps between samples do not tell the rate
-- source: house: 0.8 of what was asked for; rules.md Q13
SELECT f.artifact_id AS artifact_id,
    CASE WHEN CAST(b.cpu_ns AS DOUBLE) >= CAST(b.wall_ns AS DOUBLE) * CAST(r.threads AS DOUBLE) * CAST(0.8 AS DOUBLE) THEN f.part ELSE CAST(NULL AS BIGINT) END AS part,
    f.whole AS whole
FROM recording_facts AS f
CROSS JOIN bare AS b
CROSS JOIN run_threads AS r
WHERE f.fact = 'sampling_rate'
