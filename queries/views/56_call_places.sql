-- Who makes the calls of a family: the nearest function of the program, from the calls recorded with their stack (strace -k, perf record -g).
WITH members AS (
    SELECT DISTINCT name AS name, 'yield' AS family FROM call_names WHERE name IN ('sched_yield')
    UNION ALL
    SELECT DISTINCT name AS name, 'futex' AS family FROM call_names WHERE name IN ('futex')
    UNION ALL
    SELECT DISTINCT name AS name, 'sleep' AS family FROM call_names WHERE name IN ('nanosleep', 'clock_nanosleep')
    UNION ALL
    SELECT DISTINCT name AS name, 'fsync' AS family FROM call_names WHERE name IN ('fsync', 'fdatasync', 'sync_file_range', 'msync', 'syncfs', 'sync')
    UNION ALL
    SELECT DISTINCT name AS name, 'write' AS family FROM call_names WHERE name IN ('write', 'pwrite64', 'writev', 'pwritev', 'pwritev2')
    UNION ALL
    SELECT DISTINCT name AS name, 'read' AS family FROM call_names WHERE name IN ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'getdents', 'getdents64')
    UNION ALL
    SELECT DISTINCT name AS name, 'file' AS family FROM call_names WHERE name IN ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'pwrite64', 'pwritev', 'pwritev2')
    UNION ALL
    SELECT DISTINCT name AS name, 'map' AS family FROM call_names WHERE name IN ('mmap', 'munmap', 'madvise')
    UNION ALL
    SELECT DISTINCT name AS name, 'path' AS family FROM call_names WHERE name IN ('stat', 'lstat', 'newfstatat', 'fstatat64', 'statx', 'access', 'faccessat', 'faccessat2', 'open', 'openat', 'openat2', 'readlink', 'readlinkat')
    UNION ALL
    SELECT DISTINCT name AS name, 'network' AS family FROM call_names WHERE name IN ('recvfrom', 'recvmsg', 'recvmmsg', 'poll', 'ppoll', 'select', 'pselect6', 'epoll_wait', 'epoll_pwait', 'epoll_pwait2', 'connect')
    UNION ALL
    SELECT DISTINCT name AS name, 'clone' AS family FROM call_names WHERE name IN ('clone', 'clone3')
    UNION ALL
    SELECT DISTINCT name AS name, 'exec' AS family FROM call_names WHERE name IN ('execve', 'execveat')
    UNION ALL
    SELECT DISTINCT name AS name, 'handoff' AS family FROM call_names WHERE name IN ('futex', 'read', 'write', 'readv', 'writev', 'recvfrom', 'sendto', 'recvmsg', 'sendmsg')
),
placed AS (
    SELECT e.artifact_id AS artifact_id, e.name AS name, k.site_function_id AS function_id, CAST(COUNT(e.line_no) AS BIGINT) AS calls,
        CAST(SUM(COALESCE(e.dur_ns, 0)) AS BIGINT) AS call_ns
    FROM syscall_events AS e
    JOIN stack_sites AS k ON e.stack_id = k.stack_id
    WHERE k.site_function_id IS NOT NULL
    GROUP BY e.artifact_id, e.name, k.site_function_id
),
by_place AS (
    SELECT p.artifact_id AS artifact_id, m.family AS family, p.function_id AS function_id, CAST(SUM(p.calls) AS BIGINT) AS calls,
        CAST(SUM(p.call_ns) AS BIGINT) AS call_ns
    FROM placed AS p
    JOIN members AS m ON p.name = m.name
    GROUP BY p.artifact_id, m.family, p.function_id
),
wholes AS (
    SELECT artifact_id AS artifact_id, family AS family, CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(call_ns) AS BIGINT) AS call_ns
    FROM by_place
    GROUP BY artifact_id, family
)
SELECT p.artifact_id AS artifact_id, p.family AS family, p.function_id AS function_id, p.calls AS calls, p.call_ns AS call_ns,
    w.calls AS all_calls, w.call_ns AS all_ns
FROM by_place AS p
JOIN wholes AS w ON p.artifact_id = w.artifact_id AND p.family = w.family
