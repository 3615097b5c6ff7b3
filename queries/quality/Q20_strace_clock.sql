-- id: Q20
-- name: unknown clock of a strace summary
-- level: demote above 0 effect demote:M5:time
-- message: it does not say whether its seconds are CPU time (-c) or wall time (-c -w)
-- fine: it says what its seconds are, or its command does
-- short: clock unknown
-- unchecked: no strace summary
-- advice: Keep the command line (manifest.json) or record with `strace -f -c -w`; counts are used, times are not.
-- source: measured: both have the same header; 0.0115 s against 0.912 s for the same 800 calls; rules.md Q20
SELECT artifact_id AS artifact_id, CASE WHEN COALESCE(call_clock, 'unknown') = 'unknown' THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS part,
    CAST(1 AS BIGINT) AS whole
FROM artifacts
WHERE kind = 'strace-summary'
