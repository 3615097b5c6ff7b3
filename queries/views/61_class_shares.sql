-- CPU weight under the classes that name a kind of kernel work or of waiting on the CPU, ready to be read: a row for the run (0 where no sample
-- has the class) and one per place of the program.
WITH wanted AS (
    SELECT artifact_id AS artifact_id, 'SPIN' AS class FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'MM' AS class FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'METADATA' AS class FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'CLONE' AS class FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'EXEC' AS class FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'LOADER' AS class FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'READ_PATH' AS class FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'RWSEM' AS class FROM cpu_events
)
SELECT c.artifact_id AS artifact_id, w.class AS class, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, COALESCE(k.total_weight, 0) AS part,
    c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(NULL AS BIGINT) AS certain, 'sum=samples.weight&has=' || w.class AS part_anchor,
    'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
JOIN wanted AS w ON c.artifact_id = w.artifact_id
LEFT JOIN class_costs AS k ON w.artifact_id = k.artifact_id AND w.class = k.class
UNION ALL
SELECT s.artifact_id AS artifact_id, s.class AS class, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, s.weight AS part,
    k.total_weight AS whole, k.total_count AS n, CAST(NULL AS DOUBLE) AS n_eff, CAST(s.certain AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM class_sites AS s
JOIN class_costs AS k ON s.artifact_id = k.artifact_id AND s.class = k.class
