-- question: Does each thread's time add up to the wall clock: on the CPU, off the CPU, unknown, and not there at all?
-- row: one thread of the program in one recording; on_cpu_ns + off_cpu_ns + unknown_ns + absent_ns = wall_ns
-- units: ns; wall_ns is the recording from its first to its last time stamp; absent_ns: before the thread's first and after its last sign of life
--   (below 0 where the thread's window reaches beyond that of the recording); on_cpu_share is of wall_ns, 0 to 1
-- empty: nothing recorded the scheduler
WITH parts AS (
    SELECT s.artifact_id AS artifact_id, s.thread_id AS thread_id, s.role AS role, s.on_cpu_ns AS on_cpu_ns,
        s.runnable_ns + s.lock_ns + s.sleep_ns + s.fsync_ns + s.disk_ns + s.other_ns AS off_cpu_ns, s.unknown_ns AS unknown_ns,
        s.switches AS switches, COALESCE(a.window_ns, a.wall_ns) AS wall_ns, a.path AS path
    FROM thread_states AS s
    JOIN artifacts AS a ON s.artifact_id = a.artifact_id
)
SELECT p.path AS artifact_path, t.tid AS tid, t.name AS thread_name, p.role AS role, p.wall_ns AS wall_ns, p.on_cpu_ns AS on_cpu_ns,
    p.off_cpu_ns AS off_cpu_ns, p.unknown_ns AS unknown_ns, p.wall_ns - p.on_cpu_ns - p.off_cpu_ns - p.unknown_ns AS absent_ns,
    CAST(p.on_cpu_ns AS DOUBLE) / CAST(p.wall_ns AS DOUBLE) AS on_cpu_share, p.switches AS switches, p.thread_id AS thread_id
FROM parts AS p
JOIN threads AS t ON p.thread_id = t.thread_id
WHERE t.is_target AND p.wall_ns > 0
ORDER BY artifact_path ASC NULLS LAST, on_cpu_ns DESC NULLS LAST, thread_id ASC NULLS LAST
