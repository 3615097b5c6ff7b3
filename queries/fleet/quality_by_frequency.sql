-- question: Which shortcomings do the recordings have again and again?
-- row: one quality check and status (warn, demote, block) that at least one run has
-- units: runs and findings counted; example: the first such message in the alphabet
-- empty: no run has a finding
-- reads: quality
WITH findings AS (
    SELECT q.run AS run, q.check AS check_id, q.name AS name, q.status AS status, q.message AS message, q.advice AS advice
    FROM quality AS q
    WHERE q.status IN ('warn', 'demote', 'block')
),
by_run AS (
    SELECT run AS run, check_id AS check_id, status AS status, MIN(name) AS name, MIN(message) AS message, MIN(advice) AS advice,
        CAST(COUNT(message) AS BIGINT) AS findings
    FROM findings
    GROUP BY run, check_id, status
)
SELECT check_id AS check_id, MIN(name) AS name, status AS status, CAST(COUNT(run) AS BIGINT) AS runs, CAST(SUM(findings) AS BIGINT) AS findings,
    MIN(message) AS example, MIN(advice) AS advice
FROM by_run
GROUP BY check_id, status
ORDER BY runs DESC NULLS LAST, check_id ASC NULLS LAST, status ASC NULLS LAST
