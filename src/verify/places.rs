//! Stacks as anchors speak of them, from the run's tables: which classes are on a stack, its site, its place.
//!
//! What is a place is documented in `derive::places`; here it is found again by walking each stack frame by frame and
//! matching every name against queries/symbol_classes.json.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;

use super::store::{Ints, Store, Texts, int, row_of, text};
use crate::derive::places::{USER_CLASSES, WRAPPERS};

/// No stack is deeper; parents that go round in a circle end here.
const DEPTH_MAX: usize = 1 << 16;

/// What is known of a function.
#[derive(Debug, Default)]
struct Function {
    name: String,
    dso: Option<String>,
    classes: HashSet<String>,
    in_runtime: bool,
}

/// A stack, read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Place {
    /// `syscall`, `class`, `kernel`, `leaf` or `unknown`, and its value.
    pub what: (&'static str, String),
    pub site: Option<String>,
    pub site_dso: Option<String>,
    pub classes: HashSet<String>,
    /// Those of the leaf itself.
    pub leaf_classes: HashSet<String>,
    pub leaf: Option<String>,
    pub leaf_is_kernel: bool,
    /// The leaf is where interrupts are enabled again: its time belongs to the caller.
    pub leaf_is_sink: bool,
}

pub struct Places {
    functions: Vec<Function>,
    frame_function: Ints,
    frame_dso: Ints,
    frame_is_kernel: Ints,
    stack_frame: Ints,
    stack_parent: Ints,
    dso_name: Texts,
    known: Mutex<HashMap<i64, Arc<Place>>>,
}

/// One frame, leaf first.
struct Frame<'a> {
    function: Option<&'a Function>,
    is_kernel: bool,
    dso: Option<i64>,
}

impl Places {
    pub fn read(store: &Store) -> Result<Places, String> {
        Ok(Places {
            functions: functions(store)?,
            frame_function: store.ints("frames", "function_id")?,
            frame_dso: store.ints("frames", "dso_id")?,
            frame_is_kernel: store.ints("frames", "is_kernel")?,
            stack_frame: store.ints("stacks", "frame_id")?,
            stack_parent: store.ints("stacks", "parent_stack_id")?,
            dso_name: store.texts("dsos", "name")?,
            known: Mutex::default(),
        })
    }

    pub fn of(&self, stack: i64) -> Arc<Place> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(stack).or_insert_with(|| Arc::new(self.read_stack(stack))).clone()
    }

    fn frames(&self, stack: i64) -> Vec<Frame<'_>> {
        let mut frames = Vec::new();
        let mut next = Some(stack);
        while let Some(stack) = next.filter(|_| frames.len() < DEPTH_MAX) {
            let Some(frame) = int(&self.stack_frame, row_of(stack)).map(row_of) else { break };
            frames.push(Frame {
                function: int(&self.frame_function, frame).and_then(|id| self.functions.get(row_of(id))),
                is_kernel: int(&self.frame_is_kernel, frame) == Some(1),
                dso: int(&self.frame_dso, frame),
            });
            next = int(&self.stack_parent, row_of(stack));
        }
        frames
    }

    fn read_stack(&self, stack: i64) -> Place {
        let frames = self.frames(stack);
        let has = |frame: &Frame<'_>, class: &str| frame.function.is_some_and(|function| function.classes.contains(class));
        let is_site = |frame: &&Frame<'_>| !frame.is_kernel && frame.function.is_some_and(|function| !function.in_runtime);
        let site = frames.iter().find(is_site).and_then(|frame| frame.function);
        let leaf = frames.first();
        Place {
            what: self.what(&frames),
            site: site.map(|function| function.name.clone()),
            site_dso: site.and_then(|function| function.dso.clone()),
            leaf_classes: frames.first().and_then(|frame| frame.function).map(|function| function.classes.clone()).unwrap_or_default(),
            classes: frames.iter().filter_map(|frame| frame.function).flat_map(|function| function.classes.iter().cloned()).collect(),
            leaf: leaf.and_then(|frame| frame.function).map(|function| function.name.clone()),
            leaf_is_kernel: leaf.is_some_and(|frame| frame.is_kernel),
            leaf_is_sink: leaf.is_some_and(|frame| has(frame, "IRQ_SINK")),
        }
    }

    /// The rules of `derive::places`, in their order.
    fn what(&self, frames: &[Frame<'_>]) -> (&'static str, String) {
        let Some(leaf) = frames.first() else { return ("unknown", "no stack".to_owned()) };
        let with = |class: &'static str| move |frame: &&Frame<'_>| frame.function.is_some_and(|function| function.classes.contains(class));
        if let Some(handler) = frames.iter().rev().find(with("SYSCALL")).and_then(|frame| frame.function) {
            let name = handler.name.find("_sys_").and_then(|at| handler.name.get(at + 5..));
            return ("syscall", name.unwrap_or(&handler.name).to_owned());
        }
        if frames.iter().any(|frame| with("FAULT")(&frame)) {
            return ("class", "FAULT".to_owned());
        }
        let user = frames.iter().find(|frame| !frame.is_kernel).and_then(|frame| frame.function);
        if let Some(user) = user.filter(|user| user.in_runtime && frames.iter().any(|frame| with("KENTRY")(&frame))) {
            return ("syscall", wrapper(&user.name));
        }
        if leaf.is_kernel {
            let outermost = frames.iter().rev().find(|frame| frame.is_kernel && frame.function.is_some());
            return ("kernel", outermost.and_then(|frame| frame.function).map_or("[unknown]".to_owned(), |own| own.name.clone()));
        }
        let is_site = |frame: &Frame<'_>| !frame.is_kernel && frame.function.is_some_and(|function| !function.in_runtime);
        let below = frames.iter().position(is_site).unwrap_or(frames.len());
        for function in frames.iter().take(below).rev().filter_map(|frame| frame.function) {
            let Some(class) = USER_CLASSES.iter().find(|class| function.classes.contains(**class)) else { continue };
            let is_wrapper = WRAPPERS.contains(class);
            return if is_wrapper { ("syscall", wrapper(&function.name)) } else { ("class", (*class).to_owned()) };
        }
        match leaf.function {
            Some(function) => ("leaf", function.name.clone()),
            None => ("unknown", leaf.dso.and_then(|id| text(&self.dso_name, row_of(id))).unwrap_or("no mapping").to_owned()),
        }
    }
}

