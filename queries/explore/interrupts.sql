-- question: Which interrupts, soft interrupts and exceptions came, on how many CPUs, and how long did they take?
-- row: one name of one kind in one recording
-- units: times counted; total_ns and longest_ns of those with an end of their own (timed), null where there are none
-- empty: nothing recorded interrupts (perf record -e irq:*,exceptions:*)
SELECT a.path AS artifact_path, i.kind AS kind, i.name AS name, CAST(COUNT(i.cpu) AS BIGINT) AS cpus, CAST(SUM(i.count) AS BIGINT) AS times,
    CAST(SUM(i.timed) AS BIGINT) AS timed, CAST(SUM(i.total_ns) AS BIGINT) AS total_ns, MAX(i.longest_ns) AS longest_ns
FROM interrupts AS i
JOIN artifacts AS a ON i.artifact_id = a.artifact_id
GROUP BY a.path, i.kind, i.name
ORDER BY artifact_path ASC NULLS LAST, total_ns DESC NULLS LAST, times DESC NULLS LAST, kind ASC NULLS LAST, name ASC NULLS LAST
