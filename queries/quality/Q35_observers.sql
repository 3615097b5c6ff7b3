-- id: Q35
-- name: the observer in the recording
-- advice: Record with one tool at a time.
--
-- measure: samples
-- level: demote above 0.02 effect demote:M1
-- message: {percent} of the samples pass through code of a recording tool (ptrace, BPF programs, heaptrack)
-- short: tools {percent} of the samples
-- unchecked: no CPU samples
-- source: house: 2 %; rules.md Q35
WITH observed AS (
    SELECT artifact_id AS artifact_id, total_weight AS weight FROM class_costs WHERE class = 'OBSERVER'
)
SELECT c.artifact_id AS artifact_id, COALESCE(o.weight, 0) AS part, c.weight AS whole
FROM cpu_events AS c
LEFT JOIN observed AS o ON c.artifact_id = o.artifact_id
-- measure: waits
-- level: demote above 0.02 effect demote:M4
-- message: {percent} of the waiting time is spent stopped for a tracer or in another recording tool
-- short: tools {percent} of the waits
-- unchecked: no waits
-- source: house: 2 %; rules.md Q35
WITH observed AS (
    SELECT DISTINCT stack_id AS stack_id, class AS class FROM stack_classes WHERE class = 'OBSERVER'
)
SELECT w.artifact_id AS artifact_id, CAST(SUM(CASE WHEN o.class IS NULL THEN CAST(0 AS BIGINT) ELSE w.wait_ns END) AS BIGINT) AS part, CAST(SUM(w.wait_ns) AS BIGINT) AS whole
FROM wait_pairs AS w
LEFT JOIN observed AS o ON w.stack_id = o.stack_id
GROUP BY w.artifact_id
-- measure: other tools
-- level: warn above 0 effect none
-- message: {part} processes of other recording tools ran at the same time: each perturbs what the other sees
-- fine: no other recording tool was seen
-- short: {part} other tools
-- unchecked: no perf recording with processes
-- source: house: any; rules.md Q35
SELECT p.artifact_id AS artifact_id,
    CAST(SUM(CASE WHEN p.name IN ('strace', 'ltrace', 'heaptrack', 'heaptrack_inter', 'bpftrace', 'offcputime', 'offcputime-bpfc', 'gdb', 'rr')
        OR p.name LIKE 'valgrind%' THEN 1 ELSE 0 END) AS BIGINT) AS part,
    CAST(1 AS BIGINT) AS whole
FROM processes AS p
JOIN artifacts AS a ON p.artifact_id = a.artifact_id
WHERE a.kind = 'perf.data'
GROUP BY p.artifact_id
