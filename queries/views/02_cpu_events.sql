-- The event by which each recording samples the CPU: the first of its cpu events.
WITH first_event AS (
    SELECT artifact_id AS artifact_id, MIN(event_id) AS event_id FROM events WHERE role = 'cpu' GROUP BY artifact_id
)
SELECT e.event_id AS event_id, e.artifact_id AS artifact_id, e.name AS name, e.probe AS probe, e.unit AS unit, e.target_n AS n,
    e.target_weight AS weight, e.n_eff AS n_eff, COALESCE(a.unwinding, 'unknown') AS unwinding,
    CASE WHEN COALESCE(a.unwinding, 'unknown') IN ('dwarf', 'lbr', 'libunwind') THEN 1 ELSE 0 END AS callers_kept
FROM events AS e
JOIN first_event AS f ON e.event_id = f.event_id
JOIN artifacts AS a ON e.artifact_id = a.artifact_id
WHERE e.target_weight > 0
