//! Who ran and what was observed.

use super::{Maybe32, Maybe64, Text, table};

table!("events", "One event of one artifact: the thing that was counted or traced.", Event {
    event_id: i32, "id", "Dense id, by artifact and order in the file";
    artifact_id: i32, "id", "The artifact";
    name: Text, "text", "Name as recorded (cycles, cpu-clock, sched:sched_switch); derived from type and config where the file has none";
    mechanism: Text, "text", "M1 CPU sampling, M3 allocation hooks, M4 scheduler, M5 syscalls, M7 PMU, M8 kernel trace, ...";
    probe: Text, "text", "What fires: hrtimer, pmu_overflow, tp_sched, tp_syscall, malloc_hook, bpf_map, ...";
    role: Text, "text", "cpu, off-cpu, alloc or other";
    frequency_hz: Option<i64>, "Hz", "Requested frequency";
    period: Option<i64>, "events", "Requested fixed period";
    unit: Text, "text", "Unit of the weights: ns or count";
    running_share: Option<f64>, "share", "Share of the time the counter really ran (multiplexing)";
    n: i64, "count", "Samples, of all processes";
    total_weight: i64, "unit", "Sum of the weights, of all processes";
    target_n: i64, "count", "Samples of the target processes";
    target_weight: i64, "unit", "Sum of the weights of the target processes";
    n_eff: Option<f64>, "count", "Effective number of target samples: Kish's (sum w)^2 / sum w^2 over the design effect";
    design_effect: Option<f64>, "ratio", "Between-block variance over binomial variance, 20 time blocks, at least 1";
    lost: Option<i64>, "count", "Samples the kernel says it lost; null where it does not say";
    excludes: Option<Text>, "text", "What it was told to leave out: kernel, user, or both with a comma; null where nothing or where the file cannot say";
});

table!("processes", "One process: a pid for as long as it meant one thing.", Process {
    process_id: i32, "id", "Surrogate id (pids are reused)";
    artifact_id: i32, "id", "The artifact that saw it";
    pid: i32, "pid", "Process id";
    parent_process_id: Option<i32>, "id", "The process that forked it";
    name: Option<Text>, "text", "Last command name of its main thread";
    is_target: bool, "bool", "Whether it belongs to the program under study";
});

table!("threads", "One thread.", Thread {
    thread_id: i32, "id", "Surrogate id";
    process_id: i32, "id", "Its process";
    artifact_id: i32, "id", "The artifact that saw it";
    tid: i32, "tid", "Thread id";
    name: Option<Text>, "text", "Last name";
    is_target: bool, "bool", "Whether its process is a target";
});

table!("thread_names", "A thread's name from a moment on.", ThreadName {
    thread_id: i32, "id", "The thread";
    ts_ns: Option<i64>, "ns", "When; null where the name was there before the recording";
    name: Text, "text", "The name";
});

table!("samples", "One observation of one event. 40 bytes in memory; sorted by (event_id, ts_ns, record_no).", #[derive(Copy)] Sample {
    event_id: i32, "id", "The event";
    ts_ns: Maybe64, "ns", "Time in the artifact's clock";
    thread_id: Maybe32, "id", "The thread; null for hypervisor and idle contexts without one";
    cpu: Maybe32, "cpu", "CPU number";
    stack_id: Maybe32, "id", "Innermost node of its stack; null for [no stack]";
    weight: i64, "unit", "What the sample stands for (perf's period)";
    record_no: i64, "record", "Record in the file, from 0, compressed records expanded";
});
