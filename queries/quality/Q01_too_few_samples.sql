-- id: Q01
-- name: too few samples for the claim
-- level: demote below 100 effect demote:M1:share,demote:M1:leaf
-- message: {part} samples of the program
-- short: {part} samples
-- unchecked: no CPU samples
-- advice: Record longer, on more work, or with a higher frequency (perf record -F 997).
-- source: house: 16 of 23 samples would still pass a Wilson interval at 49 %; rules.md Q01
SELECT artifact_id AS artifact_id, n AS part, CAST(1 AS BIGINT) AS whole FROM cpu_events
