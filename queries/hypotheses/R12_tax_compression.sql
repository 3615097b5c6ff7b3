-- id: R12
-- name: tax.compression
-- claim: Compressing or decompressing takes a large part of the CPU time.
-- category: CPU
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R01 class COMPRESS
-- cost: A.compression_share
-- effort: 2
-- advice: Lower the level, use a dictionary, stream, skip data that does not compress.
-- false_positives: A program whose job it is; names that are stripped.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: compressing and decompressing
-- mechanism: M1
-- probe: event
-- metric: compression_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3, PerfExpert cuts there too; below 2 % a perfect repair drowns in noise (rules.md 3.0)"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples are in it
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id, CASE WHEN site_kind = 'run' THEN 'compression_share' ELSE 'site' END AS metric,
    part AS part, whole AS whole, n AS n, n_eff AS n_eff, certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM tax_shares
WHERE tax = 'compression'
--
-- slot: B
-- alternate: spans around the compression
-- mechanism: M2
-- probe: span_api
-- metric: span_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=given min_n=1 basis=time source=house:"as slot A; rules.md R12 B"
-- normalizer: duration of the logged runs, or the time of the spans at the root where that is more
-- needs: span_shares where class = 'COMPRESS'
-- evidence: spans around it take {part_s} s of {whole_s} s
-- record: PROGRAM 2> profile.jsonl (a build that logs perf.profile.span_summary for a span around the compression)
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'span_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM span_shares
WHERE class = 'COMPRESS'
-- alternate: hardware counter by function
-- mechanism: M7
-- probe: event
-- metric: compression_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"as slot A; rules.md R12 B"
-- needs: events where mechanism = 'M7' AND role = 'cpu'
-- evidence: {percent} of {n} samples of the hardware counter are in it
-- record: perf record -F 997 -e cycles:pp --call-graph fp -o cycles.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id, CASE WHEN site_kind = 'run' THEN 'compression_share' ELSE 'site' END AS metric,
    part AS part, whole AS whole, n AS n, n_eff AS n_eff, certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM tax_shares
WHERE tax = 'compression'
--
-- slot: C
-- alternate: benchmark of the routine
-- mechanism: M9
-- probe: clock
-- metric: benchmark_share unit=share reject=0.02 support=0.10 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"as slot A; rules.md R12 C"
-- normalizer: wall time of the bare run, the calls scaled by the declared work
-- needs: bench_shares where class = 'COMPRESS'
-- evidence: as many calls of the routine alone take {percent} of the wall time
-- record: hyperfine -N --runs 10 -L function deflate -L n CALLS --export-json function.json './bench {function} {n}' (a program that calls deflate as often as the recorded run does)
SELECT artifact_id AS artifact_id, 'function' AS site_kind, CAST(function_id AS BIGINT) AS site_id, 'benchmark_share' AS metric, part AS part, whole AS whole,
    n AS n, lo AS lo, hi AS hi, scale_up AS scale_up, scale_down AS scale_down, CAST(1 AS BIGINT) AS certain,
    'rows=benchmarks.wall_ns&function=@site' AS part_anchor, '@wall_ns' AS whole_anchor, whole_artifact_id AS whole_artifact_id
FROM bench_shares
WHERE class = 'COMPRESS'
-- alternate: the same work with another way to do it, or none
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R12 C"
-- needs: saved_shares where variant IN ('uncompressed', 'no-compression', 'store', 'stored', 'level-1', 'fast', 'lz4')
-- evidence: {percent} of the wall time goes away
-- record: hyperfine -N --runs 10 -L variant level-9,level-1 --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('uncompressed', 'no-compression', 'store', 'stored', 'level-1', 'fast', 'lz4')
