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
-- message: the recording covers {percent} of the run ({part_s} of {whole_s} s)
-- short: {percent} of the run recorded
-- unchecked: the window of the recording or the wall time of the run is unknown, or only some system calls were recorded
-- source: house: 90 %; rules.md Q31
WITH walls AS (
    SELECT a.artifact_id AS artifact_id, a.window_ns AS window_ns, a.wall_ns AS wall_ns, a.syscall_filter AS syscall_filter,
        CAST(ROUND(CAST(b.wall_ns AS DOUBLE) * CAST(d.work_down AS DOUBLE) / CAST(d.work_up AS DOUBLE), 0) AS BIGINT) AS bare_ns
    FROM artifacts AS a
    JOIN admitted AS d ON a.artifact_id = d.artifact_id
    CROSS JOIN bare AS b
    WHERE a.window_ns IS NOT NULL AND a.kind <> 'manifest'
)
SELECT artifact_id AS artifact_id, CASE WHEN syscall_filter IS NULL THEN window_ns ELSE CAST(NULL AS BIGINT) END AS part,
    CASE WHEN COALESCE(wall_ns, bare_ns) > COALESCE(bare_ns, wall_ns) THEN bare_ns ELSE COALESCE(wall_ns, bare_ns) END AS whole
FROM walls
