-- id: Q07
-- name: records that were lost
-- advice: Record with larger buffers (-m 16M) or a lower frequency.
--
-- measure: loss
-- level: ok above 0 effect lost:*
-- level: warn above 0.05 effect lost:*
-- level: block above 0.20 effect block:*
-- message: {part} of {whole} records were lost ({percent}); intervals carry that share as uncertainty
-- short: {percent} lost
-- unchecked: nothing says whether records were lost
-- source: tool: perf itself warns above 5 % (tools/perf/util/session.c); block above 20 % is a house limit; rules.md Q07
SELECT artifact_id AS artifact_id, CAST(SUM(lost) AS BIGINT) AS part, CAST(SUM(lost + n) AS BIGINT) AS whole
FROM events
WHERE lost IS NOT NULL
GROUP BY artifact_id
-- measure: burst
-- level: demote above 0.20 effect demote:*
-- message: in the worst second {part} of {whole} records were lost ({percent}): what happened then is missing
-- fine: in the worst second {part} of {whole} records were lost
-- short: {percent} lost in one second
-- unchecked: the time of losses is unknown
-- source: house: 20 % in any one second, 10 records at least; rules.md Q07
SELECT artifact_id AS artifact_id, CASE WHEN part < 10 THEN CAST(0 AS BIGINT) ELSE part END AS part, whole AS whole
FROM recording_facts
WHERE fact = 'lost_worst_second'
