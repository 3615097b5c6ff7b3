-- The waits summed by thread, waker, reason and stack: the raw table may have millions of rows and is read once, here.
SELECT artifact_id AS artifact_id, is_aggregate AS is_aggregate, thread_id AS thread_id, waker_thread_id AS waker_thread_id, reason AS reason,
    stack_id AS stack_id, CAST(SUM(dur_ns) AS BIGINT) AS wait_ns, CAST(COUNT(record_no) AS BIGINT) AS n,
    CAST(SUM(COALESCE(runnable_ns, 0)) AS BIGINT) AS runnable_ns
FROM waits
GROUP BY artifact_id, is_aggregate, thread_id, waker_thread_id, reason, stack_id
