-- question: When were records lost, and how many of those that were due then?
-- row: one second of one recording in which the kernel says that records were lost
-- units: at_s in whole seconds since the first of these seconds in that recording, records; lost_share 0 to 1 of what was due in that second
-- empty: nothing was lost, or nothing says so (perf writes LOST records; total losses are in events.lost and in diagnostics)
WITH seconds AS (
    SELECT artifact_id AS artifact_id, ts_ns AS ts_ns, CAST(SUM(lost) AS BIGINT) AS lost, CAST(SUM(seen) AS BIGINT) AS seen
    FROM losses
    GROUP BY artifact_id, ts_ns
),
firsts AS (
    SELECT artifact_id AS artifact_id, MIN(ts_ns) AS first_ns FROM seconds GROUP BY artifact_id
)
SELECT a.path AS artifact_path, CAST(s.ts_ns - f.first_ns AS DOUBLE) / CAST(1000000000 AS DOUBLE) AS at_s, s.lost AS lost, s.seen AS seen,
    CAST(s.lost AS DOUBLE) / CAST(s.lost + s.seen AS DOUBLE) AS lost_share, s.ts_ns AS ts_ns
FROM seconds AS s
JOIN firsts AS f ON s.artifact_id = f.artifact_id
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
WHERE s.lost > 0
ORDER BY artifact_path ASC NULLS LAST, ts_ns ASC NULLS LAST
