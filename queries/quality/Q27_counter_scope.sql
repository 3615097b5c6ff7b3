-- id: Q27
-- name: counters of another scope
-- advice: Count the program alone: perf stat -- ./prog, without -a, -A, -G and :u.
--
-- measure: whole machine
-- level: demote above 0 effect demote:M4:count,demote:M7,demote:M9:cputime,demote:M10
-- message: the counters are of the whole machine (-a), of single CPUs or of a control group, not of the program
-- fine: the counters are of the program
-- short: counted the whole machine
-- unchecked: nothing says for whom perf stat counted
-- source: doc: perf-stat(1) -a, -A, -G; rules.md Q27
WITH scopes AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN scope = 'process' OR scope LIKE 'thread %' THEN 0 ELSE 1 END) AS BIGINT) AS others
    FROM counters
    GROUP BY artifact_id
)
SELECT s.artifact_id AS artifact_id,
    CASE WHEN s.others > 0 OR a.command LIKE '%perf stat% -a %' OR a.command LIKE '%--all-cpus%' THEN CAST(1 AS BIGINT)
        WHEN a.command IS NULL AND a.execution_id IS NULL THEN CAST(NULL AS BIGINT)
        ELSE CAST(0 AS BIGINT) END AS part,
    CAST(1 AS BIGINT) AS whole
FROM scopes AS s
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
-- measure: user or kernel only
-- level: demote above 0 effect demote:M7
-- message: {part} of {whole} counters count user code or kernel code only
-- short: {part} counters with :u or :k
-- unchecked: no perf stat
-- source: doc: perf-list(1), event modifiers; rules.md Q27
SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN modifiers LIKE '%u%' OR modifiers LIKE '%k%' THEN 1 ELSE 0 END) AS BIGINT) AS part,
    CAST(COUNT(line_no) AS BIGINT) AS whole
FROM counters
GROUP BY artifact_id