/// `__GI___libc_write` is `write`.
fn wrapper(name: &str) -> String {
    let name = name.split('@').next().unwrap_or(name);
    let name = name.strip_prefix("__GI_").unwrap_or(name).trim_start_matches('_');
    let name = name.strip_prefix("libc_").unwrap_or(name);
    name.strip_suffix("_nocancel").unwrap_or(name).to_owned()
}

/// Whole names; `*` is any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => match name.strip_prefix(start) {
            Some(_) if rest.is_empty() => true,
            Some(tail) => tail.char_indices().any(|(at, _)| tail.get(at..).is_some_and(|tail| matches(rest, tail))) || matches(rest, ""),
            None => false,
        },
    }
}

/// A name without what compilers append to copies of one function.
fn plain(name: &str) -> &str {
    let mut name = name;
    if let Some((head, hash)) = name.rsplit_once("::h")
        && hash.len() == 16
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        name = head;
    }
    for suffix in [".isra.", ".part.", ".constprop.", ".cold", ".llvm.", ".lto_priv.", " [clone"] {
        name = name.find(suffix).filter(|at| *at > 0).and_then(|at| name.get(..at)).unwrap_or(name);
    }
    name.strip_suffix("()").unwrap_or(name)
}

/// One entry of the classes file.
struct Class {
    name: String,
    dso: String,
    patterns: Vec<String>,
    except: Vec<String>,
    dso_patterns: Vec<String>,
}

fn texts(value: Option<&Json>) -> Vec<String> {
    value.and_then(Json::as_array).into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
}

fn functions(store: &Store) -> Result<Vec<Function>, String> {
    let file: Json = serde_json::from_str(include_str!("../../queries/symbol_classes.json")).map_err(|error| error.to_string())?;
    let class = |class: &Json| {
        Some(Class {
            name: class.get("name")?.as_str()?.to_owned(),
            dso: class.get("dso")?.as_str()?.to_owned(),
            patterns: texts(class.get("patterns")),
            except: texts(class.get("except")),
            dso_patterns: texts(class.get("dso_patterns")),
        })
    };
    let classes: Vec<Class> = file.get("classes").and_then(Json::as_array).into_iter().flatten().filter_map(class).collect();
    let runtime = texts(file.get("runtime_dsos"));
    let (names, dsos) = (store.texts("functions", "name")?, store.texts("functions", "dso")?);
    let (dso_ids, kinds) = (store.ints("functions", "dso_id")?, store.texts("dsos", "kind")?);
    let is_runtime = |dso: &str| runtime.iter().any(|pattern| matches(pattern, dso));
    let rows = || 0..names.len();
    let in_runtime: HashSet<&str> =
        rows().filter(|row| text(&dsos, *row).is_some_and(is_runtime)).filter_map(|row| text(&names, row)).collect();
    let one = |row: usize| {
        let (name, dso) = (text(&names, row).unwrap_or(""), text(&dsos, row));
        let kind = int(&dso_ids, row).and_then(|id| text(&kinds, row_of(id)));
        let is_kernel = matches!(kind, Some("kernel" | "module" | "bpf"));
        let short = plain(name);
        let fits = |class: &&Class| {
            let applies = match class.dso.as_str() {
                "kernel" => is_kernel,
                "user" => !is_kernel,
                _ => true,
            };
            applies
                && !class.except.iter().any(|pattern| matches(pattern, short))
                && (class.patterns.iter().any(|pattern| matches(pattern, short))
                    || class.dso_patterns.iter().any(|pattern| matches(pattern, dso.unwrap_or(""))))
        };
        let own: HashSet<String> = classes.iter().filter(fits).map(|class| class.name.clone()).collect();
        // Tools of text print no dso: what another artifact found in the runtime, and libc's wrappers, are there too.
        let is_wrapper = crate::derive::classes::WRAPPER_CLASSES.iter().any(|class| own.contains(*class));
        let by_name = dso.is_none() && (in_runtime.contains(name) || is_wrapper);
        let in_runtime = !is_kernel && (dso.is_some_and(is_runtime) || by_name);
        Function { name: name.to_owned(), dso: dso.map(str::to_owned), classes: own, in_runtime }
    };
    Ok(rows().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_the_whole_name() {
        assert!(matches("malloc", "malloc") && !matches("malloc", "xmalloc") && matches("a*", "a") && matches("*", ""));
        assert!(matches("<* as core::fmt::*", "<A as core::fmt::Debug>::fmt") && !matches("a*b", "abc") && matches("a*b*c", "a-bb-c"));
    }

    #[test]
    fn names_without_clones() {
        assert_eq!(plain("f.isra.0"), "f");
        assert_eq!(plain("m::f::h0123456789abcdef"), "m::f");
        assert_eq!(wrapper("__GI___libc_write"), "write");
    }
}
