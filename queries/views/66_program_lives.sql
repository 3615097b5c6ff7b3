-- How long the program lived in each recording of waits: the longest window of one of its threads. The recording itself begins before it and ends
-- after it, which would thin the rates of short runs.
SELECT s.artifact_id AS artifact_id, MAX(s.window_ns) AS life_ns
FROM thread_states AS s
JOIN threads AS t ON s.thread_id = t.thread_id
WHERE t.is_target
GROUP BY s.artifact_id
