//! The `record` line of an alternate -> recordings that the kit knows.

/// What a command comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steps {
    /// Recordings of the kit; none where it has to be done by hand.
    pub names: Vec<&'static str>,
    /// System calls that must be traced one by one.
    pub calls: Vec<String>,
}

/// Which recordings a command stands for. Several commands stand between semicolons; where one would do (`or`), all are
/// taken: what works differs from machine to machine.
pub fn steps(record: &str) -> Steps {
    let mut out = Steps::default();
    for part in record.split(';') {
        let words: Vec<&str> = part.split_whitespace().collect();
        let has = |word: &str| words.contains(&word);
        let holds = |text: &str| part.contains(text);
        let name = if holds("perf record") {
            perf_record(part)
        } else if holds("perf stat") {
            (!holds("--per-thread") && !has("-I") && !has("-a")).then_some("perf-stat")
        } else if has("strace") {
            strace(&words, &mut out.calls)
        } else if has("heaptrack") {
            Some("heaptrack")
        } else if holds("offcputime") {
            Some("offcpu")
        } else if holds("smaps_rollup") {
            Some("rss")
        } else if has("hyperfine") {
            hyperfine(part)
        } else if holds("/usr/bin/time") {
            Some("time-v")
        } else {
            None
        };
        if let Some(name) = name.filter(|name| !out.names.contains(name)) {
            out.names.push(name);
        }
    }
    out
}

fn perf_record(part: &str) -> Option<&'static str> {
    if part.contains("sched:") {
        return Some("sched");
    }
    if part.contains("lock:") {
        return Some("lock");
    }
    if part.contains("cycles") {
        return Some("cycles");
    }
    // Another tracepoint is beyond the kit.
    let traces = part.split_whitespace().skip_while(|word| *word != "-e").nth(1).is_some_and(|event| event.contains(':'));
    match (traces, part.contains("dwarf")) {
        (true, _) => None,
        (false, true) => Some("cpu-dwarf"),
        (false, false) => Some("cpu-fp"),
    }
}

fn strace(words: &[&str], calls: &mut Vec<String>) -> Option<&'static str> {
    let has = |word: &str| words.contains(&word);
    if has("-c") {
        return Some(if has("-w") { "strace-cw" } else { "strace-c" });
    }
    let listed = words.iter().find_map(|word| word.strip_prefix("trace=").or_else(|| word.strip_prefix("--trace=")));
    let names: Vec<&str> = listed.unwrap_or("").split(',').collect();
    if names.contains(&"brk") || (names.contains(&"mmap") && !has("-k")) {
        return Some("mem");
    }
    // What is not a list of names (`%file`, `!write`) goes to strace as it is, if it is of its alphabet.
    let is_name = |name: &&&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_%/?".contains(c));
    calls.extend(names.iter().filter(is_name).map(|name| (*name).to_owned()));
    Some("calls")
}

fn hyperfine(part: &str) -> Option<&'static str> {
    if part.contains("-L variant") {
        Some("bench-partner")
    } else if part.contains("-L threads") {
        Some("bench-threads")
    } else if part.contains("-L ") {
        // A program of one's own, or a series over the input.
        None
    } else {
        Some("bench")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands as the hypothesis files state them.
    #[test]
    fn commands_of_the_hypotheses() {
        for (record, names) in [
            ("/usr/bin/time -v -o time-v.txt {argv}", &["time-v"][..]),
            ("perf record -F 997 -e cpu-clock --call-graph dwarf,4096 -o cpu.perf.data -- {argv}", &["cpu-dwarf"]),
            ("perf record -F 997 --call-graph dwarf,4096 -o cpu.perf.data -- {argv}", &["cpu-dwarf"]),
            ("perf record -F 997 -e cpu-clock --call-graph fp -o cpu.perf.data -- {argv}", &["cpu-fp"]),
            ("perf record -F 997 -e cycles:pp --call-graph fp -o cycles.perf.data -- {argv}", &["cycles"]),
            ("perf record -e block:block_rq_issue -a -o b.perf.data -- {argv}", &[]),
            ("strace -f -c -o strace-c.txt -- {argv}", &["strace-c"]),
            ("strace -f -c -w -o strace-cw.txt -- {argv}", &["strace-cw"]),
            ("strace -f -ttt -e trace=brk,mmap,munmap,mremap,madvise -o mem.strace {argv}", &["mem"]),
            ("heaptrack -o heaptrack {argv}", &["heaptrack"]),
            ("PROGRAM & pid=$!; while kill -0 $pid; do cat /proc/$pid/smaps_rollup; sleep 0.05; done", &["rss"]),
            (
                "offcputime -p $(pgrep -n PROGRAM) 5 > offcpu.txt while {argv} runs; or perf record -e sched:sched_switch,sched:sched_wakeup -g -o sched.perf.data -- {argv}",
                &["offcpu", "sched"],
            ),
            ("hyperfine -N --runs 10 -L variant churn,reused --export-json bench.json 'PROGRAM {variant}'", &["bench-partner"]),
            ("for i in 1 2 3; do hyperfine -N --runs 1 --export-json bench/$i.json '{argv}'; done", &["bench"]),
            ("hyperfine -N --runs 10 -L function NAME -L n CALLS --export-json f.json './bench {function} {n}'", &[]),
            ("perf stat --per-thread -p PID", &[]),
        ] {
            assert_eq!(steps(record).names, names, "{record}");
        }
        let both =
            steps("strace -f -c -o strace-c.txt -- {argv}; strace -k -f -ttt -T -e trace=write,$(id),fsync -o calls.strace -- {argv}");
        assert_eq!((both.names, both.calls), (vec!["strace-c", "calls"], vec!["write".to_owned(), "fsync".to_owned()]));
    }
}
