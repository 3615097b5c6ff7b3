//! fingerprint.json: what was analysed, by which version, and the words that ask for it again. Two runs with equal
//! `run_id` read the same bytes under the same names.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::summary::pretty;
use super::{EmitOptions, OutputFile, View, escape};
use crate::error::Result;
use crate::tables::{Artifact, SCHEMA_VERSION, Tables};

pub fn emit(view: &View<'_>, _options: EmitOptions) -> Result<Vec<OutputFile>> {
    let tables = &view.run.tables;
    let host: Vec<Value> = tables
        .host
        .iter()
        .map(|row| json!({"key": text(&row.key), "value": text(&row.value), "artifact": text(view.path(Some(row.artifact_id)))}))
        .collect();
    let executions: Vec<Value> = tables
        .executions
        .iter()
        .map(|row| {
            json!({
                "execution_id": row.execution_id, "artifact": text(view.path(Some(row.artifact_id))), "argv": row.argv.as_deref().map(text),
                "signature": row.signature.as_deref().map(text), "wrapper": text(&row.wrapper), "wall_ns": row.wall_ns, "work": row.work,
                "threads": row.threads, "variant": row.variant.as_deref().map(text), "exit_code": row.exit_code,
            })
        })
        .collect();
    let artifacts: Vec<Value> = tables.artifacts.iter().map(artifact).collect();
    let root = json!({
        "tool": "tripod", "version": env!("CARGO_PKG_VERSION"), "schema": SCHEMA_VERSION, "run_id": run_id(tables),
        "arguments": view.run.arguments.iter().map(|word| text(word)).collect::<Vec<String>>(), "host": host, "executions": executions, "artifacts": artifacts,
    });
    Ok(vec![("fingerprint.json".to_owned(), pretty(&root)?)])
}

/// SHA-256 over names and contents of the artifacts, in their order.
pub fn run_id(tables: &Tables) -> String {
    let mut hash = Sha256::new();
    for row in &tables.artifacts {
        for part in [&row.path, &row.sha256] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn artifact(row: &Artifact) -> Value {
    json!({
        "path": text(&row.path), "kind": &*row.kind, "tool": &*row.tool, "tool_version": row.tool_version.as_deref().map(text),
        "sha256": &*row.sha256, "root": &*row.root, "size_bytes": row.size_bytes, "status": &*row.status,
        "command": row.command.as_deref().map(text),
    })
}

fn text(value: &str) -> String {
    escape::plain(value).into_owned()
}
