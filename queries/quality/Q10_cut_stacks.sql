-- id: Q10
-- name: stacks that were cut
-- level: warn above 0.01 effect none
-- level: demote above 0.05 effect demote:M1:path,demote:M4:path
-- message: {percent} of the stacks ({part} of {whole}) were cut at the size of the dump or at the depth that the kernel records: their outer end is missing
-- short: {percent} of the stacks cut
-- unchecked: no recording with stacks of its own
-- advice: Record with larger dumps (--call-graph dwarf,32768) or raise kernel.perf_event_max_stack.
-- source: tool: JDK Mission Control informs at 1 % of the traces; demote above 5 % is a house limit; rules.md Q10
SELECT artifact_id AS artifact_id, part AS part, whole AS whole FROM recording_facts WHERE fact = 'stacks_cut'
