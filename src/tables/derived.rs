//! Tables computed from the others, where SQL should not go.

use super::{Text, table};

table!("function_costs", "Self and total of a function under one event, target processes only.", FunctionCost {
    event_id: i32, "id", "The event";
    function_id: i32, "id", "The function";
    view: Text, "text", "inlined (inline frames are functions of their own) or physical (everything belongs to the ELF symbol)";
    self_weight: i64, "unit", "Weight of the samples whose leaf it is";
    self_count: i64, "count", "How many";
    total_weight: i64, "unit", "Weight of the samples that have it anywhere, once per sample even when recursive";
    total_count: i64, "count", "How many";
});

table!("thread_weights", "Weight of the samples of a thread under one event, target processes only.", ThreadWeight {
    event_id: i32, "id", "The event";
    thread_id: i32, "id", "The thread";
    self_weight: i64, "unit", "Sum of the weights";
    self_count: i64, "count", "How many";
});

table!("stack_costs", "Weight of the samples that end in a stack, target processes only.", StackCost {
    event_id: i32, "id", "The event";
    stack_id: i32, "id", "The stack";
    self_weight: i64, "unit", "Sum of the weights";
    self_count: i64, "count", "How many";
    leaf_function_id: Option<i32>, "id", "Function of the stack's leaf (the innermost inlined one); null where nothing names it";
    leaf_is_kernel: bool, "bool", "Whether the leaf is kernel code";
    leaf_dso_id: Option<i32>, "id", "The file in which the leaf lies; null where the recording maps none there";
    site_function_id: Option<i32>, "id", "Who the stack belongs to, as stack_sites says: the nearest named function of the program outside libc and other runtime files";
    caller_certain: Option<bool>, "bool", "False where the innermost user frame lies in such a file, so that frame pointers may have lost its caller; as in stack_sites";
    reaches_start: Option<bool>, "bool", "Whether the stack goes back to where its thread began; as in stack_sites";
    classes: Option<i32>, "count", "How many classes stack_classes lists for the stack: where it is 0 a join with them finds nothing";
});

table!("stack_classes", "A stack that carries weight and a symbol class found on it (one row per class).", StackClass {
    stack_id: i32, "id", "The stack";
    class: Text, "text", "Symbol class of queries/symbol_classes.json: ALLOC, COPY, FORMAT, WRITE_PATH, FAULT, LOCK_WAIT, FSYNC_WAIT, SLEEP_WAIT, KERNEL, ...";
    is_leaf: bool, "bool", "Whether the leaf itself is of the class (self), else only something above it (inclusive)";
    class_function_id: Option<i32>, "id", "The outermost function of the class on the stack; null where the file alone tells the class of code without a name";
    site_function_id: Option<i32>, "id", "Nearest function above it outside the class, the kernel and the runtime dsos (libc, ld.so, libstdc++, vDSO)";
    caller_certain: bool, "bool", "False where the innermost user frame is in the runtime: with frame pointers (artifacts.unwinding fp or bpf) its true caller may be lost";
});

table!("stack_sites", "The site of a stack that carries weight, a wait, a call or an allocation.", StackSite {
    stack_id: i32, "id", "The stack";
    site_function_id: Option<i32>, "id", "Its nearest named user function outside the runtime dsos (libc, ld.so, libstdc++, vDSO)";
    caller_certain: bool, "bool", "False where the innermost user frame is in the runtime: with frame pointers (artifacts.unwinding fp or bpf) its true caller may be lost";
    reaches_start: bool, "bool", "Whether it reaches where threads and programs begin (class ROOT); if not, the unwinder lost callers";
});

table!("series_trends", "Trend of a memory series over the last two thirds of the run.", SeriesTrend {
    artifact_id: i32, "id", "The artifact";
    metric: Text, "text", "rss_bytes";
    n: i64, "count", "Points used";
    slope_per_s: f64, "bytes/s", "Theil-Sen slope";
    slope_lo: f64, "bytes/s", "Lower bound, 95 %";
    slope_hi: f64, "bytes/s", "Upper bound, 95 %";
    mann_kendall_p: f64, "probability", "Two-sided p of Mann-Kendall's test for a trend";
    growth_bytes: i64, "bytes", "Median of the last tenth minus median of the first tenth of the points used";
    max_bytes: i64, "bytes", "Largest value of the whole series";
    min_bytes: Option<i64>, "bytes", "Smallest value of the points used";
    cycles: Option<i64>, "count", "How often the points used fell by at least half of their range and rose again by as much";
});

table!("benchmark_stats", "Repetitions of one command with the same parameters, over all benchmark files of the run.", BenchmarkStat {
    artifact_id: i32, "id", "The first file that has one of them";
    command: Text, "text", "The command";
    variant: Option<Text>, "text", "Variant parameter";
    threads: Option<i32>, "count", "Threads parameter";
    work: Option<i64>, "count", "Work parameter";
    function: Option<Text>, "text", "Function parameter";
    n: i64, "count", "Repetitions";
    median_ns: i64, "ns", "Median wall time";
    lo_ns: i64, "ns", "Lower bound of the median: bootstrap percentile, 95 %, 10 or more repetitions; else the smallest";
    hi_ns: i64, "ns", "Upper bound likewise";
    cv: f64, "ratio", "Standard deviation over mean";
    user_ns: Option<i64>, "ns", "Median user CPU time";
    system_ns: Option<i64>, "ns", "Median system CPU time";
    outliers: Option<i64>, "count", "Repetitions further from the median than 14.826 median absolute deviations; null with fewer than 5";
    drift_p: Option<f64>, "probability", "Two-sided p of Spearman's rank correlation of wall time and order; null with fewer than 5";
    first_ratio: Option<f64>, "ratio", "Wall time of the first repetition over the median of the others; null with fewer than 5";
});

