-- id: Q04
-- name: no hardware counters
-- level: warn above 0 effect block:M7
-- message: only a timer or software counters could be recorded, so nothing counts cycles, misses or stalls
-- fine: hardware counters were recorded
-- short: no PMU
-- unchecked: no CPU samples and no perf stat
-- advice: Record on the machine itself, or in a virtual machine that passes the PMU through; shares of CPU time hold, with Q05.
-- source: doc: attr.type software, or cycles <not supported>; rules.md Q04
WITH hardware AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM events WHERE probe = 'pmu_overflow'
),
sampled AS (
    SELECT c.artifact_id AS artifact_id,
        CASE WHEN c.probe = 'hrtimer' AND h.artifact_id IS NULL THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS part
    FROM cpu_events AS c
    LEFT JOIN hardware AS h ON c.artifact_id = h.artifact_id
),
counted AS (
    SELECT artifact_id AS artifact_id, CAST(MIN(CASE WHEN status = 'not supported' THEN 1 ELSE 0 END) AS BIGINT) AS part
    FROM counters
    WHERE event IN ('cycles', 'cpu-cycles', 'instructions', 'ref-cycles')
    GROUP BY artifact_id
)
SELECT artifact_id AS artifact_id, part AS part, CAST(1 AS BIGINT) AS whole FROM sampled
UNION ALL
SELECT artifact_id AS artifact_id, part AS part, CAST(1 AS BIGINT) AS whole FROM counted
