//! What a program says of itself: spans that it timed, and what its author concluded.

use super::{Text, table};

table!("spans", "One summary of a span, as the program that timed itself wrote it (perf.profile.* logs).", Span {
    artifact_id: i32, "id", "The artifact";
    line_no: i64, "line", "Line in the file";
    log_run: Option<i32>, "count", "From 0: which run of the log it belongs to (run_start and run_complete divide them)";
    name: Text, "text", "Name of the span";
    parent: Option<Text>, "text", "Name of the span around it; null at the root and where the log does not say";
    thread_name: Option<Text>, "text", "Thread, as the log names it";
    calls: Option<i64>, "count", "How often it was entered";
    total_ns: Option<i64>, "ns", "Time in it, with what it calls";
    self_ns: Option<i64>, "ns", "total_ns without the totals of its children; null where parents are unknown, where one of these totals is absent, or where several summaries have the name (then see span_costs)";
    p50_ns: Option<i64>, "ns", "Median of one call, as the log states it";
    p95_ns: Option<i64>, "ns", "95th percentile likewise";
    p99_ns: Option<i64>, "ns", "99th percentile likewise";
    p999_ns: Option<i64>, "ns", "99.9th percentile likewise";
    max_ns: Option<i64>, "ns", "Longest call likewise";
    is_root: Option<bool>, "bool", "Whether the log has no summary of a span around it; null where the log names no parents at all";
    category: Option<Text>, "text", "Category as the log states it";
    clock: Text, "text", "What its times are: wall, or cpu where the log says so";
});

table!("stated_verdicts", "A verdict that the author of a log wrote into it. It is shown as stated and never counts as an angle.", StatedVerdict {
    artifact_id: i32, "id", "The artifact";
    line_no: i64, "line", "Line in the file";
    hypothesis: Text, "text", "Name or id of the hypothesis, as its author wrote it";
    verdict: Text, "text", "The verdict, as its author wrote it";
    evidence: Option<Text>, "text", "What its author gives as evidence";
});

table!("scaling_points", "One size of a series, as the author of a log states it (scaling_law events).", ScalingPoint {
    artifact_id: i32, "id", "The artifact";
    line_no: i64, "line", "Line in the file";
    series: Text, "text", "The axis or name of the series";
    metric: Text, "text", "What the value is: p50, p95, p99, p999, max or total";
    size: i64, "count", "Size";
    value_ns: i64, "ns", "Time at this size";
});

table!("span_costs", "One span name of one log, over all its summaries.", SpanCost {
    artifact_id: i32, "id", "The artifact";
    name: Text, "text", "Name of the span";
    function_id: Option<i32>, "id", "The function of exactly this name, where one was recorded";
    class: Option<Text>, "text", "Class of its name or category by the span patterns of queries/symbol_classes.json: FORMAT, SERDE, HASH, COMPRESS";
    category: Text, "text", "CPU, I/O, Allocation, Sync, Network or Memory where the log's category says so, else Wall (cpu clock: CPU)";
    clock: Text, "text", "wall or cpu";
    summaries: i64, "count", "How many rows of spans it sums";
    calls: Option<i64>, "count", "Sum of the calls; null where one is absent";
    total_ns: Option<i64>, "ns", "Sum of the totals, without summaries inside a span of the same name; null where one is absent";
    total_at: Text, "text", "Anchor of it, without the path";
    self_ns: Option<i64>, "ns", "total_ns without the totals of its children; null where parents are unknown, a total is absent, or the children took longer than it (they ran beside it)";
    self_at: Text, "text", "Anchor of it, without the path";
    class_ns: Option<i64>, "ns", "total_ns without what ran inside another span of its class; null without a class";
});

table!("span_logs", "What the shares of a log's spans are shares of.", SpanLog {
    artifact_id: i32, "id", "The artifact";
    whole_ns: Option<i64>, "ns", "The larger of: the runs' durations (run_complete), the totals of the spans at the root. Null where the log tells neither";
    whole_at: Text, "text", "Anchor of it, without the path";
    outside_ns: Option<i64>, "ns", "What is left of whole_ns outside all spans; null where parents are unknown";
    between_ns: Option<i64>, "ns", "outside_ns and the time of spans outside their children: where an operation without a span may hide; null likewise";
});
