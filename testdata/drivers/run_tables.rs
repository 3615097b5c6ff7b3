//! The stacks of a run, read through `tripod query`.

use std::collections::BTreeMap;
use std::path::Path;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::support;

/// One place on a stack.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    pub dso: Option<String>,
    pub rel: Option<i64>,
    pub depth: i64,
    pub name: Option<String>,
    pub line: Option<i32>,
}

pub struct Sample {
    pub tid: i32,
    pub ts_ns: i64,
    pub stack: Option<usize>,
    pub weight: i64,
}

pub struct RunTables {
    frames: Vec<Frame>,
    /// Parent and frame.
    stacks: Vec<(Option<usize>, usize)>,
    /// Of all sampled events.
    pub samples: Vec<Sample>,
}

fn rows(run: &Path, sql: &str) -> Result<Vec<Value>, Failed> {
    let output = support::tripod(&["query", &run.to_string_lossy(), sql, "--format", "json"]);
    if !output.status.success() {
        return Err(format!("{sql}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn text(row: &Value, key: &str) -> Option<String> {
    row[key].as_str().map(str::to_owned)
}

fn id(row: &Value, key: &str) -> Option<usize> {
    row[key].as_u64().and_then(|id| usize::try_from(id).ok())
}

impl RunTables {
    pub fn read(run: &Path) -> Result<RunTables, Failed> {
        let names = rows(run, "SELECT function_id, name FROM functions ORDER BY function_id")?;
        let dsos = rows(run, "SELECT dso_id, name FROM dsos ORDER BY dso_id")?;
        let frame = |row: &Value| Frame {
            dso: id(row, "dso_id").and_then(|dso| text(dsos.get(dso)?, "name")),
            rel: row["rel"].as_i64(),
            depth: row["inline_depth"].as_i64().unwrap_or(0),
            name: id(row, "function_id").and_then(|function| text(names.get(function)?, "name")),
            line: row["line"].as_i64().and_then(|line| i32::try_from(line).ok()),
        };
        let frames = rows(run, "SELECT frame_id, dso_id, rel, inline_depth, function_id, line FROM frames ORDER BY frame_id")?;
        let stacks = rows(run, "SELECT stack_id, parent_stack_id, frame_id FROM stacks ORDER BY stack_id")?;
        let threads = rows(run, "SELECT thread_id, tid FROM threads ORDER BY thread_id")?;
        let tids: BTreeMap<Option<usize>, i32> =
            threads.iter().map(|row| (id(row, "thread_id"), row["tid"].as_i64().unwrap_or(-1) as i32)).collect();
        let sample = |row: &Value| Sample {
            tid: tids.get(&id(row, "thread_id")).copied().unwrap_or(-1),
            ts_ns: row["ts_ns"].as_i64().unwrap_or(-1),
            stack: id(row, "stack_id"),
            weight: row["weight"].as_i64().unwrap_or(0),
        };
        let samples = rows(run, "SELECT thread_id, ts_ns, stack_id, weight, record_no FROM samples ORDER BY record_no")?;
        Ok(RunTables {
            frames: frames.iter().map(frame).collect(),
            stacks: stacks.iter().map(|row| (id(row, "parent_stack_id"), id(row, "frame_id").unwrap_or(usize::MAX))).collect(),
            samples: samples.iter().map(sample).collect(),
        })
    }

    /// All frames of a stack, leaf first.
    pub fn whole(&self, stack: Option<usize>) -> Vec<&Frame> {
        let mut out = Vec::new();
        let mut at = stack;
        while let Some((parent, frame)) = at.and_then(|at| self.stacks.get(at)) {
            out.extend(self.frames.get(*frame));
            at = *parent;
        }
        out
    }

    /// The physical frames, leaf first: what a disassembler shows.
    pub fn physical(&self, stack: Option<usize>) -> Vec<&Frame> {
        self.whole(stack).into_iter().filter(|frame| frame.depth == 0).collect()
    }

    /// By address of one program: (function, line), innermost first.
    pub fn chains(&self, dso: &str) -> BTreeMap<i64, Vec<(String, Option<i32>)>> {
        let mut by_address: BTreeMap<i64, Vec<&Frame>> = BTreeMap::new();
        for frame in self.frames.iter().filter(|frame| frame.dso.as_deref() == Some(dso)) {
            by_address.entry(frame.rel.unwrap_or(-1)).or_default().push(frame);
        }
        let chain = |mut frames: Vec<&Frame>| {
            frames.sort_by_key(|frame| std::cmp::Reverse(frame.depth));
            frames.into_iter().map(|frame| (frame.name.clone().unwrap_or_else(|| "??".to_owned()), frame.line)).collect()
        };
        by_address.into_iter().map(|(address, frames)| (address, chain(frames))).collect()
    }
}
