-- question: How large are the program's reads, writes and mappings?
-- row: one size class of one system call in one recording
-- units: bytes; size_from and size_to bound what was asked for (size_to null: no bound), bytes_done sums what the calls returned (reads and writes)
-- empty: nothing recorded single calls with their length (strace, perf record -e syscalls:*)
WITH sized AS (
    SELECT artifact_id AS artifact_id, name AS name, length AS length,
        CASE WHEN result > 0 AND name NOT IN ('mmap', 'munmap', 'mremap', 'madvise', 'mprotect', 'brk') THEN result ELSE CAST(0 AS BIGINT) END AS done,
        CASE WHEN length < 16 THEN CAST(0 AS BIGINT) WHEN length < 256 THEN CAST(16 AS BIGINT) WHEN length < 4096 THEN CAST(256 AS BIGINT)
            WHEN length < 65536 THEN CAST(4096 AS BIGINT) WHEN length < 1048576 THEN CAST(65536 AS BIGINT) ELSE CAST(1048576 AS BIGINT) END AS size_from
    FROM syscall_events
    WHERE length IS NOT NULL
)
SELECT a.path AS artifact_path, s.name AS syscall_name, s.size_from AS size_from,
    CASE WHEN s.size_from = 0 THEN CAST(16 AS BIGINT) WHEN s.size_from = 1048576 THEN CAST(NULL AS BIGINT) ELSE s.size_from * 16 END AS size_to,
    CAST(COUNT(s.length) AS BIGINT) AS calls, CAST(SUM(s.length) AS BIGINT) AS bytes_asked, CAST(SUM(s.done) AS BIGINT) AS bytes_done
FROM sized AS s
JOIN artifacts AS a ON s.artifact_id = a.artifact_id
GROUP BY a.path, s.name, s.size_from
ORDER BY artifact_path ASC NULLS LAST, syscall_name ASC NULLS LAST, size_from ASC NULLS LAST
