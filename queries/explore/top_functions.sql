-- question: Which functions hold the CPU time, by themselves and with what they call?
-- row: one function of one event; inline frames are functions of their own
SELECT e.name AS event_name, f.name AS function_name, f.dso AS dso_name,
       c.self_weight AS self_weight, c.self_count AS self_count,
       c.total_weight AS total_weight, c.total_count AS total_count, f.function_id AS function_id
FROM function_costs AS c
JOIN events AS e ON e.event_id = c.event_id
JOIN functions AS f ON f.function_id = c.function_id
WHERE c.view = 'inlined' AND e.role = 'cpu'
ORDER BY c.self_weight DESC NULLS LAST, c.total_weight DESC NULLS LAST, e.event_id ASC NULLS LAST, f.function_id ASC NULLS LAST
