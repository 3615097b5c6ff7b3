-- What a trace of brk, mmap and munmap says: bytes that came from the kernel (the heap at its largest, anonymous mappings), bytes that went back
-- (munmap, a lower end of the heap, MADV_DONTNEED), and how many calls asked and gave back.
WITH heap AS (
    SELECT artifact_id AS artifact_id, MAX(result) AS top, MAX(result) - MIN(result) AS bytes, MAX(line_no) AS line_no
    FROM syscall_events
    WHERE name = 'brk' AND result > 0
    GROUP BY artifact_id
),
lowered AS (
    SELECT e.artifact_id AS artifact_id, h.top - e.result AS bytes
    FROM syscall_events AS e
    JOIN heap AS h ON e.artifact_id = h.artifact_id AND e.line_no = h.line_no
    WHERE e.name = 'brk'
),
mapped AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(length) AS BIGINT) AS bytes FROM syscall_events
    WHERE name = 'mmap' AND error IS NULL AND operation LIKE '%MAP_ANONYMOUS%' AND operation NOT LIKE '%MAP_FIXED%'
    GROUP BY artifact_id
),
unmapped AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(CASE WHEN name = 'munmap' THEN length ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS unmapped_bytes,
        CAST(SUM(length) AS BIGINT) AS bytes, CAST(SUM(CASE WHEN name = 'munmap' THEN 1 ELSE 0 END) AS BIGINT) AS calls
    FROM syscall_events
    WHERE error IS NULL AND (name = 'munmap' OR name = 'madvise' AND operation LIKE '%DONTNEED%')
    GROUP BY artifact_id
),
asked AS (
    SELECT artifact_id AS artifact_id, CAST(COUNT(line_no) AS BIGINT) AS calls FROM syscall_events
    WHERE name IN ('brk', 'mmap') AND result IS NOT NULL
    GROUP BY artifact_id
)
SELECT a.artifact_id AS artifact_id, a.calls AS asked_calls, COALESCE(u.calls, 0) AS unmap_calls,
    COALESCE(h.bytes, 0) + COALESCE(m.bytes, 0) AS got_bytes, COALESCE(u.bytes, 0) + COALESCE(l.bytes, 0) AS returned_bytes,
    COALESCE(h.bytes, 0) + COALESCE(m.bytes, 0) - COALESCE(u.unmapped_bytes, 0) AS net_bytes, f.tool AS tool
FROM asked AS a
JOIN artifacts AS f ON a.artifact_id = f.artifact_id
LEFT JOIN heap AS h ON a.artifact_id = h.artifact_id
LEFT JOIN lowered AS l ON a.artifact_id = l.artifact_id
LEFT JOIN mapped AS m ON a.artifact_id = m.artifact_id
LEFT JOIN unmapped AS u ON a.artifact_id = u.artifact_id
WHERE f.syscall_filter IS NULL OR f.syscall_filter LIKE '%brk%' AND f.syscall_filter LIKE '%mmap%' AND f.syscall_filter LIKE '%munmap%'
