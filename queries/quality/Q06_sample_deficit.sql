-- id: Q06
-- name: CPU time that no sample or clock saw
-- advice: Record with `perf record -a` or `--no-inherit`: threads that live shorter than a period are never sampled.
--
-- measure: deficit
-- level: warn below 0.8 effect none
-- level: warn above 1.2 effect none
-- level: block below 0.5 effect block:M1
-- message: the samples stand for {value} times the CPU time of the bare run
-- short: samples for {value} of the CPU time
-- unchecked: the CPU time of the bare run, or the time one sample stands for, is unknown
-- source: measured: 2 of about 350 samples of a program with short-lived threads; rules.md Q06
SELECT c.artifact_id AS artifact_id,
    CAST(
        CASE
            WHEN CAST(c.weight AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE) < CAST(9000000000000000000 AS DOUBLE)
                THEN CAST(c.weight AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE)
                    - CAST(c.weight AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE) % CAST(1 AS DOUBLE)
            ELSE CAST(9000000000000000000 AS DOUBLE)
        END AS BIGINT
    ) AS part,
    CASE WHEN c.unit = 'ns' THEN b.cpu_ns ELSE CAST(NULL AS BIGINT) END AS whole
FROM cpu_events AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
CROSS JOIN bare AS b
-- measure: short lives
-- level: block below 10 effect block:M9:cputime
-- message: half of the program's processes live under {value} ms; user and system time are counted in timer ticks and are wrong for such
-- fine: half of the program's processes live {value} ms or longer
-- short: processes of {value} ms
-- unchecked: no scheduler recording tells how long the program's processes live
-- source: measured: 17 % system time by rusage where 80 % of the samples were kernel; rules.md 3.0b Q06b
WITH lives AS (
    SELECT MIN(part) AS life_ns FROM recording_facts WHERE fact = 'process_life'
)
SELECT a.artifact_id AS artifact_id, l.life_ns AS part, CAST(1000000 AS BIGINT) AS whole
FROM artifacts AS a
CROSS JOIN lives AS l
WHERE a.kind IN ('time-v', 'perf-stat', 'hyperfine')
