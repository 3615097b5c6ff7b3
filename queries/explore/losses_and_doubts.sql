-- question: What could not be read or is in doubt, in which file, and where first?
-- row: one kind of loss or doubt in one file (artifact_path null: in the whole run)
-- units: times counted; places: the first three, as record or line
-- empty: every record of every file was used
SELECT d.severity AS severity, d.kind AS kind, a.path AS artifact_path, d.count AS times, d.message AS message, d.advice AS advice, d.places AS places
FROM diagnostics AS d
LEFT JOIN artifacts AS a ON d.artifact_id = a.artifact_id
ORDER BY severity ASC NULLS LAST, times DESC NULLS LAST, kind ASC NULLS LAST, artifact_path ASC NULLS LAST, message ASC NULLS LAST, places ASC NULLS LAST
