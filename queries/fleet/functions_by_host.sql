-- question: Which functions cost most on which host?
-- row: one function on one host, with at least a hundredth of that host's mean run
-- units: shares 0 to 1 of a run's CPU weight, cut to millionths; means are over the host's runs with CPU samples, 0 where a run lacks the function;
--   other_hosts_share: the same over the runs of all other hosts (null: there are none)
-- empty: no run sampled the CPU, or no recording states its hostname
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
host_runs AS (
    SELECT m.hostname AS hostname, CAST(COUNT(x.run) AS BIGINT) AS runs
    FROM firsts AS x
    JOIN machines AS m ON x.run = m.run
    GROUP BY m.hostname
),
all_runs AS (
    SELECT CAST(SUM(runs) AS BIGINT) AS runs FROM host_runs
),
on_host AS (
    SELECT m.hostname AS hostname, s.function_key AS function_key, MIN(s.name) AS name, MIN(s.dso) AS dso, CAST(SUM(s.self_ppm) AS BIGINT) AS self_ppm,
        CAST(COUNT(s.run) AS BIGINT) AS runs
    FROM shares AS s
    JOIN machines AS m ON s.run = m.run
    GROUP BY m.hostname, s.function_key
),
everywhere AS (
    SELECT function_key AS function_key, CAST(SUM(self_ppm) AS BIGINT) AS self_ppm FROM on_host GROUP BY function_key
)
SELECT o.hostname AS hostname, o.name AS function_name, o.dso AS dso_name, o.runs AS runs, h.runs AS of_runs,
    CAST(o.self_ppm AS DOUBLE) / CAST(h.runs * 1000000 AS DOUBLE) AS mean_self_share,
    CASE WHEN a.runs > h.runs THEN CAST(e.self_ppm - o.self_ppm AS DOUBLE) / CAST((a.runs - h.runs) * 1000000 AS DOUBLE) ELSE CAST(NULL AS DOUBLE) END
        AS other_hosts_share, o.self_ppm AS self_ppm, o.function_key AS function_key
FROM on_host AS o
JOIN host_runs AS h ON o.hostname = h.hostname
JOIN everywhere AS e ON o.function_key = e.function_key
CROSS JOIN all_runs AS a
WHERE o.self_ppm >= h.runs * 10000
ORDER BY hostname ASC NULLS LAST, self_ppm DESC NULLS LAST, function_key ASC NULLS LAST
