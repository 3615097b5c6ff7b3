-- Time in spans of one class (FORMAT, SERDE, HASH, COMPRESS) beside the whole log. The upper bound adds where such an operation may hide: outside all spans, and in spans beside their children.
WITH timed AS (
    SELECT artifact_id AS artifact_id, class AS class, CAST(SUM(class_ns) AS BIGINT) AS ns, CAST(SUM(COALESCE(calls, summaries)) AS BIGINT) AS n
    FROM span_costs
    WHERE class IS NOT NULL AND class_ns IS NOT NULL
    GROUP BY artifact_id, class
)
SELECT t.artifact_id AS artifact_id, t.class AS class, t.ns AS part, g.whole_ns AS whole, t.n AS n,
    CAST(t.ns AS DOUBLE) / CAST(g.whole_ns AS DOUBLE) AS lo,
    CAST(t.ns + COALESCE(g.between_ns, g.whole_ns - t.ns) AS DOUBLE) / CAST(g.whole_ns AS DOUBLE) AS hi,
    'sum=span_costs.class_ns&class=' || t.class AS part_anchor, g.whole_at AS whole_anchor
FROM timed AS t
JOIN span_logs AS g ON t.artifact_id = g.artifact_id
