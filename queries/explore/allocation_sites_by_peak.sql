-- question: Which functions own the heap when it is largest?
-- row: one function that allocates (the nearest function of the program above the allocator) in one heap recording; only those with live bytes then
-- units: calls counted, bytes; peak_bytes: live when the whole heap was largest; leaked_bytes: never freed; temporary_calls: freed at once
-- empty: nothing recorded allocations (heaptrack), or the heap had no live bytes at its peak
WITH classed AS (
    SELECT stack_id AS stack_id, MIN(site_function_id) AS function_id FROM stack_classes WHERE class = 'ALLOC' GROUP BY stack_id
),
placed AS (
    SELECT a.artifact_id AS artifact_id, COALESCE(k.function_id, s.site_function_id) AS function_id, a.calls AS calls, a.bytes AS bytes,
        a.peak_bytes AS peak_bytes, a.leaked_bytes AS leaked_bytes, a.temporary_calls AS temporary_calls
    FROM allocations AS a
    LEFT JOIN stack_sites AS s ON a.stack_id = s.stack_id
    LEFT JOIN classed AS k ON a.stack_id = k.stack_id
),
summed AS (
    SELECT artifact_id AS artifact_id, function_id AS function_id, CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(bytes) AS BIGINT) AS bytes,
        CAST(SUM(peak_bytes) AS BIGINT) AS peak_bytes, CAST(SUM(leaked_bytes) AS BIGINT) AS leaked_bytes,
        CAST(SUM(temporary_calls) AS BIGINT) AS temporary_calls
    FROM placed
    GROUP BY artifact_id, function_id
)
SELECT r.path AS artifact_path, f.name AS function_name, f.dso AS dso_name, f.file AS file, f.line AS line, s.calls AS calls, s.bytes AS bytes,
    s.peak_bytes AS peak_bytes, s.leaked_bytes AS leaked_bytes, s.temporary_calls AS temporary_calls, s.function_id AS function_id
FROM summed AS s
JOIN artifacts AS r ON s.artifact_id = r.artifact_id
LEFT JOIN functions AS f ON s.function_id = f.function_id
WHERE s.peak_bytes > 0
ORDER BY peak_bytes DESC NULLS LAST, artifact_path ASC NULLS LAST, function_id ASC NULLS LAST
