-- id: Q19
-- name: several phases in one recording
-- advice: Read shares as means over the phases; record the phase in question alone (perf record --delay, or the program on more work).
--
-- measure: phases
-- level: warn above 1 effect none
-- message: {part} phases with different mixes of functions: {subject}
-- fine: one phase: {subject}
-- short: {part} phases
-- unchecked: fewer than 200 samples with times
-- source: house: Jensen-Shannon divergence of 0.1 bits between 20 blocks of time; rules.md Q19
SELECT artifact_id AS artifact_id, part AS part, whole AS whole, subject AS subject FROM recording_facts WHERE fact = 'phases'
-- measure: concentration
-- level: warn above 3 effect none
-- message: {subject} has {value} times its share of the whole recording in one twentieth of it
-- fine: no function is bound to a small part of the recording
-- short: {subject} in bursts
-- unchecked: fewer than 200 samples with times
-- source: house: 3 times; rules.md Q19
SELECT artifact_id AS artifact_id, part AS part, whole AS whole, COALESCE(subject, 'no function') AS subject FROM recording_facts
WHERE fact = 'phase_share'
-- measure: start-up
-- level: warn above 0.20 effect none
-- message: {percent} of the samples are of the dynamic linker: the run is short against its start-up
-- short: start-up {percent}
-- unchecked: no CPU samples
-- source: house: 20 % of the run; rules.md Q19
WITH loader AS (
    SELECT artifact_id AS artifact_id, total_weight AS weight FROM class_costs WHERE class = 'LOADER'
)
SELECT c.artifact_id AS artifact_id, COALESCE(l.weight, 0) AS part, c.weight AS whole
FROM cpu_events AS c
LEFT JOIN loader AS l ON c.artifact_id = l.artifact_id
