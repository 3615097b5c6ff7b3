-- question: How does the process's memory develop, as the kernel counts it?
-- row: one reading of one memory series
-- units: at_s in seconds since the first reading, bytes
-- empty: nothing recorded memory over time (smaps_rollup, status)
SELECT a.path AS artifact_path, CAST(m.ts_ns AS DOUBLE) / CAST(1000000000 AS DOUBLE) AS at_s, m.rss_bytes AS rss_bytes, m.pss_bytes AS pss_bytes,
    m.anon_bytes AS anon_bytes, m.swap_bytes AS swap_bytes, m.source AS source, m.line_no AS line_no
FROM memory AS m
JOIN artifacts AS a ON m.artifact_id = a.artifact_id
ORDER BY artifact_path ASC NULLS LAST, at_s ASC NULLS LAST, line_no ASC NULLS LAST
