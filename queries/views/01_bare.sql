-- The execution that stands for the program itself: recorded by a tool that costs next to nothing. Always one row; null where nothing is known.
-- Only runs of the reference's command and work: a manifest also tells the twins of shortened traced runs.
WITH bare_runs AS (
    SELECT e.execution_id AS execution_id, e.artifact_id AS artifact_id, e.wall_ns AS wall_ns, e.user_ns AS user_ns, e.system_ns AS system_ns,
        e.max_rss_bytes AS max_rss_bytes, e.minor_faults AS minor_faults, e.major_faults AS major_faults, e.voluntary_switches AS voluntary_switches, e.work AS work, e.threads AS threads,
        e.variant AS variant,
        CASE WHEN e.user_ns IS NULL THEN 10 ELSE 0 END
            + CASE WHEN a.kind = 'time-v' THEN 0 WHEN a.kind = 'perf-stat' THEN 1 WHEN a.kind = 'manifest' THEN 2 ELSE 3 END AS preference
    FROM executions AS e
    JOIN artifacts AS a ON e.artifact_id = a.artifact_id
    JOIN admitted AS d ON e.artifact_id = d.artifact_id
    CROSS JOIN reference AS r
    WHERE e.wrapper = 'bare' AND e.wall_ns IS NOT NULL AND d.standing IN ('same', 'unknown')
        AND COALESCE(e.signature, r.signature, '') = COALESCE(r.signature, e.signature, '')
        AND COALESCE(e.work, r.work, 0) = COALESCE(r.work, e.work, 0)
),
best AS (
    SELECT MIN(preference) AS preference FROM bare_runs
),
spread AS (
    SELECT MIN(user_ns + system_ns) AS cpu_least_ns, MAX(user_ns + system_ns) AS cpu_most_ns FROM bare_runs
    WHERE user_ns IS NOT NULL AND system_ns IS NOT NULL
),
chosen AS (
    SELECT MIN(r.execution_id) AS execution_id FROM bare_runs AS r JOIN best AS b ON r.preference = b.preference
)
SELECT MAX(r.execution_id) AS execution_id, MAX(r.artifact_id) AS artifact_id, MAX(r.wall_ns) AS wall_ns, MAX(r.user_ns) AS user_ns,
    MAX(r.system_ns) AS system_ns, MAX(r.user_ns + r.system_ns) AS cpu_ns, MAX(r.max_rss_bytes) AS max_rss_bytes,
    MAX(r.minor_faults) AS minor_faults, MAX(r.major_faults) AS major_faults,
    MAX(r.voluntary_switches) AS voluntary_switches, MAX(r.work) AS work, MAX(r.threads) AS threads,
    MAX(r.variant) AS variant, MAX(s.cpu_least_ns) AS cpu_least_ns, MAX(s.cpu_most_ns) AS cpu_most_ns
FROM bare_runs AS r
JOIN chosen AS c ON r.execution_id = c.execution_id
CROSS JOIN spread AS s
