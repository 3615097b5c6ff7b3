//! Every stack belongs to one place: what people call "where the time goes".
//!
//! A leaf alone misleads twice. With cpu-clock, time spent with interrupts off is charged to the instruction that enables
//! them again (`finish_task_switch`, `do_syscall_64`, `_raw_spin_unlock_irqrestore`; rules.md finding 1); and a libc leaf
//! says little without its caller. So a stack is read from the leaf to the root:
//!
//! 1. a system-call handler on it (class SYSCALL), or the kernel's entry code for system calls (class KENTRY) above an
//!    innermost user frame in the runtime: the place is that call under its site (compilers inline handlers away, so the
//!    libc wrapper names it);
//! 2. else a page fault (class FAULT): page faults under the site;
//! 3. else a kernel leaf: the outermost named kernel function (an interrupt, a kernel thread);
//! 4. else, below the site, the frame nearest to it that has one of [`USER_CLASSES`]: that class under the site (wrappers
//!    of system calls count as the call, so that both halves of a `write` are one place);
//! 5. else the leaf; under the site where the leaf itself belongs to the runtime.
//!
//! The *site* is the nearest named user function outside the runtime dsos (libc, ld.so, libstdc++, vDSO).

use std::fmt::Write as _;

use super::Derived;
use super::calls::Kind;
use crate::tables::{Tables, Text};

/// Classes that stand for themselves in rule 4, as a set: the frame decides, not the order here.
pub const USER_CLASSES: &[&str] =
    &["WRITE_PATH", "READ_PATH", "FSYNC_WAIT", "SLEEP_WAIT", "ALLOC", "FORMAT", "COPY", "SYNC", "LOCK_WAIT", "LOADER", "UNWIND"];

/// Of those, wrappers of system calls.
pub const WRAPPERS: &[&str] = &["WRITE_PATH", "READ_PATH", "FSYNC_WAIT", "SLEEP_WAIT"];

/// What a place is, without its site.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    Syscall(Text),
    Class(Text),
    Kernel(Text),
    Leaf(Text),
    /// Nothing names the leaf; the dso it lies in.
    Unknown(Text),
}

/// A place: what, and under which function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub what: What,
    pub site: Option<Text>,
    /// Its dso, so that the `main` of two programs stay apart.
    pub site_dso: Option<Text>,
    pub site_function: Option<i32>,
}

/// What decides a stack's place: functions on it, by id, -1 for none. Equal keys, equal places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    path: Known,
    leaf: i32,
    leaf_is_kernel: bool,
    /// Of a leaf without a name.
    leaf_dso: i32,
    is_empty: bool,
}

/// What a node knows of itself and its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Known {
    /// The outermost handler of a system call.
    syscall: i32,
    /// The innermost user frame, and whether it lies in the runtime.
    user: i32,
    user_in_runtime: bool,
    /// The outermost kernel function.
    kernel: i32,
    site: i32,
    /// Below the site, the nearest to it that has one of [`USER_CLASSES`].
    class: i32,
    entry: bool,
    fault: bool,
}

const NOTHING: Known = Known { syscall: -1, user: -1, user_in_runtime: false, kernel: -1, site: -1, class: -1, entry: false, fault: false };

/// Finds places; holds what is looked up once.
pub struct Places<'a> {
    tables: &'a Tables,
    derived: &'a Derived,
    user: Vec<(u64, Text)>,
    /// Per path of functions what it knows.
    paths: Vec<Known>,
}

/// The bits that decide places.
struct Bits {
    syscall: u64,
    entry: u64,
    fault: u64,
    user: u64,
}

impl Known {
    /// What a frame of this kind knows under a caller that knows this.
    fn below(mut self, kind: &Kind, bits: &Bits, own: (u64, bool)) -> Known {
        let (own, is_runtime) = own;
        if own & bits.syscall != 0 && self.syscall < 0 {
            self.syscall = kind.function;
        }
        self.entry |= own & bits.entry != 0;
        self.fault |= own & bits.fault != 0;
        if kind.is_kernel {
            self.kernel = if self.kernel < 0 { kind.function } else { self.kernel };
        } else {
            (self.user, self.user_in_runtime) = (kind.function, is_runtime);
        }
        if !kind.is_kernel && kind.function >= 0 && !is_runtime {
            (self.site, self.class) = (kind.function, -1);
        } else if own & bits.user != 0 && self.class < 0 {
            self.class = kind.function;
        }
        self
    }
}

