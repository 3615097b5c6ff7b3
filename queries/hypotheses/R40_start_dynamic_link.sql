-- id: R40
-- name: start.dynamic_link
-- claim: Loading and linking libraries takes a large part of a short run.
-- category: Start
-- scope: run
-- resource: cpu
-- cost: A.loader_share
-- effort: 2
-- advice: Link fewer libraries or link statically, bind lazily (no -z now), load plug-ins on demand, keep a server that answers many calls.
-- false_positives: A cold page cache; runs under 5 ms are below what hyperfine measures well; a program that maps files as its work looks alike in its calls (the CPU samples tell).
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: loader
-- mechanism: M1
-- probe: event
-- metric: loader_share unit=share reject=0.05 support=0.2 saturate=0.6 scale=linear interval=wilson min_n=100 basis=share source=house:"a reported case spent 40 % of 90 ms in ld.so with 189 libraries; rules.md R40 A"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in the dynamic loader
-- record: perf record -F 9973 -e cpu-clock --call-graph fp -o cpu.perf.data -- sh -c 'for i in $(seq 200); do {argv}; done'
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id,
    CASE WHEN site_kind = 'run' THEN 'loader_share' ELSE 'site' END AS metric, part AS part, whole AS whole, n AS n, n_eff AS n_eff,
    certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM class_shares
WHERE class = 'LOADER'
--
-- slot: B
-- alternate: log
-- mechanism: M5
-- probe: ptrace_stop
-- metric: load_call_share unit=share reject=0.1 support=0.5 saturate=0.8 scale=linear interval=complete min_n=20 basis=count source=house:"rules.md R40 B"
-- needs: call_families where family = 'all' AND source = 'log'
-- evidence: {part} of {whole} calls open, map and protect files before the first output
-- record: strace -f -ttt -o start.strace -- {argv}
WITH outputs AS (
    SELECT artifact_id AS artifact_id, MIN(line_no) AS line_no FROM syscall_events
    WHERE name IN ('write', 'writev', 'pwrite64', 'sendto', 'sendmsg')
    GROUP BY artifact_id
),
ordered AS (
    SELECT e.artifact_id AS artifact_id, e.name AS name, e.line_no AS line_no, o.line_no AS output_no
    FROM syscall_events AS e
    LEFT JOIN outputs AS o ON e.artifact_id = o.artifact_id
),
loading AS (
    SELECT artifact_id AS artifact_id, CAST(COUNT(line_no) AS BIGINT) AS calls FROM ordered
    WHERE name IN ('open', 'openat', 'mmap', 'mprotect', 'pread64') AND (output_no IS NULL OR line_no < output_no)
    GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'load_call_share' AS metric, COALESCE(l.calls, 0) AS part,
    c.calls AS whole, c.calls AS n, c.calls_anchor AS whole_anchor
FROM call_families AS c
LEFT JOIN loading AS l ON c.artifact_id = l.artifact_id
WHERE c.family = 'all' AND c.source = 'log'
-- alternate: summary
-- mechanism: M5
-- probe: ptrace_stop
-- metric: load_call_share unit=share reject=0.1 support=0.5 saturate=0.8 scale=linear interval=complete min_n=20 basis=count source=house:"rules.md R40 B"
-- needs: call_families where family = 'all' AND source = 'summary'
-- evidence: {part} of {whole} calls open, map and protect files (a summary does not say when)
-- record: strace -f -c -o strace-c.txt -- {argv}
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'load_call_share' AS metric, COALESCE(l.calls, 0) AS part,
    c.calls AS whole, c.calls AS n, l.calls_anchor AS part_anchor, c.calls_anchor AS whole_anchor
FROM call_families AS c
JOIN call_families AS l ON c.artifact_id = l.artifact_id
WHERE c.family = 'all' AND l.family = 'load' AND c.source = 'summary'
-- alternate: perf trace
-- mechanism: M5
-- probe: tp_syscall
-- metric: load_call_share unit=share reject=0.1 support=0.5 saturate=0.8 scale=linear interval=complete min_n=20 basis=count source=house:"rules.md R40 B"
-- needs: call_families where family = 'all' AND source = 'trace'
-- evidence: {part} of {whole} calls open, map and protect files before the first output
-- record: perf record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o calls.perf.data -- {argv}
WITH outputs AS (
    SELECT artifact_id AS artifact_id, MIN(line_no) AS line_no FROM syscall_events
    WHERE name IN ('write', 'writev', 'pwrite64', 'sendto', 'sendmsg')
    GROUP BY artifact_id
),
ordered AS (
    SELECT e.artifact_id AS artifact_id, e.name AS name, e.line_no AS line_no, o.line_no AS output_no
    FROM syscall_events AS e
    LEFT JOIN outputs AS o ON e.artifact_id = o.artifact_id
),
loading AS (
    SELECT artifact_id AS artifact_id, CAST(COUNT(line_no) AS BIGINT) AS calls FROM ordered
    WHERE name IN ('open', 'openat', 'mmap', 'mprotect', 'pread64') AND (output_no IS NULL OR line_no < output_no)
    GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'load_call_share' AS metric, COALESCE(l.calls, 0) AS part,
    c.calls AS whole, c.calls AS n, c.calls_anchor AS whole_anchor
FROM call_families AS c
LEFT JOIN loading AS l ON c.artifact_id = l.artifact_id
WHERE c.family = 'all' AND c.source = 'trace'
--
-- slot: C
-- alternate: run that does nothing
-- mechanism: M9
-- probe: clock
-- metric: empty_run_share unit=share reject=0.1 support=0.3 saturate=0.8 scale=linear interval=given min_n=5 basis=time source=house:"rules.md R40 C"
-- normalizer: the median wall time of the full run
-- needs: bench_partners where variant IN ('noop', 'empty', 'version', '--version', 'help', '--help')
-- evidence: a run that does nothing takes {percent} of the time of a full run
-- record: hyperfine -N --runs 10 -L variant full,noop --export-json bench.json 'PROGRAM {variant}'
SELECT p.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'empty_run_share' AS metric, p.median_ns AS part,
    p.base_ns AS whole, p.n AS n, CAST(p.lo_ns AS DOUBLE) / CAST(p.base_hi_ns AS DOUBLE) AS lo,
    CAST(p.hi_ns AS DOUBLE) / CAST(p.base_lo_ns AS DOUBLE) AS hi, 'rows=benchmarks.wall_ns&variant=' || p.shown AS part_anchor,
    'rows=benchmarks.wall_ns&variant=' || p.base_variant AS whole_anchor
FROM bench_partners AS p
WHERE p.variant IN ('noop', 'empty', 'version', '--version', 'help', '--help')
