-- question: While one wait lasted, which threads had the CPUs?
-- row: one other thread of the same recording that ran during the wait, of the program or not
-- units: ns; share is of the wait, 0 to 1; switches: how often that thread left its CPU meanwhile
-- empty: nothing recorded single waits, or no other thread was seen on a CPU between two of its own waits
-- edit: as it stands it asks about the longest wait of the program. For another one, add AND w.record_no = its record_no to the WHERE of wanted
--   (wakers_of_longest_waits.sql lists them)
-- how: a thread is on a CPU from the end of one of its off-CPU intervals to the start of the next one; what it did before its first and after its
--   last interval is unknown and counts as nothing
WITH wanted AS (
    SELECT w.artifact_id AS artifact_id, w.thread_id AS thread_id, w.start_ns AS start_ns, w.start_ns + w.dur_ns AS end_ns
    FROM waits AS w
    JOIN threads AS t ON w.thread_id = t.thread_id
    WHERE NOT w.is_aggregate AND NOT w.clipped AND t.is_target AND w.reason <> 'preempted' AND w.start_ns IS NOT NULL AND w.dur_ns > 0
    ORDER BY w.dur_ns DESC NULLS LAST, w.artifact_id ASC NULLS LAST, w.record_no ASC NULLS LAST, w.thread_id ASC NULLS LAST
    LIMIT 1
),
off AS (
    SELECT o.artifact_id AS artifact_id, o.thread_id AS thread_id, o.start_ns AS start_ns, o.start_ns + o.dur_ns + COALESCE(o.runnable_ns, 0) AS end_ns
    FROM waits AS o
    JOIN wanted AS w ON o.artifact_id = w.artifact_id
    WHERE NOT o.is_aggregate AND o.start_ns IS NOT NULL AND o.thread_id IS NOT NULL AND o.thread_id <> w.thread_id
),
lives AS (
    SELECT artifact_id AS artifact_id, thread_id AS thread_id, MIN(start_ns) AS first_ns, MAX(end_ns) AS last_ns FROM off GROUP BY artifact_id, thread_id
),
seen AS (
    SELECT l.artifact_id AS artifact_id, l.thread_id AS thread_id, w.start_ns AS start_ns, w.end_ns AS end_ns,
        CASE WHEN l.first_ns > w.start_ns THEN l.first_ns ELSE w.start_ns END AS from_ns,
        CASE WHEN l.last_ns < w.end_ns THEN l.last_ns ELSE w.end_ns END AS to_ns
    FROM lives AS l
    JOIN wanted AS w ON l.artifact_id = w.artifact_id
),
parts AS (
    SELECT o.artifact_id AS artifact_id, o.thread_id AS thread_id,
        CASE WHEN o.end_ns < s.to_ns THEN o.end_ns ELSE s.to_ns END - CASE WHEN o.start_ns > s.from_ns THEN o.start_ns ELSE s.from_ns END AS off_ns,
        CASE WHEN o.start_ns >= s.from_ns THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS switches
    FROM off AS o
    JOIN seen AS s ON o.artifact_id = s.artifact_id AND o.thread_id = s.thread_id
    WHERE o.start_ns < s.to_ns AND o.end_ns > s.from_ns
),
away AS (
    SELECT artifact_id AS artifact_id, thread_id AS thread_id, CAST(SUM(off_ns) AS BIGINT) AS off_ns, CAST(SUM(switches) AS BIGINT) AS switches
    FROM parts
    GROUP BY artifact_id, thread_id
),
ran AS (
    SELECT s.artifact_id AS artifact_id, s.thread_id AS thread_id, s.to_ns - s.from_ns - COALESCE(w.off_ns, 0) AS on_cpu_ns,
        COALESCE(w.switches, 0) AS switches, s.end_ns - s.start_ns AS wait_ns
    FROM seen AS s
    LEFT JOIN away AS w ON s.artifact_id = w.artifact_id AND s.thread_id = w.thread_id
    WHERE s.to_ns > s.from_ns
)
SELECT a.path AS artifact_path, p.name AS process_name, t.tid AS tid, t.name AS thread_name, t.is_target AS is_target, r.on_cpu_ns AS on_cpu_ns,
    CAST(r.on_cpu_ns AS DOUBLE) / CAST(r.wait_ns AS DOUBLE) AS share, r.switches AS switches, r.wait_ns AS wait_ns, r.thread_id AS thread_id
FROM ran AS r
JOIN artifacts AS a ON r.artifact_id = a.artifact_id
JOIN threads AS t ON r.thread_id = t.thread_id
JOIN processes AS p ON t.process_id = p.process_id
WHERE r.on_cpu_ns > 0
ORDER BY on_cpu_ns DESC NULLS LAST, thread_id ASC NULLS LAST
