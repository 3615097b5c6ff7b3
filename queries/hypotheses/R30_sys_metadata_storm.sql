-- id: R30
-- name: sys.metadata_storm
-- claim: The program asks the file system for names again and again, and most of them do not exist.
-- category: I/O
-- scope: syscall
-- resource: cpu
-- explains: R29
-- cost: B.metadata_share
-- effort: 1
-- advice: Remember what was looked up (also that it does not exist), shorten search paths, look up relative to an open directory (openat), bundle files.
-- false_positives: Interpreters search their modules at the start (R40); shells and build tools look programs up; watching a directory by polling it.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: lookups_per_second unit=1/s reject=10 support=1000 saturate=50000 scale=log10 interval=complete min_n=0 basis=count source=house:"1 000 lookups of some 5 us are 0.5 % of a core; rules.md R30 A. Its other half (30 % of all calls) is left out: of a program that hardly calls the kernel it says nothing"
-- metric: failed_share unit=share reject=0.05 support=0.50 saturate=0.95 scale=linear interval=complete min_n=20 basis=count source=house:"most lookups of a search fail with ENOENT; rules.md R30 A"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'path' AND source = 'summary'
-- with: call_places where family = 'path'
-- evidence: {lookups_per_second.part} stat, open, access and readlink calls, {lookups_per_second.value} per second of the bare run; {failed_share.percent} of them failed
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'lookups_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'path' AND source = 'summary'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'failed_share' AS metric, errors AS part, calls AS whole,
    calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain, errors_anchor AS part_anchor,
    calls_anchor AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families
WHERE family = 'path' AND source = 'summary'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'path'
-- alternate: log
-- mechanism: M5
-- probe: ptrace_stop
-- metric: lookups_per_second unit=1/s reject=10 support=1000 saturate=50000 scale=log10 interval=complete min_n=0 basis=count source=house:"1 000 lookups of some 5 us are 0.5 % of a core; rules.md R30 A. Its other half (30 % of all calls) is left out: of a program that hardly calls the kernel it says nothing"
-- metric: failed_share unit=share reject=0.05 support=0.50 saturate=0.95 scale=linear interval=complete min_n=20 basis=count source=house:"most lookups of a search fail with ENOENT; rules.md R30 A"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'path' AND source = 'log'
-- evidence: {lookups_per_second.part} stat, open, access and readlink calls, {lookups_per_second.value} per second of the bare run; {failed_share.percent} of them failed
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'lookups_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'path' AND source = 'log'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'failed_share' AS metric, errors AS part, calls AS whole,
    calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain, errors_anchor AS part_anchor,
    calls_anchor AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families
WHERE family = 'path' AND source = 'log'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'path'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: lookups_per_second unit=1/s reject=10 support=1000 saturate=50000 scale=log10 interval=complete min_n=0 basis=count source=house:"1 000 lookups of some 5 us are 0.5 % of a core; rules.md R30 A. Its other half (30 % of all calls) is left out: of a program that hardly calls the kernel it says nothing"
-- metric: failed_share unit=share reject=0.05 support=0.50 saturate=0.95 scale=linear interval=complete min_n=20 basis=count source=house:"most lookups of a search fail with ENOENT; rules.md R30 A"
-- normalizer: the wall time of the bare run, calls scaled by the declared work
-- needs: call_families where family = 'path' AND source = 'trace'
-- evidence: {lookups_per_second.part} stat, open, access and readlink calls, {lookups_per_second.value} per second of the bare run; {failed_share.percent} of them failed
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'lookups_per_second' AS metric, calls AS part,
    bare_wall_ns AS whole, calls AS n, work_up AS scale_up, work_down AS scale_down, CAST(NULL AS BIGINT) AS certain, calls_anchor AS part_anchor,
    '@wall_ns' AS whole_anchor, bare_artifact_id AS whole_artifact_id
FROM call_families
WHERE family = 'path' AND source = 'trace'
UNION ALL
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'failed_share' AS metric, errors AS part, calls AS whole,
    calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(NULL AS BIGINT) AS certain, errors_anchor AS part_anchor,
    calls_anchor AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_families
WHERE family = 'path' AND source = 'trace'
UNION ALL
SELECT p.artifact_id AS artifact_id, 'function' AS site_kind, CAST(p.function_id AS BIGINT) AS site_id, 'site' AS metric, p.calls AS part,
    p.all_calls AS whole, p.all_calls AS n, CAST(1 AS BIGINT) AS scale_up, CAST(1 AS BIGINT) AS scale_down, CAST(1 AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor, CAST(NULL AS BIGINT) AS whole_artifact_id
FROM call_places AS p
WHERE p.family = 'path'
--
-- slot: B
-- alternate: path lookup
-- mechanism: M1
-- probe: event
-- metric: metadata_share unit=share reject=0.02 support=0.1 saturate=0.5 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in the lookup of paths
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'metadata_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, n_eff AS n_eff,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM class_shares
WHERE class = 'METADATA'
--
-- slot: C
-- alternate: the same work with remembered lookups
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R30 C"
-- needs: bench_partners where variant IN ('cached', 'cached-lookups', 'warm', 'memoized')
-- evidence: {percent} of the wall time goes away when lookups are remembered
-- record: hyperfine -N --runs 10 -L variant probing,cached --export-json bench.json 'PROGRAM {variant}'
SELECT p.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric,
    CASE WHEN p.base_ns > p.median_ns THEN p.base_ns - p.median_ns ELSE CAST(0 AS BIGINT) END AS part, p.base_ns AS whole, p.n AS n,
    CAST(p.base_lo_ns - p.hi_ns AS DOUBLE) / CAST(p.base_ns AS DOUBLE) AS lo,
    CAST(p.base_hi_ns - p.lo_ns AS DOUBLE) / CAST(p.base_ns AS DOUBLE) AS hi, 'rows=benchmarks.wall_ns&variant=' || p.shown AS part_anchor,
    'rows=benchmarks.wall_ns&variant=' || p.base_variant AS whole_anchor
FROM bench_partners AS p
WHERE p.variant IN ('cached', 'cached-lookups', 'warm', 'memoized')
-- alternate: system share
-- mechanism: M9
-- probe: cputime
-- metric: system_share unit=share reject=0.1 support=0.3 saturate=0.7 scale=linear interval=accounting min_n=10 basis=cputime source=house:"as R25 C: lookups are system time (rules.md R30 C names a cold and a warm run)"
-- needs: artifacts where kind = 'time-v'
-- needs: executions where system_ns IS NOT NULL AND user_ns IS NOT NULL
-- evidence: {percent} of the CPU time is system time
-- record: /usr/bin/time -v -o time-v.txt {argv}
SELECT e.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'system_share' AS metric, e.system_ns AS part,
    e.user_ns + e.system_ns AS whole,
    CAST(ROUND(CAST(e.user_ns + e.system_ns - (e.user_ns + e.system_ns) % 10000000 AS DOUBLE) / CAST(10000000 AS DOUBLE), 0) AS BIGINT) AS n,
    '@system_ns' AS part_anchor, '@user_ns+system_ns' AS whole_anchor
FROM executions AS e
WHERE e.system_ns IS NOT NULL AND e.user_ns IS NOT NULL
