//! Futex waits that a bpftrace one-liner sums, by lock:
//!
//! ```text
//! tracepoint:syscalls:sys_enter_futex /comm == "prog" && (args->op & 127) == 0/ { @at[tid] = nsecs; @lock[tid] = args->uaddr; }
//! tracepoint:syscalls:sys_exit_futex /@at[tid]/ {
//!     @futex_wait_ns[@lock[tid]] = sum(nsecs - @at[tid]); @futex_waits[@lock[tid]] = count(); delete(@at[tid]); delete(@lock[tid]); }
//!
//! @futex_wait_ns[140245345345]: 1976517
//! @futex_waits[140245345345]: 12
//! ```
//!
//! A map whose name has the words `futex` and a unit is a sum of times; one with `futex` alone counts.

use std::collections::BTreeMap;

use super::super::{Format, Input, Recorder, histogram, text};
use super::{event, other, push, row, unreadable};
use crate::error::Result;
use crate::tables::{LockTotal, Tables};

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "futex-waits",
    tool: "bpf",
    doc: "waits in futex summed by lock: bpftrace maps @futex_wait_ns[LOCK] and @futex_waits[LOCK]",
    record: "bpftrace -e 'tracepoint:syscalls:sys_enter_futex /(args->op & 127) == 0/ { @at[tid] = nsecs; @lock[tid] = args->uaddr; } \
        tracepoint:syscalls:sys_exit_futex /@at[tid]/ { @futex_wait_ns[@lock[tid]] = sum(nsecs - @at[tid]); \
        @futex_waits[@lock[tid]] = count(); delete(@at[tid]); delete(@lock[tid]); } interval:s:5 { clear(@at); clear(@lock); exit(); }'",
    sniff,
    read,
};

/// Nanoseconds per unit of a sum, or a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Map {
    Sum(i64),
    Count,
}

/// `@futex_wait_ns[key]: number` -> what it is, key and number as text.
fn entry(line: &str) -> Option<(Map, &str, &str)> {
    let (name, rest) = line.trim_end().strip_prefix('@')?.split_once('[')?;
    let (key, number) = rest.rsplit_once("]:")?;
    let mut words = name.split('_');
    if !words.clone().any(|word| word == "futex") {
        return None;
    }
    let unit = words.find_map(|word| match word {
        "ns" | "nsecs" => Some(1),
        "us" | "usecs" => Some(1_000),
        "ms" | "msecs" => Some(1_000_000),
        _ => None,
    });
    Some((unit.map_or(Map::Count, Map::Sum), key, number.trim()))
}

pub fn sniff(head: &[u8]) -> bool {
    let is_sum = |line: &str| matches!(entry(line), Some((Map::Sum(_), _, number)) if number.parse::<i64>().is_ok());
    text::lines(&text::decode(head)).any(|(_, line)| is_sum(&String::from_utf8_lossy(line)))
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let bytes = text::decode(input.bytes);
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for (line_no, line) in text::lines(&bytes) {
        let line = String::from_utf8_lossy(line);
        let Some((map, key, number)) = entry(&line) else {
            if !line.trim().is_empty() {
                other(line_no, recorder);
            }
            continue;
        };
        recorder.artifact.records += 1;
        let number = number.parse::<i64>().ok().filter(|number| *number >= 0);
        match (map, number) {
            (Map::Sum(unit), Some(number)) if number.checked_mul(unit).is_some() => {
                let name = super::function(key, recorder);
                let wait_ns = number.checked_mul(unit);
                push(LockTotal { kind: "futex".into(), name, wait_ns, is_kernel: false, ..row(line_no) }, recorder);
            }
            (Map::Count, Some(number)) if counts.len() < super::ROWS_MAX => {
                counts.insert(key.to_owned(), number);
            }
            _ => unreadable(&line, line_no, recorder),
        }
    }
    for row in &mut recorder.tables.locks {
        row.contended = row.name.as_deref().and_then(|name| counts.get(name).copied());
    }
    event("futex", "tp_syscall", recorder);
    Ok(())
}

/// The command says how long the tools of this folder watched. Called after the merge.
pub fn adopt_commands(tables: &mut Tables) {
    for artifact in &mut tables.artifacts {
        let Some(command) = artifact.command.clone() else { continue };
        let window = match artifact.kind.as_ref() {
            "futex-waits" | "syscount" => histogram::watched(&command, &[]).or_else(|| histogram::watched_for(&command, "syscount")),
            "klockstat" => histogram::watched_for(&command, "klockstat"),
            _ => None,
        };
        if let Some(window) = window {
            artifact.window_ns = Some(artifact.wall_ns.map_or(window, |wall| wall.min(window)));
        }
    }
}
