-- question: Which functions cost CPU time although the compiler inlined them, so that a symbol table alone never shows them?
-- row: one function of one CPU event whose own weight is partly or wholly in places where it was inlined
-- units: weights in the event's unit, share 0 to 1 of the event's weight; physical_weight: what is charged to its own symbol when inlining is not seen
-- empty: nothing sampled the CPU, or the programs have no information on inlining (debug files with --symbol-dir)
WITH physical AS (
    SELECT event_id AS event_id, function_id AS function_id, self_weight AS weight FROM function_costs WHERE view = 'physical'
)
SELECT e.name AS event_name, f.name AS function_name, f.dso AS dso_name, c.self_weight AS self_weight, COALESCE(p.weight, 0) AS physical_weight,
    CAST(c.self_weight AS DOUBLE) / CAST(e.target_weight AS DOUBLE) AS share, c.event_id AS event_id, c.function_id AS function_id
FROM function_costs AS c
JOIN events AS e ON c.event_id = e.event_id
JOIN functions AS f ON c.function_id = f.function_id
LEFT JOIN physical AS p ON c.event_id = p.event_id AND c.function_id = p.function_id
WHERE c.view = 'inlined' AND e.role = 'cpu' AND e.target_weight > 0 AND c.self_weight > COALESCE(p.weight, 0)
ORDER BY self_weight DESC NULLS LAST, event_id ASC NULLS LAST, function_id ASC NULLS LAST
