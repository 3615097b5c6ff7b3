-- id: R10
-- name: tax.serialization
-- claim: Encoding values to bytes and decoding them takes a large part of the CPU time.
-- category: CPU
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R01 class SERDE
-- cost: A.serialization_share
-- effort: 2
-- advice: Do not encode twice, decode into an arena, use a binary format.
-- false_positives: A program whose job it is to convert; names that are stripped; a wrapper of the same name.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: encoding and decoding
-- mechanism: M1
-- probe: event
-- metric: serialization_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in it
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id, CASE WHEN site_kind = 'run' THEN 'serialization_share' ELSE 'site' END AS metric,
    part AS part, whole AS whole, n AS n, n_eff AS n_eff, certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM tax_shares
WHERE tax = 'serialization'
--
-- slot: B
-- alternate: spans around the encoding and decoding
-- mechanism: M2
-- probe: span_api
-- metric: span_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=given min_n=1 basis=time source=house:"as slot A; rules.md R10 B"
-- normalizer: duration of the logged runs, or the time of the spans at the root where that is more
-- needs: span_shares where class = 'SERDE'
-- evidence: spans around it take {part_s} s of {whole_s} s
-- record: PROGRAM 2> profile.jsonl (a build that logs perf.profile.span_summary for a span around the encoding and decoding)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'span_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM span_shares
WHERE class = 'SERDE'
-- alternate: allocations under it
-- mechanism: M3
-- probe: malloc_hook
-- metric: calls_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=complete min_n=100 basis=count source=house:"10 % of the allocation calls; the reject bound as of shares; rules.md R10 B"
-- needs: alloc_classes
-- evidence: {part} of {whole} allocation calls are made while encoding or decoding
-- record: heaptrack -o heaptrack {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'calls_share' AS metric, calls AS part, all_calls AS whole,
    all_calls AS n, 'sum=allocations.calls&has=SERDE' AS part_anchor, 'sum=allocations.calls' AS whole_anchor
FROM alloc_classes
WHERE class = 'SERDE'
--
-- slot: C
-- alternate: benchmark of the routine
-- mechanism: M9
-- probe: clock
-- metric: benchmark_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"as slot A; rules.md R10 C"
-- normalizer: wall time of the bare run, the calls scaled by the declared work
-- needs: bench_shares where class = 'SERDE'
-- evidence: as many calls of the routine alone take {percent} of the wall time
-- record: hyperfine -N --runs 10 -L function serde_json::to_vec -L n CALLS --export-json function.json './bench {function} {n}' (a program that calls serde_json::to_vec as often as the recorded run does)
SELECT artifact_id AS artifact_id, 'function' AS site_kind, CAST(function_id AS BIGINT) AS site_id, 'benchmark_share' AS metric, part AS part, whole AS whole,
    n AS n, lo AS lo, hi AS hi, scale_up AS scale_up, scale_down AS scale_down, CAST(1 AS BIGINT) AS certain,
    'rows=benchmarks.wall_ns&function=@site' AS part_anchor, '@wall_ns' AS whole_anchor, whole_artifact_id AS whole_artifact_id
FROM bench_shares
WHERE class = 'SERDE'
-- alternate: the same work with another way to do it, or none
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R10 C"
-- needs: saved_shares where variant IN ('binary', 'raw', 'cached', 'no-serde', 'no-json', 'passthrough', 'zero-copy')
-- evidence: {percent} of the wall time goes away
-- record: hyperfine -N --runs 10 -L variant json,binary --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('binary', 'raw', 'cached', 'no-serde', 'no-json', 'passthrough', 'zero-copy')
