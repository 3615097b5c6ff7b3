-- id: R13
-- name: tax.logging_formatting
-- claim: The CPU turns values into text.
-- category: CPU
-- scope: call path
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R01 class FORMAT
-- cost: A.format_share
-- effort: 2
-- advice: Check the log level before formatting, format lazily, use itoa or ryu, a buffered asynchronous sink or a structured binary log.
-- false_positives: A program whose work is text output.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: formatting without the write below it
-- mechanism: M1
-- probe: event
-- metric: format_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples format text (without the system calls below the formatter)
-- record: perf record -F 997 --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
WITH writing AS (
    SELECT DISTINCT stack_id AS stack_id FROM stack_classes WHERE class = 'WRITE_PATH'
),
formatting AS (
    SELECT k.stack_id AS stack_id, k.site_function_id AS function_id, k.caller_certain AS caller_certain
    FROM stack_classes AS k
    LEFT JOIN writing AS w ON k.stack_id = w.stack_id
    WHERE k.class = 'FORMAT' AND w.stack_id IS NULL
),
path AS (
    SELECT c.artifact_id AS artifact_id, CAST(SUM(s.self_weight) AS BIGINT) AS weight, CAST(SUM(s.self_count) AS BIGINT) AS n
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    JOIN formatting AS k ON s.stack_id = k.stack_id
    GROUP BY c.artifact_id
),
sites AS (
    SELECT c.artifact_id AS artifact_id, k.function_id AS function_id, CAST(SUM(s.self_weight) AS BIGINT) AS weight,
        MIN(CASE WHEN c.callers_kept = 1 OR k.caller_certain THEN 1 ELSE 0 END) AS certain
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    JOIN formatting AS k ON s.stack_id = k.stack_id
    WHERE k.function_id IS NOT NULL
    GROUP BY c.artifact_id, k.function_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'format_share' AS metric, COALESCE(p.weight, 0) AS part, c.weight AS whole,
    c.n AS n, c.n_eff AS n_eff, CAST(NULL AS BIGINT) AS certain, 'sum=samples.weight&class=FORMAT&not=WRITE_PATH' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN path AS p ON c.artifact_id = p.artifact_id
UNION ALL
SELECT s.artifact_id AS artifact_id, 'function' AS site_kind, CAST(s.function_id AS BIGINT) AS site_id, 'site' AS metric, s.weight AS part,
    p.weight AS whole, p.n AS n, CAST(NULL AS DOUBLE) AS n_eff, CAST(s.certain AS BIGINT) AS certain, CAST(NULL AS VARCHAR) AS part_anchor, CAST(NULL AS VARCHAR) AS whole_anchor
FROM sites AS s
JOIN path AS p ON s.artifact_id = p.artifact_id
--
-- slot: B
-- alternate: allocations below the formatter
-- mechanism: M3
-- probe: malloc_hook
-- metric: format_calls_share unit=share reject=0.02 support=0.2 saturate=0.8 scale=linear interval=complete min_n=1000 basis=count source=house:"rules.md R13 B; fewer than 1 000 allocations say nothing"
-- needs: allocations
-- evidence: {part} of {whole} allocation calls come from formatting
-- record: heaptrack -o heaptrack -- {argv}
WITH counted AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM allocations GROUP BY artifact_id
),
formatting AS (
    SELECT a.artifact_id AS artifact_id, CAST(SUM(a.calls) AS BIGINT) AS calls
    FROM allocations AS a
    JOIN stack_classes AS k ON a.stack_id = k.stack_id
    WHERE k.class = 'FORMAT'
    GROUP BY a.artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'format_calls_share' AS metric, COALESCE(f.calls, 0) AS part,
    c.calls AS whole, c.calls AS n, 'sum=allocations.calls&class=FORMAT' AS part_anchor, 'sum=allocations.calls' AS whole_anchor
FROM counted AS c
LEFT JOIN formatting AS f ON c.artifact_id = f.artifact_id
--
-- slot: C
-- alternate: repaired partner
-- mechanism: M9
-- probe: clock
-- metric: time_saved unit=share reject=0.01 support=0.05 saturate=0.5 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster, the interval excludes 0; rules.md R13 C"
-- normalizer: the median wall time of the run's own variant
-- needs: benchmarks where variant IN ('unformatted', 'quiet', 'nolog', 'null-sink')
-- admits: variant
-- evidence: the repaired partner saves {percent} of the wall time
-- record: for i in 1 2 3 4 5 6 7 8 9 10; do hyperfine -N --runs 1 --export-json bench-$i.json -L variant OWN,unformatted 'PROGRAM {variant} ARGS'; done
WITH own AS (
    SELECT MIN(s.artifact_id) AS artifact_id, MIN(s.median_ns) AS median_ns, MIN(s.lo_ns) AS lo_ns, MIN(s.hi_ns) AS hi_ns, MIN(s.n) AS n
    FROM benchmark_stats AS s
    JOIN bare AS b ON s.variant = b.variant
),
partner AS (
    SELECT MIN(median_ns) AS median_ns, MIN(lo_ns) AS lo_ns, MIN(hi_ns) AS hi_ns, MIN(n) AS n FROM benchmark_stats
    WHERE variant IN ('unformatted', 'quiet', 'nolog', 'null-sink')
)
SELECT o.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'time_saved' AS metric,
    CASE WHEN o.median_ns > p.median_ns THEN o.median_ns - p.median_ns ELSE 0 END AS part, o.median_ns AS whole,
    CASE WHEN o.n < p.n THEN o.n ELSE p.n END AS n,
    CAST(1 AS DOUBLE) - CAST(p.hi_ns AS DOUBLE) / CAST(o.lo_ns AS DOUBLE) AS lo,
    CAST(1 AS DOUBLE) - CAST(p.lo_ns AS DOUBLE) / CAST(o.hi_ns AS DOUBLE) AS hi,
    'rows=benchmarks.wall_ns&variant=unformatted' AS part_anchor, 'rows=benchmarks.wall_ns&variant=@own' AS whole_anchor
FROM own AS o
CROSS JOIN partner AS p
WHERE o.artifact_id IS NOT NULL
