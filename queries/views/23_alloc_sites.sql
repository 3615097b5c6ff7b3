-- Who allocates: per stack of a heap recording, the nearest function of the program above the allocator. heaptrack leaves the allocator's own frame
-- out, so where none is on the stack the nearest function of the program is the site.
WITH of_class AS (
    SELECT stack_id AS stack_id, site_function_id AS site_function_id FROM stack_classes WHERE class = 'ALLOC'
),
of_stack AS (
    SELECT stack_id AS stack_id, site_function_id AS site_function_id FROM stack_sites
)
SELECT s.stack_id AS stack_id, COALESCE(k.site_function_id, s.site_function_id) AS site_function_id
FROM of_stack AS s
LEFT JOIN of_class AS k ON s.stack_id = k.stack_id
WHERE s.site_function_id IS NOT NULL
