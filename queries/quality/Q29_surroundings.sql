-- id: Q29
-- name: contamination by other programs
-- advice: Record again on a quiet machine; shares of samples and counts are used, durations are not.
--
-- measure: pressure
-- level: warn above 0.05 effect widen:M4:time,widen:M9:time
-- level: demote above 0.20 effect demote:M4:time,demote:M9:time
-- message: during {percent} of the recording some task waited for a CPU
-- short: {percent} of the time a task waited for a CPU
-- unchecked: the program itself has several threads that wait for CPUs, so this does not tell others from itself
-- source: house: 5 % and 20 %; rules.md Q29
SELECT a.artifact_id AS artifact_id,
    CASE WHEN COALESCE(r.threads, 1) <= 1 OR a.psi_cpu_share <= CAST(0.05 AS DOUBLE) THEN CAST(a.psi_cpu_share * CAST(1000000 AS DOUBLE)
        - a.psi_cpu_share * CAST(1000000 AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT)
        ELSE CAST(NULL AS BIGINT) END AS part,
    CAST(1000000 AS BIGINT) AS whole
FROM artifacts AS a
CROSS JOIN run_threads AS r
WHERE a.psi_cpu_share IS NOT NULL AND a.kind <> 'manifest'
-- measure: others
-- level: warn above 0.05 effect none
-- message: other programs had {percent} of the CPU samples of the whole machine
-- short: others on the CPUs {percent}
-- unchecked: no recording of the whole machine
-- source: house: 5 %; rules.md Q29
SELECT artifact_id AS artifact_id, part AS part, whole AS whole FROM recording_facts WHERE fact = 'foreign_cpu'
-- measure: steal
-- level: demote above 0.10 effect demote:M4:time,demote:M9:time
-- message: the host of the virtual machine took {percent} of the CPU time away
-- short: steal {percent}
-- unchecked: nothing says how much CPU time the host took
-- source: doc: the 60-second checklist calls 10 % high; rules.md Q29
SELECT artifact_id AS artifact_id, CAST(ROUND(MAX(value) * CAST(1000000 AS DOUBLE), 0) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole
FROM environment
WHERE metric = 'steal'
GROUP BY artifact_id
