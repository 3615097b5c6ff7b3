-- id: Q21
-- name: distortion by the tracer
-- level: warn above 1.2 effect none
-- level: demote above 2 effect demote:M5:time
-- level: demote below 0.8 effect demote:M5:time
-- message: the traced run took {value} times as long as the bare run, for the same work
-- unchecked: the wall time of the traced or of the bare run is unknown
-- advice: Trace fewer calls (-e trace=...), use perf trace or bpftrace; counts are used, times are not.
-- source: measured: 17.6 times for 100 000 writes, 442 times at worst (dd); rules.md Q21
SELECT a.artifact_id AS artifact_id,
    CAST(CAST(a.wall_ns AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE) AS BIGINT) AS part, b.wall_ns AS whole
FROM artifacts AS a
JOIN admitted AS d ON a.artifact_id = d.artifact_id
CROSS JOIN bare AS b
WHERE a.tool = 'strace'
