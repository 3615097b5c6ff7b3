-- id: R13
-- name: tax.logging_formatting
-- claim: Turning values into text (printf, core::fmt, streams) takes a large part of the CPU time.
-- category: CPU
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R01 class FORMAT
-- cost: A.format_share
-- effort: 2
-- advice: Check the level before formatting, format lazily, use itoa and ryu, an asynchronous sink, or a binary log.
-- false_positives: A program whose job is to write text; an unbuffered write! runs the system call inside the formatter (the write path is left out); a span around the formatting that writes the text out too.
-- status: stable
-- since: 0.1
--
-- slot: A
-- alternate: formatting without the write path
-- mechanism: M1
-- probe: event
-- metric: format_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3; rules.md 3.0"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples format text
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
WITH formatting AS (
    SELECT DISTINCT stack_id AS stack_id, site_function_id AS function_id FROM stack_classes WHERE class = 'FORMAT'
),
writing AS (
    SELECT DISTINCT stack_id AS stack_id FROM stack_classes WHERE class = 'WRITE_PATH'
),
weighed AS (
    SELECT c.artifact_id AS artifact_id, f.function_id AS function_id, s.self_weight AS weight, w.stack_id AS writing
    FROM cpu_events AS c
    JOIN stack_costs AS s ON c.event_id = s.event_id
    JOIN formatting AS f ON s.stack_id = f.stack_id
    LEFT JOIN writing AS w ON s.stack_id = w.stack_id
),
summed AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(weight) AS BIGINT) AS weight FROM weighed WHERE writing IS NULL GROUP BY artifact_id
),
by_site AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, CAST(SUM(weight) AS BIGINT) AS weight FROM weighed
    WHERE writing IS NULL AND function_id IS NOT NULL
    GROUP BY artifact_id, function_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'format_share' AS metric,
    COALESCE(f.weight, 0) AS part, c.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(NULL AS BIGINT) AS certain,
    'sum=samples.weight&has=FORMAT&without=WRITE_PATH' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN summed AS f ON c.artifact_id = f.artifact_id
UNION ALL
SELECT b.artifact_id AS artifact_id, 'function' AS site_kind, CAST(b.function_id AS BIGINT) AS site_id, 'site' AS metric,
    b.weight AS part, f.weight AS whole, c.n AS n, c.n_eff AS n_eff, CAST(c.callers_kept AS BIGINT) AS certain,
    CAST(NULL AS STRING) AS part_anchor, CAST(NULL AS STRING) AS whole_anchor
FROM by_site AS b
JOIN summed AS f ON b.artifact_id = f.artifact_id
JOIN cpu_events AS c ON b.artifact_id = c.artifact_id
--
-- slot: B
-- alternate: spans around the formatting
-- mechanism: M2
-- probe: span_api
-- metric: span_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=given min_n=1 basis=time source=house:"as slot A; rules.md R13 B"
-- normalizer: duration of the logged runs, or the time of the spans at the root where that is more
-- needs: span_shares where class = 'FORMAT'
-- evidence: spans around it take {part_s} s of {whole_s} s
-- record: PROGRAM 2> profile.jsonl (a build that logs perf.profile.span_summary for a span around the formatting)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'span_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM span_shares
WHERE class = 'FORMAT'
-- alternate: allocations under the formatter
-- mechanism: M3
-- probe: malloc_hook
-- metric: format_calls_share unit=share reject=0.02 support=0.20 saturate=0.60 scale=linear interval=complete min_n=100 basis=count source=house:"rules.md R13 B"
-- needs: allocations
-- evidence: {part} of {whole} allocation calls are made while formatting
-- record: heaptrack -o heaptrack {argv}
WITH calls AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(calls) AS BIGINT) AS calls FROM allocations GROUP BY artifact_id
),
formatting AS (
    SELECT a.artifact_id AS artifact_id, CAST(SUM(a.calls) AS BIGINT) AS calls
    FROM allocations AS a
    JOIN stack_classes AS k ON a.stack_id = k.stack_id
    WHERE k.class = 'FORMAT'
    GROUP BY a.artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'format_calls_share' AS metric,
    COALESCE(f.calls, 0) AS part, c.calls AS whole, c.calls AS n, 'sum=allocations.calls&has=FORMAT' AS part_anchor, 'sum=allocations.calls' AS whole_anchor
FROM calls AS c
LEFT JOIN formatting AS f ON c.artifact_id = f.artifact_id
--
-- slot: C
-- alternate: the same work with the log level off or the sink null
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R13 C"
-- needs: saved_shares where variant IN ('quiet', 'silent', 'nolog', 'no-log', 'log-off', 'off', 'null', 'devnull', 'sink-null')
-- evidence: {percent} of the wall time goes away when nothing is logged
-- record: hyperfine -N --runs 10 -L variant loud,quiet --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('quiet', 'silent', 'nolog', 'no-log', 'log-off', 'off', 'null', 'devnull', 'sink-null')
