-- id: R15
-- name: cpu.exception_unwind
-- claim: Throwing exceptions, unwinding stacks or taking backtraces costs real CPU time.
-- category: CPU
-- scope: function
-- resource: cpu
-- applies_if: cpu_seconds >= 0.1 and cpu_share >= 0.05
-- explains: R01 class UNWIND
-- cost: A.unwind_share
-- effort: 2
-- advice: Do not use them for control flow; switch backtraces off or keep them; with glibc 2.35 and a new libgcc _dl_find_object takes the lock away.
-- false_positives: Test suites; backtraces (RUST_BACKTRACE) rather than unwinding; a profiler that runs inside.
-- status: stable
-- since: 0.2
--
-- slot: A
-- alternate: unwinding
-- mechanism: M1
-- probe: event
-- metric: unwind_share unit=share reject=0.005 support=0.05 saturate=0.30 scale=linear interval=wilson min_n=100 basis=share source=tool:"JMC tells of 5 000 exceptions a second; 5 % is a house figure; rules.md R15 A"
-- needs: cpu_events where unwinding <> 'none'
-- evidence: {percent} of {n} CPU samples throw, unwind or take backtraces
-- record: perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}
SELECT artifact_id AS artifact_id, site_kind AS site_kind, site_id AS site_id, CASE WHEN site_kind = 'run' THEN 'unwind_share' ELSE 'site' END AS metric,
    part AS part, whole AS whole, n AS n, n_eff AS n_eff, certain AS certain, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM tax_shares
WHERE tax = 'unwinding'
--
-- slot: B
-- alternate: exceptions, counted by a probe
-- mechanism: M2
-- probe: uprobe
-- metric: throws_per_second unit=1/s reject=100 support=5000 saturate=50000 scale=log10 interval=complete min_n=0 basis=count source=tool:"JMC: 5 000 exceptions a second are worth a word, 10 000 a warning; the reject bound is a house figure; rules.md R15 B"
-- needs: counters where event = 'uprobe.__cxa_throw'
-- evidence: {value} exceptions a second
-- record: bpftrace -e 'uprobe:/usr/lib/x86_64-linux-gnu/libstdc++.so.6:__cxa_throw { @ = count(); }' -c '{argv}' > throws.txt
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'throws_per_second' AS metric, value AS part, CAST(1000000 AS BIGINT) AS whole,
    value AS n, 'sum=counters.value&event=uprobe.__cxa_throw' AS part_anchor
-- No importer reads counts of user probes yet, so nothing fills this angle: the SELECT is a form for the day one does.
FROM counters
WHERE event = 'uprobe.__cxa_throw'
-- alternate: allocations of exceptions
-- mechanism: M3
-- probe: malloc_hook
-- metric: throws_per_cpu_second unit=1/s reject=100 support=5000 saturate=50000 scale=log10 interval=complete min_n=0 basis=count source=tool:"JMC: 5 000 exceptions a second are worth a word, 10 000 a warning; the reject bound is a house figure; rules.md R15 B"
-- normalizer: CPU time of the bare run, counts scaled by the declared work
-- needs: alloc_classes
-- evidence: {part} allocation calls are made while throwing, {value} per second of CPU time
-- record: heaptrack -o heaptrack {argv}
SELECT c.artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'throws_per_cpu_second' AS metric, c.calls AS part, b.cpu_ns AS whole,
    c.all_calls AS n, d.work_up AS scale_up, d.work_down AS scale_down, 'sum=allocations.calls&has=UNWIND' AS part_anchor, '@user_ns+system_ns' AS whole_anchor,
    CAST(b.artifact_id AS BIGINT) AS whole_artifact_id
FROM alloc_classes AS c
JOIN admitted AS d ON c.artifact_id = d.artifact_id
CROSS JOIN bare AS b
WHERE c.class = 'UNWIND'
--
-- slot: C
-- alternate: waiting for the lock of the loader
-- mechanism: M6
-- probe: uprobe
-- metric: loader_lock_share unit=share reject=0.01 support=0.10 saturate=0.50 scale=linear interval=complete min_n=0 basis=time source=house:"as R33: 10 % of the time; rules.md R15 C names no figure"
-- needs: counters where event = 'lock.dl_iterate_phdr'
-- evidence: {percent} of the time threads wait for the lock of the loader
-- record: bpftrace -e 'uprobe:/lib64/ld-linux-x86-64.so.2:_dl_iterate_phdr { @t[tid] = nsecs; } uretprobe:/lib64/ld-linux-x86-64.so.2:_dl_iterate_phdr /@t[tid]/ { @ = sum(nsecs - @t[tid]); }' -c '{argv}' > loader-lock.txt
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'loader_lock_share' AS metric, value AS part, CAST(1000000 AS BIGINT) AS whole,
    value AS n, 'sum=counters.value&event=lock.dl_iterate_phdr' AS part_anchor
-- No importer reads waits for the lock of the loader yet, so nothing fills this angle: the SELECT is a form for the day one does.
FROM counters
WHERE event = 'lock.dl_iterate_phdr'
-- alternate: the same work with error codes
-- mechanism: M9
-- probe: clock
-- metric: saved_share unit=share reject=0.0 support=0.05 saturate=0.50 scale=linear interval=given min_n=5 basis=time source=house:"5 % faster with an interval that excludes 0; rules.md R15 C"
-- needs: saved_shares where variant IN ('error-code', 'error-codes', 'errorcode', 'no-exceptions', 'result', 'expected', 'noexcept')
-- evidence: {percent} of the wall time goes away
-- record: hyperfine -N --runs 10 -L variant exceptions,error-codes --export-json bench.json 'PROGRAM {variant}'
SELECT artifact_id AS artifact_id, 'run' AS site_kind, CAST(NULL AS BIGINT) AS site_id, 'saved_share' AS metric, part AS part, whole AS whole, n AS n,
    lo AS lo, hi AS hi, part_anchor AS part_anchor, whole_anchor AS whole_anchor
FROM saved_shares
WHERE variant IN ('error-code', 'error-codes', 'errorcode', 'no-exceptions', 'result', 'expected', 'noexcept')
