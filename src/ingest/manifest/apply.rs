//! A manifest's word, brought to the merged tables.

use std::collections::BTreeMap;

use super::{Declared, Entry, Manifest, Placed};
use crate::ingest::{accounting, command, histogram, locks, offcpu_stacks, strace_summary};
use crate::tables::{Diagnostic, EnvironmentReading, Execution, Tables, Text};

/// Links artifacts, commands and executions. Call it once after the merge, also where there is no manifest: it signs the
/// executions and decides what the seconds of strace summaries mean.
pub fn apply(tables: &mut Tables, manifests: &[Placed]) {
    let by_path: BTreeMap<Text, usize> = tables.artifacts.iter().enumerate().map(|(n, artifact)| (artifact.path.clone(), n)).collect();
    for placed in manifests {
        let own = by_path.get(placed.path.as_str()).copied();
        bare_runs(tables, &placed.manifest, own);
        bare_twins(tables, &placed.manifest, own);
        for entry in &placed.manifest.artifacts {
            match find(&by_path, &placed.path, &entry.path) {
                Some(artifact) => apply_entry(tables, &placed.manifest, entry, artifact),
                None => missing(tables, entry, own),
            }
        }
    }
    offcpu_stacks::adopt_commands(tables);
    histogram::adopt_commands(tables);
    locks::adopt_commands(tables);
    accounting::adopt(tables);
    fill_walls(tables);
    for execution in &mut tables.executions {
        execution.sign();
    }
    strace_summary::decide_clocks(tables);
}

/// The artifact of a path relative to the manifest, with or without the compression the recorder put around it.
fn find(by_path: &BTreeMap<Text, usize>, manifest: &str, path: &str) -> Option<usize> {
    let path = path.trim_start_matches("./");
    let full = match manifest.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/{path}"),
        None => path.to_owned(),
    };
    let bare = full.strip_suffix(".zst").or_else(|| full.strip_suffix(".gz")).map(str::to_owned);
    let candidates = [Some(full.clone()), bare, Some(format!("{full}.zst")), Some(format!("{full}.gz"))];
    candidates.iter().flatten().find_map(|name| by_path.get(name.as_str()).copied())
}

fn missing(tables: &mut Tables, entry: &Entry, own: Option<usize>) {
    note(
        tables,
        own,
        "manifest_artifact_absent",
        &format!("{} is not among the inputs", entry.path),
        "nothing to do unless it was left behind by mistake",
    );
}

fn note(tables: &mut Tables, artifact: Option<usize>, kind: &str, message: &str, advice: &str) {
    let artifact_id = artifact.map(|n| n as i32);
    if let Some(known) = tables.diagnostics.iter_mut().find(|row| row.artifact_id == artifact_id && row.kind.as_ref() == kind) {
        known.count = known.count.saturating_add(1);
        return;
    }
    tables.diagnostics.push(Diagnostic {
        artifact_id,
        kind: kind.into(),
        severity: "info".into(),
        count: 1,
        message: message.into(),
        advice: advice.into(),
        places: "".into(),
    });
}

fn bare_runs(tables: &mut Tables, manifest: &Manifest, own: Option<usize>) {
    let Some(own) = own else { return };
    for run in &manifest.bare {
        let id = tables.executions.len() as i32;
        let mut execution = Execution {
            execution_id: id,
            artifact_id: own as i32,
            argv: (!manifest.argv.is_empty()).then(|| command::quote(&manifest.argv).into()),
            wall_ns: run.wall_ns,
            user_ns: run.user_ns,
            system_ns: run.system_ns,
            exit_code: run.exit_code,
            work: manifest.declared.work,
            threads: manifest.declared.threads,
            variant: manifest.declared.variant.as_deref().map(Into::into),
            ..Execution::under("bare")
        };
        let stated = [("wall_ns", "wall_s", run.wall_ns), ("user_ns", "user_s", run.user_ns), ("system_ns", "sys_s", run.system_ns)];
        for (field, key, _) in stated.iter().filter(|(_, _, value)| value.is_some()) {
            execution.note_place(field, &format!("ptr={}/{key}", run.pointer));
        }
        tables.executions.push(execution);
        if let Some(artifact) = tables.artifacts.get_mut(own) {
            artifact.execution_id.get_or_insert(id);
        }
        if let Some(share) = run.psi_cpu_share {
            environment(tables, own, "psi_cpu_some", share);
        }
        for (metric, share) in &run.surroundings {
            environment(tables, own, metric, *share);
        }
    }
}

/// Runs of a traced command without its tool, at the traced amount of work: what a tracer's slowdown is measured against.
fn bare_twins(tables: &mut Tables, manifest: &Manifest, own: Option<usize>) {
    let Some(own) = own else { return };
    for entry in manifest.artifacts.iter().filter(|entry| entry.bare_wall_ns.is_some()) {
        let declared = effective(manifest, entry);
        let words = entry.command.as_deref().and_then(command::program_words).or_else(|| with_own_work(manifest, &declared));
        let mut execution = Execution {
            execution_id: tables.executions.len() as i32,
            artifact_id: own as i32,
            argv: words.map(|words| command::quote(&words).into()),
            wall_ns: entry.bare_wall_ns,
            work: declared.work,
            threads: declared.threads,
            variant: declared.variant.map(Into::into),
            ..Execution::under("bare")
        };
        execution.note_place("wall_ns", &format!("ptr={}/bare_wall_s", entry.pointer));
        tables.executions.push(execution);
    }
}

