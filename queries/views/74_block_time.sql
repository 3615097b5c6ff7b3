-- Time in requests to block devices by kind, per histogram of the block layer: all; read; and sync, what an fsync waits for (flushes and synchronous
-- writes). A histogram that does not tell requests apart by their flags has no kinds. A file on a loop device is a request there and one below, so of
-- several disks the one with the most time in requests counts. anchor: the sum in histograms.least.
WITH requests AS (
    SELECT artifact_id AS artifact_id, key AS key, operation AS operation, n AS n, least_ns AS least_ns, most_ns AS most_ns
    FROM histogram_sums WHERE metric = 'block_latency'
),
of_disk AS (
    SELECT artifact_id AS artifact_id, key AS key, CAST(SUM(least_ns) AS BIGINT) AS least_ns FROM requests GROUP BY artifact_id, key
),
most_of AS (
    SELECT artifact_id AS artifact_id, MAX(least_ns) AS least_ns FROM of_disk GROUP BY artifact_id
),
busiest AS (
    SELECT d.artifact_id AS artifact_id, MIN(d.key) AS key
    FROM of_disk AS d
    JOIN most_of AS m ON d.artifact_id = m.artifact_id AND d.least_ns = m.least_ns
    GROUP BY d.artifact_id
),
own AS (
    SELECT r.artifact_id AS artifact_id, r.key AS key, r.operation AS operation, r.n AS n, r.least_ns AS least_ns, r.most_ns AS most_ns
    FROM requests AS r
    JOIN busiest AS b ON r.artifact_id = b.artifact_id AND r.key = b.key
),
kinds AS (
    SELECT artifact_id AS artifact_id, 'all' AS kind, key AS key, 1 AS is_kind, n AS n, least_ns AS least_ns, most_ns AS most_ns FROM own
    UNION ALL
    SELECT artifact_id AS artifact_id, 'read' AS kind, key AS key, CASE WHEN operation = 'read' THEN 1 ELSE 0 END AS is_kind, n AS n, least_ns AS least_ns,
        most_ns AS most_ns FROM own WHERE operation <> ''
    UNION ALL
    SELECT artifact_id AS artifact_id, 'sync' AS kind, key AS key, CASE WHEN operation IN ('flush', 'sync write') THEN 1 ELSE 0 END AS is_kind, n AS n,
        least_ns AS least_ns, most_ns AS most_ns FROM own WHERE operation <> ''
),
summed AS (
    SELECT artifact_id AS artifact_id, kind AS kind, MIN(key) AS key, CAST(SUM(n * is_kind) AS BIGINT) AS n, CAST(SUM(least_ns * is_kind) AS BIGINT) AS least_ns,
        CASE WHEN MAX(CASE WHEN most_ns IS NULL THEN is_kind ELSE 0 END) = 1 THEN CAST(NULL AS BIGINT)
            ELSE CAST(SUM(COALESCE(most_ns, 0) * is_kind) AS BIGINT) END AS most_ns
    FROM kinds
    GROUP BY artifact_id, kind
)
SELECT s.artifact_id AS artifact_id, s.kind AS kind, s.n AS n, s.least_ns AS least_ns, s.most_ns AS most_ns, COALESCE(a.window_ns, a.wall_ns) AS window_ns,
    CASE WHEN a.window_ns IS NULL THEN 'sum=artifacts.wall_ns' ELSE 'sum=artifacts.window_ns' END AS window_anchor,
    'sum=histograms.least&metric=block_latency' || CASE WHEN s.key = '' THEN '' ELSE '&key=' || s.key END
        || CASE WHEN s.kind = 'read' THEN '&operation=read' WHEN s.kind = 'sync' THEN '&operation=flush,sync write' ELSE '' END AS anchor
FROM summed AS s
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
