-- Counters of a whole run by a name without the PMU in front (cpu/slots/, cpu_core/slots/), the kinds of core of one machine added up. raw: one name as recorded.
WITH plain AS (
    SELECT artifact_id AS artifact_id, event AS raw, value AS value, COALESCE(running_share, CAST(1 AS DOUBLE)) AS running,
        CASE WHEN event LIKE 'cpu%/cycles/%' OR event = 'cpu-cycles' THEN 'cycles'
            WHEN event LIKE 'cpu%/instructions/%' THEN 'instructions'
            WHEN event LIKE 'cpu%/branches/%' OR event LIKE 'cpu%/branch-instructions/%' OR event = 'branch-instructions' THEN 'branches'
            WHEN event LIKE 'cpu%/branch-misses/%' THEN 'branch-misses'
            WHEN event LIKE 'cpu%/slots/%' THEN 'slots'
            WHEN event LIKE 'cpu%/topdown-be-bound/%' THEN 'topdown-be-bound'
            WHEN event LIKE 'cpu%/topdown-mem-bound/%' THEN 'topdown-mem-bound'
            WHEN event LIKE 'cpu%/topdown-fe-bound/%' THEN 'topdown-fe-bound'
            WHEN event LIKE 'cpu%/topdown-bad-spec/%' THEN 'topdown-bad-spec'
            WHEN event LIKE 'cpu%/topdown-br-mispredict/%' THEN 'topdown-br-mispredict'
            ELSE event END AS event
    FROM counters
    WHERE value IS NOT NULL AND status = 'counted' AND interval_ns IS NULL
)
SELECT artifact_id AS artifact_id, event AS event, MIN(raw) AS raw, CAST(SUM(value) AS BIGINT) AS value, MIN(running) AS running
FROM plain
GROUP BY artifact_id, event
