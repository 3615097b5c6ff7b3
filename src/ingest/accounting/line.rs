//! One line of a snapshot. Where the lines of a file do not say which file they are of (pressure), the head above them does:
//! `==> PATH <==` of head and tail, `PATH:` in front of each line of grep, or any line that is a path and nothing else.

use super::Value;
use crate::ingest::text;

/// Clock ticks of the numbers in /proc/stat (USER_HZ), in nanoseconds.
const TICK_NS: i64 = 10_000_000;

/// Longest scope that is kept.
const SCOPE_MAX: usize = 256;

/// Which file the lines are of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Place {
    #[default]
    Unknown,
    /// Resource and scope.
    Pressure(&'static str, String),
    /// Scope.
    CpuStat(String),
    Uptime,
    /// Something else: its lines tell for themselves, or nothing.
    Other,
}

const RESOURCES: [&str; 4] = ["cpu", "io", "memory", "irq"];

impl Place {
    fn of_path(path: &str) -> Place {
        let cgroup = || {
            let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
            let dir = dir.strip_prefix("/sys/fs/cgroup").unwrap_or(dir);
            let scope = if dir.is_empty() { "cgroup".to_owned() } else { format!("cgroup {dir}") };
            // what would end a part of an anchor is no part of a scope
            scope.chars().take(SCOPE_MAX).map(|c| if "&=#%,".contains(c) { '_' } else { c }).collect::<String>()
        };
        for resource in RESOURCES {
            if path.strip_suffix(resource).is_some_and(|front| front.ends_with("/pressure/")) {
                return Place::Pressure(resource, "system".into());
            }
            if path.ends_with(&format!("{resource}.pressure")) {
                return Place::Pressure(resource, cgroup());
            }
        }
        match path {
            _ if path.ends_with("cpu.stat") => Place::CpuStat(cgroup()),
            "/proc/uptime" => Place::Uptime,
            _ => Place::Other,
        }
    }

    /// A file named psi-io.txt or cpu.pressure holds the pressure of that resource, until a head says otherwise.
    pub fn of_file_name(name: &str) -> Place {
        let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        let mut words = base.split(|c: char| !c.is_ascii_alphanumeric());
        let found =
            words.find_map(|word| RESOURCES.into_iter().find(|resource| word == *resource || word == "mem" && *resource == "memory"));
        found.map_or(Place::Unknown, |resource| Place::Pressure(resource, "system".into()))
    }
}

/// The file that begins here, and what of the line belongs to it.
pub fn head(line: &str) -> Option<(Place, &str)> {
    let bare = line.trim_matches(|c: char| c.is_whitespace() || "=<>#:-".contains(c));
    if bare.starts_with('/') && !bare.contains(char::is_whitespace) {
        return Some((Place::of_path(bare), ""));
    }
    let (path, content) = line.split_once(':').filter(|(path, _)| path.starts_with('/') && !path.contains(char::is_whitespace))?;
    Some((Place::of_path(path), content))
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// Scope and numbers.
    Values(String, Vec<Value>),
    /// Nanoseconds since 1970.
    Clock(i64),
    /// Nanoseconds since boot.
    Uptime(i64),
    Broken,
    NoResource,
    Nothing,
}

/// Lines that no other format has: by one of them a file is recognized.
pub fn is_telling(line: &str) -> bool {
    let content = head(line).map_or(line, |(_, content)| content);
    if content.starts_with("some avg10=") || content.starts_with("full avg10=") {
        return true;
    }
    let mut words = content.split_whitespace();
    let (key, value) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match key {
        "nr_throttled" | "usage_usec" => is_number && words.next().is_none(),
        "cpu" => is_number && content.starts_with("cpu  ") && words.count() >= 6,
        "cancelled_write_bytes:" | "nonvoluntary_ctxt_switches:" => is_number,
        _ => false,
    }
}

pub fn parse(place: &Place, line: &str) -> Said {
    let line = line.trim();
    if line.starts_with("some avg10=") || line.starts_with("full avg10=") {
        return pressure(place, line);
    }
    if let Some(said) = clock(place, line) {
        return said;
    }
    let mut words = line.split_whitespace();
    let (key, rest) = (words.next().unwrap_or(""), words.collect::<Vec<_>>());
    if let Some(number) = key.strip_prefix("cpu")
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && rest.len() >= 4
    {
        return cpu(key, &rest);
    }
    let scope_of_cgroup = || if let Place::CpuStat(scope) = place { scope.clone() } else { "cgroup".to_owned() };
    let Some((scope, key, scale, unit)) = plain(key, scope_of_cgroup) else { return Said::Nothing };
    let number = rest.first().and_then(|word| word.parse::<i64>().ok()).and_then(|number| number.checked_mul(scale));
    match number.filter(|number| *number >= 0) {
        Some(value) => Said::Values(scope, vec![Value { key: key.to_owned(), value, unit, is_average: false }]),
        None => Said::Broken,
    }
}

