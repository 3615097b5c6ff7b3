-- question: What does the program ask of the disks, and how long does a request take?
-- row: one device and kind of request in one recording
-- units: requests counted, bytes, ns from issue to completion (unfinished: without one); queued_ns: before that, in the queue
-- empty: nothing recorded block requests (perf record -e block:block_rq_issue,block:block_rq_complete)
SELECT a.path AS artifact_path, b.device AS device, b.operation AS operation, CAST(COUNT(b.record_no) AS BIGINT) AS requests,
    CAST(SUM(b.bytes) AS BIGINT) AS bytes, CAST(SUM(b.dur_ns) AS BIGINT) AS total_ns, MAX(b.dur_ns) AS longest_ns,
    CAST(SUM(b.queued_ns) AS BIGINT) AS queued_ns,
    CAST(SUM(CASE WHEN b.dur_ns IS NULL THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END) AS BIGINT) AS unfinished
FROM block_requests AS b
JOIN artifacts AS a ON b.artifact_id = a.artifact_id
GROUP BY a.path, b.device, b.operation
ORDER BY total_ns DESC NULLS LAST, requests DESC NULLS LAST, artifact_path ASC NULLS LAST, device ASC NULLS LAST, operation ASC NULLS LAST
