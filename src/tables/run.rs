//! What was read and what it recorded.

use super::{Text, table};

table!("artifacts", "One input file: what it is, who wrote it, what it came from, how well it was read.", Artifact {
    artifact_id: i32, "id", "Dense id, by path";
    path: Text, "text", "Path relative to the input root";
    kind: Text, "text", "Format name of the registry: perf.data, strace-summary, strace-log, heaptrack, offcpu-stacks, time-v, perf-stat, hyperfine, memory-series, histogram, perf-lock, klockstat, futex-waits, syscount, accounting, sysstat, profile-log, manifest";
    tool: Text, "text", "Tool that recorded it: perf, simpleperf, strace, heaptrack, bpf, time, hyperfine, procfs, spans (the program itself), tripod";
    tool_version: Option<Text>, "text", "Version the file states";
    sha256: Text, "hex", "SHA-256 of the file as given";
    root: Text, "hex", "SHA-256 of the artifact it was converted from; its own where it was not";
    size_bytes: i64, "bytes", "Size of the file as given";
    compression: Option<Text>, "text", "zstd, gzip, xz or bzip2 around the whole file";
    status: Text, "text", "complete, partial (something was skipped), truncated, duplicate (same content as an earlier one) or unreadable";
    records: i64, "count", "Records or lines read";
    skipped: i64, "count", "Records or lines that could not be used; diagnostics say why";
    execution_id: Option<i32>, "id", "The execution it recorded";
    command: Option<Text>, "text", "Command line of the recording tool, from the file or the manifest";
    clock: Option<Text>, "text", "Clock of its time stamps: perf, realtime, monotonic, relative";
    call_clock: Option<Text>, "text", "strace summaries: what the seconds are: system, wall, unknown";
    clock_source: Option<Text>, "text", "How call_clock was decided: manifest, command, heuristic, format";
    unwinding: Option<Text>, "text", "How its stacks were made: fp, dwarf, lbr, bpf, libunwind, none";
    follows_children: Option<bool>, "bool", "Whether the tool followed threads and children (strace -f, perf inherit)";
    syscall_filter: Option<Text>, "text", "Comma separated list of the system calls that were traced; null where all were or it is unknown";
    system_wide: Option<bool>, "bool", "Whether it recorded every process of the machine";
    window_ns: Option<i64>, "ns", "First to last time stamp";
    wall_ns: Option<i64>, "ns", "Wall time of the recorded execution under this tool";
    psi_cpu_share: Option<f64>, "share", "Share of that time in which some task waited for a CPU (PSI some)";
});

table!("executions", "One run of the program under study, as one artifact tells it.", Execution {
    execution_id: i32, "id", "Dense id, by artifact";
    artifact_id: i32, "id", "The artifact that tells it";
    argv: Option<Text>, "text", "Arguments, shell-quoted";
    program: Option<Text>, "text", "Base name of argv[0]";
    signature: Option<Text>, "text", "argv without the declared work, threads and variant: equal signatures are comparable";
    wrapper: Text, "text", "Tool it ran under; bare where the tool costs next to nothing (time, perf stat, hyperfine)";
    wall_ns: Option<i64>, "ns", "Wall time";
    user_ns: Option<i64>, "ns", "User CPU time";
    system_ns: Option<i64>, "ns", "System CPU time";
    max_rss_bytes: Option<i64>, "bytes", "Largest resident set";
    minor_faults: Option<i64>, "count", "Minor page faults";
    major_faults: Option<i64>, "count", "Major page faults";
    voluntary_switches: Option<i64>, "count", "Voluntary context switches";
    involuntary_switches: Option<i64>, "count", "Involuntary context switches";
    exit_code: Option<i32>, "code", "Exit status";
    work: Option<i64>, "count", "Units of work the manifest declares";
    threads: Option<i32>, "count", "Threads the manifest declares";
    variant: Option<Text>, "text", "Variant the manifest declares";
    places: Option<Text>, "text", "Where its values stand in the artifact: field@L=line or field@ptr=pointer, separated by commas";
});

table!("host", "One fact about the recorded machine and where it was read.", HostFact {
    artifact_id: i32, "id", "The artifact that states it";
    key: Text, "text", "hostname, kernel_release, kernel_build_id, arch, cpus, cpu_model, ...";
    value: Text, "text", "As stated";
    number: Option<i64>, "count", "The value where it is a whole number";
});

table!("environment", "One reading of the surroundings of a recording: load, pressure, steal.", EnvironmentReading {
    artifact_id: i32, "id", "The artifact during whose recording it was taken";
    metric: Text, "text", "psi_cpu_some, psi_cpu_avg10, psi_io_some, psi_memory_some, steal, throttled_periods (of the periods of a cgroup quota), load1, foreign_on_cpu";
    value: f64, "share", "Share of the time, or the load itself";
    source: Text, "text", "manifest, or the artifact's own path";
});

table!("diagnostics", "One kind of loss or doubt in one file: how often, where first, and what to do about it.", Diagnostic {
    artifact_id: Option<i32>, "id", "The file; null where it concerns the run";
    kind: Text, "text", "Name of the loss, e.g. perf_lost_samples";
    severity: Text, "text", "info, warn or error";
    count: i64, "count", "How often";
    message: Text, "text", "What happened";
    advice: Text, "text", "What to do about it";
    places: Text, "text", "The first three places, as record=N or L=N";
});

impl HostFact {
    /// A fact of an artifact that is being read.
    pub fn new(key: &str, value: &str) -> HostFact {
        HostFact { artifact_id: 0, key: key.into(), value: value.into(), number: value.parse().ok() }
    }
}

table!("recording_facts", "A number about one recording that a query cannot make; the quality checks read it.", RecordingFact {
    artifact_id: i32, "id", "The recording";
    fact: Text, "text", "lost_worst_second, throttled, sampling_rate, stacks_cut, in_step, process_life, leaf_without_frame, names_by_file_name, names_refused, phases, phase_share, same_numbers, foreign_cpu";
    part: i64, "unit", "Numerator";
    whole: i64, "unit", "Denominator";
    subject: Option<Text>, "text", "What it is about: a dso, the phases, ...";
    other_artifact_id: Option<i32>, "id", "The other recording, where it compares two";
});

table!("losses", "One second of a recording in which records were lost. Several rows may tell of one second: sum them.", LostSecond {
    artifact_id: i32, "id", "The recording";
    ts_ns: i64, "ns", "Where the second begins, in the artifact's clock";
    lost: i64, "count", "Records lost, as the recording says";
    seen: i64, "count", "Samples that it has of that second";
});
