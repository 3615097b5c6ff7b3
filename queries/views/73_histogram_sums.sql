-- Histograms of times, summed: at least and at most how long all of what they counted took (most is null where a bucket is open above). One row per
-- recording, metric, what the histogram is of, and kind of block request.
WITH buckets AS (
    SELECT artifact_id AS artifact_id, metric AS metric, COALESCE(key, '') AS key, COALESCE(operation, '') AS operation, count AS n, least AS least, most AS most
    FROM histograms
    WHERE unit = 'ns'
)
SELECT artifact_id AS artifact_id, metric AS metric, key AS key, operation AS operation, CAST(SUM(n) AS BIGINT) AS n,
    CAST(SUM(COALESCE(least, 0)) AS BIGINT) AS least_ns,
    CASE WHEN MAX(CASE WHEN most IS NULL THEN 1 ELSE 0 END) = 1 THEN CAST(NULL AS BIGINT) ELSE CAST(SUM(most) AS BIGINT) END AS most_ns
FROM buckets
GROUP BY artifact_id, metric, key, operation
