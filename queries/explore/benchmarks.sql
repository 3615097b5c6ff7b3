-- question: How long does the program take in each variant, and how sure is that?
-- row: one command with one set of parameters
-- units: ns of wall time, median with its 95 % interval; cv: standard deviation over mean; speed: how many times as fast as the slowest of the same
--   work and number of threads. An even number of repetitions has its median between the middle two; BASELINE.md names the nearest one that was measured
-- empty: nothing was timed repeatedly (hyperfine)
WITH own AS (
    SELECT command AS command, variant AS variant, threads AS threads, work AS work, function AS function, n AS n, median_ns AS median_ns,
        lo_ns AS lo_ns, hi_ns AS hi_ns, cv AS cv, COALESCE(work, 0) AS work_key, COALESCE(threads, 0) AS threads_key, COALESCE(function, '') AS function_key
    FROM benchmark_stats
),
bases AS (
    SELECT work_key AS work_key, threads_key AS threads_key, function_key AS function_key, MAX(median_ns) AS median_ns
    FROM own
    GROUP BY work_key, threads_key, function_key
)
SELECT o.command AS command, o.variant AS variant, o.threads AS threads, o.work AS work, o.function AS function, o.n AS n, o.median_ns AS median_ns,
    o.lo_ns AS lo_ns, o.hi_ns AS hi_ns, o.cv AS cv, CAST(b.median_ns AS DOUBLE) / CAST(o.median_ns AS DOUBLE) AS speed
FROM own AS o
JOIN bases AS b ON o.work_key = b.work_key AND o.threads_key = b.threads_key AND o.function_key = b.function_key
WHERE o.median_ns > 0
ORDER BY work ASC NULLS LAST, threads ASC NULLS LAST, function ASC NULLS LAST, median_ns ASC NULLS LAST, command ASC NULLS LAST, variant ASC NULLS LAST
