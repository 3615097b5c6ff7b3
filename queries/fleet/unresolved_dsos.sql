-- question: Which files, given once with --symbol-dir, would name most of the code without a name in all runs?
-- row: one file (name and build-id; dso_name null: addresses in no mapping) at which samples end without a name
-- units: mean_share 0 to 1: mean over all runs with CPU samples of the share of the CPU weight, cut to millionths; counts in samples
--   ppm: the sum over all runs of the shares, in millionths
-- empty: every sample of every run ends in code with a name
-- reads: events, stack_costs, dsos; of each run the first CPU event
WITH firsts AS (
    SELECT run AS run, MIN(event_id) AS event_id FROM events WHERE role = 'cpu' AND target_weight > 0 GROUP BY run
),
all_runs AS (
    SELECT CAST(COUNT(run) AS BIGINT) AS n FROM firsts
),
tips AS (
    SELECT c.run AS run, c.leaf_dso_id AS dso_id, c.self_weight AS weight, c.self_count AS n, e.target_weight AS whole
    FROM firsts AS x
    JOIN events AS e ON x.run = e.run AND x.event_id = e.event_id
    JOIN stack_costs AS c ON e.run = c.run AND e.event_id = c.event_id
    WHERE c.leaf_function_id IS NULL
),
named AS (
    SELECT t.run AS run, d.name AS name, d.build_id AS build_id, d.kind AS kind, d.path AS path, t.weight AS weight, t.n AS n, t.whole AS whole
    FROM tips AS t
    LEFT JOIN dsos AS d ON t.run = d.run AND t.dso_id = d.dso_id
),
by_run AS (
    SELECT run AS run, name AS name, build_id AS build_id, MIN(kind) AS kind, MIN(path) AS path, CAST(SUM(n) AS BIGINT) AS n,
        CAST(CAST(SUM(weight) AS BIGINT) AS DOUBLE) * CAST(1000000 AS DOUBLE) / CAST(MAX(whole) AS DOUBLE) AS raw
    FROM named
    GROUP BY run, name, build_id
),
shares AS (
    SELECT run AS run, name AS name, build_id AS build_id, kind AS kind, path AS path, n AS n, CAST(raw - raw % CAST(1 AS DOUBLE) AS BIGINT) AS ppm
    FROM by_run
),
summed AS (
    SELECT name AS name, build_id AS build_id, MIN(kind) AS kind, MIN(path) AS path, CAST(COUNT(run) AS BIGINT) AS runs, CAST(SUM(n) AS BIGINT) AS samples,
        CAST(SUM(ppm) AS BIGINT) AS ppm, MAX(ppm) AS most_ppm
    FROM shares
    GROUP BY name, build_id
)
SELECT s.name AS dso_name, s.build_id AS build_id, s.kind AS dso_kind, s.path AS example_path, s.runs AS runs, a.n AS of_runs, s.samples AS samples,
    CAST(s.ppm AS DOUBLE) / CAST(a.n * 1000000 AS DOUBLE) AS mean_share, CAST(s.most_ppm AS DOUBLE) / CAST(1000000 AS DOUBLE) AS most_share,
    s.ppm AS ppm
FROM summed AS s
CROSS JOIN all_runs AS a
ORDER BY ppm DESC NULLS LAST, samples DESC NULLS LAST, dso_name ASC NULLS LAST, build_id ASC NULLS LAST
