-- id: Q12
-- name: inlining and tail calls that cannot be seen
-- level: warn above 0.10 effect none
-- message: {percent} of the program's own samples are charged to functions without debug information: what was inlined into them counts as theirs, and a caller that ended in a tail call is missing
-- short: {percent} without debug information
-- unchecked: no samples in named code of the program
-- advice: Build with -g (debug = 1 or 2 in Cargo.toml); until then read "A calls B" as "A or something inlined into it".
-- source: house: wording only; rules.md Q12
WITH sites AS (
    SELECT c.artifact_id AS artifact_id, s.site_function_id AS function_id, CAST(SUM(s.self_weight) AS BIGINT) AS weight
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    WHERE s.site_function_id IS NOT NULL
    GROUP BY c.artifact_id, s.site_function_id
)
SELECT s.artifact_id AS artifact_id, CAST(SUM(CASE WHEN f.file IS NULL THEN s.weight ELSE 0 END) AS BIGINT) AS part,
    CAST(SUM(s.weight) AS BIGINT) AS whole
FROM sites AS s
JOIN functions AS f ON s.function_id = f.function_id
GROUP BY s.artifact_id
