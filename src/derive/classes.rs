//! Symbol classes: which functions stand for allocation, copying, locking, ..., and where on a stack they begin.
//!
//! The patterns are data: queries/symbol_classes.json. User classes never look at kernel dsos and the other way round.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::paths::path;
use crate::error::{Error, Result};
use crate::tables::{Function, StackClass, StackSite, Tables, Text};

#[derive(Debug, Deserialize)]
struct File {
    classes: Vec<Class>,
    #[serde(default)]
    runtime_dsos: Vec<String>,
    #[serde(default)]
    wait_reasons: Vec<WaitReason>,
}

/// A reason of the `waits` table and the class that gives it; the first entry that fits a stack decides.
#[derive(Debug, Deserialize)]
pub struct WaitReason {
    pub reason: String,
    pub class: String,
    /// Only frames of this kind count: user or kernel; absent for both.
    #[serde(default)]
    pub dso: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Class {
    name: String,
    /// user, kernel or any.
    dso: String,
    patterns: Vec<String>,
    #[serde(default)]
    dso_patterns: Vec<String>,
}

/// The classes of one version of the data file. At most 64 names, so that a function's classes are one word. A class may
/// have an entry for user code and one for the kernel.
#[derive(Debug)]
pub struct Classes {
    names: Vec<String>,
    classes: Vec<Class>,
    runtime_dsos: Vec<String>,
    /// In order of precedence.
    pub wait_reasons: Vec<WaitReason>,
}

/// User classes that consist of libc's wrappers of system calls and its waits.
const WRAPPER_CLASSES: &[&str] =
    &["WRITE_PATH", "READ_PATH", "FSYNC_WAIT", "SLEEP_WAIT", "LOCK_WAIT", "CONDVAR", "FUTEX_TIMED", "JOIN", "POLL"];

/// Per function: a bit per class, and whether its dso is part of the language runtime.
#[derive(Debug)]
pub struct Marks {
    bits: Vec<u64>,
    runtime: Vec<bool>,
}

impl Marks {
    pub fn of(&self, function: Option<i32>) -> u64 {
        function.and_then(|id| self.bits.get(id as usize)).copied().unwrap_or(0)
    }

    /// Whether the function belongs to libc, ld.so, libstdc++, the vDSO or the like.
    pub fn is_runtime(&self, function: Option<i32>) -> bool {
        function.and_then(|id| self.runtime.get(id as usize)).copied().unwrap_or(false)
    }
}

/// `*` stands for any text; everything else for itself; the whole name must fit.
pub fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

impl Classes {
    /// The file that is compiled in.
    pub fn embedded() -> Result<Classes> {
        Classes::parse(include_str!("../../queries/symbol_classes.json"))
    }

    pub fn parse(text: &str) -> Result<Classes> {
        let file: File = serde_json::from_str(text).map_err(|error| Error::Request(format!("queries/symbol_classes.json: {error}")))?;
        let mut names: Vec<String> = Vec::new();
        for class in &file.classes {
            if !names.contains(&class.name) {
                names.push(class.name.clone());
            }
        }
        if names.len() > 64 {
            return Err(Error::Request("queries/symbol_classes.json: more than 64 classes".to_owned()));
        }
        Ok(Classes { names, classes: file.classes, runtime_dsos: file.runtime_dsos, wait_reasons: file.wait_reasons })
    }

    /// The bit of a class; 0 where there is no such class.
    pub fn bit(&self, name: &str) -> u64 {
        self.names.iter().position(|own| own == name).map_or(0, |at| 1 << at)
    }

    /// (name, bit) of every class, in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.names.iter().enumerate().map(|(at, name)| (name.as_str(), 1 << at))
    }

    /// Whether a dso of this base name is part of the runtime.
    pub fn is_runtime_dso(&self, name: &str) -> bool {
        self.runtime_dsos.iter().any(|pattern| fits(pattern, name))
    }

    /// Looks every function up once.
    pub fn mark(&self, tables: &Tables) -> Marks {
        let kernel: Vec<bool> = tables.functions.iter().map(|row| is_kernel(tables, row)).collect();
        let bits: Vec<u64> = tables.functions.iter().zip(&kernel).map(|(row, kernel)| self.bits_of(row, *kernel)).collect();
        let of_runtime = |row: &Function| row.dso.as_deref().is_some_and(|dso| self.is_runtime_dso(dso));
        let names: BTreeSet<&str> = tables.functions.iter().filter(|row| of_runtime(row)).map(|row| row.name.as_ref()).collect();
        // offcputime and bpftrace print no dso: what another artifact found in the runtime is there too.
        // So are libc's wrappers of system calls under any of their aliases (`__GI_fsync`).
        let wrappers = WRAPPER_CLASSES.iter().fold(0, |all, class| all | self.bit(class));
        let by_name = |row: &Function, bits: u64| row.dso.is_none() && (names.contains(&*row.name) || bits & wrappers != 0);
        let runtime = tables.functions.iter().zip(&kernel).zip(&bits);
        let runtime = runtime.map(|((row, kernel), bits)| !kernel && (of_runtime(row) || by_name(row, *bits))).collect();
        Marks { bits, runtime }
    }

