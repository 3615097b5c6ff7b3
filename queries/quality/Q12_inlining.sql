-- id: Q12
-- name: inlining and tail calls that cannot be seen
-- level: warn above 0.10 effect none
-- message: {percent} of the program's own samples are charged to functions without debug information: what was inlined into them counts as theirs, and a caller that ended in a tail call is missing
-- short: {percent} without debug information
-- unchecked: no samples in named code of the program
-- advice: Build with -g (debug = 1 or 2 in Cargo.toml); until then read "A calls B" as "A or something inlined into it".
-- source: house: wording only; rules.md Q12
SELECT c.artifact_id AS artifact_id, CAST(SUM(CASE WHEN f.file IS NULL THEN s.self_weight ELSE 0 END) AS BIGINT) AS part,
    CAST(SUM(s.self_weight) AS BIGINT) AS whole
FROM cpu_events AS c
JOIN stack_costs AS s ON c.event_id = s.event_id
JOIN stack_sites AS k ON s.stack_id = k.stack_id
JOIN functions AS f ON k.site_function_id = f.function_id
GROUP BY c.artifact_id
