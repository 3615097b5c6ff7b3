-- id: Q18
-- name: files that are not the recorded ones
-- advice: Give the very files that ran (their build-ids are compared) with --symbol-dir, and record with build-ids.
--
-- measure: no build-id
-- level: demote above 0.01 effect demote:M1:dso,demote:M4:dso,demote:M5:dso
-- message: {subject} ({percent} of what was recorded) was named from a file of that name: the recording has no build-id to compare it with
-- fine: whatever has a hundredth of the weight was named by its build-id, or not at all
-- short: {subject} named by file name
-- unchecked: no samples and no waits with stacks
-- source: house: 1 % of the samples; rules.md Q18
SELECT artifact_id AS artifact_id, part AS part, whole AS whole, subject AS subject FROM recording_facts WHERE fact = 'names_by_file_name'
-- measure: another build
-- level: demote above 0.01 effect demote:M1:dso,demote:M4:dso,demote:M5:dso
-- message: {subject} ({percent} of what was recorded): the file here is another build, and nothing was named from it
-- fine: no file here is another build of what has a hundredth of the weight
-- short: {subject} is another build
-- unchecked: no samples and no waits with stacks
-- source: house: 1 % of the samples; rules.md Q18
SELECT artifact_id AS artifact_id, part AS part, whole AS whole, subject AS subject FROM recording_facts WHERE fact = 'names_refused'
