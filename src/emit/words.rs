//! The short words of the tables, said in full for people who do not know them.

/// What recorded it, by mechanism: two angles count as two only if these differ.
pub const MECHANISMS: [(&str, &str); 10] = [
    ("M1", "samples of what runs on the CPUs"),
    ("M2", "spans: pieces of work that the program itself timed"),
    ("M3", "counts of allocations"),
    ("M4", "the scheduler's record of who waits, and where"),
    ("M5", "system calls, one by one or counted"),
    ("M6", "waits for locks"),
    ("M7", "hardware counters"),
    ("M8", "accounting and tracing inside the kernel"),
    ("M9", "the clock: repeated timings of the whole run"),
    ("M10", "memory as the kernel accounts it"),
];

/// `samples of what runs on the CPUs`; the code itself where it is unknown.
pub fn mechanism(code: &str) -> &str {
    MECHANISMS.iter().find(|(known, _)| *known == code).map_or(code, |(_, what)| what)
}

/// What fired when a number was taken.
const PROBES: &[(&str, &str)] = &[
    ("event", "what the recorded event says"),
    ("hrtimer", "a timer interrupt"),
    ("pmu_overflow", "a hardware counter that overflows"),
    ("pmu_count", "hardware counters"),
    ("sw_count", "counters of the kernel"),
    ("tp_sched", "the scheduler's tracepoints"),
    ("sched_switch", "each switch of the scheduler"),
    ("tp_syscall", "the kernel's tracepoints at system calls"),
    ("ptrace_stop", "the program is stopped at each call"),
    ("malloc_hook", "a hook in malloc and free"),
    ("tp_block", "the kernel's tracepoints at disk requests"),
    ("compiler", "what the compiler wrote into the program"),
    ("lock_tp", "the kernel's tracepoints at locks"),
    ("uprobe", "a probe in the program"),
    ("bpf_map", "sums kept in the kernel by a BPF program"),
    ("cputime", "CPU time as the kernel accounts it"),
    ("mm_counters", "memory counters of the process"),
    ("switch_counters", "switch counters of the process"),
    ("procfs", "files of /proc, read again and again"),
    ("clock", "a clock around the run"),
    ("span_api", "the program's own time stamps"),
    ("psi_cgroup", "pressure and quota accounting of the kernel"),
];

/// The probe in words; several are joined by `+`.
pub fn probe(name: &str) -> String {
    let one =
        |name: &str| PROBES.iter().find(|(known, _)| *known == name).map_or_else(|| name.replace('_', " "), |(_, what)| (*what).to_owned());
    name.split('+').map(one).collect::<Vec<_>>().join("; ")
}

/// What a hypothesis costs a share of.
pub fn resource(name: &str) -> &str {
    match name {
        "cpu" => "the CPU time",
        "off-cpu" => "the waiting time",
        "memory" => "memory",
        other => other,
    }
}

/// How an interval came about.
pub fn interval(kind: &str) -> &'static str {
    match kind {
        "wilson" => "95 % interval of a share of samples (Wilson)",
        "complete" => "complete trace: no sampling error, only what the tool says it lost",
        "accounting" => "kernel accounting, taken as 2 % uncertain",
        "bootstrap" => "spread of the median over resampled repetitions (bootstrap)",
        _ => "spread of the repetitions",
    }
}

/// What a label means.
pub fn label(name: &str) -> &'static str {
    match name.split(' ').next().unwrap_or("") {
        "KERNEL" => "three independent angles support it: act on it",
        "DISPUTED" => "two angles support it, the third does not",
        "open" => "one angle supports it and something is not measured yet",
        "discarded" => "one angle supports it, the others were measured and do not",
        "refuted" => "at least two angles were measured and speak against it",
        "unlikely" => "one angle speaks against it, the others are not measured",
        _ if name == "not evaluated" => "nothing was measured that could decide it",
        _ => "this run gives the question no ground",
    }
}

/// Text in lines of at most `width` characters; lines after the first begin with `indent` blanks. A word that is longer
/// than a line (a path, a command) stays whole.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    // The blanks at the beginning belong to the text.
    let lead = text.len() - text.trim_start_matches(' ').len();
    out.push_str(text.get(..lead).unwrap_or(""));
    column += lead;
    let mut first = true;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !first && column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if !first {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
        first = false;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_no_longer_than_asked() {
        let text = "  one two three four five six seven";
        assert_eq!(wrap(text, 15, 4), "  one two three\n    four five\n    six seven");
        assert_eq!(wrap("averyveryverylongword b", 5, 1), "averyveryverylongword\n b");
        assert_eq!(wrap("", 5, 1), "");
    }

    #[test]
    fn every_code_has_words() {
        assert_eq!(mechanism("M5"), "system calls, one by one or counted");
        assert_eq!(probe("ptrace_stop+clock"), "the program is stopped at each call; a clock around the run");
        assert_eq!(probe("new_probe"), "new probe");
        assert_ne!(label("KERNEL"), label("open (1/3)"));
    }
}
