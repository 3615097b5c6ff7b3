//! Command lines: how a shell would split them, which words are the recording tool's and which the program's.
//!
//! Nothing is ever run. The words are used to name an execution, and to learn what a tool was asked for.

/// One simple command of a command line: its words, without redirections and assignments.
pub type Words = Vec<String>;

/// Splits a command line into simple commands as POSIX sh would: quotes and backslashes are honoured, expansions are
/// left as they are. `;`, `&`, `|` and line ends separate commands.
pub fn simple_commands(line: &str) -> Vec<Words> {
    let mut splitter = Splitter::default();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => splitter.quoted(chars.by_ref().take_while(|c| *c != '\'')),
            '"' => {
                splitter.word.get_or_insert_default();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => splitter.quoted(chars.next().into_iter()),
                        c => splitter.quoted(std::iter::once(c)),
                    }
                }
            }
            '\\' => splitter.quoted(chars.next().into_iter()),
            ';' | '|' | '\n' => splitter.end_command(),
            '&' if splitter.after_redirection() => splitter.quoted(std::iter::once(c)),
            '&' => splitter.end_command(),
            '>' | '<' => splitter.redirection(),
            c if c.is_whitespace() => splitter.end_word(),
            c => splitter.quoted(std::iter::once(c)),
        }
    }
    splitter.end_command();
    splitter.commands
}

#[derive(Default)]
struct Splitter {
    commands: Vec<Words>,
    words: Words,
    word: Option<String>,
    /// The next word is the target of a redirection.
    redirected: bool,
}

impl Splitter {
    fn quoted(&mut self, chars: impl Iterator<Item = char>) {
        self.word.get_or_insert_default().extend(chars);
    }

    fn after_redirection(&self) -> bool {
        self.redirected && self.word.is_none()
    }

    fn redirection(&mut self) {
        // `2>` : the digit belongs to the redirection
        if self.word.as_deref().is_some_and(|word| word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        self.redirected = true;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.redirected) {
            return;
        }
        let is_assignment = self.words.is_empty()
            && word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty()
                    && name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
                    && !name.starts_with(|c: char| c.is_ascii_digit())
            });
        if !is_assignment {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirected = false;
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

/// Words joined so that a shell would split them again.
pub fn quote(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote_word(word)).collect();
    quoted.join(" ")
}

fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%{}[]".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The last part of a path.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A recording tool: its name (with its subcommand), and which of its options take a value in the next word.
struct Tool {
    name: &'static str,
    /// Single letters that take a value; in a group (`-fo file`) only the last may.
    short: &'static str,
    /// Long options whose value is the next word.
    long: &'static [&'static str],
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "perf record",
        short: "FecopmtuGCDjkrM",
        long: &[
            "--call-graph",
            "--filter",
            "--event",
            "--output",
            "--freq",
            "--count",
            "--clockid",
            "--max-size",
            "--mmap-pages",
            "--cpu",
            "--cgroup",
        ],
    },
    Tool {
        name: "perf stat",
        short: "eoptxCGrDIM",
        long: &["--event", "--output", "--field-separator", "--repeat", "--cpu", "--cgroup", "--interval-print"],
    },
    Tool { name: "perf", short: "eo", long: &["--output"] },
    Tool {
        name: "strace",
        short: "eopsabEIOPSUuX",
        long: &["--output", "--trace", "--attach", "--summary-sort-by", "--summary-columns", "--string-limit", "--env", "--user"],
    },
    Tool { name: "heaptrack", short: "opC", long: &["--output", "--pid"] },
    Tool { name: "time", short: "of", long: &["--output", "--format"] },
    Tool { name: "env", short: "uCS", long: &["--unset", "--chdir"] },
    Tool { name: "nice", short: "n", long: &["--adjustment"] },
    Tool { name: "taskset", short: "", long: &[] },
    Tool { name: "timeout", short: "ks", long: &["--kill-after", "--signal"] },
    Tool { name: "sudo", short: "ugCDhpRrTt", long: &["--user", "--group"] },
    Tool { name: "exec", short: "a", long: &[] },
];

