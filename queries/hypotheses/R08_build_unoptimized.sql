-- id: R08
-- name: build.unoptimized
-- claim: The program was built without optimization, or with checks of a test build.
-- category: Build
-- scope: run
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- vetoes: R01, R02, R03, R04, R05, R06, R09, R10, R11, R12, R13, R14, R15
-- cost: A.debug_share
-- effort: 1
-- advice: Build it optimized, with debug information and frame pointers, and record again; nothing else is worth acting on before.
-- false_positives: One debug plug-in in an optimized program; -Og on purpose; Go and Swift, whose names tell nothing.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: functions that an optimized build inlines away
-- mechanism: M1
-- probe: event
-- metric: debug_share unit=share reject=0.01 support=0.10 saturate=0.50 scale=linear interval=wilson min_n=100 basis=share source=house:"10 % is the lower edge of impact 3; rules.md R08 A"
-- normalizer: the weight of a program with Rust or C++ names in a tenth of its samples (plain C has no such functions, so their absence tells nothing)
-- needs: cpu_events where unwinding IS NOT NULL
-- evidence: {percent} of {n} CPU samples end in functions that an optimized build inlines away, or in checks of a test build
-- record: perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}
WITH of_class AS (
    SELECT artifact_id AS artifact_id, self_weight AS weight FROM class_costs WHERE class = 'DEBUG'
),
paths AS (
    SELECT function_id AS function_id FROM functions
    WHERE name LIKE '%::%' AND dso IS NOT NULL AND dso NOT LIKE 'lib%' AND dso NOT LIKE 'ld-%' AND dso NOT LIKE '[%'
),
telling AS (
    SELECT c.artifact_id AS artifact_id, CAST(SUM(f.self_weight) AS BIGINT) AS weight
    FROM cpu_events AS c
    JOIN function_costs AS f ON c.event_id = f.event_id
    JOIN paths AS p ON f.function_id = p.function_id
    WHERE f.view = 'physical'
    GROUP BY c.artifact_id
)
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'debug_share' AS metric, COALESCE(k.weight, 0) AS part,
    CASE WHEN COALESCE(k.weight, 0) > 0 OR COALESCE(t.weight, 0) * 10 >= c.weight THEN c.weight ELSE CAST(NULL AS BIGINT) END AS whole, c.n AS n,
    c.n_eff AS n_eff, 'sum=samples.weight&leaf_class=DEBUG' AS part_anchor, 'sum=samples.weight' AS whole_anchor
FROM cpu_events AS c
LEFT JOIN of_class AS k ON c.artifact_id = k.artifact_id
LEFT JOIN telling AS t ON c.artifact_id = t.artifact_id
--
-- slot: B
-- alternate: what the compiler noted
-- mechanism: M2
-- probe: compiler
-- metric: plain_share unit=share reject=0.20 support=0.50 saturate=0.90 scale=linear interval=given min_n=1 basis=share source=house:"rejects where -O2 or the like made 80 % of what was seen; supports where no optimization made half of it; rules.md R08 B"
-- needs: build_places
-- lineage: compiler
-- evidence: {part} of {whole} addresses seen in the program's file are in code that was compiled without optimization
-- record: build with -g (GCC notes its options there) and give the file with symbols: tripod analyze --symbol-dir DIR
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'plain_share' AS metric, plain AS part, optimized + plain AS whole,
    optimized + plain AS n, CAST(plain AS DOUBLE) / CAST(optimized + plain AS DOUBLE) AS lo, CAST(plain AS DOUBLE) / CAST(optimized + plain AS DOUBLE) AS hi,
    CAST(NULL AS STRING) AS part_anchor
FROM build_places
-- alternate: what the manifest says
-- mechanism: M2
-- probe: compiler
-- metric: plain_share unit=share reject=0.20 support=0.50 saturate=0.90 scale=linear interval=given min_n=1 basis=share source=house:"the build as declared: all or nothing; rules.md R08 B"
-- normalizer: a build profile with a known name (debug, dev, release, O0 to O3, ...)
-- needs: host where key = 'build_profile'
-- evidence: the manifest declares the build (1 is one without optimization): {part}
-- record: "build_profile": "release" or "debug" under "host" in manifest.json
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'plain_share' AS metric,
    CASE WHEN LOWER(value) IN ('debug', 'dev', 'o0', '-o0', 'og', '-og', 'unoptimized') THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END AS part,
    CASE WHEN LOWER(value) IN ('debug', 'dev', 'o0', '-o0', 'og', '-og', 'unoptimized', 'release', 'optimized', 'o1', '-o1', 'o2', '-o2', 'o3', '-o3', 'os', '-os', 'bench')
        THEN CAST(1 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS whole, CAST(1 AS BIGINT) AS n,
    CASE WHEN LOWER(value) IN ('debug', 'dev', 'o0', '-o0', 'og', '-og', 'unoptimized') THEN CAST(1 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS lo, CAST(0 AS DOUBLE) AS hi,
    CAST(NULL AS STRING) AS part_anchor
FROM host
WHERE key = 'build_profile'
--
-- slot: C
-- alternate: the same work, built optimized
-- mechanism: M9
-- probe: clock
-- metric: speed_up unit=ratio reject=1.1 support=1.5 saturate=5.0 scale=linear interval=given min_n=5 basis=time source=house:"1.5 times as fast; below 1.1 the build does not matter; rules.md R08 C"
-- needs: bench_partners where variant IN ('release', 'optimized', 'o2', 'o3', 'opt')
-- evidence: an optimized build is {value} times as fast
-- record: hyperfine -N --runs 10 -L variant debug,release --export-json bench.json './{variant}/PROGRAM ARGS'
SELECT p.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'speed_up' AS metric, p.base_ns AS part, p.median_ns AS whole, p.n AS n,
    CAST(p.base_lo_ns AS DOUBLE) / CAST(p.hi_ns AS DOUBLE) AS lo, CAST(p.base_hi_ns AS DOUBLE) / CAST(p.lo_ns AS DOUBLE) AS hi,
    'rows=benchmarks.wall_ns&variant=' || p.base_variant AS part_anchor, 'rows=benchmarks.wall_ns&variant=' || p.shown AS whole_anchor
FROM bench_partners AS p
WHERE p.variant IN ('release', 'optimized', 'o2', 'o3', 'opt')
