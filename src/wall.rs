//! Where the wall clock went: the shares of the resources, and the line that says so.

use std::collections::{BTreeMap, BTreeSet};

use crate::hotspots::encode;
use crate::tables::{Evidence, Execution, Tables, ThreadState};

/// Scheduler recordings lose switch-in events out of the idle task without a word (rules.md Q37). Where more than this
/// part of the workers' windows is unknown, they do not speak for the wall clock.
const UNKNOWN_SHARE_MAX: f64 = 0.2;

/// How much of the wall clock each resource took.
#[derive(Debug, Clone, Default)]
pub struct Shares {
    /// CPU time over wall clock, at most 1; null where no artifact tells both.
    pub cpu: Option<f64>,
    /// The artifact whose wait intervals and windows are used; null where aggregated stacks must do.
    pub waits_from: Option<i32>,
    /// What the share of a place in the aggregated off-CPU time is multiplied with to give its share of the wall clock:
    /// the part of the wall clock that was not on CPU. Null where several threads ran or the wall clock is unknown.
    pub off_cpu: Option<f64>,
    /// Sum of the windows of the worker threads.
    pub worker_window_ns: Option<i64>,
    workers: BTreeSet<i32>,
}

impl Shares {
    /// Whether a thread's waits count: workers only, where roles are known.
    pub fn counts(&self, thread: i32) -> bool {
        self.workers.is_empty() || self.workers.contains(&thread)
    }

    pub fn measure(tables: &Tables) -> Shares {
        let mut shares = Shares::default();
        if let Some(bare) = bare(tables)
            && let (Some(wall), Some(cpu)) = (bare.wall_ns.filter(|wall| *wall > 0), cpu_ns(bare))
        {
            shares.cpu = Some((cpu as f64 / wall as f64).min(1.0));
        }
        if let Some(states) = states(tables) {
            let workers: Vec<&ThreadState> = states.iter().copied().filter(|state| state.role.as_ref() == "worker").collect();
            let window = total(&workers, |state| state.window_ns);
            let unknown = total(&workers, |state| state.unknown_ns);
            if unknown as f64 > UNKNOWN_SHARE_MAX * window as f64 {
                return shares.aggregated(tables);
            }
            shares.waits_from = states.first().map(|state| state.artifact_id);
            shares.worker_window_ns = Some(window).filter(|window| *window > 0);
            shares.workers = workers.iter().map(|state| state.thread_id).collect();
            if shares.cpu.is_none() && window > 0 {
                let on_cpu = total(&workers, |state| state.on_cpu_ns);
                shares.cpu = Some((on_cpu as f64 / window as f64).min(1.0));
            }
            return shares;
        }
        shares.aggregated(tables)
    }

    /// Without usable windows: a single thread's off-CPU time is what its CPU time leaves of the wall clock.
    fn aggregated(mut self, tables: &Tables) -> Shares {
        let threads = |artifact: i32| tables.threads.iter().filter(|row| row.artifact_id == artifact && row.is_target).count();
        let most = (0..tables.artifacts.len() as i32).map(threads).max().unwrap_or(0);
        self.off_cpu = self.cpu.filter(|_| most <= 1).map(|cpu| 1.0 - cpu);
        self
    }
}

/// The bare execution: the one with wall, user and system time and the least wrapper; `time -v` before others.
pub fn bare(tables: &Tables) -> Option<&Execution> {
    let full = |row: &&Execution| row.wall_ns.is_some() && row.user_ns.is_some() && row.system_ns.is_some();
    tables.executions.iter().filter(|row| row.wrapper.as_ref() == "bare").filter(full).min_by_key(|row| {
        let tool = tables.artifacts.get(row.artifact_id as usize).map(|artifact| artifact.kind.clone());
        (tool.as_deref() != Some("time-v"), row.execution_id)
    })
}

fn cpu_ns(row: &Execution) -> Option<i64> {
    row.user_ns?.checked_add(row.system_ns?)
}

/// One column over several threads. Times come from files: a sum that leaves the range of i64 stays at its end.
fn total(states: &[&ThreadState], get: impl Fn(&ThreadState) -> i64) -> i64 {
    states.iter().fold(0, |sum, state| sum.saturating_add(get(state)))
}

/// Thread states of the target in the artifact with the longest windows.
fn states(tables: &Tables) -> Option<Vec<&ThreadState>> {
    let is_target = |state: &&ThreadState| tables.threads.get(state.thread_id as usize).is_some_and(|thread| thread.is_target);
    let target: Vec<&ThreadState> = tables.thread_states.iter().filter(is_target).collect();
    let artifact = target.iter().max_by_key(|state| (state.window_ns, -state.artifact_id))?.artifact_id;
    Some(target.into_iter().filter(|state| state.artifact_id == artifact).collect())
}

/// One part of the line: what, how long, where it stands.
pub type Part = (String, i64, String);

/// The parts of the wall clock of one bare run, or the reason why they are unknown.
pub enum Line {
    /// `threads`: how many windows are in `wall_ns`; 1 for a wall clock proper.
    Known {
        wall_ns: i64,
        threads: usize,
        source: String,
        parts: Vec<Part>,
    },
    Unknown(String),
}

