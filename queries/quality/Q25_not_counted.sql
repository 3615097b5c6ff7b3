-- id: Q25
-- name: counters without a value
-- level: warn above 0 effect none
-- message: {part} of {whole} counters were not counted or are not supported; they have no value, which is not 0
-- short: {part} of {whole} counters without value
-- unchecked: no perf stat
-- advice: Nothing to do where the machine lacks the counter; else count fewer at once, or make the program run longer.
-- source: tool: perf stat prints <not counted> and <not supported>; rules.md Q25
SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN status <> 'counted' THEN 1 ELSE 0 END) AS BIGINT) AS part, CAST(COUNT(line_no) AS BIGINT) AS whole
FROM counters
GROUP BY artifact_id
