-- id: Q31
-- name: clocks and windows
-- advice: Record from the start to the end of the program; times of two recordings are never put beside each other.
--
-- measure: clocks
-- level: ok above 1 effect none
-- message: {part} clock domains among the recordings; nothing is joined by time, sums only
-- short: {part} clocks
-- unchecked: no recording with time stamps
-- source: doc: clock_gettime(2), perf record -k; rules.md Q31
WITH clocks AS (
    SELECT DISTINCT clock AS clock FROM artifacts WHERE clock IS NOT NULL AND window_ns IS NOT NULL
),
counted AS (
    SELECT CAST(COUNT(clock) AS BIGINT) AS clocks FROM clocks
)
SELECT CAST(NULL AS BIGINT) AS artifact_id, CASE WHEN clocks > 0 THEN clocks ELSE CAST(NULL AS BIGINT) END AS part, CAST(1 AS BIGINT) AS whole
FROM counted
-- measure: window
-- level: warn below 0.90 effect none
-- message: the recording covers {percent} of the run under this tool ({part_s} of {whole_s} s)
-- short: {percent} of the run recorded
-- unchecked: the window of the recording or the wall time under its tool is unknown
-- source: house: 90 %; rules.md Q31
SELECT artifact_id AS artifact_id, window_ns AS part, wall_ns AS whole
FROM artifacts
WHERE window_ns IS NOT NULL AND kind <> 'manifest'