/// Tools whose words never contain the program's command line (they attach, or take it as one quoted word).
const ATTACHED: &[&str] = &[
    "offcputime",
    "bpftrace",
    "hyperfine",
    "profile",
    "biolatency",
    "runqlat",
    "runqlen",
    "cpudist",
    "klockstat",
    "syscount",
    "funclatency",
    "vmstat",
    "mpstat",
    "sar",
    "iostat",
];

/// What takes snapshots before and after the program, where it is the first word: under a tool it may be the program itself.
const SNAPSHOTS: &[&str] = &["cat", "tail", "head", "grep", "date"];

/// The name of a tool without what distributions and bpftrace append to it.
fn plain_name(word: &str) -> &str {
    let name = base_name(word);
    name.strip_suffix("-bpfcc").or_else(|| name.strip_suffix(".bt")).or_else(|| name.strip_suffix(".py")).unwrap_or(name)
}

/// What the command line of a recording says about the program: its own words, or `None` where it only names a process.
///
/// `perf record -g -- prog 1` gives `prog 1`; `prog 1 >/dev/null & pid=$!; offcputime -p $pid` gives `prog 1`.
pub fn program_words(line: &str) -> Option<Words> {
    let mut words = simple_commands(line).into_iter().next()?;
    if words.first().is_some_and(|word| SNAPSHOTS.contains(&base_name(word))) {
        return None;
    }
    // wrappers nest: `env -i strace -f -c prog`
    for _ in 0..8 {
        let name = base_name(words.first()?).to_owned();
        if ATTACHED.contains(&plain_name(&name)) {
            return None;
        }
        if name == "perf" && words.get(1).is_some_and(|word| word == "lock") {
            if words.get(2).is_none_or(|word| !word.starts_with("rec")) {
                return None;
            }
            // `perf lock record` takes the options of `perf record`
            words.remove(1);
        }
        let with_subcommand = format!("{name} {}", words.get(1).map_or("", String::as_str));
        let known = |name: &str| TOOLS.iter().find(|tool| tool.name == name);
        let Some(tool) = known(&with_subcommand).or_else(|| known(&name)) else { return Some(words) };
        words = after_options(tool, words);
        if tool.name == "env" {
            words.retain({
                let mut in_front = true;
                move |word| {
                    in_front &= word.contains('=');
                    !in_front
                }
            });
        }
        if matches!(tool.name, "taskset" | "timeout") && !words.is_empty() {
            words.remove(0);
        }
    }
    None
}

fn after_options(tool: &Tool, words: Words) -> Words {
    let mut rest = words.into_iter().skip(tool.name.split(' ').count()).peekable();
    while let Some(word) = rest.next_if(|word| word.starts_with('-')) {
        if word == "--" {
            break;
        }
        let takes_next = if word.starts_with("--") {
            tool.long.contains(&word.as_str())
        } else {
            let letters = word.trim_start_matches('-');
            letters.chars().last().is_some_and(|last| tool.short.contains(last))
                && !letters.chars().rev().skip(1).any(|c| tool.short.contains(c))
        };
        if takes_next {
            rest.next();
        }
    }
    rest.collect()
}

/// The first simple command of a line that runs one of these tools: its words from the tool's name on.
pub fn words_of(line: &str, tools: &[&str]) -> Option<Words> {
    simple_commands(line).into_iter().find_map(|mut words| {
        let at = words.iter().position(|word| tools.contains(&plain_name(word)))?;
        Some(words.split_off(at))
    })
}

/// What an strace command line asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StraceOptions {
    /// `-f` or `-ff`: threads and children are followed.
    pub follows: bool,
    /// `-w`: the summary counts wall time, not system time.
    pub wall_clock: bool,
    /// The list of `-e trace=`, without `trace=`.
    pub filter: Option<String>,
}

