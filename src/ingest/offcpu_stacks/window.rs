//! How long an off-CPU tool watched: neither output says it, the command line does.

use crate::ingest::command;

/// Options of offcputime that take a value, so that a number after them is no duration.
const WITH_VALUE: &[&str] =
    &["-p", "--pid", "-t", "--tid", "-m", "--min-block-time", "-M", "--max-block-time", "--state", "--stack-storage-size"];

/// The seconds of `offcputime [OPTIONS] SECONDS` or of bpftrace's `interval:s:SECONDS`, in nanoseconds.
pub fn of_command(text: &str) -> Option<i64> {
    let seconds = interval(text).or_else(|| positional(text))?;
    (seconds > 0).then(|| seconds.checked_mul(1_000_000_000)).flatten()
}

fn interval(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once("interval:s:")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

fn positional(text: &str) -> Option<i64> {
    for words in command::simple_commands(text) {
        let Some(at) = words.iter().position(|word| word.contains("offcputime")) else { continue };
        let mut is_value = false;
        for word in words.iter().skip(at + 1) {
            if !is_value && let Ok(seconds) = word.parse() {
                return Some(seconds);
            }
            is_value = WITH_VALUE.contains(&word.as_str());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::of_command;

    /// As in testdata/record.sh and offcputime(8).
    #[test]
    fn seconds_of_the_command_lines_in_use() {
        assert_eq!(of_command("prog >/dev/null & pid=$!; offcputime -p $pid 3 > offcpu.txt; wait"), Some(3_000_000_000));
        assert_eq!(of_command("offcputime -p 4711 -f 10"), Some(10_000_000_000));
        assert_eq!(of_command("bpftrace -e 'tracepoint:sched:sched_switch { } interval:s:5 { exit(); }'"), Some(5_000_000_000));
        assert_eq!(of_command("offcputime -p 4711"), None);
    }
}
