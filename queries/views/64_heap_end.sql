-- The heap in the last tenth of a recording: live bytes at most (what was freed by then stays freed; what exit frees is no part of it), and the
-- largest live heap before. A level holds until the next row, so the last row before that tenth counts, too.
WITH ends AS (
    SELECT artifact_id AS artifact_id, MAX(ts_ns) AS last_ns, MAX(live_bytes) AS peak_bytes FROM heap_timeline GROUP BY artifact_id
),
bounds AS (
    SELECT artifact_id AS artifact_id, peak_bytes AS peak_bytes, last_ns AS last_ns,
        CAST(last_ns AS DOUBLE) * CAST(9 AS DOUBLE) / CAST(10 AS DOUBLE) AS from_ns
    FROM ends
),
placed AS (
    SELECT h.artifact_id AS artifact_id, h.ts_ns AS ts_ns, h.live_bytes AS live_bytes, b.from_ns AS from_ns
    FROM heap_timeline AS h
    JOIN bounds AS b ON h.artifact_id = b.artifact_id
),
before AS (
    SELECT artifact_id AS artifact_id, MAX(ts_ns) AS ts_ns FROM placed WHERE CAST(ts_ns AS DOUBLE) < from_ns GROUP BY artifact_id
),
level AS (
    SELECT h.artifact_id AS artifact_id, MAX(h.live_bytes) AS live_bytes
    FROM heap_timeline AS h
    JOIN before AS b ON h.artifact_id = b.artifact_id AND h.ts_ns = b.ts_ns
    GROUP BY h.artifact_id
),
tail AS (
    SELECT artifact_id AS artifact_id, MAX(live_bytes) AS live_bytes, CAST(COUNT(live_bytes) AS BIGINT) AS n FROM placed
    WHERE CAST(ts_ns AS DOUBLE) >= from_ns
    GROUP BY artifact_id
)
SELECT b.artifact_id AS artifact_id, b.peak_bytes AS peak_bytes, t.n AS n,
    CASE WHEN COALESCE(l.live_bytes, 0) > t.live_bytes THEN l.live_bytes ELSE t.live_bytes END AS live_bytes
FROM bounds AS b
JOIN tail AS t ON b.artifact_id = t.artifact_id
LEFT JOIN level AS l ON b.artifact_id = l.artifact_id
