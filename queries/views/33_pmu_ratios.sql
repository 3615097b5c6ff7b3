-- What the hardware counters of a whole run say as ratios. source: metric (perf worked it out, perf stat -M), topdown (of the slots that the
-- CPU counts itself) or counts (two plain counters).
WITH pairs AS (
    SELECT 'tma_backend_bound' AS name, 'topdown' AS source, 'topdown-be-bound' AS part_event, 'slots' AS whole_event
    UNION ALL
    SELECT 'tma_memory_bound' AS name, 'topdown' AS source, 'topdown-mem-bound' AS part_event, 'slots' AS whole_event
    UNION ALL
    SELECT 'tma_frontend_bound' AS name, 'topdown' AS source, 'topdown-fe-bound' AS part_event, 'slots' AS whole_event
    UNION ALL
    SELECT 'tma_bad_speculation' AS name, 'topdown' AS source, 'topdown-bad-spec' AS part_event, 'slots' AS whole_event
    UNION ALL
    SELECT 'tma_branch_mispredicts' AS name, 'topdown' AS source, 'topdown-br-mispredict' AS part_event, 'slots' AS whole_event
    UNION ALL
    SELECT 'ipc' AS name, 'counts' AS source, 'instructions' AS part_event, 'cycles' AS whole_event
    UNION ALL
    SELECT 'branch_miss_share' AS name, 'counts' AS source, 'branch-misses' AS part_event, 'branches' AS whole_event
    UNION ALL
    SELECT 'instructions_per_miss' AS name, 'counts' AS source, 'instructions' AS part_event, 'branch-misses' AS whole_event
    UNION ALL
    SELECT 'load_walk_share' AS name, 'counts' AS source, 'dtlb_load_misses.walk_active' AS part_event, 'cycles' AS whole_event
)
SELECT a.artifact_id AS artifact_id, p.name AS name, p.source AS source, a.value AS part, b.value AS whole,
    CASE WHEN a.running < b.running THEN a.running ELSE b.running END AS running, 'sum=counters.value&event=' || a.raw AS part_anchor,
    'sum=counters.value&event=' || b.raw AS whole_anchor
FROM pairs AS p
JOIN counter_sums AS a ON p.part_event = a.event
JOIN counter_sums AS b ON p.whole_event = b.event AND a.artifact_id = b.artifact_id
UNION ALL
SELECT artifact_id AS artifact_id, event AS name, 'metric' AS source, value AS part, CAST(1000000 AS BIGINT) AS whole, running AS running,
    'sum=counters.value&event=' || raw AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM counter_sums
WHERE event LIKE 'tma_%'
