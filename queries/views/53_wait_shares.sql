-- Those topics as shares of the workers' life, ready to be read: a row for the run (0 where nobody waited for it) and one per place.
WITH wanted AS (
    SELECT artifact_id AS artifact_id, 'disk' AS topic, 'sum=waits.dur_ns&reason=disk' AS anchor FROM off_cpu
    UNION ALL
    SELECT artifact_id AS artifact_id, 'peer' AS topic, 'sum=waits.dur_ns&reason=network,poll' AS anchor FROM off_cpu
    UNION ALL
    SELECT artifact_id AS artifact_id, 'child' AS topic, 'sum=waits.dur_ns&reason=child' AS anchor FROM off_cpu
    UNION ALL
    SELECT artifact_id AS artifact_id, 'kernel lock' AS topic, CAST(NULL AS STRING) AS anchor FROM off_cpu
    UNION ALL
    SELECT artifact_id AS artifact_id, 'page-in' AS topic, CAST(NULL AS STRING) AS anchor FROM off_cpu
    UNION ALL
    SELECT artifact_id AS artifact_id, 'yield' AS topic, CAST(NULL AS STRING) AS anchor FROM off_cpu
),
summed AS (
    SELECT artifact_id AS artifact_id, topic AS topic, CAST(SUM(wait_ns) AS BIGINT) AS wait_ns, CAST(SUM(n) AS BIGINT) AS n
    FROM wait_topics
    GROUP BY artifact_id, topic
)
SELECT o.artifact_id AS artifact_id, w.topic AS topic, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, COALESCE(s.wait_ns, 0) AS part,
    o.lived_ns AS whole, COALESCE(s.n, 0) AS n, o.lives AS scale_down, CAST(NULL AS BIGINT) AS certain, w.anchor AS part_anchor,
    o.anchor AS whole_anchor
FROM off_cpu AS o
JOIN wanted AS w ON o.artifact_id = w.artifact_id
LEFT JOIN summed AS s ON w.artifact_id = s.artifact_id AND w.topic = s.topic
UNION ALL
SELECT p.artifact_id AS artifact_id, p.topic AS topic, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, p.wait_ns AS part,
    s.wait_ns AS whole, s.n AS n, CAST(1 AS BIGINT) AS scale_down, CASE WHEN p.certain_ns * 2 >= p.wait_ns THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM wait_topics AS p
JOIN summed AS s ON p.artifact_id = s.artifact_id AND p.topic = s.topic
WHERE p.function_id IS NOT NULL
