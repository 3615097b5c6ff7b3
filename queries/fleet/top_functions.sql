-- question: Which functions cost most over all runs, and on how many hosts?
-- row: one function (one function_key: the name without hash and clone suffix, and the name of its file), the two hundred with most self weight
-- units: shares 0 to 1 of a run's CPU weight, cut to millionths; means are over all runs with CPU samples, 0 where a run lacks the function;
--   hosts counts those with a hostname
--   self_ppm, total_ppm: the sums over all runs of the shares, in millionths
-- empty: no run sampled the CPU
-- reads: events, function_costs, functions, host; of each run the first CPU event
WITH firsts AS (
    SELECT run AS run, MIN(event_id) AS event_id FROM events WHERE role = 'cpu' AND target_weight > 0 GROUP BY run
),
costs AS (
    SELECT c.run AS run, f.function_key AS function_key, f.name AS name, f.dso AS dso, c.self_weight AS self_weight, c.total_weight AS total_weight,
        e.target_weight AS whole
    FROM firsts AS x
    JOIN events AS e ON x.run = e.run AND x.event_id = e.event_id
    JOIN function_costs AS c ON e.run = c.run AND e.event_id = c.event_id
    JOIN functions AS f ON c.run = f.run AND c.function_id = f.function_id
    WHERE c.view = 'inlined'
),
by_run AS (
    SELECT run AS run, function_key AS function_key, MIN(name) AS name, MIN(dso) AS dso,
        CAST(CAST(SUM(self_weight) AS BIGINT) AS DOUBLE) * CAST(1000000 AS DOUBLE) / CAST(MAX(whole) AS DOUBLE) AS self_raw,
        CAST(MAX(total_weight) AS DOUBLE) * CAST(1000000 AS DOUBLE) / CAST(MAX(whole) AS DOUBLE) AS total_raw
    FROM costs
    GROUP BY run, function_key
),
shares AS (
    SELECT run AS run, function_key AS function_key, name AS name, dso AS dso, CAST(self_raw - self_raw % CAST(1 AS DOUBLE) AS BIGINT) AS self_ppm,
        CAST(total_raw - total_raw % CAST(1 AS DOUBLE) AS BIGINT) AS total_ppm
    FROM by_run
),
machines AS (
    SELECT run AS run, MIN(value) AS hostname FROM host WHERE key = 'hostname' GROUP BY run
),
all_runs AS (
    SELECT CAST(COUNT(run) AS BIGINT) AS n FROM firsts
),
seen_hosts AS (
    SELECT DISTINCT s.function_key AS function_key, m.hostname AS hostname
    FROM shares AS s
    JOIN machines AS m ON s.run = m.run
),
host_counts AS (
    SELECT function_key AS function_key, CAST(COUNT(hostname) AS BIGINT) AS hosts FROM seen_hosts GROUP BY function_key
),
summed AS (
    SELECT function_key AS function_key, MIN(name) AS name, MIN(dso) AS dso, CAST(COUNT(run) AS BIGINT) AS runs,
        CAST(SUM(self_ppm) AS BIGINT) AS self_ppm, CAST(SUM(total_ppm) AS BIGINT) AS total_ppm, MAX(self_ppm) AS most_ppm
    FROM shares
    GROUP BY function_key
),
points AS (
    SELECT run AS run, function_key AS function_key, self_ppm AS self_ppm FROM shares
),
most_in AS (
    SELECT s.function_key AS function_key, MIN(s.run) AS run
    FROM points AS s
    JOIN summed AS t ON s.function_key = t.function_key AND s.self_ppm = t.most_ppm
    GROUP BY s.function_key
)
SELECT s.name AS function_name, s.dso AS dso_name, s.runs AS runs, a.n AS of_runs, COALESCE(h.hosts, 0) AS hosts,
    CAST(s.self_ppm AS DOUBLE) / CAST(a.n * 1000000 AS DOUBLE) AS mean_self_share,
    CAST(s.total_ppm AS DOUBLE) / CAST(a.n * 1000000 AS DOUBLE) AS mean_total_share,
    CAST(s.most_ppm AS DOUBLE) / CAST(1000000 AS DOUBLE) AS most_self_share, m.run AS most_in_run, s.self_ppm AS self_ppm,
    s.function_key AS function_key
FROM summed AS s
JOIN most_in AS m ON s.function_key = m.function_key
LEFT JOIN host_counts AS h ON s.function_key = h.function_key
CROSS JOIN all_runs AS a
ORDER BY self_ppm DESC NULLS LAST, function_key ASC NULLS LAST
LIMIT 200
