//! Symbol classes: which functions stand for allocation, copying, locking, ..., and where on a stack they begin.
//!
//! The patterns are data: queries/symbol_classes.json. User classes never look at kernel dsos and the other way round.
//! A class may be told by the file too, for code that has no names (a stripped module).

use std::collections::BTreeSet;

use serde::Deserialize;

use super::calls::Kind;
use super::nodes::{Nodes, Outermost};
use crate::error::{Error, Result};
use crate::tables::{Dso, Frame, Function, StackClass, StackSite, Tables, Text};

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
    /// Base names of files of which everything belongs to the class, what has no name included.
    #[serde(default)]
    dso_patterns: Vec<String>,
    /// Names that are not of the class although they fit.
    #[serde(default)]
    except: Vec<String>,
    /// False: only functions of their own, not what was inlined into another one.
    #[serde(default = "yes")]
    inlined: bool,
}

fn yes() -> bool {
    true
}

impl Class {
    fn applies(&self, kernel: bool) -> bool {
        match self.dso.as_str() {
            "kernel" => kernel,
            "user" => !kernel,
            _ => true,
        }
    }

    fn covers_dso(&self, dso: &str) -> bool {
        self.dso_patterns.iter().any(|pattern| fits(pattern, dso))
    }

    /// `first` is the name's first byte: most functions share not even that with a pattern.
    fn covers(&self, name: &str, first: u8, dso: &str) -> bool {
        let may_fit = |pattern: &String| matches!(pattern.bytes().next(), Some(own) if own == first || own == b'*');
        let fitting = |patterns: &[String]| patterns.iter().any(|pattern| may_fit(pattern) && fits(pattern, name));
        (fitting(&self.patterns) || self.covers_dso(dso)) && !fitting(&self.except)
    }
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
pub const WRAPPER_CLASSES: &[&str] = &[
    "WRITE_PATH",
    "READ_PATH",
    "FSYNC_WAIT",
    "SLEEP_WAIT",
    "LOCK_WAIT",
    "CONDVAR",
    "FUTEX_TIMED",
    "JOIN",
    "POLL",
    "NET",
    "METADATA",
    "EXEC",
    "CLONE",
];

/// Per function: a bit per class, and whether its dso is part of the language runtime.
#[derive(Debug)]
pub struct Marks {
    bits: Vec<u64>,
    runtime: Vec<bool>,
    /// Per dso: the classes of all its code.
    dsos: Vec<u64>,
    /// Classes that leave out what was inlined.
    own_only: u64,
}

impl Marks {
    pub fn of(&self, function: Option<i32>) -> u64 {
        function.and_then(|id| self.bits.get(id as usize)).copied().unwrap_or(0)
    }

    /// The classes of a frame.
    pub fn of_frame(&self, frame: &Frame) -> u64 {
        self.of_kind(&Kind::of(frame))
    }

    /// The same for a kind of frames; of code without a name those of its dso.
    pub fn of_kind(&self, kind: &Kind) -> u64 {
        match kind.function_id() {
            Some(function) if kind.is_inlined => self.of(Some(function)) & !self.own_only,
            Some(function) => self.of(Some(function)),
            None => kind.dso_id().and_then(|id| self.dsos.get(id as usize)).copied().unwrap_or(0),
        }
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

    /// Names of the classes that are found in kernel code only.
    pub fn kernel_only(&self) -> Vec<String> {
        let is_kernel = |name: &&String| self.classes.iter().filter(|class| class.name == **name).all(|class| class.dso == "kernel");
        self.names.iter().filter(is_kernel).cloned().collect()
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
        let dsos = tables.dsos.iter().map(|dso| self.bits_of_dso(dso)).collect();
        let own_only = self.classes.iter().filter(|class| !class.inlined).fold(0, |all, class| all | self.bit(&class.name));
        Marks { bits, runtime, dsos, own_only }
    }

    fn bits_of(&self, function: &Function, kernel: bool) -> u64 {
        let name = crate::tables::keys::plain_name(&function.name);
        let dso = function.dso.as_deref().unwrap_or("");
        let first = name.bytes().next().unwrap_or(0);
        let own = self.classes.iter().filter(|class| class.applies(kernel) && class.covers(name, first, dso));
        own.fold(0, |bits, class| bits | self.bit(&class.name))
    }

    fn bits_of_dso(&self, dso: &Dso) -> u64 {
        let kernel = is_kernel_dso(dso);
        let own = self.classes.iter().filter(|class| class.applies(kernel) && class.covers_dso(&dso.name));
        own.fold(0, |bits, class| bits | self.bit(&class.name))
    }
}

/// Text formats name the kernel by suffix or pseudo dso; perf.data by the kind of dso.
fn is_kernel(tables: &Tables, function: &Function) -> bool {
    function.dso_id.and_then(|id| tables.dsos.get(id as usize)).is_some_and(is_kernel_dso)
}

fn is_kernel_dso(dso: &Dso) -> bool {
    matches!(dso.kind.as_ref(), "kernel" | "module" | "bpf")
}

/// The rows of `stack_classes` and `stack_sites`, for every stack that carries weight, a wait, a call or an allocation.
pub fn find(tables: &Tables, classes: &Classes, nodes: &Nodes<'_>) -> (Vec<StackClass>, Vec<StackSite>) {
    let names: Vec<Text> = classes.iter().map(|(name, _)| Text::from(name)).collect();
    let mut rows = Vec::new();
    let used = used(tables);
    let mut sites = Vec::with_capacity(used.len());
    let mut found: Vec<Outermost> = Vec::new();
    // Almost every stack has it: a column of the sites instead of a row of its own.
    let start = classes.bit("ROOT");
    for stack in used {
        let leaf = nodes.leaf_bits(stack);
        let caller_certain = nodes.caller_certain(stack);
        nodes.classes(stack, &mut found);
        for outermost in found.iter().filter(|outermost| 1 << outermost.class != start) {
            let Some(name) = names.get(outermost.class as usize) else { continue };
            rows.push(StackClass {
                stack_id: stack,
                class: name.clone(),
                is_leaf: leaf & (1 << outermost.class) != 0,
                class_function_id: outermost.function_id,
                site_function_id: outermost.site,
                caller_certain,
            });
        }
        let reaches_start = nodes.bits(stack) & start != 0;
        sites.push(StackSite { stack_id: stack, site_function_id: nodes.site(stack), caller_certain, reaches_start });
    }
    (rows, sites)
}

/// In order, each once.
fn used(tables: &Tables) -> Vec<i32> {
    let mut is_used = vec![false; tables.stacks.len()];
    let stacks = tables.stack_costs.iter().map(|row| Some(row.stack_id));
    let stacks = stacks.chain(tables.waits.iter().map(|row| row.stack_id.get()));
    let stacks = stacks.chain(tables.syscall_events.iter().map(|row| row.stack_id));
    let stacks = stacks.chain(tables.block_requests.iter().map(|row| row.stack_id));
    let stacks = stacks.chain(tables.lock_contentions.iter().map(|row| row.stack_id));
    for stack in stacks.chain(tables.allocations.iter().map(|row| row.stack_id)).flatten() {
        if let Some(slot) = is_used.get_mut(stack as usize) {
            *slot = true;
        }
    }
    is_used.iter().enumerate().filter(|(_, used)| **used).map(|(stack, _)| stack as i32).collect()
}

#[cfg(test)]
mod tests;
