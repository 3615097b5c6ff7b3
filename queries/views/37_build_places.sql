-- The program's own file, per recording that loaded it: at how many of the addresses seen the compiler says that it optimized, and that it did not.
WITH loaded AS (
    SELECT DISTINCT m.artifact_id AS artifact_id, m.dso_id AS dso_id FROM mappings AS m
),
programs AS (
    SELECT DISTINCT artifact_id AS artifact_id, program AS program FROM executions WHERE program IS NOT NULL
)
SELECT l.artifact_id AS artifact_id, CAST(SUM(d.optimized_places) AS BIGINT) AS optimized, CAST(SUM(d.plain_places) AS BIGINT) AS plain
FROM loaded AS l
JOIN programs AS p ON l.artifact_id = p.artifact_id
JOIN dsos AS d ON l.dso_id = d.dso_id AND p.program = d.name
WHERE d.optimized_places IS NOT NULL AND d.plain_places IS NOT NULL
GROUP BY l.artifact_id
