-- id: Q23
-- name: allocations that heaptrack does not see
-- advice: Use the allocator's own statistics, or link the system allocator dynamically; start the program under heaptrack instead of attaching.
--
-- measure: blind
-- level: block above 0.02 effect block:M3
-- message: {percent} of the CPU samples are in the allocator, but heaptrack counted almost no calls: a static or own allocator
-- fine: what heaptrack counted fits the allocator's share of the samples
-- short: allocator {percent}, no calls
-- unchecked: no heaptrack recording, or no CPU samples in a unit of time
-- source: house: 2 % of the CPU time at more than 10 us per call; rules.md Q23
WITH spent AS (
    SELECT MAX(CAST(k.self_weight AS DOUBLE) / CAST(c.weight AS DOUBLE)) AS share, MAX(k.self_weight) AS weight
    FROM cpu_events AS c
    JOIN class_costs AS k ON c.artifact_id = k.artifact_id
    JOIN admitted AS d ON c.artifact_id = d.artifact_id
    WHERE k.class = 'ALLOC' AND c.unit = 'ns' AND d.standing IN ('same', 'unknown')
),
sampled AS (
    SELECT CAST(COUNT(artifact_id) AS BIGINT) AS recordings FROM cpu_events WHERE unit = 'ns'
),
seen AS (
    SELECT a.artifact_id AS artifact_id,
        MAX(CAST(a.records AS DOUBLE)) * CAST(0 AS DOUBLE) + CAST(COALESCE(CAST(SUM(h.calls) AS BIGINT), 0) AS DOUBLE) AS calls
    FROM artifacts AS a
    LEFT JOIN allocations AS h ON a.artifact_id = h.artifact_id
    WHERE a.kind = 'heaptrack'
    GROUP BY a.artifact_id
)
SELECT h.artifact_id AS artifact_id,
    CASE WHEN m.recordings = 0 THEN CAST(NULL AS BIGINT)
        WHEN h.calls * CAST(d.work_up AS DOUBLE) * CAST(10000 AS DOUBLE) < COALESCE(CAST(s.weight AS DOUBLE), CAST(0 AS DOUBLE)) * CAST(d.work_down AS DOUBLE)
            THEN CAST(ROUND(s.share * CAST(1000000 AS DOUBLE), 0) AS BIGINT)
        ELSE CAST(0 AS BIGINT) END AS part,
    CAST(1000000 AS BIGINT) AS whole
FROM seen AS h
JOIN admitted AS d ON h.artifact_id = d.artifact_id
CROSS JOIN spent AS s
CROSS JOIN sampled AS m
-- measure: attached
-- level: block above 0 effect block:M3
-- message: heaptrack was attached to the running program (-p): what was allocated before is missing
-- fine: the program was started under heaptrack
-- short: attached late
-- unchecked: no heaptrack recording
-- source: house: attach run; rules.md Q23
WITH told AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM diagnostics WHERE kind = 'heaptrack_attached'
)
SELECT a.artifact_id AS artifact_id, CASE WHEN t.artifact_id IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END AS part, CAST(1 AS BIGINT) AS whole
FROM artifacts AS a
LEFT JOIN told AS t ON a.artifact_id = t.artifact_id
WHERE a.kind = 'heaptrack'
