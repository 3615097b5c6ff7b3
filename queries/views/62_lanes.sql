-- CPUs of the machine, threads of the program, and how many of its threads can run at a time (lanes, at least 1). Always one row.
SELECT r.cpus AS cpus, t.threads AS threads,
    CASE WHEN r.cpus IS NOT NULL AND r.cpus < COALESCE(t.threads, 1) THEN r.cpus WHEN COALESCE(t.threads, 1) > 1 THEN t.threads
        ELSE CAST(1 AS BIGINT) END AS lanes
FROM reference AS r
CROSS JOIN run_threads AS t
