-- question: On which numbers does each verdict stand, and where in the files are they?
-- row: one number behind one angle of a hypothesis that supports or rejects
-- units: number in the metric's own unit (counts, ns, bytes, weights); value = part / whole in the unit beside it, times scale_up / scale_down where these are set (other work, threads, a page size); anchor: path and place in the recording
-- empty: no angle of any hypothesis was measured
SELECT r.hypothesis AS hypothesis, r.slot AS slot, r.verdict AS verdict, r.metric AS metric, r.value AS value, r.lo AS lo, r.hi AS hi, r.unit AS unit,
    r.scale_up AS scale_up, r.scale_down AS scale_down,
    e.term AS term, e.value AS number, e.anchor AS anchor
FROM readings AS r
JOIN evidence AS e ON r.hypothesis = e.hypothesis AND r.slot = e.slot AND r.metric = e.metric
WHERE r.role = 'primary' AND r.verdict <> 'not measured'
ORDER BY hypothesis ASC NULLS LAST, slot ASC NULLS LAST, metric ASC NULLS LAST, term ASC NULLS LAST, anchor ASC NULLS LAST, number ASC NULLS LAST
