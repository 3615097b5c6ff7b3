-- question: How does the heap grow and shrink over the run?
-- row: one twentieth of a heap recording in which its size changed; slices without a change have no row
-- units: slice 0 to 19, start_s in seconds since the start of the recording, bytes
-- empty: nothing recorded the heap over time (heaptrack)
WITH windows AS (
    SELECT artifact_id AS artifact_id, MAX(ts_ns) + 1 AS window_ns FROM heap_timeline GROUP BY artifact_id
),
scaled AS (
    SELECT h.artifact_id AS artifact_id, h.live_bytes AS live_bytes, w.window_ns AS window_ns, h.ts_ns * 20 AS place
    FROM heap_timeline AS h
    JOIN windows AS w ON h.artifact_id = w.artifact_id
    WHERE h.ts_ns >= 0
),
placed AS (
    SELECT artifact_id AS artifact_id, window_ns AS window_ns, place - place % window_ns AS slice_start, live_bytes AS live_bytes FROM scaled
),
summed AS (
    SELECT artifact_id AS artifact_id, window_ns AS window_ns, slice_start AS slice_start, MIN(live_bytes) AS least_bytes,
        MAX(live_bytes) AS most_bytes, CAST(COUNT(live_bytes) AS BIGINT) AS changes
    FROM placed
    GROUP BY artifact_id, window_ns, slice_start
)
SELECT a.path AS artifact_path, CAST(ROUND(CAST(s.slice_start AS DOUBLE) / CAST(s.window_ns AS DOUBLE), 0) AS BIGINT) AS slice,
    CAST(s.slice_start AS DOUBLE) / CAST(20000000000 AS DOUBLE) AS start_s, s.least_bytes AS least_bytes, s.most_bytes AS most_bytes, s.changes AS changes
FROM summed AS s
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
ORDER BY artifact_path ASC NULLS LAST, slice ASC NULLS LAST
