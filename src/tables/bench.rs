//! Whole-run numbers.

use super::{Text, table};

table!("counters", "One value of perf stat.", Counter {
    artifact_id: i32, "id", "The artifact";
    event: Text, "text", "Event name without modifiers, or the name of a metric (tma_backend_bound)";
    value: Option<i64>, "unit", "The count, times in ns; null for <not counted> and <not supported>";
    unit: Text, "text", "ns, count, or millionths (of metrics that perf prints in percent)";
    status: Text, "text", "counted, not counted or not supported";
    running_share: Option<f64>, "share", "Share of the time it was on the PMU; null where the file does not say";
    scope: Text, "text", "process, system, or the CPU or thread prefix of the line";
    interval_ns: Option<i64>, "ns", "Time stamp of the interval with -I";
    line_no: i64, "line", "Line in the file";
    modifiers: Option<Text>, "text", "Modifiers of the event (u, k, p, ...); null for none";
});

table!("benchmarks", "One timed repetition of a command.", Benchmark {
    artifact_id: i32, "id", "The artifact";
    command: Text, "text", "The command";
    parameters: Text, "text", "name=value pairs, sorted, joined with a comma; empty where there are none";
    variant: Option<Text>, "text", "The parameter named variant";
    threads: Option<i32>, "count", "The parameter named threads";
    work: Option<i64>, "count", "The parameter named work or n";
    function: Option<Text>, "text", "The parameter named function: the only thing that a micro-benchmark calls";
    repetition: i32, "count", "From 0, within this command and file";
    wall_ns: i64, "ns", "Wall time";
    user_ns: Option<i64>, "ns", "User CPU time; null where the tool gives only a mean over several runs";
    system_ns: Option<i64>, "ns", "System CPU time; null likewise";
    exit_code: Option<i32>, "code", "Exit status";
    pointer: Text, "text", "JSON pointer to the wall time";
});