/// What is declared for an artifact: its own, else the whole recording's.
fn effective(manifest: &Manifest, entry: &Entry) -> Declared {
    Declared {
        work: entry.declared.work.or(manifest.declared.work),
        threads: entry.declared.threads.or(manifest.declared.threads),
        variant: entry.declared.variant.clone().or_else(|| manifest.declared.variant.clone()),
    }
}

fn environment(tables: &mut Tables, artifact: usize, metric: &str, value: f64) {
    tables.environment.push(EnvironmentReading { artifact_id: artifact as i32, metric: metric.into(), value, source: "manifest".into() });
}

fn apply_entry(tables: &mut Tables, manifest: &Manifest, entry: &Entry, n: usize) {
    let Some(artifact) = tables.artifacts.get_mut(n) else { return };
    if let Some(sha256) = entry.sha256.as_deref().filter(|sha256| !artifact.sha256.eq_ignore_ascii_case(sha256)) {
        let message = format!("the manifest states SHA-256 {sha256}, the file has {}", artifact.sha256);
        note(tables, Some(n), "manifest_sha256_differs", &message, "the file was changed after the recording");
    }
    let Some(artifact) = tables.artifacts.get_mut(n) else { return };
    if artifact.command.is_none() {
        artifact.command = entry.command.as_deref().map(Into::into);
    }
    artifact.wall_ns = artifact.wall_ns.or(entry.wall_ns);
    artifact.psi_cpu_share = artifact.psi_cpu_share.or(entry.psi_cpu_share).or(entry.psi_cpu_avg10.map(|percent| percent / 100.0));
    if artifact.tool_version.is_none() {
        let named = [entry.tool.as_deref(), Some(artifact.tool.as_ref())];
        artifact.tool_version = named.iter().flatten().find_map(|tool| manifest.tools.get(*tool)).map(|version| version.as_str().into());
    }
    if let Some(options) = artifact.command.as_deref().and_then(command::strace_options).filter(|_| artifact.tool.as_ref() == "strace") {
        artifact.follows_children = Some(options.follows);
        artifact.syscall_filter = artifact.syscall_filter.take().or(options.filter.map(Into::into));
    }
    if let Some(share) = entry.psi_cpu_share {
        environment(tables, n, "psi_cpu_some", share);
    }
    if let Some(percent) = entry.psi_cpu_avg10 {
        environment(tables, n, "psi_cpu_avg10", percent / 100.0);
    }
    for (metric, share) in &entry.surroundings {
        environment(tables, n, metric, *share);
    }
    if tables.artifacts.get(n).is_some_and(|artifact| artifact.kind.as_ref() == "hyperfine") {
        declare_benchmarks(tables, &entry.declared, n);
    } else {
        link_execution(tables, manifest, entry, n);
    }
}

/// What the manifest declares fills what the benchmark's own parameters leave open.
fn declare_benchmarks(tables: &mut Tables, declared: &Declared, n: usize) {
    for row in tables.benchmarks.iter_mut().filter(|row| row.artifact_id == n as i32) {
        row.work = row.work.or(declared.work);
        row.threads = row.threads.or(declared.threads);
        row.variant = row.variant.take().or_else(|| declared.variant.as_deref().map(Into::into));
    }
}

fn link_execution(tables: &mut Tables, manifest: &Manifest, entry: &Entry, n: usize) {
    let Some(artifact) = tables.artifacts.get_mut(n) else { return };
    if matches!(artifact.status.as_ref(), "unreadable" | "duplicate") {
        return;
    }
    let id = *artifact.execution_id.get_or_insert_with(|| {
        let id = tables.executions.len() as i32;
        tables.executions.push(Execution { execution_id: id, artifact_id: n as i32, ..Execution::under(&artifact.tool) });
        id
    });
    let Some(execution) = tables.executions.iter_mut().find(|execution| execution.execution_id == id) else { return };
    let declared = effective(manifest, entry);
    if execution.argv.is_none() {
        let words = entry.command.as_deref().and_then(command::program_words).or_else(|| with_own_work(manifest, &declared));
        execution.argv = words.map(|words| command::quote(&words).into());
    }
    execution.work = declared.work;
    execution.threads = declared.threads;
    execution.variant = declared.variant.map(Into::into);
}

/// The manifest's argv with the artifact's own amount of work in place of the main run's.
fn with_own_work(manifest: &Manifest, declared: &Declared) -> Option<Vec<String>> {
    let (main, own) = (manifest.declared.work.map(|work| work.to_string()), declared.work.map(|work| work.to_string()));
    let replace = |word: &String| match (&main, &own) {
        (Some(main), Some(own)) if word == main => own.clone(),
        _ => word.clone(),
    };
    (!manifest.argv.is_empty()).then(|| manifest.argv.iter().map(replace).collect())
}

/// An execution whose own artifact does not know its wall time takes the one that the manifest measured around the tool.
fn fill_walls(tables: &mut Tables) {
    for artifact in &tables.artifacts {
        let Some(execution) =
            artifact.execution_id.and_then(|id| tables.executions.iter_mut().find(|execution| execution.execution_id == id))
        else {
            continue;
        };
        execution.wall_ns = execution.wall_ns.or(artifact.wall_ns);
    }
}
