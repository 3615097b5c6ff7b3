-- question: Which machines do the runs come from?
-- row: one hostname; kernel_*, cpu_model_*: first and last in the alphabet of what its recordings state (different: it was upgraded, or two machines share the name)
-- units: runs counted; cpus: most that a recording states
-- empty: no recording states its hostname (a manifest or perf.data does)
-- reads: host
WITH facts AS (
    SELECT run AS run, MIN(CASE WHEN key = 'hostname' THEN value ELSE CAST(NULL AS STRING) END) AS hostname,
        MIN(CASE WHEN key = 'kernel_release' THEN value ELSE CAST(NULL AS STRING) END) AS kernel_low,
        MAX(CASE WHEN key = 'kernel_release' THEN value ELSE CAST(NULL AS STRING) END) AS kernel_high,
        MIN(CASE WHEN key = 'cpu_model' THEN value ELSE CAST(NULL AS STRING) END) AS cpu_model_low,
        MAX(CASE WHEN key = 'cpu_model' THEN value ELSE CAST(NULL AS STRING) END) AS cpu_model_high,
        MAX(CASE WHEN key = 'cpus' THEN number ELSE CAST(NULL AS BIGINT) END) AS cpus
    FROM host
    GROUP BY run
)
SELECT hostname AS hostname, CAST(COUNT(run) AS BIGINT) AS runs, MAX(cpus) AS cpus, MIN(kernel_low) AS kernel_low, MAX(kernel_high) AS kernel_high,
    MIN(cpu_model_low) AS cpu_model_low, MAX(cpu_model_high) AS cpu_model_high, MIN(run) AS first_run, MAX(run) AS last_run
FROM facts
WHERE hostname IS NOT NULL
GROUP BY hostname
ORDER BY runs DESC NULLS LAST, hostname ASC NULLS LAST
