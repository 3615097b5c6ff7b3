-- question: What is wrong with the recordings, what does it do to the verdicts, and what would repair it?
-- row: one finding of a quality check that is not ok
-- units: value in the check's own unit; effect as in queries/README.md (none: a warning only)
-- empty: every check that could be made is ok
SELECT q.status AS status, q.check AS check_id, q.name AS name, q.measure AS measure, a.path AS artifact_path, q.subject AS subject, q.value AS value,
    q.effect AS effect, q.message AS message, q.advice AS advice
FROM quality AS q
LEFT JOIN artifacts AS a ON q.artifact_id = a.artifact_id
WHERE q.status NOT IN ('ok', 'not checkable')
ORDER BY status ASC NULLS LAST, check_id ASC NULLS LAST, measure ASC NULLS LAST, artifact_path ASC NULLS LAST, subject ASC NULLS LAST, message ASC NULLS LAST
