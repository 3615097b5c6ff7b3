-- question: Which repair would pay most over all runs?
-- row: one handed-off hypothesis at one place (site null: the angles name no common place)
-- units: opportunity = impact x confidence / effort, summed over the runs that handed it off, and the largest of one run; hosts counts those with a hostname
-- empty: no run handed anything off
-- reads: hypotheses, host
WITH handed AS (
    SELECT run AS run, hypothesis AS hypothesis, name AS name, COALESCE(site, '') AS site, opportunity AS opportunity, wall_share AS wall_share,
        CAST(ROUND(COALESCE(opportunity, CAST(0 AS DOUBLE)) * CAST(1000 AS DOUBLE), 0) AS BIGINT) AS thousandths
    FROM hypotheses
    WHERE handed_off
),
machines AS (
    SELECT run AS run, MIN(value) AS hostname FROM host WHERE key = 'hostname' GROUP BY run
),
on_hosts AS (
    SELECT DISTINCT h.hypothesis AS hypothesis, h.site AS site, m.hostname AS hostname
    FROM handed AS h
    JOIN machines AS m ON h.run = m.run
),
host_counts AS (
    SELECT hypothesis AS hypothesis, site AS site, CAST(COUNT(hostname) AS BIGINT) AS hosts FROM on_hosts GROUP BY hypothesis, site
),
summed AS (
    SELECT hypothesis AS hypothesis, site AS site, MIN(name) AS name, CAST(COUNT(run) AS BIGINT) AS runs, CAST(SUM(thousandths) AS BIGINT) AS thousandths,
        MAX(opportunity) AS most, MAX(wall_share) AS wall_share, MIN(run) AS first_run, MAX(run) AS last_run
    FROM handed
    GROUP BY hypothesis, site
)
SELECT s.hypothesis AS hypothesis, s.name AS name, CASE WHEN s.site = '' THEN CAST(NULL AS STRING) ELSE s.site END AS site, s.runs AS runs,
    COALESCE(h.hosts, 0) AS hosts, CAST(s.thousandths AS DOUBLE) / CAST(1000 AS DOUBLE) AS opportunity, s.most AS most_opportunity,
    s.wall_share AS most_wall_share, s.first_run AS first_run, s.last_run AS last_run
FROM summed AS s
LEFT JOIN host_counts AS h ON s.hypothesis = h.hypothesis AND s.site = h.site
ORDER BY opportunity DESC NULLS LAST, hypothesis ASC NULLS LAST, site ASC NULLS LAST
