-- id: Q08
-- name: tools that count differently
-- advice: Trust the higher count; record the lower one again with larger buffers, or with a tool that cannot lose calls (strace).
--
-- measure: tools
-- level: warn below 0.98 effect none
-- level: demote below 0.9 effect demote:M5
-- message: {percent} of the calls of {subject} that another tool counted for the same work
-- short: {percent} of the calls of {subject}
-- unchecked: no system call of a thousand or more was counted by two tools
-- source: measured: perf trace counted 88 008 of 100 000 writes; rules.md Q08. Where nothing says what was run, counts further apart than twofold are taken for other work (house)
WITH rows_of AS (
    SELECT s.artifact_id AS artifact_id, s.name AS name, s.calls AS calls FROM syscalls AS s
    UNION ALL
    SELECT e.artifact_id AS artifact_id, e.name AS name, CAST(1 AS BIGINT) AS calls FROM syscall_events AS e
    JOIN artifacts AS a ON e.artifact_id = a.artifact_id
    WHERE a.kind = 'strace-log'
),
counted AS (
    SELECT r.artifact_id AS artifact_id, r.name AS name, CAST(SUM(r.calls) AS BIGINT) AS calls
    FROM rows_of AS r
    WHERE r.name NOT IN ('futex', 'sched_yield', 'nanosleep', 'clock_nanosleep', 'restart_syscall', 'poll', 'ppoll', 'select', 'pselect6',
        'epoll_wait', 'epoll_pwait', 'read', 'recvfrom', 'recvmsg', 'accept', 'accept4', 'wait4', 'rt_sigreturn')
    GROUP BY r.artifact_id, r.name
),
counts AS (
    SELECT c.artifact_id AS artifact_id, c.name AS name, c.calls AS calls, COALESCE(x.work, 0) AS work,
        CASE WHEN d.standing = 'same' OR COALESCE(x.work, 0) > 0 THEN 1 ELSE 0 END AS known
    FROM counted AS c
    JOIN artifacts AS a ON c.artifact_id = a.artifact_id
    JOIN admitted AS d ON c.artifact_id = d.artifact_id
    LEFT JOIN executions AS x ON a.execution_id = x.execution_id
    WHERE d.standing IN ('same', 'unknown') AND a.status = 'complete'
),
pairs AS (
    SELECT l.artifact_id AS artifact_id, l.name AS name,
        CASE WHEN l.work = h.work
            THEN CAST(l.calls AS DOUBLE) / CAST(h.calls AS DOUBLE)
            ELSE CAST(CAST(l.calls AS DOUBLE) * CAST(h.work AS DOUBLE) AS DOUBLE) / CAST(CAST(h.calls AS DOUBLE) * CAST(l.work AS DOUBLE) AS DOUBLE)
        END AS ratio
    FROM counts AS l
    JOIN counts AS h ON l.name = h.name
    WHERE l.artifact_id <> h.artifact_id AND h.calls >= 1000 AND (l.known = 1 AND h.known = 1 OR l.calls * 2 >= h.calls)
        AND (l.work = h.work OR (l.work > 0 AND h.work > 0 AND l.calls * 10 >= l.work AND h.calls * 10 >= h.work))
),
worst AS (
    SELECT artifact_id AS artifact_id, MIN(ratio) AS ratio FROM pairs GROUP BY artifact_id
)
SELECT w.artifact_id AS artifact_id, CAST(ROUND(w.ratio * CAST(1000000 AS DOUBLE), 0) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole,
    MIN(p.name) AS subject
FROM worst AS w
JOIN pairs AS p ON w.artifact_id = p.artifact_id AND w.ratio = p.ratio
GROUP BY w.artifact_id, w.ratio
-- measure: declared work
-- level: warn below 0.98 effect none
-- message: {part} calls of {subject} for {whole} declared units of work: if each makes one, calls are missing
-- short: {percent} of the work in calls of {subject}
-- unchecked: no system call is made about once per declared unit of work
-- source: house: within 2 % of the workload's own counter; rules.md Q08
WITH rows_of AS (
    SELECT s.artifact_id AS artifact_id, s.name AS name, s.calls AS calls FROM syscalls AS s
    UNION ALL
    SELECT e.artifact_id AS artifact_id, e.name AS name, CAST(1 AS BIGINT) AS calls FROM syscall_events AS e
    JOIN artifacts AS a ON e.artifact_id = a.artifact_id
    WHERE a.kind = 'strace-log'
),
counted AS (
    SELECT r.artifact_id AS artifact_id, r.name AS name, CAST(SUM(r.calls) AS BIGINT) AS calls
    FROM rows_of AS r
    WHERE r.name NOT IN ('futex', 'sched_yield', 'nanosleep', 'clock_nanosleep', 'restart_syscall', 'poll', 'ppoll', 'select', 'pselect6',
        'epoll_wait', 'epoll_pwait', 'read', 'recvfrom', 'recvmsg', 'accept', 'accept4', 'wait4', 'rt_sigreturn')
    GROUP BY r.artifact_id, r.name
),
counts AS (
    SELECT c.artifact_id AS artifact_id, c.name AS name, c.calls AS calls, COALESCE(x.work, 0) AS work
    FROM counted AS c
    JOIN artifacts AS a ON c.artifact_id = a.artifact_id
    JOIN admitted AS d ON c.artifact_id = d.artifact_id
    LEFT JOIN executions AS x ON a.execution_id = x.execution_id
    WHERE d.standing IN ('same', 'unknown') AND a.status = 'complete'
),
near AS (
    SELECT artifact_id AS artifact_id, MAX(calls) AS calls FROM counts
    WHERE work >= 1000 AND calls * 10 >= work * 8 AND calls * 100 <= work * 102
    GROUP BY artifact_id
)
SELECT n.artifact_id AS artifact_id, n.calls AS part, MAX(c.work) AS whole, MIN(c.name) AS subject
FROM near AS n
JOIN counts AS c ON n.artifact_id = c.artifact_id AND n.calls = c.calls
GROUP BY n.artifact_id, n.calls
