-- question: Which places lead the hotspot tables, over all runs?
-- row: one place and metric that is among the first three of at least one run
-- units: runs counted; shares 0 to 1, lower bounds: wall_share of the wall clock, value of its resource
-- empty: no run has a hotspot
-- reads: hotspots
WITH tops AS (
    SELECT run AS run, location AS location, metric AS metric, category AS category, rank AS rank, wall_share AS wall_share, value_lo AS value_lo
    FROM hotspots
    WHERE rank <= 3
)
SELECT location AS location, metric AS metric, MIN(category) AS category, CAST(COUNT(run) AS BIGINT) AS runs,
    CAST(SUM(CASE WHEN rank = 1 THEN 1 ELSE 0 END) AS BIGINT) AS first_in, MAX(wall_share) AS most_wall_share, MAX(value_lo) AS most_value,
    MIN(run) AS first_run, MAX(run) AS last_run
FROM tops
GROUP BY location, metric
ORDER BY runs DESC NULLS LAST, first_in DESC NULLS LAST, location ASC NULLS LAST, metric ASC NULLS LAST
