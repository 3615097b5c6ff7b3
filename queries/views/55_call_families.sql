-- Families of system calls per recording, ready to be read: 0 calls where the recording would have shown them (its filter lets the family
-- through), no row where it would not. With what rates need: the recording's own wall time, how its counts become counts of the bare run's
-- work, and the bare run's times. all: every call it recorded, where nothing was filtered.
WITH recorded AS (
    SELECT DISTINCT n.artifact_id AS artifact_id, n.table_name AS table_name, n.source AS source, COALESCE(a.syscall_filter, '') AS filter,
        COALESCE(a.wall_ns, a.window_ns) AS own_wall_ns,
        CASE WHEN a.wall_ns IS NULL THEN 'sum=artifacts.window_ns' ELSE 'sum=artifacts.wall_ns' END AS wall_anchor
    FROM call_names AS n
    JOIN artifacts AS a ON n.artifact_id = a.artifact_id
),
covered AS (
    SELECT artifact_id AS artifact_id, 'yield' AS family, 'sched_yield' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%sched_yield%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'futex' AS family, 'futex' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%futex%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'sleep' AS family, 'nanosleep,clock_nanosleep' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%clock_nanosleep%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'fsync' AS family, 'fsync,fdatasync,sync_file_range,msync,syncfs,sync' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%fsync%' AND filter LIKE '%fdatasync%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'write' AS family, 'write,pwrite64,writev,pwritev,pwritev2' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%pwrite64%' AND (filter LIKE '%write,%' OR filter LIKE '%write')
    UNION ALL
    SELECT artifact_id AS artifact_id, 'read' AS family, 'read,pread64,readv,preadv,preadv2,getdents,getdents64' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%pread64%' AND (filter LIKE '%read,%' OR filter LIKE '%read')
    UNION ALL
    SELECT artifact_id AS artifact_id, 'file' AS family, 'read,pread64,readv,preadv,preadv2,pwrite64,pwritev,pwritev2' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%pread64%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'mmap' AS family, 'mmap' AS names FROM recorded
    WHERE filter = '' OR (filter LIKE '%mmap%' AND filter LIKE '%munmap%') OR filter LIKE '%memory%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'munmap' AS family, 'munmap' AS names FROM recorded
    WHERE filter = '' OR (filter LIKE '%mmap%' AND filter LIKE '%munmap%') OR filter LIKE '%memory%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'map' AS family, 'mmap,munmap,madvise' AS names FROM recorded
    WHERE filter = '' OR (filter LIKE '%mmap%' AND filter LIKE '%munmap%') OR filter LIKE '%memory%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'mm' AS family, 'mmap,munmap,madvise,mprotect,mremap,brk' AS names FROM recorded
    WHERE filter = '' OR (filter LIKE '%mmap%' AND filter LIKE '%munmap%') OR filter LIKE '%memory%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'path' AS family, 'stat,lstat,newfstatat,fstatat64,statx,access,faccessat,faccessat2,open,openat,openat2,readlink,readlinkat' AS names FROM recorded
    WHERE filter = '' OR (filter LIKE '%openat%' AND filter LIKE '%stat%') OR filter LIKE '%file%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'network' AS family, 'recvfrom,recvmsg,recvmmsg,poll,ppoll,select,pselect6,epoll_wait,epoll_pwait,epoll_pwait2,connect' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%recvfrom%' AND filter LIKE '%poll%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'connect' AS family, 'connect' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%connect%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'accept' AS family, 'accept,accept4' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%accept%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'clone' AS family, 'clone,clone3' AS names FROM recorded
    WHERE filter = '' OR (filter LIKE '%clone%') OR filter LIKE '%process%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'exec' AS family, 'execve,execveat' AS names FROM recorded
    WHERE filter = '' OR (filter LIKE '%execve%') OR filter LIKE '%process%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'fork' AS family, 'fork,vfork' AS names FROM recorded
    WHERE filter = '' OR (filter LIKE '%vfork%') OR filter LIKE '%process%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'reap' AS family, 'wait4,waitid' AS names FROM recorded
    WHERE filter = '' OR (filter LIKE '%wait4%') OR filter LIKE '%process%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'handoff' AS family, 'futex,read,write,readv,writev,recvfrom,sendto,recvmsg,sendmsg' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%futex%' AND filter LIKE '%read%' AND filter LIKE '%write%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'load' AS family, 'open,openat,mmap,mprotect,pread64' AS names FROM recorded
    WHERE filter = '' OR filter LIKE '%openat%' AND filter LIKE '%mmap%' AND filter LIKE '%mprotect%'
    UNION ALL
    SELECT artifact_id AS artifact_id, 'all' AS family, '' AS names FROM recorded
    WHERE filter = ''
),
members AS (
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
    SELECT DISTINCT name AS name, 'mmap' AS family FROM call_names WHERE name IN ('mmap')
    UNION ALL
    SELECT DISTINCT name AS name, 'munmap' AS family FROM call_names WHERE name IN ('munmap')
    UNION ALL
    SELECT DISTINCT name AS name, 'map' AS family FROM call_names WHERE name IN ('mmap', 'munmap', 'madvise')
    UNION ALL
    SELECT DISTINCT name AS name, 'mm' AS family FROM call_names WHERE name IN ('mmap', 'munmap', 'madvise', 'mprotect', 'mremap', 'brk')
    UNION ALL
    SELECT DISTINCT name AS name, 'path' AS family FROM call_names WHERE name IN ('stat', 'lstat', 'newfstatat', 'fstatat64', 'statx', 'access', 'faccessat', 'faccessat2', 'open', 'openat', 'openat2', 'readlink', 'readlinkat')
    UNION ALL
    SELECT DISTINCT name AS name, 'network' AS family FROM call_names WHERE name IN ('recvfrom', 'recvmsg', 'recvmmsg', 'poll', 'ppoll', 'select', 'pselect6', 'epoll_wait', 'epoll_pwait', 'epoll_pwait2', 'connect')
    UNION ALL
    SELECT DISTINCT name AS name, 'connect' AS family FROM call_names WHERE name IN ('connect')
    UNION ALL
    SELECT DISTINCT name AS name, 'accept' AS family FROM call_names WHERE name IN ('accept', 'accept4')
    UNION ALL
    SELECT DISTINCT name AS name, 'clone' AS family FROM call_names WHERE name IN ('clone', 'clone3')
    UNION ALL
    SELECT DISTINCT name AS name, 'exec' AS family FROM call_names WHERE name IN ('execve', 'execveat')
    UNION ALL
    SELECT DISTINCT name AS name, 'fork' AS family FROM call_names WHERE name IN ('fork', 'vfork')
    UNION ALL
    SELECT DISTINCT name AS name, 'reap' AS family FROM call_names WHERE name IN ('wait4', 'waitid')
    UNION ALL
    SELECT DISTINCT name AS name, 'handoff' AS family FROM call_names WHERE name IN ('futex', 'read', 'write', 'readv', 'writev', 'recvfrom', 'sendto', 'recvmsg', 'sendmsg')
    UNION ALL
    SELECT DISTINCT name AS name, 'load' AS family FROM call_names WHERE name IN ('open', 'openat', 'mmap', 'mprotect', 'pread64')
    UNION ALL
    SELECT DISTINCT name AS name, 'all' AS family FROM call_names
),
summed AS (
    SELECT n.artifact_id AS artifact_id, m.family AS family, CAST(SUM(n.calls) AS BIGINT) AS calls, CAST(SUM(n.errors) AS BIGINT) AS errors,
        CAST(SUM(COALESCE(n.call_ns, 0)) AS BIGINT) AS call_ns
    FROM call_names AS n
    JOIN members AS m ON n.name = m.name
    GROUP BY n.artifact_id, m.family
),
timed AS (
    SELECT artifact_id AS artifact_id, CAST(COUNT(call_ns) AS BIGINT) AS timed FROM call_names GROUP BY artifact_id
)
SELECT c.artifact_id AS artifact_id, c.family AS family, r.source AS source, COALESCE(s.calls, 0) AS calls, COALESCE(s.errors, 0) AS errors,
    CASE WHEN t.timed > 0 THEN COALESCE(s.call_ns, 0) ELSE CAST(NULL AS BIGINT) END AS call_ns, r.own_wall_ns AS own_wall_ns, r.wall_anchor AS wall_anchor,
    COALESCE(h.threads, 1) AS threads, d.work_up AS work_up, d.work_down AS work_down, b.wall_ns AS bare_wall_ns, b.cpu_ns AS bare_cpu_ns,
    b.cpu_least_ns AS cpu_least_ns, b.cpu_most_ns AS cpu_most_ns, b.voluntary_switches AS voluntary_switches,
    CAST(b.artifact_id AS BIGINT) AS bare_artifact_id,
    'sum=' || r.table_name || '.calls' || CASE WHEN c.names = '' THEN '' ELSE '&name=' || c.names END AS calls_anchor,
    CASE WHEN r.table_name = 'syscalls' THEN 'sum=syscalls.errors&name=' || c.names ELSE CAST(NULL AS VARCHAR) END AS errors_anchor,
    CASE WHEN r.table_name = 'syscalls' THEN 'sum=syscalls.total_ns&name=' ELSE 'sum=syscall_events.dur_ns&name=' END || c.names AS time_anchor
FROM covered AS c
JOIN recorded AS r ON c.artifact_id = r.artifact_id
JOIN admitted AS d ON c.artifact_id = d.artifact_id
JOIN timed AS t ON c.artifact_id = t.artifact_id
LEFT JOIN summed AS s ON c.artifact_id = s.artifact_id AND c.family = s.family
CROSS JOIN run_threads AS h
CROSS JOIN bare AS b
