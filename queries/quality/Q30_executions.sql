-- id: Q30
-- name: recordings of different executions
-- advice: Record every artifact with the same command, build and machine, and write a manifest.json; --allow Q30 if they are comparable.
-- of_refused: yes
--
-- measure: another execution
-- level: block above 0 effect none
-- message: {subject}; it fills no slot
-- fine: {subject}
-- short: another execution
-- unchecked: nothing says which command it recorded; taken for the run's
-- source: house: any difference; rules.md Q30
SELECT d.artifact_id AS artifact_id,
    CASE WHEN d.difference IS NOT NULL THEN CAST(1 AS BIGINT) WHEN d.standing = 'unknown' THEN CAST(NULL AS BIGINT) ELSE CAST(0 AS BIGINT) END AS part,
    CAST(1 AS BIGINT) AS whole, COALESCE(d.difference, 'it recorded the same command') AS subject
FROM admitted AS d
JOIN artifacts AS a ON d.artifact_id = a.artifact_id
WHERE a.kind <> 'manifest' AND d.standing <> 'unusable'
-- measure: another variant
-- level: warn above 0 effect none
-- message: it recorded the command {subject}
-- short: {subject}
-- unchecked: no recordings of known commands
-- source: house: any difference; rules.md Q30
SELECT d.artifact_id AS artifact_id, CASE WHEN d.standing IN ('variant', 'threads') THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS part,
    CAST(1 AS BIGINT) AS whole,
    CASE WHEN d.standing = 'variant' THEN 'in another variant; it fills comparisons only'
        WHEN d.standing = 'threads' THEN 'with another number of threads; it fills scaling series only'
        ELSE 'as it was run bare' END AS subject
FROM admitted AS d
JOIN artifacts AS a ON d.artifact_id = a.artifact_id
WHERE a.kind <> 'manifest' AND d.standing IN ('same', 'variant', 'threads')
