-- id: Q28
-- name: noise of the benchmark
-- advice: Repeat ten times or more on a quiet machine, runs of the variants in turn; give the program work for a tenth of a second or more.
--
-- measure: spread
-- level: warn above 0.05 effect none
-- level: demote above 0.15 effect demote:M9:time
-- message: {subject}: the repetitions spread by {percent} of their mean
-- short: spread {percent}
-- unchecked: no benchmark
-- source: house: 5 % and 15 %; rules.md Q28
SELECT artifact_id AS artifact_id, CAST(ROUND(cv * CAST(1000000 AS DOUBLE), 0) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole, command AS subject
FROM benchmark_stats
WHERE n > 1
-- measure: outliers
-- level: warn above 0 effect none
-- message: {subject}: {part} of {whole} repetitions are outliers
-- short: {part} outliers
-- unchecked: fewer than 5 repetitions
-- source: tool: hyperfine, 14.826 median absolute deviations; rules.md Q28
SELECT artifact_id AS artifact_id, outliers AS part, n AS whole, command AS subject
FROM benchmark_stats
-- measure: repetitions
-- level: warn below 10 effect none
-- message: {subject}: {part} repetitions; the interval of fewer than 10 is their range
-- short: {part} repetitions
-- unchecked: no benchmark
-- source: house: 10 repetitions; rules.md Q28
SELECT artifact_id AS artifact_id, n AS part, CAST(1 AS BIGINT) AS whole, command AS subject
FROM benchmark_stats
-- measure: duration
-- level: warn below 5 effect none
-- message: {subject}: one run takes {value} ms: starting the process is a part of that
-- fine: {subject}: one run takes {value} ms
-- short: runs of {value} ms
-- unchecked: no benchmark
-- source: tool: hyperfine warns below 5 ms; rules.md Q28
SELECT artifact_id AS artifact_id, median_ns AS part, CAST(1000000 AS BIGINT) AS whole, command AS subject
FROM benchmark_stats
-- measure: drift
-- level: warn below 0.01 effect none
-- message: {subject}: wall time goes with the order of the repetitions (p = {value}, Spearman)
-- fine: {subject}: wall time does not go with the order of the repetitions (p = {value}, Spearman)
-- short: drift
-- unchecked: fewer than 5 repetitions
-- source: house: p < 0.01; rules.md Q28
SELECT artifact_id AS artifact_id, CAST(ROUND(drift_p * CAST(1000000 AS DOUBLE), 0) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole, command AS subject
FROM benchmark_stats
-- measure: first run
-- level: warn above 1.2 effect none
-- message: {subject}: the first repetition took {value} times the median of the others: a cold cache
-- fine: {subject}: the first repetition took {value} times the median of the others
-- short: first run {value} times
-- unchecked: fewer than 5 repetitions
-- source: house: 1.2; rules.md Q28
SELECT artifact_id AS artifact_id, CAST(ROUND(first_ratio * CAST(1000000 AS DOUBLE), 0) AS BIGINT) AS part, CAST(1000000 AS BIGINT) AS whole, command AS subject
FROM benchmark_stats