impl<'a> Places<'a> {
    pub fn new(tables: &'a Tables, derived: &'a Derived) -> Places<'a> {
        let classes = &derived.classes;
        let user: Vec<(u64, Text)> = USER_CLASSES.iter().map(|name| (classes.bit(name), Text::from(*name))).collect();
        let of_user = user.iter().fold(0, |bits, (bit, _)| bits | bit);
        let bits = Bits { syscall: classes.bit("SYSCALL"), entry: classes.bit("KENTRY"), fault: classes.bit("FAULT"), user: of_user };
        let calls = &derived.calls;
        let own: Vec<(u64, bool)> =
            calls.kinds().iter().map(|kind| (derived.marks.of(kind.function_id()), derived.marks.is_runtime(kind.function_id()))).collect();
        let mut paths: Vec<Known> = Vec::with_capacity(calls.steps().len());
        for step in calls.steps() {
            let above = paths.get(step.caller as usize).copied().unwrap_or(NOTHING);
            let kind = calls.kinds().get(step.kind as usize).zip(own.get(step.kind as usize));
            paths.push(kind.map_or(above, |(kind, own)| above.below(kind, &bits, *own)));
        }
        Places { tables, derived, user, paths }
    }

    fn name(&self, function: i32) -> Option<&'a Text> {
        self.tables.functions.get(usize::try_from(function).ok()?).map(|row| &row.name)
    }

    /// How many paths of functions there are.
    pub fn paths(&self) -> usize {
        self.paths.len()
    }

    /// The path of a stack.
    pub fn path(&self, stack: i32) -> u32 {
        self.derived.calls.path(stack)
    }

    /// The key of a path of functions.
    pub fn key_of(&self, path: u32) -> Key {
        let leaf = self.derived.calls.leaf(path);
        let named = leaf.map_or(-1, |leaf| leaf.function);
        Key {
            path: self.paths.get(path as usize).copied().unwrap_or(NOTHING),
            leaf: named,
            leaf_is_kernel: leaf.is_some_and(|leaf| leaf.is_kernel),
            leaf_dso: leaf.filter(|_| named < 0).map_or(-1, |leaf| leaf.dso),
            is_empty: leaf.is_none(),
        }
    }

    pub fn of(&self, stack: i32) -> Place {
        self.place(self.key_of(self.path(stack)))
    }

    /// The place that the key stands for.
    pub fn place(&self, key: Key) -> Place {
        let path = key.path;
        let site_row = usize::try_from(path.site).ok().and_then(|id| self.tables.functions.get(id));
        let place = |what| Place {
            what,
            site: site_row.map(|row| row.name.clone()),
            site_dso: site_row.and_then(|row| row.dso.clone()),
            site_function: (path.site >= 0).then_some(path.site),
        };
        if key.is_empty {
            return place(What::Unknown("no stack".into()));
        }
        if let Some(name) = self.name(path.syscall) {
            return place(What::Syscall(syscall_name(name)));
        }
        if path.fault {
            return place(What::Class("FAULT".into()));
        }
        if let (true, true, Some(name)) = (path.entry, path.user_in_runtime, self.name(path.user)) {
            return place(What::Syscall(wrapper_name(name)));
        }
        if key.leaf_is_kernel {
            return place(What::Kernel(self.name(path.kernel).cloned().unwrap_or_else(|| "[unknown]".into())));
        }
        let bits = self.derived.marks.of((path.class >= 0).then_some(path.class));
        if let (Some((_, class)), Some(name)) = (self.user.iter().find(|(bit, _)| bits & bit != 0), self.name(path.class)) {
            let wrapper = WRAPPERS.contains(&class.as_ref());
            return place(if wrapper { What::Syscall(wrapper_name(name)) } else { What::Class(class.clone()) });
        }
        match self.name(key.leaf) {
            Some(name) => place(What::Leaf(name.clone())),
            None => {
                let dso = usize::try_from(key.leaf_dso).ok().and_then(|id| self.tables.dsos.get(id)).map(|row| row.name.clone());
                place(What::Unknown(dso.unwrap_or_else(|| "no mapping".into())))
            }
        }
    }
}

