-- id: Q22
-- name: coverage of the tracer
-- advice: Record with `strace -f` from the start and keep the command line; until then a call that does not appear proves nothing.
--
-- measure: children
-- level: warn above 0 effect no_zero:M5
-- message: the trace followed the first thread only
-- fine: threads and children were followed
-- short: one thread only
-- unchecked: nothing says whether the tracer followed threads and children
-- unchecked_effect: no_zero:M5
-- source: house: any thread that was not followed; rules.md Q22
SELECT artifact_id AS artifact_id, CAST(1 AS BIGINT) - CAST(follows_children AS BIGINT) AS part, CAST(1 AS BIGINT) AS whole
FROM artifacts
WHERE tool = 'strace'
-- measure: attached
-- level: warn above 0 effect no_zero:M5
-- message: the trace began after the program did (strace -p)
-- fine: the trace began with the program
-- short: attached late
-- unchecked: no strace recording
-- source: house: attach late; rules.md Q22
WITH told AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM diagnostics WHERE kind = 'strace_attach_notice'
)
SELECT a.artifact_id AS artifact_id, CASE WHEN t.artifact_id IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END AS part, CAST(1 AS BIGINT) AS whole
FROM artifacts AS a
LEFT JOIN told AS t ON a.artifact_id = t.artifact_id
WHERE a.tool = 'strace'
-- measure: threads
-- level: warn below 1 effect no_zero:M5
-- message: the log has {part} threads, the program {whole}
-- short: {part} of {whole} threads
-- unchecked: how many threads the program has is not declared, or no log of all system calls tells them apart
-- source: house: below 100 %; rules.md Q22
WITH logged AS (
    SELECT t.artifact_id AS artifact_id, CAST(COUNT(t.thread_id) AS BIGINT) AS threads
    FROM threads AS t
    JOIN artifacts AS a ON t.artifact_id = a.artifact_id
    WHERE a.kind = 'strace-log' AND a.syscall_filter IS NULL
    GROUP BY t.artifact_id
)
SELECT l.artifact_id AS artifact_id, l.threads AS part, r.declared AS whole
FROM logged AS l
CROSS JOIN run_threads AS r
