-- The same work in another variant, beside the program as it was recorded: what share of the wall time goes away. The interval is that of both medians.
WITH partners AS (
    SELECT artifact_id AS artifact_id, LOWER(variant) AS variant, variant AS shown, COALESCE(work, 0) AS work, median_ns AS median_ns, lo_ns AS lo_ns,
        hi_ns AS hi_ns, n AS n
    FROM benchmark_stats
    WHERE variant IS NOT NULL AND threads IS NULL AND function IS NULL
),
pairs AS (
    SELECT p.artifact_id AS artifact_id, p.variant AS variant, p.shown AS shown, p.work AS work, p.median_ns AS median_ns, p.lo_ns AS lo_ns,
        p.hi_ns AS hi_ns, p.n AS n, s.variant AS base_variant, s.median_ns AS base_ns, s.lo_ns AS base_lo_ns, s.hi_ns AS base_hi_ns, s.n AS base_n
    FROM partners AS p
    JOIN bench_base AS s ON p.work = s.work
)
SELECT artifact_id AS artifact_id, variant AS variant, shown AS shown, MIN(base_variant) AS base_variant, MIN(median_ns) AS median_ns,
    MIN(lo_ns) AS lo_ns, MIN(hi_ns) AS hi_ns, MIN(base_ns) AS base_ns, MIN(base_lo_ns) AS base_lo_ns, MAX(base_hi_ns) AS base_hi_ns,
    CASE WHEN MIN(n) < MIN(base_n) THEN MIN(n) ELSE MIN(base_n) END AS n
FROM pairs
WHERE shown <> base_variant
GROUP BY artifact_id, variant, shown, work