/// `__x64_sys_write` -> `write`.
fn syscall_name(handler: &str) -> Text {
    let at = handler.find("_sys_").map_or(0, |at| at + 5);
    Text::from(handler.get(at..).unwrap_or(handler))
}

/// `__GI___libc_write`, `__write_nocancel`, `pwrite64@GLIBC` -> `write`, `write`, `pwrite64`.
fn wrapper_name(wrapper: &str) -> Text {
    let name = wrapper.split('@').next().unwrap_or(wrapper);
    let name = name.strip_prefix("__GI_").unwrap_or(name).trim_start_matches('_');
    let name = name.strip_prefix("libc_").unwrap_or(name);
    Text::from(name.strip_suffix("_nocancel").unwrap_or(name))
}

impl Place {
    /// As people read it: `emit_record → write path (write)`.
    pub fn label(&self) -> String {
        let what = match &self.what {
            What::Leaf(name) if self.site.as_deref() == Some(name) => return name.to_string(),
            What::Leaf(name) => name.to_string(),
            What::Syscall(name) => match self.category() {
                "I/O" if name.contains("write") => format!("write path ({name})"),
                "I/O" if name.contains("read") => format!("read path ({name})"),
                _ => format!("system call {name}"),
            },
            What::Class(class) => class_label(class).to_owned(),
            What::Kernel(name) => format!("kernel: {name}"),
            What::Unknown(dso) => format!("[unknown] in {dso}"),
        };
        match &self.site {
            Some(site) => format!("{site} → {what}"),
            None => what,
        }
    }

    pub fn category(&self) -> &'static str {
        match &self.what {
            What::Syscall(name) => syscall_category(name),
            What::Class(class) => match class.as_ref() {
                "ALLOC" => "Allocation",
                "FAULT" => "Memory",
                "SYNC" | "LOCK_WAIT" => "Sync",
                _ => "CPU",
            },
            What::Kernel(_) => "System",
            What::Leaf(_) | What::Unknown(_) => "CPU",
        }
    }

    /// The `key=value` pairs of an evidence anchor, percent-encoded by `encode`.
    pub fn keys(&self, encode: &dyn Fn(&str) -> String) -> String {
        let (key, value) = match &self.what {
            What::Syscall(name) => ("syscall", name),
            What::Class(name) => ("class", name),
            What::Kernel(name) => ("kernel", name),
            What::Leaf(name) => ("leaf", name),
            What::Unknown(name) => ("unknown", name),
        };
        let mut keys = format!("&{key}={}", encode(value));
        if let Some(site) = &self.site {
            let _ = write!(keys, "&site={}", encode(site));
        }
        if let Some(dso) = &self.site_dso {
            let _ = write!(keys, "&dso={}", encode(dso));
        }
        keys
    }
}

fn class_label(class: &str) -> &str {
    match class {
        "ALLOC" => "allocator (malloc, free)",
        "FORMAT" => "text formatting",
        "COPY" => "copying memory",
        "SYNC" | "LOCK_WAIT" => "locking",
        "LOADER" => "dynamic loader",
        "UNWIND" => "stack unwinding",
        "FAULT" => "page faults",
        other => other,
    }
}

fn syscall_category(name: &str) -> &'static str {
    let any = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if any(&["write", "read", "sync", "open", "stat", "seek", "send", "recv", "splice", "truncate", "fallocate"]) {
        "I/O"
    } else if name.contains("futex") {
        "Sync"
    } else if any(&["nanosleep", "sched_yield", "poll", "select", "epoll"]) {
        "Scheduler"
    } else if any(&["mmap", "munmap", "brk", "madvise", "mremap", "mprotect"]) {
        "Memory"
    } else {
        "System"
    }
}
