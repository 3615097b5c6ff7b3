-- question: What did each thread of the program do: run, wait for a CPU, or wait for something else?
-- row: one thread in one recording; the parts (on_cpu_ns to unknown_ns) sum to window_ns
-- units: ns
-- empty: nothing recorded the scheduler (perf record -e sched:sched_switch,sched:sched_wakeup)
SELECT a.path AS artifact_path, t.tid AS tid, t.name AS thread_name, s.role AS role,
    s.window_ns AS window_ns, s.on_cpu_ns AS on_cpu_ns, s.runnable_ns AS runnable_ns,
    s.lock_ns AS lock_ns, s.sleep_ns AS sleep_ns, s.fsync_ns AS fsync_ns, s.disk_ns AS disk_ns,
    s.other_ns AS other_ns, s.unknown_ns AS unknown_ns, s.thread_id AS thread_id
FROM thread_states AS s
JOIN threads AS t ON s.thread_id = t.thread_id
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
WHERE t.is_target
ORDER BY window_ns DESC NULLS LAST, artifact_path ASC NULLS LAST, thread_id ASC NULLS LAST
