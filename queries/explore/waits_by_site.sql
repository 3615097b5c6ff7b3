-- question: Where in the program do its threads wait, and for what?
-- row: one reason at one site in one recording; the site is the nearest function of the program on the stack (null: the stack shows none)
-- units: ns; waits is 0 where a tool summed the stacks; share is of all waiting in that recording, 0 to 1
-- empty: nothing recorded waits
WITH own AS (
    SELECT w.artifact_id AS artifact_id, w.reason AS reason, k.site_function_id AS function_id, w.dur_ns AS dur_ns,
        CASE WHEN w.is_aggregate THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END AS waits
    FROM waits AS w
    LEFT JOIN threads AS t ON w.thread_id = t.thread_id
    LEFT JOIN stack_sites AS k ON w.stack_id = k.stack_id
    WHERE w.reason <> 'preempted' AND (w.is_aggregate OR COALESCE(t.is_target, FALSE))
),
summed AS (
    SELECT artifact_id AS artifact_id, reason AS reason, function_id AS function_id, CAST(SUM(waits) AS BIGINT) AS waits,
        CAST(SUM(dur_ns) AS BIGINT) AS total_ns, MAX(dur_ns) AS longest_ns
    FROM own
    GROUP BY artifact_id, reason, function_id
),
wholes AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(total_ns) AS BIGINT) AS all_ns FROM summed GROUP BY artifact_id
)
SELECT a.path AS artifact_path, s.reason AS reason, f.name AS site, f.dso AS site_dso, f.file AS site_file, f.line AS site_line, s.waits AS waits,
    s.total_ns AS total_ns, CASE WHEN s.waits > 0 THEN s.longest_ns ELSE CAST(NULL AS BIGINT) END AS longest_ns,
    CAST(s.total_ns AS DOUBLE) / CAST(w.all_ns AS DOUBLE) AS share, s.function_id AS function_id
FROM summed AS s
JOIN wholes AS w ON s.artifact_id = w.artifact_id
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
LEFT JOIN functions AS f ON s.function_id = f.function_id
WHERE w.all_ns > 0
ORDER BY artifact_path ASC NULLS LAST, total_ns DESC NULLS LAST, reason ASC NULLS LAST, function_id ASC NULLS LAST