    fn bits_of(&self, function: &Function, kernel: bool) -> u64 {
        let name = crate::tables::keys::plain_name(&function.name);
        let dso = function.dso.as_deref().unwrap_or("");
        let mut bits = 0;
        for class in &self.classes {
            let applies = match class.dso.as_str() {
                "kernel" => kernel,
                "user" => !kernel,
                _ => true,
            };
            if applies && (class.patterns.iter().any(|p| fits(p, name)) || class.dso_patterns.iter().any(|p| fits(p, dso))) {
                bits |= self.bit(&class.name);
            }
        }
        bits
    }
}

/// Text formats name the kernel by suffix or pseudo dso; perf.data by the kind of dso.
fn is_kernel(tables: &Tables, function: &Function) -> bool {
    let kind = function.dso_id.and_then(|id| tables.dsos.get(id as usize)).map(|dso| dso.kind.as_ref());
    matches!(kind, Some("kernel" | "module" | "bpf"))
}

/// Fills `stack_classes` for every stack that carries weight, a wait, a call or an allocation.
pub fn find(tables: &mut Tables, classes: &Classes, marks: &Marks) {
    let names: Vec<Text> = classes.iter().map(|(name, _)| Text::from(name)).collect();
    let mut used: Vec<i32> = tables.stack_costs.iter().map(|row| row.stack_id).collect();
    used.extend(tables.waits.iter().filter_map(|row| row.stack_id));
    used.extend(tables.syscall_events.iter().filter_map(|row| row.stack_id));
    used.extend(tables.block_requests.iter().filter_map(|row| row.stack_id));
    used.extend(tables.lock_contentions.iter().filter_map(|row| row.stack_id));
    used.extend(tables.allocations.iter().filter_map(|row| row.stack_id));
    used.sort_unstable();
    used.dedup();
    let mut rows = Vec::new();
    let mut sites = Vec::with_capacity(used.len());
    for stack in used {
        rows.extend(of_stack(tables, marks, &names, stack));
        sites.push(StackSite {
            stack_id: stack,
            site_function_id: site_of(tables, marks, stack),
            caller_certain: caller_certain(tables, marks, stack),
        });
    }
    tables.stack_classes = rows;
    tables.stack_sites = sites;
}

/// Whether the innermost user frame lies outside the runtime: frame pointers lose the caller of a libc leaf.
fn caller_certain(tables: &Tables, marks: &Marks, stack: i32) -> bool {
    !path(tables, stack).find(|frame| !frame.is_kernel).is_some_and(|frame| marks.is_runtime(frame.function_id))
}

fn of_stack(tables: &Tables, marks: &Marks, names: &[Text], stack: i32) -> Vec<StackClass> {
    let frames: Vec<(Option<i32>, bool)> = path(tables, stack).map(|frame| (frame.function_id, frame.is_kernel)).collect();
    let leaf_bits = frames.first().map_or(0, |(function, _)| marks.of(*function));
    let mut all = frames.iter().fold(0, |bits, (function, _)| bits | marks.of(*function));
    let caller_certain = caller_certain(tables, marks, stack);
    let mut rows = Vec::new();
    while all != 0 {
        let class = all.trailing_zeros() as usize;
        all &= all - 1;
        let bit = 1_u64 << class;
        // Leaf first, so the last hit is the outermost.
        let Some(at) = frames.iter().rposition(|(function, _)| marks.of(*function) & bit != 0) else { continue };
        let Some(class_function_id) = frames[at].0 else { continue };
        let site = frames[at + 1..].iter().find(|(function, kernel)| !kernel && function.is_some() && !marks.is_runtime(*function));
        rows.push(StackClass {
            stack_id: stack,
            class: names[class].clone(),
            is_leaf: leaf_bits & bit != 0,
            class_function_id,
            site_function_id: site.and_then(|(function, _)| *function),
            caller_certain,
        });
    }
    rows
}

/// The site of a stack: its nearest named user function outside the runtime.
pub fn site_of(tables: &Tables, marks: &Marks, stack: i32) -> Option<i32> {
    let mut frames = path(tables, stack);
    frames.find(|frame| !frame.is_kernel && frame.function_id.is_some() && !marks.is_runtime(frame.function_id))?.function_id
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_are_anchored() {
        assert!(fits("malloc", "malloc") && !fits("malloc", "xmalloc") && !fits("malloc", "malloc_hook"));
        assert!(fits("__memmove_avx*", "__memmove_avx_unaligned_erms"));
        assert!(fits("*fsync*", "ext4_fsync") && fits("std::*::lock*", "std::sync::Mutex::lock_slow"));
        assert!(!fits("a*b", "ab2") && fits("a*b", "ab"));
    }
}
