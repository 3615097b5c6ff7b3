//! How long a tool watched: its command line says it, or the times that it printed with every histogram.

use crate::ingest::command;

/// Options of these tools that take a value in the next word, so that a number after them is no duration.
const WITH_VALUE: &[&str] = &["-p", "--pid", "-t", "--tid", "-c", "--cgroup", "-d", "--disk", "-f", "--frequency"];

const NS_PER_S: i64 = 1_000_000_000;

/// `biolatency [OPTIONS] INTERVAL [COUNT]`, or bpftrace's `interval:s:SECONDS`, in nanoseconds. Without a count the tool runs until it is
/// stopped, so the interval says nothing.
pub fn of_command(text: &str, tools: &[&str]) -> Option<i64> {
    let seconds = bpftrace_interval(text).or_else(|| positional(text, tools))?;
    (seconds > 0).then(|| seconds.checked_mul(NS_PER_S)).flatten()
}

/// `klockstat -d SECONDS`, `syscount -d SECONDS`, in nanoseconds.
pub fn of_duration_option(text: &str, tool: &str) -> Option<i64> {
    let words = command::words_of(text, &[tool])?;
    let at = words.iter().position(|word| word == "-d" || word == "--duration");
    let attached =
        words.iter().find_map(|word| word.strip_prefix("--duration=").or_else(|| word.strip_prefix("-d")).filter(|n| !n.is_empty()));
    let seconds: i64 = at.and_then(|at| words.get(at + 1)).map(String::as_str).or(attached)?.parse().ok()?;
    (seconds > 0).then(|| seconds.checked_mul(NS_PER_S)).flatten()
}

fn bpftrace_interval(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once("interval:s:")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

fn positional(text: &str, tools: &[&str]) -> Option<i64> {
    let words = command::words_of(text, tools)?;
    let mut numbers: Vec<i64> = Vec::new();
    let mut is_value = false;
    for word in words.iter().skip(1) {
        if !is_value && let Ok(number) = word.parse() {
            numbers.push(number);
        }
        is_value = WITH_VALUE.contains(&word.as_str());
    }
    match numbers[..] {
        [interval, count] => interval.checked_mul(count),
        _ => None,
    }
}

/// Seconds of the day of a line that holds nothing but a time: `22:56:44`, or `[22:56:44]`.
pub fn stamp(line: &str) -> Option<i64> {
    let time = line.trim();
    let time = time.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(time);
    let mut parts = time.split(':').map(|part| if part.len() == 2 { part.parse::<i64>().ok() } else { None });
    let (h, m, s) = (parts.next()??, parts.next()??, parts.next()??);
    (parts.next().is_none() && (0..24).contains(&h) && (0..60).contains(&m) && (0..61).contains(&s)).then_some(h * 3600 + m * 60 + s)
}

/// The time that n equal intervals cover whose ends have these times: the first began one interval before its end.
pub fn of_stamps(stamps: &[i64]) -> Option<i64> {
    const DAY: i64 = 86_400;
    let count = i64::try_from(stamps.len()).ok().filter(|count| *count >= 2)?;
    let steps = stamps.windows(2).map(|pair| match pair {
        [from, to] => (to - from).rem_euclid(DAY),
        _ => 0,
    });
    let between: i64 = steps.fold(0, i64::saturating_add);
    let all = between.checked_mul(NS_PER_S)?.checked_mul(count)? / (count - 1);
    (all > 0).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_times_count() {
        let of = |text: &str| of_command(text, &["biolatency", "runqlat"]);
        assert_eq!(of("biolatency -D -F 3 1 > b.txt"), Some(3_000_000_000));
        assert_eq!(of("./p & runqlat-bpfcc -p 4711 1 5 > r.txt"), Some(5_000_000_000));
        assert_eq!(of("runqlat -p 4711 5"), None);
        assert_eq!(of("bpftrace -e 'tracepoint:x { @ = hist(1); } interval:s:2 { exit(); }'"), Some(2_000_000_000));
    }

    #[test]
    fn times_of_the_day() {
        assert_eq!(stamp("22:56:44"), Some(82_604));
        assert_eq!(stamp("[00:00:01]"), Some(1));
        for other in ["22:56", "24:00:00", "1:2:3", "22:56:44:01", "a:b:c", ""] {
            assert_eq!(stamp(other), None, "{other}");
        }
        // Three intervals of two seconds over midnight.
        assert_eq!(of_stamps(&[86_398, 0, 2]), Some(6_000_000_000));
        assert_eq!(of_stamps(&[5]), None);
        assert_eq!(of_stamps(&[5, 5]), None);
    }
}
