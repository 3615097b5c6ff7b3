-- How many threads the program has: as declared, else the most that one recording saw. Always one row.
WITH seen AS (
    SELECT t.artifact_id AS artifact_id, CAST(COUNT(t.thread_id) AS BIGINT) AS threads
    FROM threads AS t
    JOIN admitted AS d ON t.artifact_id = d.artifact_id
    WHERE t.is_target AND d.standing IN ('same', 'unknown')
    GROUP BY t.artifact_id
),
most AS (
    SELECT MAX(threads) AS threads FROM seen
)
SELECT COALESCE(CAST(b.threads AS BIGINT), m.threads) AS threads, CAST(b.threads AS BIGINT) AS declared
FROM bare AS b
CROSS JOIN most AS m