/// The workers' states where scheduler events tell them; else CPU time, with the rest split as aggregated off-CPU stacks
/// split it where they can.
pub fn line(tables: &Tables, shares: &Shares) -> Line {
    let path = |artifact: i32| tables.artifacts.get(artifact as usize).map_or_else(String::new, |row| encode(&row.path));
    if let (Some(artifact), Some(states)) = (shares.waits_from, states(tables)) {
        return from_states(&states, &path(artifact));
    }
    match bare(tables) {
        Some(row) => {
            let wall = row.wall_ns.unwrap_or(0);
            // Where the importer noted the place of a value, that; else the file.
            let at = |field: &str| match row.place_of(field).map(|noted| noted.split_once("ptr=").map_or(noted.to_owned(), pointer)) {
                Some(place) => format!("{}#{place}", path(row.artifact_id)),
                None => path(row.artifact_id),
            };
            let (user, system) = (row.user_ns.unwrap_or(0), row.system_ns.unwrap_or(0));
            if user.saturating_add(system) > wall {
                return Line::Unknown(format!(
                    "{:.2} s of CPU in {:.2} s of wall clock on several threads; record sched:sched_switch to split it",
                    user.saturating_add(system) as f64 / 1e9,
                    wall as f64 / 1e9
                ));
            }
            let off = wall.saturating_sub(user).saturating_sub(system);
            let mut parts =
                vec![("on CPU in user code".to_owned(), user, at("user_ns")), ("on CPU in the kernel".to_owned(), system, at("system_ns"))];
            // What is left has no place of its own: the file that told the rest.
            let rest = || vec![("off CPU, reason not recorded".to_owned(), off, path(row.artifact_id))];
            parts.extend(split_waits(tables, shares, off).unwrap_or_else(rest));
            Line::Known { wall_ns: wall, threads: 1, source: at("wall_ns"), parts }
        }
        None => Line::Unknown(
            "no artifact tells the wall clock and the CPU time; record /usr/bin/time -v, or sched:sched_switch with perf".to_owned(),
        ),
    }
}

/// A noted JSON pointer as it stands in an anchor.
fn pointer((_, pointer): (&str, &str)) -> String {
    format!("ptr={}", encode(pointer))
}

/// Name of the parts that split time in the proportions of another recording: their anchors name the proportions.
const PROPORTIONAL: &str = "off CPU: ";

/// Rows of `evidence` for the line: the whole, and the parts whose number stands at a place of its own.
pub fn evidence(line: &Line) -> Vec<Evidence> {
    let Line::Known { wall_ns, source, parts, .. } = line else { return Vec::new() };
    let row = |metric: &str, term: &str, value: i64, anchor: &str| Evidence {
        hypothesis: "wall".into(),
        slot: "".into(),
        metric: metric.into(),
        term: term.into(),
        value,
        anchor: anchor.into(),
    };
    let whole = row("wall clock", "whole", *wall_ns, source);
    let parts = parts.iter().filter(|(name, ..)| !name.starts_with(PROPORTIONAL)).map(|(name, ns, anchor)| row(name, "part", *ns, anchor));
    std::iter::once(whole).chain(parts).filter(|row| row.anchor.contains('#')).collect()
}

/// What people read, the column of `thread_states`, and how to get it.
type Column = (&'static str, &'static str, fn(&ThreadState) -> i64);

fn from_states(states: &[&ThreadState], path: &str) -> Line {
    let workers: Vec<&ThreadState> = states.iter().copied().filter(|state| state.role.as_ref() == "worker").collect();
    let (workers, role) = if workers.is_empty() { (states.to_vec(), "") } else { (workers, "&role=worker") };
    let columns: [Column; 8] = [
        ("on CPU", "on_cpu_ns", |state| state.on_cpu_ns),
        ("runnable, waiting for a CPU", "runnable_ns", |state| state.runnable_ns),
        ("waiting for a lock", "lock_ns", |state| state.lock_ns),
        ("sleeping", "sleep_ns", |state| state.sleep_ns),
        ("waiting for fsync", "fsync_ns", |state| state.fsync_ns),
        ("waiting for the disk", "disk_ns", |state| state.disk_ns),
        ("waiting for something else", "other_ns", |state| state.other_ns),
        ("unknown", "unknown_ns", |state| state.unknown_ns),
    ];
    let part = |(name, column, get): Column| (name.to_owned(), total(&workers, get), format!("{path}#sum=thread_states.{column}{role}"));
    let parts = columns.into_iter().map(part).collect();
    Line::Known {
        wall_ns: total(&workers, |state| state.window_ns),
        threads: workers.len(),
        source: format!("{path}#sum=thread_states.window_ns{role}"),
        parts,
    }
}

/// The off-CPU part of the wall clock by reason, in the proportions of the aggregated off-CPU stacks of another run.
fn split_waits(tables: &Tables, shares: &Shares, off_ns: i64) -> Option<Vec<Part>> {
    shares.off_cpu?;
    let artifact = tables.waits.iter().find(|wait| wait.is_aggregate)?.artifact_id;
    let path = encode(&tables.artifacts.get(artifact as usize)?.path);
    let mut by_reason: BTreeMap<&str, i64> = BTreeMap::new();
    for wait in tables.waits.iter().filter(|wait| wait.artifact_id == artifact && wait.is_aggregate) {
        let sum = by_reason.entry(&wait.reason).or_default();
        *sum = sum.saturating_add(wait.dur_ns);
    }
    let total: i64 = by_reason.values().fold(0, |sum, value| sum.saturating_add(*value));
    if total <= 0 {
        return None;
    }
    let part = |(reason, sum): (&str, i64)| {
        let ns = (i128::from(off_ns) * i128::from(sum) / i128::from(total)) as i64;
        (format!("{PROPORTIONAL}{reason}"), ns, format!("{path}#sum=waits.dur_ns&reason={}", encode(reason)))
    };
    Some(by_reason.into_iter().map(part).collect())
}
