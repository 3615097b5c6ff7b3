-- id: Q15
-- name: user or kernel code left out
-- advice: Record as root or with kernel.perf_event_paranoid at 1 or below, and without :u and :k.
--
-- measure: kernel
-- level: demote above 0 effect demote:M1:kernel
-- message: the kernel was left out (:u, or perf_event_paranoid at 2 or above): its share is unknown, not 0
-- fine: kernel code was not left out
-- short: kernel left out
-- unchecked: no CPU samples
-- source: doc: perf_event_attr.exclude_kernel; rules.md Q15
SELECT c.artifact_id AS artifact_id, CASE WHEN COALESCE(e.excludes, 'nothing') LIKE '%kernel%' THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS part,
    CAST(1 AS BIGINT) AS whole
FROM cpu_events AS c
JOIN events AS e ON c.event_id = e.event_id
-- measure: user
-- level: demote above 0 effect demote:M1:share,demote:M1:leaf
-- message: user code was left out (:k): shares are of kernel time only
-- fine: user code was not left out
-- short: user left out
-- unchecked: no CPU samples
-- source: doc: perf_event_attr.exclude_user; rules.md Q15
SELECT c.artifact_id AS artifact_id, CASE WHEN COALESCE(e.excludes, 'nothing') LIKE '%user%' THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS part,
    CAST(1 AS BIGINT) AS whole
FROM cpu_events AS c
JOIN events AS e ON c.event_id = e.event_id
