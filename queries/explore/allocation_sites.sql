-- question: Which functions allocate, how much is live at the peak, and what is never freed?
-- row: one function that called the allocator (the site of the ALLOC class)
SELECT f.name AS function_name, f.dso AS dso_name,
       CAST(SUM(a.calls) AS BIGINT) AS calls, CAST(SUM(a.bytes) AS BIGINT) AS bytes,
       CAST(SUM(a.peak_bytes) AS BIGINT) AS peak_bytes, CAST(SUM(a.leaked_bytes) AS BIGINT) AS leaked_bytes,
       f.function_id AS function_id
FROM allocations AS a
JOIN stack_classes AS c ON c.stack_id = a.stack_id
JOIN functions AS f ON f.function_id = c.site_function_id
WHERE c.class = 'ALLOC'
GROUP BY f.function_id, f.name, f.dso
ORDER BY calls DESC NULLS LAST, f.function_id ASC NULLS LAST
