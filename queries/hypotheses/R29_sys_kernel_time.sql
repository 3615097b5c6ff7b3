-- id: R29
-- name: sys.kernel_time
-- claim: The CPU works for the kernel rather than for the program.
-- category: System
-- scope: run
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- cost: A.system_share, B.kernel_share
-- effort: 3
-- advice: Find the special explanation (writes, faults, mappings); what is left here has none among the hypotheses known.
-- false_positives: Accounting by ticks is coarse below 100 ms; page faults are kernel time without system calls (R22); exits to the hypervisor.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: system share
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.1 support=0.3 saturate=0.7 scale=linear interval=accounting min_n=10 basis=cputime source=house:"rules.md R29 A; toplev flags kernel time above 5 % as information"
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {percent} of the CPU time is system time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'system_share' AS metric, e.system_ns AS part,
    e.user_ns + e.system_ns AS whole, CAST(CAST(e.user_ns + e.system_ns AS DOUBLE) / CAST(10000000 AS DOUBLE) AS BIGINT) AS n,
    '@system_ns' AS part_anchor, '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
-- alternate: system share of the repetitions
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.1 support=0.3 saturate=0.7 scale=linear interval=accounting min_n=10 basis=cputime source=house:"rules.md R29 A; toplev flags kernel time above 5 % as information"
-- needs: benchmarks where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {percent} of the CPU time of the repetitions is system time
-- record: for i in 1 2 3 4 5 6 7 8 9 10; do hyperfine -N --runs 1 --export-json bench-$i.json '{argv}'; done
WITH own AS (
    SELECT r.artifact_id AS artifact_id, CAST(SUM(r.system_ns) AS BIGINT) AS system_ns, CAST(SUM(r.user_ns) AS BIGINT) AS user_ns
    FROM benchmarks AS r
    CROSS JOIN bare AS b
    WHERE r.system_ns IS NOT NULL AND r.user_ns IS NOT NULL AND r.threads IS NULL
        AND COALESCE(r.variant, b.variant, 'none') = COALESCE(b.variant, r.variant, 'none')
    GROUP BY r.artifact_id
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'system_share' AS metric, o.system_ns AS part,
    o.user_ns + o.system_ns AS whole, CAST(CAST(o.user_ns + o.system_ns AS DOUBLE) / CAST(10000000 AS DOUBLE) AS BIGINT) AS n,
    '@@system_ns' AS part_anchor, '@@user_ns+system_ns' AS whole_anchor
FROM own AS o
--
-- slot: B
-- alternate: kernel samples
-- mechanism: M1
-- probe: event
-- metric: kernel_share unit=share reject=0.1 support=0.3 saturate=0.7 scale=linear interval=wilson min_n=100 basis=share source=house:"rules.md R29 B"
-- needs: cpu_events
-- evidence: {percent} of {n} CPU samples are in the kernel
-- record: perf record -F 997 --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
WITH kernel AS (
    SELECT c.artifact_id AS artifact_id, CAST(SUM(s.self_weight) AS BIGINT) AS weight
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    JOIN stacks AS k ON s.stack_id = k.stack_id
    JOIN frames AS f ON k.frame_id = f.frame_id
    WHERE f.is_kernel
    GROUP BY c.artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'kernel_share' AS metric, COALESCE(k.weight, 0) AS part,
    c.weight AS whole, c.n AS n, c.n_eff AS n_eff, 'sum=samples.weight&leaf=kernel' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN kernel AS k ON c.artifact_id = k.artifact_id
--
-- slot: C
-- alternate: system calls
-- mechanism: M5
-- probe: ptrace_stop
-- metric: calls_per_cpu_second unit=1/s reject=5000 support=100000 saturate=1000000 scale=log10 interval=complete min_n=0 basis=count source=house:"rules.md R29 C"
-- normalizer: the CPU time of the bare run
-- needs: syscalls
-- evidence: {part} system calls, {value} per CPU second of the bare run
-- record: strace -f -c -o strace-c.txt -- {argv}
WITH counted AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM syscalls GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_cpu_second' AS metric, c.calls AS part, b.cpu_ns AS whole,
    c.calls AS n, d.work_up AS scale_up, d.work_down AS scale_down, 'sum=syscalls.calls' AS part_anchor, '@user_ns+system_ns' AS whole_anchor,
    CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM counted AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
CROSS JOIN bare AS b
