-- id: Q34
-- name: unfinished or damaged recordings
-- advice: Let the tool end by itself (SIGINT, not SIGKILL), and copy the file again.
--
-- measure: end
-- level: block above 0 effect block:*
-- message: the recording has no end (its tool was killed, or the file was cut); what came before was read, but fills no slot
-- fine: it is complete
-- short: cut off
-- unchecked: no recordings
-- source: doc: a file without its last part has no totals; rules.md Q34
WITH aborted AS (
    SELECT DISTINCT artifact_id AS artifact_id FROM diagnostics WHERE kind IN ('perf_aborted_recording', 'strace_no_total', 'heaptrack_cut')
)
SELECT a.artifact_id AS artifact_id,
    CASE WHEN a.status = 'truncated' OR b.artifact_id IS NOT NULL THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS part, CAST(1 AS BIGINT) AS whole
FROM artifacts AS a
LEFT JOIN aborted AS b ON a.artifact_id = b.artifact_id
WHERE a.kind <> 'manifest' AND a.status NOT IN ('duplicate', 'unreadable')
-- measure: skipped
-- level: warn above 0.01 effect none
-- level: demote above 0.10 effect demote:*
-- message: {part} of {whole} records or lines could not be used ({percent})
-- short: {percent} unusable
-- unchecked: no recordings
-- source: house: 1 % and 10 %; rules.md Q34
SELECT artifact_id AS artifact_id, skipped AS part, records + skipped AS whole
FROM artifacts
WHERE kind <> 'manifest' AND status NOT IN ('duplicate', 'unreadable')
