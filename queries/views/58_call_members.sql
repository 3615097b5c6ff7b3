-- Families of system calls and their members among the calls that were recorded; a call may be in several. all has every call.
WITH seen AS (
    SELECT DISTINCT name AS name FROM call_names
),
named AS (
    SELECT name AS name,
        CASE WHEN name IN ('sched_yield') THEN 'yield'
            WHEN name IN ('futex') THEN 'futex'
            WHEN name IN ('nanosleep', 'clock_nanosleep') THEN 'sleep'
            WHEN name IN ('fsync', 'fdatasync', 'sync_file_range', 'msync', 'syncfs', 'sync') THEN 'fsync'
            WHEN name IN ('write', 'pwrite64', 'writev', 'pwritev', 'pwritev2') THEN 'write'
            WHEN name IN ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'getdents', 'getdents64') THEN 'read'
            WHEN name IN ('mmap') THEN 'mmap'
            WHEN name IN ('munmap') THEN 'munmap'
            WHEN name IN ('madvise') THEN 'map'
            WHEN name IN ('mprotect', 'mremap', 'brk') THEN 'mm'
            WHEN name IN ('stat', 'lstat', 'newfstatat', 'fstatat64', 'statx', 'access', 'faccessat', 'faccessat2', 'open', 'openat', 'openat2', 'readlink', 'readlinkat') THEN 'path'
            WHEN name IN ('recvfrom', 'recvmsg', 'recvmmsg', 'poll', 'ppoll', 'select', 'pselect6', 'epoll_wait', 'epoll_pwait', 'epoll_pwait2', 'connect') THEN 'network'
            WHEN name IN ('accept', 'accept4') THEN 'accept'
            WHEN name IN ('clone', 'clone3') THEN 'clone'
            WHEN name IN ('execve', 'execveat') THEN 'exec'
            WHEN name IN ('fork', 'vfork') THEN 'fork'
            WHEN name IN ('wait4', 'waitid') THEN 'reap'
            WHEN name IN ('sendto', 'sendmsg') THEN 'handoff'
            ELSE CAST(NULL AS STRING) END AS family_1,
        CASE WHEN name IN ('futex', 'write', 'writev', 'recvfrom', 'recvmsg') THEN 'handoff'
            WHEN name IN ('pwrite64', 'pwritev', 'pwritev2', 'read', 'pread64', 'readv', 'preadv', 'preadv2') THEN 'file'
            WHEN name IN ('mmap', 'munmap') THEN 'map'
            WHEN name IN ('madvise') THEN 'mm'
            WHEN name IN ('mprotect', 'open', 'openat') THEN 'load'
            WHEN name IN ('connect') THEN 'connect'
            ELSE CAST(NULL AS STRING) END AS family_2,
        CASE WHEN name IN ('read', 'readv') THEN 'handoff'
            WHEN name IN ('pread64') THEN 'load'
            WHEN name IN ('mmap', 'munmap') THEN 'mm'
            ELSE CAST(NULL AS STRING) END AS family_3,
        CASE WHEN name IN ('mmap') THEN 'load'
            ELSE CAST(NULL AS STRING) END AS family_4
    FROM seen
)
SELECT name AS name, family_1 AS family FROM named WHERE family_1 IS NOT NULL
UNION ALL
SELECT name AS name, family_2 AS family FROM named WHERE family_2 IS NOT NULL
UNION ALL
SELECT name AS name, family_3 AS family FROM named WHERE family_3 IS NOT NULL
UNION ALL
SELECT name AS name, family_4 AS family FROM named WHERE family_4 IS NOT NULL
UNION ALL
SELECT name AS name, 'all' AS family FROM seen
