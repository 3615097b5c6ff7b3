-- id: Q32
-- name: idle threads in off-CPU time
-- advice: Nothing to do: threads that never work are left out. Give --comm or --pid where the recording has threads of others.
--
-- measure: idle
-- level: warn above 0.5 effect none
-- message: {percent} of the threads' time is of threads that never did any work; they are left out
-- short: idle threads {percent}
-- unchecked: no scheduler recording
-- source: house: half of the threads' time; rules.md Q32
SELECT s.artifact_id AS artifact_id, CAST(SUM(CASE WHEN s.role = 'idle' THEN s.window_ns ELSE 0 END) AS BIGINT) AS part,
    CAST(SUM(s.window_ns) AS BIGINT) AS whole
FROM thread_states AS s
JOIN threads AS t ON s.thread_id = t.thread_id
WHERE t.is_target
GROUP BY s.artifact_id
-- measure: sum
-- level: demote above 1.02 effect demote:M4:time
-- message: the waits add up to {value} times the time of the known threads: there are threads in it that are not the program's
-- fine: the waits add up to {value} times the time of the known threads
-- short: {value} times the threads' time
-- unchecked: no summed off-CPU stacks with a known window
-- source: house: more than the wall time of all threads, and 2 % of accounting slack; rules.md Q32
WITH summed AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns FROM off_cpu_reasons WHERE reason <> 'join' GROUP BY artifact_id
)
SELECT o.artifact_id AS artifact_id, w.wait_ns AS part, o.lived_ns * o.lives AS whole
FROM off_cpu AS o
JOIN summed AS w ON o.artifact_id = w.artifact_id
WHERE o.is_aggregate = 1
