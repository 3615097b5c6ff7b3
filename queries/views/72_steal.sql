-- Time that the hypervisor took, beside all CPU time: snapshots of /proc/stat, else the means of the tool, else its intervals. One row per recording.
WITH ticks AS (
    SELECT artifact_id AS artifact_id,
        MAX(CASE WHEN key = 'cpu_steal' AND moment = 'last' THEN value ELSE CAST(NULL AS BIGINT) END)
            - MAX(CASE WHEN key = 'cpu_steal' AND moment = 'first' THEN value ELSE CAST(NULL AS BIGINT) END) AS part,
        MAX(CASE WHEN key = 'cpu_total' AND moment = 'last' THEN value ELSE CAST(NULL AS BIGINT) END)
            - MAX(CASE WHEN key = 'cpu_total' AND moment = 'first' THEN value ELSE CAST(NULL AS BIGINT) END) AS whole
    FROM accounting
    WHERE scope = 'system' AND unit = 'ns'
    GROUP BY artifact_id
),
intervals AS (
    SELECT artifact_id AS artifact_id, CAST(SUM(value) AS BIGINT) AS part, CAST(COUNT(line_no) AS BIGINT) * 1000000 AS whole
    FROM accounting
    WHERE scope = 'system' AND key = 'cpu_steal' AND unit = 'ppm' AND moment = 'interval'
    GROUP BY artifact_id
)
SELECT artifact_id AS artifact_id, part AS part, whole AS whole,
    'rows=accounting.value&key=cpu_steal&scope=system&moment=first,last' AS part_anchor,
    'rows=accounting.value&key=cpu_total&scope=system&moment=first,last' AS whole_anchor
FROM ticks
WHERE part IS NOT NULL AND whole IS NOT NULL
UNION ALL
SELECT artifact_id AS artifact_id, part AS part, whole AS whole, 'rows=accounting.value&key=cpu_steal&scope=system&moment=interval' AS part_anchor,
    'rows=accounting.value&key=cpu_steal&scope=system&moment=interval' AS whole_anchor
FROM intervals
