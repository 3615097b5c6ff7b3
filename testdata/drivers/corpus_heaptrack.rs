//! The corpus' heaptrack files against heaptrack_print: its sums (TRUTH.jsonl, version 1.4), and, where the tool is
//! installed, its value for every single stack.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Completion, Failed};
use tripod::tables::{Allocation, Tables};

use crate::corpus::{file, import, truth};
use crate::support::Outcome;

pub fn sums(corpus: &Path) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for (name, facts) in truth(corpus, "heaptrack", "heaptrack_print")? {
        let tables = import(&file(corpus, "heaptrack", &name))?.tables;
        let costs: [Cost; 3] = [("allocations", |row| row.calls), ("temporary", |row| row.temporary_calls), ("peak", |row| row.peak_bytes)];
        for (cost, get) in costs {
            let (found, expected) = (tables.allocations.iter().map(get).sum::<i64>(), facts[format!("flamegraph_{cost}")]["sum"].as_i64());
            if Some(found) != expected {
                wrong.push(format!("{name}: {cost}: {found}, expected {expected:?}"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// What a stack is compared by: its function names, sorted, since heaptrack_print turns the inlined frames of one address
/// round; nameless frames are `?`.
type ByStack = BTreeMap<Vec<String>, i64>;

/// Functions at which heaptrack_print ends a stack, where they are the innermost of their address.
const STOPS: [&str; 3] = ["main", "__libc_start_main", "__static_initialization_and_destruction_0"];
const NEWS: [&str; 2] = ["operator new(unsigned long)", "operator new[](unsigned long)"];

/// As heaptrack_print shows stacks: from the innermost `main` inwards, without `operator new` at the end.
fn ours(tables: &Tables, cost: fn(&Allocation) -> i64) -> ByStack {
    let mut found = ByStack::new();
    for row in tables.allocations.iter().filter(|row| cost(row) != 0) {
        let mut names = Vec::new();
        let mut stack = row.stack_id;
        let (mut is_innermost, mut is_new, mut is_last) = (true, false, false);
        while let Some(node) = stack.and_then(|id| tables.stacks.row(id)) {
            let frame = &tables.frames[node.frame_id as usize];
            let name = frame.function_id.map_or("?", |id| &tables.functions[id as usize].name);
            is_last |= is_innermost && STOPS.contains(&name);
            is_new |= is_innermost && names.is_empty() && NEWS.contains(&name);
            if !is_new {
                names.push(name.to_owned());
            }
            is_innermost = !frame.is_inlined;
            is_new &= frame.is_inlined;
            stack = node.parent_stack_id.get().filter(|_| frame.is_inlined || !is_last);
        }
        names.sort();
        *found.entry(names).or_default() += cost(row);
    }
    found
}

/// `heaptrack_print -F`; `None` where the tool is not installed.
fn theirs(file: &Path, cost: &str, scratch: &Path) -> Result<Option<ByStack>, Failed> {
    let out = scratch.join(cost);
    let run = Command::new("heaptrack_print")
        .args(["--disable-builtin-suppressions", "--disable-embedded-suppressions", "-p", "0", "-a", "0", "-T", "0", "-t", "0"])
        .args(["--flamegraph-cost-type", cost, "-F"])
        .args([&out, file])
        .output();
    let run = match run {
        Ok(run) => run,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned().into());
    }
    let mut sums = ByStack::new();
    for line in std::fs::read_to_string(&out)?.lines() {
        let (stack, value) = line.rsplit_once(' ').ok_or("a line without a value")?;
        let mut names: Vec<String> = stack.split(';').filter(|name| !name.is_empty()).map(name_only).collect();
        names.sort();
        let value: i64 = value.parse()?;
        if value != 0 {
            *sums.entry(names).or_insert(0) += value;
        }
    }
    if sums.is_empty() && cost != "temporary" {
        return Err(format!("heaptrack_print prints no {cost} of {}", file.display()).into());
    }
    Ok(Some(sums))
}

/// `f(int) (file.c)` -> `f(int)`; an address -> `?`.
fn name_only(printed: &str) -> String {
    let name = match printed.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((name, file)) if !file.contains(['(', ')', ' ']) => name,
        _ => printed,
    };
    if name.starts_with("0x") { "?".into() } else { name.into() }
}

/// What heaptrack_print calls a cost, and ours.
type Cost = (&'static str, fn(&Allocation) -> i64);

pub fn stacks(corpus: &Path) -> Outcome {
    let files = truth(corpus, "heaptrack", "heaptrack_print")?.into_iter().map(|(name, _)| file(corpus, "heaptrack", &name));
    // More files, for a comparison by hand.
    let more = std::env::var("HEAPTRACK_FILES").unwrap_or_default();
    let scratch = tempfile::tempdir()?;
    let mut wrong = Vec::new();
    for file in files.chain(more.split(':').filter(|path| !path.is_empty()).map(Into::into)) {
        let tables = import(&file)?.tables;
        let costs: [Cost; 4] = [
            ("allocations", |row| row.calls),
            ("temporary", |row| row.temporary_calls),
            ("leaked", |row| row.leaked_bytes),
            ("peak", |row| row.peak_bytes),
        ];
        for (name, cost) in costs {
            let Some(theirs) = theirs(&file, name, scratch.path())? else {
                return Ok(Completion::ignored_with("heaptrack_print is not installed"));
            };
            let ours = ours(&tables, cost);
            let differ: Vec<_> = ours.iter().filter(|(stack, value)| theirs.get(*stack) != Some(value)).take(3).collect();
            let lost: Vec<_> = theirs.iter().filter(|(stack, _)| !ours.contains_key(*stack)).take(3).collect();
            if !differ.is_empty() || !lost.is_empty() {
                wrong.push(format!("{name} of {}: ours {differ:?}, theirs {lost:?}", file.display()));
            }
        }
    }
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}
