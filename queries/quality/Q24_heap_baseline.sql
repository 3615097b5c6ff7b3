-- id: Q24
-- name: what every C++ program keeps
-- level: warn above 0.02 effect none
-- level: demote above 0.5 effect demote:M3:memory
-- message: {part} of {whole} leaked bytes are the pool that libstdc++ keeps for exceptions: it is in every run and no leak
-- short: {percent} is libstdc++'s pool
-- unchecked: no heaptrack recording with allocations
-- advice: Nothing to do: the pool is allocated once (72 704 bytes) and never freed. Run longer if nearly all that leaks is this pool.
-- source: measured: 72.7 KB in every C++ run; rules.md Q24
SELECT a.artifact_id AS artifact_id,
    CAST(SUM(CASE WHEN h.calls = 1 AND h.leaked_bytes IN (72704, 73728) THEN h.leaked_bytes ELSE 0 END) AS BIGINT) AS part,
    CASE WHEN CAST(SUM(h.leaked_bytes) AS BIGINT) = 0 THEN CAST(1 AS BIGINT) ELSE CAST(SUM(h.leaked_bytes) AS BIGINT) END AS whole
FROM artifacts AS a
JOIN allocations AS h ON a.artifact_id = h.artifact_id
WHERE a.kind = 'heaptrack'
GROUP BY a.artifact_id
