//! The command line of `perf record`: which words are perf's own, which are the program under study.

/// What a `perf record` command line asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PerfCommand {
    /// The program and its arguments; empty when an existing process or the whole system was recorded.
    pub argv: Vec<String>,
    pub system_wide: bool,
    /// `-p` or `-t` was given.
    pub attached: bool,
    /// Tracepoints were filtered: what is about other tasks is incomplete.
    pub filtered: bool,
    /// Events as `-e` names them; empty for perf's default. `None` where other tools than record chose them.
    pub events: Option<Vec<String>>,
}

impl PerfCommand {
    /// Nothing about what was recorded.
    pub fn is_blank(&self) -> bool {
        PerfCommand { events: None, ..self.clone() } == PerfCommand::default()
    }
}

/// Short options of `perf record` (6.x) that take a value, in the same word or the next.
const SHORT_WITH_VALUE: &str = "eFcoptCurmDGjk";
/// Long options that take a value in the next word unless `=` follows.
const LONG_WITH_VALUE: &[&str] = &[
    "event",
    "filter",
    "pid",
    "tid",
    "realtime",
    "cpu",
    "count",
    "output",
    "freq",
    "mmap-pages",
    "mmap-flush",
    "call-graph",
    "cgroup",
    "delay",
    "uid",
    "branch-filter",
    "clockid",
    "clang-path",
    "clang-opt",
    "proc-map-timeout",
    "switch-max-files",
    "affinity",
    "vmlinux",
    "num-thread-synthesize",
    "control",
    "synth",
    "max-size",
    "switch-output-event",
    "off-cpu-thresh",
    "setup-filter",
];
/// Tools around `perf record` (`perf sched record`) that record the whole system by themselves.
const SYSTEM_WIDE_TOOLS: &[&str] = &["sched", "lock", "kmem", "timechart"];

/// Parses argv as the file has it: `perf record ...`, `/usr/bin/perf sched record ...`.
pub fn parse(argv: &[String]) -> PerfCommand {
    let mut command = PerfCommand::default();
    let record = argv.iter().position(|word| word == "record" || word == "rec");
    let (tool, mut words) = match record {
        Some(at) => (argv.get(1..at).unwrap_or(&[]), argv.get(at + 1..).unwrap_or(&[]).iter().peekable()),
        None => return command,
    };
    command.events = tool.is_empty().then(Vec::new);
    command.system_wide = tool.iter().any(|word| SYSTEM_WIDE_TOOLS.contains(&word.as_str()));
    while let Some(word) = words.next() {
        if word == "--" {
            command.argv = words.cloned().collect();
            break;
        }
        let takes_next = match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) => long_option(long, &mut command),
            (None, Some(short)) if !short.is_empty() => short_options(short, &mut command),
            _ => {
                command.argv = std::iter::once(word).chain(words).cloned().collect();
                break;
            }
        };
        let value = if takes_next { words.next().map(String::as_str) } else { None };
        if let (Some(events), Some(value)) = (&mut command.events, event_value(word, value)) {
            events.push(value.to_owned());
        }
    }
    command
}

/// Whether the value is the next word.
fn long_option(option: &str, command: &mut PerfCommand) -> bool {
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    // perf takes any unambiguous beginning of a name; "--ev" is read here as it reads it.
    let is = |full: &str| full == name || name.len() >= 3 && full.starts_with(name);
    command.system_wide |= is("all-cpus") || name == "cpu";
    command.attached |= name == "pid" || name == "tid";
    command.filtered |= name == "filter";
    value.is_none() && !name.starts_with("no-") && LONG_WITH_VALUE.iter().any(|full| is(full))
}

/// What `-e` says: in the word itself or the next one.
fn event_value<'a>(word: &'a str, next: Option<&'a str>) -> Option<&'a str> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, next), |(name, value)| (name, Some(value)));
        return value.filter(|_| name.len() >= 2 && "event".starts_with(name));
    }
    let short = word.strip_prefix('-')?;
    let (at, option) = short.char_indices().find(|(_, option)| SHORT_WITH_VALUE.contains(*option))?;
    let rest = short.get(at + option.len_utf8()..).filter(|rest| !rest.is_empty());
    rest.or(next).filter(|_| option == 'e')
}

/// A word of bundled short options (`-agF997`): whether the value is the next word.
fn short_options(options: &str, command: &mut PerfCommand) -> bool {
    for (at, option) in options.char_indices() {
        command.system_wide |= option == 'a' || option == 'C';
        command.attached |= option == 'p' || option == 't';
        if SHORT_WITH_VALUE.contains(option) {
            return options.len() == at + option.len_utf8();
        }
        // -z, -I, -S take an optional value in the same word only.
        if matches!(option, 'z' | 'I' | 'S') {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    // Expected values: what perf-record(1) says about each option.
    #[test]
    fn the_program_begins_at_the_first_word_that_is_no_option() {
        for (line, program, system_wide) in [
            ("perf record -F 997 -e cpu-clock --call-graph fp -o x.data ./prog a b", "./prog a b", false),
            ("perf record -F997 -ecpu-clock -g ./prog -g", "./prog -g", false),
            ("/usr/bin/perf record -ag -- sleep 1", "sleep 1", true),
            ("perf record -a -e sched:sched_switch,sched:sched_wakeup -g -o f ./p", "./p", true),
            ("perf record --call-graph=dwarf,4096 --freq 99 ./p", "./p", false),
            ("perf record -z --mmap-pages 64 -i -D 100 ./p", "./p", false),
            ("perf record -C 0,1 sleep 5", "sleep 5", true),
            ("perf sched record sleep 5", "sleep 5", true),
            ("perf record -p 77 -g", "", false),
            ("perf record --switch-events --no-inherit ./p", "./p", false),
            ("perf record -j any,u ./p", "./p", false),
        ] {
            let command = parse(&words(line));
            assert_eq!(command.argv.join(" "), program, "{line}");
            assert_eq!(command.system_wide, system_wide, "{line}");
        }
    }

    // perf-record(1), -e.
    #[test]
    fn events_are_found_in_every_spelling() {
        for (line, events) in [
            ("perf record -e cycles -ecpu-clock --event=a:b --event c ./p -e d", Some("cycles cpu-clock a:b c")),
            ("perf record -ge {cycles,page-faults}:S -F 99 -o e ./p", Some("{cycles,page-faults}:S")),
            ("perf record -a -- ./p", Some("")),
            ("perf sched record ./p", None),
        ] {
            assert_eq!(parse(&words(line)).events.map(|events| events.join(" ")).as_deref(), events, "{line}");
        }
    }
}
