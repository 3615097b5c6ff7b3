-- Timed repetitions of the program as it was recorded: the bare run's variant where one is declared; no series over threads, no benchmark of one function.
SELECT s.artifact_id AS artifact_id, s.n AS n, s.median_ns AS median_ns, s.lo_ns AS lo_ns, s.hi_ns AS hi_ns, s.user_ns AS user_ns, s.system_ns AS system_ns,
    COALESCE(s.variant, 'none') AS variant, COALESCE(s.work, 0) AS work
FROM benchmark_stats AS s
CROSS JOIN bare AS b
WHERE s.threads IS NULL AND s.function IS NULL AND (s.variant IS NULL OR b.variant IS NULL OR s.variant = b.variant)