/// The options of the first `strace` in a command line.
pub fn strace_options(line: &str) -> Option<StraceOptions> {
    let commands = simple_commands(line);
    let words = commands.iter().find_map(|words| {
        let at = words.iter().position(|word| base_name(word) == "strace")?;
        words.get(at..)
    })?;
    let tool = TOOLS.iter().find(|tool| tool.name == "strace")?;
    let mut options = StraceOptions::default();
    let mut rest = words.iter().skip(1).map(String::as_str);
    while let Some(word) = rest.next() {
        match word {
            "--" => break,
            "--follow-forks" => options.follows = true,
            "--summary-wall-clock" => options.wall_clock = true,
            "--trace" => options.filter = rest.next().map(str::to_owned),
            _ if word.starts_with("--trace=") => options.filter = word.strip_prefix("--trace=").map(str::to_owned),
            _ if word.starts_with("--") => {
                if tool.long.contains(&word) {
                    rest.next();
                }
            }
            _ if word.starts_with('-') => {
                let letters = word.get(1..).unwrap_or_default();
                let valued = letters.find(|c| tool.short.contains(c));
                let flags = letters.get(..valued.unwrap_or(letters.len())).unwrap_or_default();
                options.follows |= flags.contains('f');
                options.wall_clock |= flags.contains('w');
                let Some(at) = valued else { continue };
                let attached = letters.get(at + 1..).unwrap_or_default();
                let value = if attached.is_empty() { rest.next().unwrap_or_default() } else { attached };
                if letters.get(at..=at) == Some("e") {
                    expression(value, &mut options);
                }
            }
            _ => break,
        }
    }
    Some(options)
}

/// `-e trace=write,fsync`, `-e t=write`, `-e write`; other qualifiers (`signal=`, `abbrev=`, ...) filter no calls.
fn expression(value: &str, options: &mut StraceOptions) {
    let list = match value.split_once('=') {
        Some(("trace" | "t", list)) => list,
        Some(_) => return,
        None => value,
    };
    if list != "all" {
        options.filter = Some(list.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(line: &str) -> Option<String> {
        program_words(line).map(|words| quote(&words))
    }

    #[test]
    fn the_program_is_found_behind_the_tools() {
        let is = |line: &str, expected: &str| assert_eq!(program(line).as_deref(), Some(expected), "{line}");
        is(
            "perf record -q -F 997 -e cpu-clock --call-graph fp -o x.data -- /bin/s1 unbuffered 6000000; zstd -19 x",
            "/bin/s1 unbuffered 6000000",
        );
        is("perf stat -j -o p.json -e task-clock ./p 1", "./p 1");
        is("strace -f -c -w -o out ./p 1 'a b'", "./p 1 'a b'");
        is("env -i PATH=/bin strace -fco out ./p", "./p");
        is("/usr/bin/time -v -o t.txt ./p", "./p");
        is("heaptrack -o h ./p 1", "./p 1");
        is("./s6 sleeping 4800 >/dev/null & pid=$!; offcputime -p $pid 3 > offcpu.txt; wait", "./s6 sleeping 4800");
        is("perf record -a --filter \"'a ~ b' || c\" -o s.data -- ./p 2>log", "./p");
        is("perf lock record -o lock.data -- ./p 1; perf lock contention -i lock.data > lock.txt", "./p 1");
        is("strace -c cat file", "cat file");
        for attached in ["offcputime -p 17 3", "perf lock contention -i x", "biolatency-bpfcc -D 5 1", "cat /proc/pressure/cpu; ./p 1"] {
            assert_eq!(program(attached), None, "{attached}");
        }
        assert_eq!(program(""), None);
    }

    #[test]
    fn strace_says_what_it_was_asked_for() {
        let options = strace_options("strace -k -f -ttt -T -e trace=write,fsync -o calls.strace ./p -w").unwrap();
        assert_eq!(options, StraceOptions { follows: true, wall_clock: false, filter: Some("write,fsync".into()) });
        let options = strace_options("env -i strace -fcw -o out ./p").unwrap();
        assert!(options.follows && options.wall_clock && options.filter.is_none());
        assert_eq!(strace_options("perf stat true"), None);
    }

    #[test]
    fn quoting_survives_a_round_trip() {
        let words: Words = ["a b", "it's", "", "x;y", "plain"].map(str::to_owned).to_vec();
        assert_eq!(simple_commands(&quote(&words)), [words]);
    }
}
