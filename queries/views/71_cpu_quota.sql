-- How often a cgroup was throttled: periods of its quota, and those in which it ran into it, between the first and the last snapshot (without a first
-- one: since the group was made). Only groups that have a quota; of several the one that was throttled most often.
WITH groups AS (
    SELECT artifact_id AS artifact_id, scope AS scope,
        MAX(CASE WHEN key = 'nr_periods' AND moment = 'last' THEN value ELSE CAST(NULL AS BIGINT) END)
            - COALESCE(MAX(CASE WHEN key = 'nr_periods' AND moment = 'first' THEN value ELSE CAST(NULL AS BIGINT) END), 0) AS periods,
        MAX(CASE WHEN key = 'nr_throttled' AND moment = 'last' THEN value ELSE CAST(NULL AS BIGINT) END)
            - COALESCE(MAX(CASE WHEN key = 'nr_throttled' AND moment = 'first' THEN value ELSE CAST(NULL AS BIGINT) END), 0) AS throttled
    FROM accounting
    WHERE key IN ('nr_periods', 'nr_throttled')
    GROUP BY artifact_id, scope
),
limited AS (
    SELECT artifact_id AS artifact_id, scope AS scope, periods AS periods, throttled AS throttled FROM groups WHERE periods > 0 AND throttled IS NOT NULL
),
most AS (
    SELECT artifact_id AS artifact_id, MAX(throttled) AS throttled FROM limited GROUP BY artifact_id
),
chosen AS (
    SELECT l.artifact_id AS artifact_id, MIN(l.scope) AS scope
    FROM limited AS l
    JOIN most AS m ON l.artifact_id = m.artifact_id AND l.throttled = m.throttled
    GROUP BY l.artifact_id
)
SELECT l.artifact_id AS artifact_id, l.scope AS scope, l.periods AS periods, l.throttled AS throttled
FROM limited AS l
JOIN chosen AS c ON l.artifact_id = c.artifact_id AND l.scope = c.scope
