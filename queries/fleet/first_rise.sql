-- question: In which run did a function first cost clearly more than before?
-- row: one function of one program whose self share rose by a twentieth of the CPU time or more and was below the middle in the runs before
-- units: shares 0 to 1 of a run's CPU weight, cut to millionths; the middle lies halfway between the least and the largest share of all the program's runs;
--   first_run is the first run at or above it; high_since of runs_since runs were, too (all of them: a step; few: a spike)
--   rise_ppm: most_share less the least share, in millionths
-- empty: no function rose, or no program has two runs with CPU samples
-- reads: events, function_costs, functions, executions; of each run the first CPU event. Runs are in the order of their names: let names begin with the
--   date (d20260131-1200-web7)
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
told AS (
    SELECT run AS run, MIN(program) AS program FROM executions GROUP BY run
),
runs_of AS (
    SELECT x.run AS run, COALESCE(t.program, '') AS program
    FROM firsts AS x
    LEFT JOIN told AS t ON x.run = t.run
),
programs AS (
    SELECT program AS program, CAST(COUNT(run) AS BIGINT) AS runs FROM runs_of GROUP BY program
),
ranges AS (
    SELECT r.program AS program, s.function_key AS function_key, MIN(s.name) AS name, MIN(s.dso) AS dso, CAST(COUNT(s.run) AS BIGINT) AS runs,
        MIN(s.self_ppm) AS least, MAX(s.self_ppm) AS most
    FROM shares AS s
    JOIN runs_of AS r ON s.run = r.run
    GROUP BY r.program, s.function_key
),
risen AS (
    SELECT g.program AS program, g.function_key AS function_key, g.name AS name, g.dso AS dso, g.most AS most,
        CASE WHEN g.runs < p.runs THEN CAST(0 AS BIGINT) ELSE g.least END AS least
    FROM ranges AS g
    JOIN programs AS p ON g.program = p.program
),
candidates AS (
    SELECT program AS program, function_key AS function_key, name AS name, dso AS dso, least AS least, most AS most FROM risen WHERE most - least >= 50000
),
narrow AS (
    SELECT run AS run, function_key AS function_key, self_ppm AS self_ppm FROM shares
),
points AS (
    SELECT c.program AS program, c.function_key AS function_key, c.least AS least, c.most AS most, r.run AS run
    FROM candidates AS c
    JOIN runs_of AS r ON c.program = r.program
),
levels AS (
    SELECT p.program AS program, p.function_key AS function_key, p.run AS run, COALESCE(s.self_ppm, 0) AS self_ppm,
        CASE WHEN COALESCE(s.self_ppm, 0) * 2 >= p.least + p.most THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS is_high
    FROM points AS p
    LEFT JOIN narrow AS s ON p.run = s.run AND p.function_key = s.function_key
),
turns AS (
    SELECT program AS program, function_key AS function_key, MIN(run) AS first_run FROM levels WHERE is_high = 1 GROUP BY program, function_key
),
sides AS (
    SELECT l.program AS program, l.function_key AS function_key, t.first_run AS first_run, l.run AS run, l.self_ppm AS self_ppm, l.is_high AS is_high,
        CASE WHEN l.run < t.first_run THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS is_before
    FROM levels AS l
    JOIN turns AS t ON l.program = t.program AND l.function_key = t.function_key
),
summed AS (
    SELECT program AS program, function_key AS function_key, MIN(first_run) AS first_run,
        MAX(CASE WHEN is_before = 1 THEN run ELSE CAST(NULL AS STRING) END) AS run_before,
        CAST(SUM(is_before) AS BIGINT) AS runs_before, CAST(SUM(1 - is_before) AS BIGINT) AS runs_since,
        CAST(SUM(is_before * self_ppm) AS BIGINT) AS before_ppm, CAST(SUM(self_ppm - is_before * self_ppm) AS BIGINT) AS since_ppm,
        CAST(SUM(is_high) AS BIGINT) AS high_since
    FROM sides
    GROUP BY program, function_key
)
SELECT c.name AS function_name, c.dso AS dso_name, c.program AS program, s.first_run AS first_run, s.run_before AS run_before,
    CAST(s.before_ppm AS DOUBLE) / CAST(s.runs_before * 1000000 AS DOUBLE) AS share_before,
    CAST(s.since_ppm AS DOUBLE) / CAST(s.runs_since * 1000000 AS DOUBLE) AS share_since, CAST(c.most AS DOUBLE) / CAST(1000000 AS DOUBLE) AS most_share,
    s.runs_before AS runs_before, s.runs_since AS runs_since, s.high_since AS high_since, c.most - c.least AS rise_ppm, c.function_key AS function_key
FROM summed AS s
JOIN candidates AS c ON s.program = c.program AND s.function_key = c.function_key
WHERE s.runs_before > 0
ORDER BY rise_ppm DESC NULLS LAST, function_key ASC NULLS LAST, program ASC NULLS LAST
