-- id: R29
-- name: sys.kernel_time
-- claim: The kernel, not the program, uses much of the CPU time. The general case: look for the special explanation it is charged to.
-- category: System
-- scope: run
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- cost: B.kernel_share, A.system_share
-- effort: 3
-- advice: Find the special rule: small writes or reads, page faults, mapping churn, locks, process creation.
-- false_positives: On a tick-based kernel the split of user and system time is coarse below 100 ms; page faults are kernel time without system calls; exits
--   of a virtual machine.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: system share
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.10 support=0.30 saturate=0.60 scale=linear interval=accounting min_n=0 basis=cputime source=house:"toplev flags a kernel utilization above 0.05 as information; rules.md R29"
-- needs: artifacts where kind = 'time-v'
-- needs: executions where user_ns IS NOT NULL AND system_ns IS NOT NULL
-- evidence: {part_s} s of {whole_s} s of CPU time are system time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'system_share' AS metric,
    e.system_ns AS part, e.user_ns + e.system_ns AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n,
    '@system_ns' AS part_anchor, '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.user_ns IS NOT NULL AND e.system_ns IS NOT NULL
--
-- slot: B
-- alternate: kernel samples
-- mechanism: M1
-- probe: event
-- metric: kernel_share unit=share reject=0.10 support=0.30 saturate=0.60 scale=linear interval=wilson min_n=100 basis=share source=house:"rules.md R29"
-- needs: cpu_events where unwinding IS NOT NULL
-- evidence: {percent} of {n} CPU samples were taken in the kernel
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'kernel_share' AS metric,
    COALESCE(k.weight, 0) AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff,
    'sum=samples.weight&kernel_leaf=1' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN kernel_costs AS k ON c.artifact_id = k.artifact_id
--
-- slot: C
-- alternate: calls of the summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: calls_per_cpu_second unit=1/s reject=5000 support=100000 saturate=1000000 scale=log10 interval=given min_n=0 basis=count source=house:"rules.md R29; the interval is the spread of the bare runs' CPU time"
-- normalizer: CPU time of the bare run, calls scaled by the declared work
-- needs: syscalls
-- needs: artifacts where tool = 'strace'
-- evidence: {part} system calls, {value} per second of CPU time
-- record: strace -f -c -o strace-c.txt -- {argv}
WITH calls AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM syscalls GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_cpu_second' AS metric,
    c.calls AS part, b.cpu_ns AS whole, c.calls AS n, d.work_up AS scale_up, d.work_down AS scale_down,
    CAST(c.calls * 1000000000 AS DOUBLE) / CAST(b.cpu_most_ns AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE) AS lo,
    CAST(c.calls * 1000000000 AS DOUBLE) / CAST(b.cpu_least_ns AS DOUBLE) * CAST(d.work_up AS DOUBLE) / CAST(d.work_down AS DOUBLE) AS hi,
    'sum=syscalls.calls' AS part_anchor, '@user_ns+system_ns' AS whole_anchor, CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM calls AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
CROSS JOIN bare AS b
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: calls_per_cpu_second unit=1/s reject=5000 support=100000 saturate=1000000 scale=log10 interval=given min_n=0 basis=count source=house:"rules.md R29; the interval is the spread of the bare runs' CPU time"
-- normalizer: CPU time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'all' AND source = 'trace'
-- evidence: {part} system calls, {value} per second of CPU time
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_per_cpu_second' AS metric, calls AS part,
    bare_cpu_ns AS whole, calls AS n,
    CAST(calls AS DOUBLE) * CAST(1000000000 AS DOUBLE) * CAST(work_up AS DOUBLE) / CAST(work_down AS DOUBLE) / CAST(cpu_most_ns AS DOUBLE) AS lo,
    CAST(calls AS DOUBLE) * CAST(1000000000 AS DOUBLE) * CAST(work_up AS DOUBLE) / CAST(work_down AS DOUBLE) / CAST(cpu_least_ns AS DOUBLE) AS hi,
    work_up AS scale_up, work_down AS scale_down, calls_anchor AS part_anchor, '@user_ns+system_ns' AS whole_anchor,
    bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'all' AND source = 'trace'