table!("baselines", "One order statistic of a command's repetitions, or one percentile of a span as its log states it.", Baseline {
    artifact_id: i32, "id", "Where the value stands";
    source: Text, "text", "benchmark or span";
    name: Text, "text", "The command, or the name of the span";
    variant: Option<Text>, "text", "Variant parameter; the thread of a span";
    threads: Option<i32>, "count", "Threads parameter";
    work: Option<i64>, "count", "Work parameter";
    function: Option<Text>, "text", "Function parameter";
    statistic: Text, "text", "p50, p95, p99, p999 or max";
    value_ns: i64, "ns", "The value: one of the repetitions, or what the log states";
    n: Option<i64>, "count", "Repetitions; calls of a span, null where the log does not say";
    rank: Option<i64>, "count", "Which repetition it is, from 1, the shortest first (nearest rank: p of n, rounded up); null for spans";
    lo_ns: Option<i64>, "ns", "Lower end of the 95 % interval of that percentile that holds for any distribution (binomial, order statistics); null where n is too small or for spans";
    hi_ns: Option<i64>, "ns", "Upper end likewise; null where n is too small: the percentile may then lie above everything that was seen";
    is_conservative: bool, "bool", "p99.9 and beyond from fewer than 1,000 values (or of an unknown number): no more than the largest value seen";
    anchor: Text, "text", "Where the value stands";
});

table!("scaling_steps", "One size of a series: its time, and how much longer than the size before it.", ScalingStep {
    artifact_id: i32, "id", "Where the value stands";
    series_id: Option<i32>, "id", "The series of benchmarks (scaling); null for a series that a log states";
    line_no: Option<i64>, "line", "Line of the log that states it; null for benchmarks";
    series: Text, "text", "The command, its size replaced by {n}; the axis of a stated series";
    metric: Text, "text", "p50: the repetition of the middle rank; what the log states";
    size: i64, "count", "Size";
    n: Option<i64>, "count", "Repetitions; null for a stated value";
    value_ns: i64, "ns", "Time at this size";
    ratio: Option<f64>, "ratio", "This time over that of the size before; null for the first";
    size_ratio: Option<f64>, "ratio", "This size over the one before";
    exponent: Option<f64>, "ratio", "ln(ratio) / ln(size_ratio): 1 is linear";
    anchor: Text, "text", "Where the value stands";
});

table!("stated_scaling", "The growth of a series that a log states, fitted by t = a + b n^k like that of benchmarks. Its shape here is computed; what its author says is in stated_verdicts. No hypothesis reads it.", StatedScaling {
    artifact_id: i32, "id", "The artifact";
    line_no: i64, "line", "Line in the file";
    series: Text, "text", "The axis of the series";
    metric: Text, "text", "What its values are: p50, p95, ...";
    sizes: i64, "count", "Different sizes";
    start_ns: i64, "ns", "The constant a";
    exponent: f64, "ratio", "The exponent k";
    lo: Option<f64>, "ratio", "Least exponent without any one size; null with fewer than four";
    hi: Option<f64>, "ratio", "Largest likewise";
    shape: Option<Text>, "text", "As in scaling; null where the interval does not decide or is unknown";
});

table!("leaf_paths", "By how many call paths a function is reached at which samples end, for those that hold 1 % or more of an event.", LeafPath {
    event_id: i32, "id", "The event";
    function_id: i32, "id", "The function, the innermost of its stacks";
    self_weight: i64, "unit", "Weight of the samples that end in it";
    self_count: i64, "count", "How many";
    paths: i64, "count", "Different call paths (functions from the root) among them";
    two_paths_weight: i64, "unit", "Weight of the two heaviest of them";
});

table!("leaf_spreads", "How an event's weight is spread over the functions at which its samples end.", LeafSpread {
    event_id: i32, "id", "The event";
    functions: i64, "count", "Functions with a sample";
    functions_80: i64, "count", "The fewest functions that hold 80 % of the weight; samples without a function count as one";
    largest_weight: i64, "unit", "Weight of the largest of them";
});

table!("scaling", "How the time of a command grows with the size of its input: one series of benchmarks with three or more sizes (the work or n parameter), fitted by t = a + b n^k.", Scaling {
    series_id: i32, "id", "Dense id, by command, variant, threads and function";
    artifact_id: i32, "id", "The first file that has one of them";
    command: Text, "text", "The command, its size replaced by {n}";
    variant: Option<Text>, "text", "Variant parameter";
    threads: Option<i32>, "count", "Threads parameter";
    function: Option<Text>, "text", "Function parameter";
    sizes: i64, "count", "Different sizes";
    smallest: i64, "count", "Smallest size";
    largest: i64, "count", "Largest size";
    n: i64, "count", "Repetitions of all sizes together";
    n_least: i64, "count", "Repetitions of the size that has the fewest";
    start_ns: i64, "ns", "The constant a: what every run takes, whatever its size";
    exponent: f64, "ratio", "The exponent k; 1 is linear";
    lo: f64, "ratio", "Lower bound: 95 % of resampled repetitions, and without any one size where there are four or more";
    hi: f64, "ratio", "Upper bound likewise";
    shape: Option<Text>, "text", "sublinear (interval below 0.8), linear (0.8 to 1.2) or superlinear (above 1.2); null where the interval does not decide";
});
