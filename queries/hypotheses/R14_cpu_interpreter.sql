-- id: R14
-- name: cpu.interpreter
-- claim: An interpreter's own loop takes the CPU time, not the work that it interprets.
-- category: CPU
-- scope: run
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- cost: A.interpreter_share
-- effort: 3
-- advice: Profile in the language's own tool first; move the hot loop into native or vectorized code.
-- false_positives: An extension in C does the work (so only the loop itself counts); without a map of the trampolines or of the JIT compiler its code has no names (Q09).
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: the loop itself
-- mechanism: M1
-- probe: event
-- metric: interpreter_share unit=share reject=0.05 support=0.30 saturate=0.70 scale=linear interval=wilson min_n=100 basis=share source=house:"30 % in the loop itself; rules.md R14 A"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples end in an interpreter's loop
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id, CASE WHEN site_kind = 'run' THEN 'interpreter_share' ELSE 'site' END AS metric,
    part AS part, whole AS whole, n AS n, n_eff AS n_eff, certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM tax_shares
WHERE tax = 'interpreter'
--
-- slot: B
-- alternate: top-down metric of wrong guesses
-- mechanism: M7
-- probe: pmu_count
-- metric: bad_speculation unit=share reject=0.05 support=0.15 saturate=0.40 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Bad_Speculation above 0.15; rules.md R14 B"
-- needs: pmu_ratios where name = 'tma_bad_speculation' AND source = 'metric'
-- evidence: {percent} of the pipeline slots are lost to wrong guesses
-- record: perf stat -j -o topdown.json -M tma_bad_speculation -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'bad_speculation' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_bad_speculation' AND source = 'metric'
-- alternate: top-down metric of the front end
-- mechanism: M7
-- probe: pmu_count
-- metric: frontend_bound unit=share reject=0.05 support=0.15 saturate=0.40 scale=linear interval=counter min_n=0 basis=count source=tool:"toplev: Frontend_Bound above 0.15; the reject bound is a third of it; rules.md R14 B"
-- needs: pmu_ratios where name = 'tma_frontend_bound' AND source = 'metric'
-- evidence: {percent} of the pipeline slots wait for instructions
-- record: perf stat -j -o topdown.json -M tma_frontend_bound -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'frontend_bound' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'tma_frontend_bound' AND source = 'metric'
-- alternate: instructions per cycle
-- mechanism: M7
-- probe: pmu_count
-- metric: ipc unit=ratio reject=2.0 support=1.0 saturate=0.5 scale=linear interval=counter min_n=0 basis=count source=tool:"VTune: about 1 is acceptable; the reject bound is a house figure; rules.md R03 A"
-- needs: pmu_ratios where name = 'ipc' AND source = 'counts'
-- evidence: {value} instructions per cycle
-- record: perf stat -j -o perf-stat.json -e cycles,instructions -- {argv}
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'ipc' AS metric, part AS part, whole AS whole, part AS n,
    running AS running, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM pmu_ratios
WHERE name = 'ipc' AND source = 'counts'
--
-- slot: C
-- alternate: the same work compiled
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R14 C"
-- needs: saved_shares where variant IN ('jit', 'aot', 'native', 'compiled', 'pypy', 'nuitka', 'vectorized')
-- evidence: {percent} of the wall time goes away
-- record: hyperfine -N --runs 10 -L variant interpreted,native --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('jit', 'aot', 'native', 'compiled', 'pypy', 'nuitka', 'vectorized')
