-- id: Q17
-- name: build without optimization
-- level: warn above 0.10 effect none
-- message: {percent} of the samples end in functions that an optimized build inlines away; R08 judges whether the build is to blame, and takes the word from the hypotheses that such a build misleads
-- fine: {percent} of the samples end in functions that an optimized build inlines away
-- short: debug code {percent}
-- unchecked: no CPU samples
-- advice: Build with optimization and debug information (-O2 -g; cargo build --release with debug = 1) and record again.
-- source: house: 10 % as R08 slot A; rules.md Q17
WITH debug AS (
    SELECT artifact_id AS artifact_id, self_weight AS weight FROM class_costs WHERE class = 'DEBUG'
)
SELECT c.artifact_id AS artifact_id, COALESCE(d.weight, 0) AS part, c.weight AS whole
FROM cpu_events AS c
LEFT JOIN debug AS d ON c.artifact_id = d.artifact_id
