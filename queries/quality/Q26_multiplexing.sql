-- id: Q26
-- name: multiplexed counters
-- advice: Count fewer events at once, or put the terms of a ratio into one group (-e '{cycles,instructions}').
--
-- measure: running
-- level: warn below 1 effect widen_root:M7
-- level: demote below 0.25 effect demote:M7
-- message: the least of the counters was on the PMU {percent} of the time; the rest is extrapolated
-- short: counted {percent} of the time
-- unchecked: no perf stat that says how long counters ran
-- source: house: 25 %; rules.md Q26
SELECT artifact_id AS artifact_id, CAST(ROUND(MIN(running_share) * CAST(1000000 AS DOUBLE), 0) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole
FROM counters
WHERE running_share IS NOT NULL
GROUP BY artifact_id
-- measure: possible ratio
-- level: demote above 1.05 effect demote:M7
-- message: {subject} are {value} times what they are a part of: the counters were not counted together
-- fine: {subject} are {value} times what they are a part of
-- short: impossible ratio of {subject}
-- unchecked: no perf stat with both terms of a ratio
-- source: tool: toplev discards ratios outside -0.05 to 1.05; rules.md Q26
WITH terms AS (
    SELECT artifact_id AS artifact_id, event AS event, value AS value,
        CASE WHEN event = 'branch-misses' THEN 'branches' WHEN event = 'cache-misses' THEN 'cache-references'
            WHEN event = 'L1-dcache-load-misses' THEN 'L1-dcache-loads' WHEN event = 'LLC-load-misses' THEN 'LLC-loads' ELSE 'none' END AS base
    FROM counters
    WHERE value IS NOT NULL AND interval_ns IS NULL AND scope = 'process'
),
bases AS (
    SELECT artifact_id AS artifact_id, event AS base, value AS value FROM terms WHERE value > 0
)
SELECT t.artifact_id AS artifact_id, t.value AS part, b.value AS whole, t.event AS subject
FROM terms AS t
JOIN bases AS b ON t.artifact_id = b.artifact_id AND t.base = b.base
