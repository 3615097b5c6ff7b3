-- CPU weight and samples of each thread of the program, per recording.
WITH summed AS (
    SELECT event_id AS event_id, thread_id AS thread_id, CAST(SUM(weight) AS BIGINT) AS weight, CAST(COUNT(record_no) AS BIGINT) AS n
    FROM samples
    GROUP BY event_id, thread_id
)
SELECT c.artifact_id AS artifact_id, s.thread_id AS thread_id, s.weight AS weight, s.n AS n
FROM cpu_events AS c
JOIN summed AS s ON c.event_id = s.event_id
JOIN threads AS t ON s.thread_id = t.thread_id
WHERE t.is_target
