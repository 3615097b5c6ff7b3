-- question: How busy is the program over the run, and with how many threads?
-- row: one twentieth of a recording (one CPU event) in which the program was sampled; slices without a sample have no row
-- units: slice 0 to 19, start_s in seconds since the first sample of the event, weights in the event's unit, counts in samples;
--   busy: CPUs in use on average over the slice, where the unit is ns, else null
-- empty: nothing sampled the CPU with time stamps
WITH own AS (
    SELECT s.event_id AS event_id, s.ts_ns AS ts_ns, s.thread_id AS thread_id, s.weight AS weight
    FROM samples AS s
    JOIN events AS e ON s.event_id = e.event_id
    JOIN threads AS t ON s.thread_id = t.thread_id
    WHERE e.role = 'cpu' AND t.is_target AND s.ts_ns IS NOT NULL
),
windows AS (
    SELECT event_id AS event_id, MIN(ts_ns) AS first_ns, MAX(ts_ns) - MIN(ts_ns) + 1 AS window_ns FROM own GROUP BY event_id
),
scaled AS (
    SELECT o.event_id AS event_id, o.thread_id AS thread_id, o.weight AS weight, w.window_ns AS window_ns, (o.ts_ns - w.first_ns) * 20 AS place
    FROM own AS o
    JOIN windows AS w ON o.event_id = w.event_id
),
placed AS (
    SELECT event_id AS event_id, window_ns AS window_ns, place - place % window_ns AS slice_start, thread_id AS thread_id, weight AS weight FROM scaled
),
by_thread AS (
    SELECT event_id AS event_id, window_ns AS window_ns, slice_start AS slice_start, thread_id AS thread_id, CAST(SUM(weight) AS BIGINT) AS weight,
        CAST(COUNT(weight) AS BIGINT) AS n
    FROM placed
    GROUP BY event_id, window_ns, slice_start, thread_id
),
summed AS (
    SELECT event_id AS event_id, window_ns AS window_ns, slice_start AS slice_start, CAST(SUM(weight) AS BIGINT) AS weight,
        CAST(SUM(n) AS BIGINT) AS n, CAST(COUNT(thread_id) AS BIGINT) AS threads
    FROM by_thread
    GROUP BY event_id, window_ns, slice_start
)
SELECT e.name AS event_name, CAST(ROUND(CAST(s.slice_start AS DOUBLE) / CAST(s.window_ns AS DOUBLE), 0) AS BIGINT) AS slice,
    CAST(s.slice_start AS DOUBLE) / CAST(20000000000 AS DOUBLE) AS start_s, s.weight AS weight, s.n AS samples, s.threads AS threads,
    CASE WHEN e.unit = 'ns' THEN CAST(s.weight AS DOUBLE) * CAST(20 AS DOUBLE) / CAST(s.window_ns AS DOUBLE) ELSE CAST(NULL AS DOUBLE) END AS busy,
    s.event_id AS event_id
FROM summed AS s
JOIN events AS e ON s.event_id = e.event_id
ORDER BY event_id ASC NULLS LAST, slice ASC NULLS LAST
