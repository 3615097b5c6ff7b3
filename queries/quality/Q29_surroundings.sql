-- id: Q29
-- name: contamination by other programs
-- level: warn above 0.05 effect widen:M4:time,widen:M9:time
-- level: demote above 0.20 effect demote:M4:time,demote:M9:time
-- message: during {percent} of the recording some task waited for a CPU
-- unchecked: the program itself has several threads that wait for CPUs, so this does not tell others from itself
-- advice: Record again on a quiet machine; shares of samples and counts are used, durations are not.
-- source: house: rules.md Q29
SELECT a.artifact_id AS artifact_id,
    CASE WHEN COALESCE(r.threads, 1) <= 1 THEN CAST(a.psi_cpu_share * CAST(1000000 AS DOUBLE) AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS part,
    CAST(1000000 AS BIGINT) AS whole
FROM artifacts AS a
CROSS JOIN run_threads AS r
WHERE a.psi_cpu_share IS NOT NULL AND a.kind <> 'manifest'
