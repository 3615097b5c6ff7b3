-- question: What did each thread of the program do: run, wait for a CPU, or wait for something else?
-- row: one thread in one recording; the parts sum to the window
SELECT a.path AS artifact_path, t.tid AS tid, t.name AS thread_name, s.role AS role,
       s.window_ns AS window_ns, s.on_cpu_ns AS on_cpu_ns, s.runnable_ns AS runnable_ns,
       s.lock_ns AS lock_ns, s.sleep_ns AS sleep_ns, s.fsync_ns AS fsync_ns, s.disk_ns AS disk_ns,
       s.other_ns AS other_ns, s.unknown_ns AS unknown_ns
FROM thread_states AS s
JOIN threads AS t ON t.thread_id = s.thread_id
JOIN artifacts AS a ON a.artifact_id = s.artifact_id
WHERE t.is_target
ORDER BY s.window_ns DESC NULLS LAST, a.path ASC NULLS LAST, s.thread_id ASC NULLS LAST
