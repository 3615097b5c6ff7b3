-- id: Q36
-- name: one recording in two files
-- advice: Give each recording once; a converted copy adds nothing.
--
-- measure: figures
-- level: warn above 0 effect one_root:*
-- message: it has the total and the largest figures of {other}: one recording in two forms, which counts as one angle
-- fine: no other recording has its figures
-- short: copy of {other}
-- unchecked: no samples and no waits
-- source: house: equal totals and equal top 20; rules.md 2.4 and Q36
SELECT artifact_id AS artifact_id, part AS part, whole AS whole, CAST(other_artifact_id AS BIGINT) AS other_artifact_id
FROM recording_facts
WHERE fact = 'same_numbers'
-- measure: source
-- level: warn above 1 effect none
-- message: {part} files were made from the same recording; together they are one angle
-- fine: no other file was made from the same recording
-- short: {part} files of one recording
-- unchecked: no recordings
-- source: doc: equal SHA-256 of the source; rules.md 2.4 and Q36
WITH roots AS (
    SELECT root AS root, CAST(COUNT(artifact_id) AS BIGINT) AS files FROM artifacts
    WHERE kind <> 'manifest' AND status NOT IN ('duplicate', 'unreadable')
    GROUP BY root
)
SELECT a.artifact_id AS artifact_id, r.files AS part, CAST(1 AS BIGINT) AS whole
FROM artifacts AS a
JOIN roots AS r ON a.root = r.root
WHERE a.kind <> 'manifest' AND a.status NOT IN ('duplicate', 'unreadable')
