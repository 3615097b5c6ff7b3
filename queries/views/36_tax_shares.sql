-- CPU weight under the classes that are a tax (copying, encoding, hashing, compressing, unwinding, collecting garbage) and of interpreters'
-- own loops, ready to be read: a row for the run (0 where no sample has the class) and one per place of the program.
WITH members AS (
    SELECT DISTINCT stack_id AS stack_id, site_function_id AS function_id, caller_certain AS caller_certain,
        CASE WHEN class = 'COPY' THEN 'copy' WHEN class = 'SERDE' THEN 'serialization' WHEN class IN ('HASH', 'CRYPTO') THEN 'hash'
            WHEN class = 'COMPRESS' THEN 'compression' WHEN class = 'UNWIND' THEN 'unwinding' WHEN class = 'GC' THEN 'gc' ELSE 'interpreter' END AS tax
    FROM stack_classes
    WHERE class IN ('COPY', 'SERDE', 'HASH', 'CRYPTO', 'COMPRESS', 'UNWIND', 'GC') OR (class = 'INTERP' AND is_leaf)
),
stacks_of AS (
    SELECT stack_id AS stack_id, tax AS tax, MIN(function_id) AS function_id, MAX(CASE WHEN caller_certain THEN 1 ELSE 0 END) AS caller_certain
    FROM members
    GROUP BY stack_id, tax
),
weighed AS (
    SELECT c.artifact_id AS artifact_id, m.tax AS tax, m.function_id AS function_id, s.self_weight AS weight, s.self_count AS n,
        CASE WHEN c.callers_kept = 1 OR m.caller_certain = 1 THEN s.self_weight ELSE CAST(0 AS BIGINT) END AS certain_weight
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    JOIN stacks_of AS m ON s.stack_id = m.stack_id
    WHERE COALESCE(s.classes, 1) > 0
),
summed AS (
    SELECT artifact_id AS artifact_id, tax AS tax, CAST(SUM(weight) AS BIGINT) AS weight, CAST(SUM(n) AS BIGINT) AS n FROM weighed
    GROUP BY artifact_id, tax
),
by_site AS (
    SELECT artifact_id AS artifact_id, tax AS tax, function_id AS function_id, CAST(SUM(weight) AS BIGINT) AS weight,
        CAST(SUM(certain_weight) AS BIGINT) AS certain_weight
    FROM weighed
    WHERE function_id IS NOT NULL
    GROUP BY artifact_id, tax, function_id
),
wanted AS (
    SELECT artifact_id AS artifact_id, 'copy' AS tax, 'has=COPY' AS keys FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'serialization' AS tax, 'has=SERDE' AS keys FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'hash' AS tax, 'has=HASH,CRYPTO' AS keys FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'compression' AS tax, 'has=COMPRESS' AS keys FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'unwinding' AS tax, 'has=UNWIND' AS keys FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'gc' AS tax, 'has=GC' AS keys FROM cpu_events
    UNION ALL
    SELECT artifact_id AS artifact_id, 'interpreter' AS tax, 'leaf_class=INTERP' AS keys FROM cpu_events
)
SELECT p.artifact_id AS artifact_id, p.tax AS tax, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, COALESCE(s.weight, 0) AS part,
    c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(NULL AS BIGINT) AS certain, 'sum=samples.weight&' || p.keys AS part_anchor,
    'sum=samples.weight' AS whole_anchor
FROM wanted AS p
JOIN cpu_events AS c ON p.artifact_id = c.artifact_id
LEFT JOIN summed AS s ON p.artifact_id = s.artifact_id AND p.tax = s.tax
UNION ALL
SELECT b.artifact_id AS artifact_id, b.tax AS tax, 'function' AS site_kind, CAST(b.function_id AS BIGINT) AS site_id, b.weight AS part,
    s.weight AS whole, s.n AS n, CAST(NULL AS DOUBLE) AS n_eff,
    CASE WHEN b.certain_weight * 2 >= b.weight THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM by_site AS b
JOIN summed AS s ON b.artifact_id = s.artifact_id AND b.tax = s.tax
