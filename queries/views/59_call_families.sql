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
families AS (
    SELECT 'yield' AS family, 'sched_yield' AS names
    UNION ALL
    SELECT 'futex' AS family, 'futex' AS names
    UNION ALL
    SELECT 'sleep' AS family, 'nanosleep,clock_nanosleep' AS names
    UNION ALL
    SELECT 'fsync' AS family, 'fsync,fdatasync,sync_file_range,msync,syncfs,sync' AS names
    UNION ALL
    SELECT 'write' AS family, 'write,pwrite64,writev,pwritev,pwritev2' AS names
    UNION ALL
    SELECT 'read' AS family, 'read,pread64,readv,preadv,preadv2,getdents,getdents64' AS names
    UNION ALL
    SELECT 'file' AS family, 'read,pread64,readv,preadv,preadv2,pwrite64,pwritev,pwritev2' AS names
    UNION ALL
    SELECT 'mmap' AS family, 'mmap' AS names
    UNION ALL
    SELECT 'munmap' AS family, 'munmap' AS names
    UNION ALL
    SELECT 'map' AS family, 'mmap,munmap,madvise' AS names
    UNION ALL
    SELECT 'mm' AS family, 'mmap,munmap,madvise,mprotect,mremap,brk' AS names
    UNION ALL
    SELECT 'path' AS family, 'stat,lstat,newfstatat,fstatat64,statx,access,faccessat,faccessat2,open,openat,openat2,readlink,readlinkat' AS names
    UNION ALL
    SELECT 'network' AS family, 'recvfrom,recvmsg,recvmmsg,poll,ppoll,select,pselect6,epoll_wait,epoll_pwait,epoll_pwait2,connect' AS names
    UNION ALL
    SELECT 'connect' AS family, 'connect' AS names
    UNION ALL
    SELECT 'accept' AS family, 'accept,accept4' AS names
    UNION ALL
    SELECT 'clone' AS family, 'clone,clone3' AS names
    UNION ALL
    SELECT 'exec' AS family, 'execve,execveat' AS names
    UNION ALL
    SELECT 'fork' AS family, 'fork,vfork' AS names
    UNION ALL
    SELECT 'reap' AS family, 'wait4,waitid' AS names
    UNION ALL
    SELECT 'handoff' AS family, 'futex,read,write,readv,writev,recvfrom,sendto,recvmsg,sendmsg' AS names
    UNION ALL
    SELECT 'load' AS family, 'open,openat,mmap,mprotect,pread64' AS names
    UNION ALL
    SELECT 'all' AS family, '' AS names
),
covered AS (
    SELECT r.artifact_id AS artifact_id, f.family AS family, f.names AS names
    FROM recorded AS r
    CROSS JOIN families AS f
    WHERE r.filter = ''
        OR f.family = 'yield' AND r.filter LIKE '%sched_yield%'
        OR f.family = 'futex' AND r.filter LIKE '%futex%'
        OR f.family = 'sleep' AND r.filter LIKE '%clock_nanosleep%'
        OR f.family = 'fsync' AND r.filter LIKE '%fsync%' AND r.filter LIKE '%fdatasync%'
        OR f.family = 'write' AND r.filter LIKE '%pwrite64%' AND (r.filter LIKE '%write,%' OR r.filter LIKE '%write')
        OR f.family = 'read' AND r.filter LIKE '%pread64%' AND (r.filter LIKE '%read,%' OR r.filter LIKE '%read')
        OR f.family = 'file' AND r.filter LIKE '%pread64%'
        OR f.family IN ('mmap', 'munmap', 'map', 'mm') AND (r.filter LIKE '%mmap%' AND r.filter LIKE '%munmap%' OR r.filter LIKE '%memory%')
        OR f.family = 'path' AND (r.filter LIKE '%openat%' AND r.filter LIKE '%stat%' OR r.filter LIKE '%file%')
        OR f.family = 'network' AND r.filter LIKE '%recvfrom%' AND r.filter LIKE '%poll%'
        OR f.family = 'connect' AND r.filter LIKE '%connect%'
        OR f.family = 'accept' AND r.filter LIKE '%accept%'
        OR f.family = 'clone' AND (r.filter LIKE '%clone%' OR r.filter LIKE '%process%')
        OR f.family = 'exec' AND (r.filter LIKE '%execve%' OR r.filter LIKE '%process%')
        OR f.family = 'fork' AND (r.filter LIKE '%vfork%' OR r.filter LIKE '%process%')
        OR f.family = 'reap' AND (r.filter LIKE '%wait4%' OR r.filter LIKE '%process%')
        OR f.family = 'handoff' AND r.filter LIKE '%futex%' AND r.filter LIKE '%read%' AND r.filter LIKE '%write%'
        OR f.family = 'load' AND r.filter LIKE '%openat%' AND r.filter LIKE '%mmap%' AND r.filter LIKE '%mprotect%'
),
summed AS (
    SELECT n.artifact_id AS artifact_id, m.family AS family, CAST(SUM(n.calls) AS BIGINT) AS calls, CAST(SUM(n.errors) AS BIGINT) AS errors,
        CAST(SUM(COALESCE(n.call_ns, 0)) AS BIGINT) AS call_ns
    FROM call_names AS n
    JOIN call_members AS m ON n.name = m.name
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
    CASE WHEN r.table_name = 'syscalls' THEN 'sum=syscalls.errors&name=' || c.names ELSE CAST(NULL AS STRING) END AS errors_anchor,
    CASE WHEN r.table_name = 'syscalls' THEN 'sum=syscalls.total_ns&name=' ELSE 'sum=syscall_events.dur_ns&name=' END || c.names AS time_anchor
FROM covered AS c
JOIN recorded AS r ON c.artifact_id = r.artifact_id
JOIN admitted AS d ON c.artifact_id = d.artifact_id
JOIN timed AS t ON c.artifact_id = t.artifact_id
LEFT JOIN summed AS s ON c.artifact_id = s.artifact_id AND c.family = s.family
CROSS JOIN run_threads AS h
CROSS JOIN bare AS b
