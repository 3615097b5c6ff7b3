-- id: Q02
-- name: samples of unequal weight
-- level: warn below 0.8 effect none
-- message: the samples differ in weight so much that they are worth {percent} of their number (Kish); every share is weighted by period
-- fine: the samples are worth {percent} of their number (Kish)
-- short: worth {percent}
-- unchecked: no CPU samples with weights
-- advice: Nothing to do: shares are weighted and intervals widened. Where a few samples hold everything, record with a fixed period (-c).
-- source: house: n_eff / n < 0.8; rules.md Q02
SELECT c.artifact_id AS artifact_id, CAST(ROUND(e.n_eff * e.design_effect * CAST(1000 AS DOUBLE), 0) AS BIGINT) AS part, c.n * 1000 AS whole
FROM cpu_events AS c
JOIN events AS e ON c.event_id = e.event_id
