-- question: Which explanations come up again and again?
-- row: one hypothesis
-- units: runs counted; measured: runs in which at least one angle was measured; opportunity = impact x confidence / effort, of the runs that handed it off
-- empty: the dataset has no runs
-- reads: hypotheses
SELECT hypothesis AS hypothesis, MIN(name) AS name, CAST(COUNT(run) AS BIGINT) AS runs,
    CAST(SUM(CASE WHEN supports + rejects > 0 THEN 1 ELSE 0 END) AS BIGINT) AS measured,
    CAST(SUM(CASE WHEN label = 'KERNEL' THEN 1 ELSE 0 END) AS BIGINT) AS kernel,
    CAST(SUM(CASE WHEN label = 'DISPUTED' THEN 1 ELSE 0 END) AS BIGINT) AS disputed,
    CAST(SUM(CASE WHEN label = 'open' THEN 1 ELSE 0 END) AS BIGINT) AS open_runs,
    CAST(SUM(CASE WHEN label IN ('refuted', 'unlikely') THEN 1 ELSE 0 END) AS BIGINT) AS refuted,
    CAST(SUM(CASE WHEN handed_off THEN 1 ELSE 0 END) AS BIGINT) AS handed_off,
    MAX(CASE WHEN handed_off THEN opportunity ELSE CAST(NULL AS DOUBLE) END) AS most_opportunity
FROM hypotheses
GROUP BY hypothesis
ORDER BY kernel DESC NULLS LAST, disputed DESC NULLS LAST, open_runs DESC NULLS LAST, hypothesis ASC NULLS LAST