/// Scope, our key, factor and unit of a line `key number`.
fn plain(key: &str, cgroup: impl Fn() -> String) -> Option<(String, &str, i64, &'static str)> {
    const SYSTEM: &str = "system";
    const PROCESS: &str = "process";
    let own = |scope: &str, key, scale, unit| Some((scope.to_owned(), key, scale, unit));
    match key {
        "nr_periods" | "nr_throttled" | "nr_bursts" => Some((cgroup(), key, 1, "count")),
        "throttled_usec" => Some((cgroup(), "throttled", 1_000, "ns")),
        "throttled_time" => Some((cgroup(), "throttled", 1, "ns")),
        "usage_usec" => Some((cgroup(), "usage", 1_000, "ns")),
        "user_usec" => Some((cgroup(), "user", 1_000, "ns")),
        "system_usec" => Some((cgroup(), "system", 1_000, "ns")),
        "ctxt" => own(SYSTEM, "context_switches", 1, "count"),
        "processes" => own(SYSTEM, "forks", 1, "count"),
        "procs_running" => own(SYSTEM, "run_queue", 1, "count"),
        "procs_blocked" => own(SYSTEM, "blocked", 1, "count"),
        "rchar:" => own(PROCESS, "read_chars", 1, "bytes"),
        "wchar:" => own(PROCESS, "written_chars", 1, "bytes"),
        "syscr:" => own(PROCESS, "read_calls", 1, "count"),
        "syscw:" => own(PROCESS, "write_calls", 1, "count"),
        "read_bytes:" => own(PROCESS, "read_bytes", 1, "bytes"),
        "write_bytes:" => own(PROCESS, "write_bytes", 1, "bytes"),
        "cancelled_write_bytes:" => own(PROCESS, "cancelled_write_bytes", 1, "bytes"),
        "voluntary_ctxt_switches:" => own(PROCESS, "voluntary_switches", 1, "count"),
        "nonvoluntary_ctxt_switches:" => own(PROCESS, "involuntary_switches", 1, "count"),
        "VmHWM:" => own(PROCESS, "max_rss_bytes", 1024, "bytes"),
        "Threads:" => own(PROCESS, "threads", 1, "count"),
        _ => None,
    }
}

/// `some avg10=25.72 avg60=11.08 avg300=6.73 total=2055967707`: shares in percent, the total in microseconds.
fn pressure(place: &Place, line: &str) -> Said {
    let Place::Pressure(resource, scope) = place else { return Said::NoResource };
    let (kind, fields) = line.split_once(' ').unwrap_or((line, ""));
    let mut values = Vec::new();
    for field in fields.split_whitespace() {
        let Some((name, number)) = field.split_once('=') else { return Said::Broken };
        let (key, value, unit) = match name {
            "total" => {
                let ns = number.parse::<i64>().ok().and_then(|us| us.checked_mul(1_000));
                (format!("psi_{resource}_{kind}"), ns, "ns")
            }
            "avg10" | "avg60" | "avg300" => (format!("psi_{resource}_{kind}_{name}"), text::decimal(number, 4), "ppm"),
            _ => continue,
        };
        let Some(value) = value.filter(|value| *value >= 0) else { return Said::Broken };
        values.push(Value { key, value, unit, is_average: unit == "ppm" });
    }
    Said::Values(scope.clone(), values)
}

/// `cpu  user nice system idle iowait irq softirq steal guest guest_nice`; guest time is in user already.
fn cpu(name: &str, numbers: &[&str]) -> Said {
    const NAMES: [&str; 8] = ["cpu_user", "cpu_nice", "cpu_system", "cpu_idle", "cpu_iowait", "cpu_irq", "cpu_softirq", "cpu_steal"];
    let scope = if name == "cpu" { "system" } else { name };
    let (mut values, mut total) = (Vec::new(), 0i64);
    for (key, number) in NAMES.iter().zip(numbers) {
        let ns = number.parse::<i64>().ok().and_then(|ticks| ticks.checked_mul(TICK_NS)).filter(|ns| *ns >= 0);
        let Some(ns) = ns else { return Said::Broken };
        total = total.saturating_add(ns);
        values.push(Value { key: (*key).to_owned(), value: ns, unit: "ns", is_average: false });
    }
    values.push(Value { key: "cpu_total".to_owned(), value: total, unit: "ns", is_average: false });
    Said::Values(scope.chars().take(SCOPE_MAX).collect(), values)
}

/// `1795993235.136740944` of `date +%s.%N`; `22829.43 16601.53` of /proc/uptime.
fn clock(place: &Place, line: &str) -> Option<Said> {
    let mut words = line.split_whitespace();
    let (first, second, more) = (words.next()?, words.next(), words.next());
    let (whole, fraction) = first.split_once('.')?;
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) || more.is_some() {
        return None;
    }
    let ns = text::seconds(first)?;
    match second {
        None if whole.len() >= 9 => Some(Said::Clock(ns)),
        Some(idle) if *place == Place::Uptime && text::seconds(idle).is_some() => Some(Said::Uptime(ns)),
        _ => None,
    }
}
