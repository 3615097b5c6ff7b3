-- Pressure between the first and the last snapshot: how long some (or all) tasks waited for a resource, beside the time between. One row per recording
-- and resource; of several scopes the whole system counts, else the group that sorts last. avg: the kernel's own mean over 10 s at the last snapshot.
WITH totals AS (
    SELECT artifact_id AS artifact_id, key AS key, scope AS scope, moment AS moment, value AS value FROM accounting WHERE key LIKE 'psi_%' AND unit = 'ns'
),
chosen AS (
    SELECT artifact_id AS artifact_id, key AS key, MAX(scope) AS scope FROM totals WHERE moment = 'first' GROUP BY artifact_id, key
),
ends AS (
    SELECT t.artifact_id AS artifact_id, t.key AS key, t.scope AS scope, MAX(CASE WHEN t.moment = 'first' THEN t.value ELSE CAST(NULL AS BIGINT) END) AS first_ns,
        MAX(CASE WHEN t.moment = 'last' THEN t.value ELSE CAST(NULL AS BIGINT) END) AS last_ns
    FROM totals AS t
    JOIN chosen AS c ON t.artifact_id = c.artifact_id AND t.key = c.key AND t.scope = c.scope
    GROUP BY t.artifact_id, t.key, t.scope
)
SELECT e.artifact_id AS artifact_id, e.key AS key, e.scope AS scope, e.last_ns - e.first_ns AS waited_ns, COALESCE(a.window_ns, a.wall_ns) AS window_ns,
    'rows=accounting.value&key=' || e.key || '&scope=' || e.scope || '&moment=first,last' AS anchor,
    CASE WHEN a.window_ns IS NULL THEN 'sum=artifacts.wall_ns' ELSE 'sum=artifacts.window_ns' END AS window_anchor
FROM ends AS e
JOIN artifacts AS a ON e.artifact_id = a.artifact_id
WHERE e.last_ns IS NOT NULL AND e.first_ns IS NOT NULL
