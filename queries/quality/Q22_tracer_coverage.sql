-- id: Q22
-- name: coverage of the tracer
-- level: warn above 0 effect no_zero:M5
-- message: {part} of 1 traces followed the first thread only
-- unchecked: nothing says whether the tracer followed threads and children
-- unchecked_effect: no_zero:M5
-- advice: Record with `strace -f` and keep the command line; until then a call that does not appear proves nothing.
-- source: house: rules.md Q22
SELECT artifact_id AS artifact_id, CAST(1 AS BIGINT) - CAST(follows_children AS BIGINT) AS part, CAST(1 AS BIGINT) AS whole
FROM artifacts
WHERE tool = 'strace'
