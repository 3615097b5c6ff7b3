-- id: Q14
-- name: kernel code without names
-- level: demote above 0.05 effect demote:M1:kernel_names
-- message: {percent} of the kernel's samples have no name: what the kernel did is unknown, that it was the kernel is not
-- short: {percent} of the kernel unnamed
-- unchecked: no samples of kernel code
-- advice: Keep a copy of /proc/kallsyms (as root, with kernel.kptr_restrict=0) in symbols/ beside the recording.
-- source: house: 5 % of the kernel's samples; rules.md Q14
SELECT c.artifact_id AS artifact_id, CAST(SUM(CASE WHEN s.leaf_function_id IS NULL THEN s.self_weight ELSE 0 END) AS BIGINT) AS part,
    CAST(SUM(s.self_weight) AS BIGINT) AS whole
FROM cpu_events AS c
JOIN stack_costs AS s ON c.event_id = s.event_id
WHERE s.leaf_is_kernel
GROUP BY c.artifact_id
