-- What share of the wall time the same work takes less in another variant, ready to be read: 0 where it takes more.
SELECT artifact_id AS artifact_id, variant AS variant, CASE WHEN base_ns > median_ns THEN base_ns - median_ns ELSE CAST(0 AS BIGINT) END AS part,
    base_ns AS whole, n AS n, CAST(base_lo_ns - hi_ns AS DOUBLE) / CAST(base_ns AS DOUBLE) AS lo,
    CAST(base_hi_ns - lo_ns AS DOUBLE) / CAST(base_ns AS DOUBLE) AS hi, 'rows=benchmarks.wall_ns&variant=' || shown AS part_anchor,
    'rows=benchmarks.wall_ns&variant=' || base_variant AS whole_anchor
FROM bench_partners
