//! Which processes are the program under study, per artifact.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::tables::{Diagnostic, Tables};

/// What the user said.
#[derive(Debug, Clone, Default)]
pub struct TargetChoice {
    /// `--comm`: processes with this command name (a thread's name counts too).
    pub comm: Option<String>,
    /// `--pid`.
    pub pid: Option<i32>,
}

/// What was chosen, in words for the report.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// Command name of the chosen processes, most samples first, joined with a comma.
    pub name: String,
    /// Why these: `--comm`, `--pid`, `recorded command`, `largest share of the samples`, ...
    pub reason: String,
}

/// Marks `is_target` on processes and threads and fills the target sums of events.
pub fn choose(tables: &mut Tables, choice: &TargetChoice) -> Target {
    let mut reasons = BTreeSet::new();
    for artifact in 0..tables.artifacts.len() as i32 {
        if tables.processes.iter().any(|process| process.artifact_id == artifact) {
            reasons.insert(choose_in(tables, artifact, choice));
        }
    }
    let targets: BTreeSet<i32> = tables.processes.iter().filter(|row| row.is_target).map(|row| row.process_id).collect();
    for thread in &mut tables.threads {
        thread.is_target = targets.contains(&thread.process_id);
    }
    sum_events(tables);
    let names: BTreeSet<&str> = tables.processes.iter().filter(|row| row.is_target).filter_map(|row| row.name.as_deref()).collect();
    Target { name: names.into_iter().collect::<Vec<_>>().join(", "), reason: reasons.into_iter().collect::<Vec<_>>().join("; ") }
}

fn choose_in(tables: &mut Tables, artifact: i32, choice: &TargetChoice) -> &'static str {
    let by_name: Option<BTreeSet<i32>> = choice.comm.as_ref().map(|comm| {
        let threads = tables.threads.iter().filter(|row| row.artifact_id == artifact && row.name.as_deref() == Some(comm));
        let processes = tables.processes.iter().filter(|row| row.artifact_id == artifact && row.name.as_deref() == Some(comm));
        threads.map(|row| row.process_id).chain(processes.map(|row| row.process_id)).collect()
    });
    let chosen = |tables: &mut Tables, keep: &dyn Fn(i32, i32) -> bool| {
        for process in tables.processes.iter_mut().filter(|row| row.artifact_id == artifact) {
            process.is_target = keep(process.process_id, process.pid);
        }
    };
    if let Some(pid) = choice.pid {
        chosen(tables, &|_, of| of == pid);
        return "--pid";
    }
    if let Some(ids) = by_name {
        chosen(tables, &|id, _| ids.contains(&id));
        return "--comm";
    }
    if tables.processes.iter().any(|row| row.artifact_id == artifact && row.is_target) {
        return "recorded command";
    }
    let wide = tables.artifacts.get(artifact as usize).and_then(|row| row.system_wide).unwrap_or(false);
    if !wide {
        chosen(tables, &|_, _| true);
        return "everything recorded";
    }
    match same_name_elsewhere(tables, artifact).or_else(|| largest(tables, artifact)) {
        Some(name) => {
            let ids: BTreeSet<i32> = tables
                .processes
                .iter()
                .filter(|row| row.artifact_id == artifact && row.name.as_deref() == Some(name.as_ref()))
                .map(|row| row.process_id)
                .collect();
            chosen(tables, &|id, _| ids.contains(&id));
            note(tables, artifact, &name);
            "largest in a system-wide recording"
        }
        None => "nothing recorded",
    }
}

/// A command name that another artifact recorded as its command.
fn same_name_elsewhere(tables: &Tables, artifact: i32) -> Option<Arc<str>> {
    let known: BTreeSet<&str> = tables
        .executions
        .iter()
        .filter(|row| row.artifact_id != artifact)
        .filter_map(|row| row.program.as_deref())
        .map(|name| name.get(..15).unwrap_or(name))
        .collect();
    let here = tables.processes.iter().filter(|row| row.artifact_id == artifact);
    here.filter_map(|row| row.name.clone()).find(|name| known.contains(name.as_ref()))
}

/// The command name with most sample weight (or, without samples, most threads), idle task excluded.
fn largest(tables: &Tables, artifact: i32) -> Option<Arc<str>> {
    let mut weight: BTreeMap<Arc<str>, i64> = BTreeMap::new();
    let mut name_of: BTreeMap<i32, Arc<str>> = BTreeMap::new();
    for process in tables.processes.iter().filter(|row| row.artifact_id == artifact && row.pid != 0) {
        if let Some(name) = &process.name {
            name_of.insert(process.process_id, name.clone());
            weight.entry(name.clone()).or_insert(0);
        }
    }
    for sample in &tables.samples {
        let thread = sample.thread_id.get().and_then(|id| tables.threads.get(id as usize)).filter(|row| row.artifact_id == artifact);
        if let Some(name) = thread.and_then(|row| name_of.get(&row.process_id)) {
            let sum = weight.entry(name.clone()).or_insert(0);
            *sum = sum.saturating_add(sample.weight);
        }
    }
    weight.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0))).map(|(name, _)| name)
}

fn note(tables: &mut Tables, artifact: i32, name: &str) {
    tables.diagnostics.push(Diagnostic {
        artifact_id: Some(artifact),
        kind: "target_guessed".into(),
        severity: "warn".into(),
        count: 1,
        message: format!("a system-wide recording that does not name its command; {name} was taken as the program under study").into(),
        advice: "choose with --comm or --pid".into(),
        places: "".into(),
    });
}

fn sum_events(tables: &mut Tables) {
    for sample in &tables.samples {
        // A sample without a thread cannot be told from the target in a recording of one process only.
        let is_target = match sample.thread_id.get() {
            Some(id) => tables.threads.get(id as usize).is_some_and(|row| row.is_target),
            None => false,
        };
        if let Some(event) = tables.events.get_mut(sample.event_id as usize).filter(|_| is_target) {
            event.target_n += 1;
            event.target_weight = event.target_weight.saturating_add(sample.weight);
        }
    }
}
