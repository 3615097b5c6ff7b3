-- CPU weight and samples of each thread of the program, per recording.
SELECT c.artifact_id AS artifact_id, t.thread_id AS thread_id, t.self_weight AS weight, t.self_count AS n
FROM cpu_events AS c
JOIN thread_weights AS t ON c.event_id = t.event_id
