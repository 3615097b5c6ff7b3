-- question: Which functions hold the CPU time, by themselves and with what they call?
-- row: one function of one CPU event; inline frames are functions of their own
-- units: weights in the event's unit (events.unit: ns or events), counts in samples, shares 0 to 1 of the event's weight
-- empty: nothing sampled the CPU, or no sample of the program ends in code with a name
SELECT e.name AS event_name, f.name AS function_name, f.dso AS dso_name,
    c.self_weight AS self_weight, c.self_count AS self_count, CAST(c.self_weight AS DOUBLE) / CAST(e.target_weight AS DOUBLE) AS self_share,
    c.total_weight AS total_weight, c.total_count AS total_count, CAST(c.total_weight AS DOUBLE) / CAST(e.target_weight AS DOUBLE) AS total_share,
    e.event_id AS event_id, f.function_id AS function_id
FROM function_costs AS c
JOIN events AS e ON c.event_id = e.event_id
JOIN functions AS f ON c.function_id = f.function_id
WHERE c.view = 'inlined' AND e.role = 'cpu' AND e.target_weight > 0
ORDER BY self_weight DESC NULLS LAST, total_weight DESC NULLS LAST, event_id ASC NULLS LAST, function_id ASC NULLS LAST
