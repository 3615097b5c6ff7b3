-- question: What does the program say of itself: which of its spans take the time?
-- row: one span name of one log of the program
-- units: ns in the clock of that column; self_ns: without the spans inside; shares 0 to 1 of the whole log; calls null where the log does not say
-- empty: the program logged no spans (perf.profile.* events)
SELECT a.path AS artifact_path, s.name AS span_name, s.category AS category, s.class AS class, s.clock AS clock, s.calls AS calls, s.total_ns AS total_ns,
    s.self_ns AS self_ns, CASE WHEN g.whole_ns > 0 THEN CAST(s.total_ns AS DOUBLE) / CAST(g.whole_ns AS DOUBLE) ELSE CAST(NULL AS DOUBLE) END AS total_share,
    CASE WHEN g.whole_ns > 0 THEN CAST(s.self_ns AS DOUBLE) / CAST(g.whole_ns AS DOUBLE) ELSE CAST(NULL AS DOUBLE) END AS self_share
FROM span_costs AS s
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
LEFT JOIN span_logs AS g ON s.artifact_id = g.artifact_id
ORDER BY artifact_path ASC NULLS LAST, total_ns DESC NULLS LAST, span_name ASC NULLS LAST
