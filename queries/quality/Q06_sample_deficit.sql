-- id: Q06
-- name: sample deficit
-- level: warn below 0.8 effect none
-- level: warn above 1.2 effect none
-- level: block below 0.5 effect block:M1
-- message: the samples stand for {value} times the CPU time of the bare run
-- unchecked: the CPU time of the bare run, or the time one sample stands for, is unknown
-- advice: Record with `perf record -a` or `--no-inherit`: threads that live shorter than a period are never sampled.
-- source: measured: 2 of about 350 samples of a program with short-lived threads; rules.md Q06
SELECT c.artifact_id AS artifact_id,
    CAST(
        CASE
            WHEN CAST(c.weight AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE) < CAST(9000000000000000000 AS DOUBLE)
                THEN CAST(c.weight AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE)
            ELSE CAST(9000000000000000000 AS DOUBLE)
        END AS BIGINT
    ) AS part,
    CASE WHEN c.unit = 'ns' THEN b.cpu_ns ELSE CAST(NULL AS BIGINT) END AS whole
FROM cpu_events AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
CROSS JOIN bare AS b
