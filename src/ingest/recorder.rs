//! The only door into the tables.
//!
//! One recorder per artifact. Ids are local and dense; `merge.rs` makes them global. Interning is by value: the same
//! dso, function, frame or stack node is stored once.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::manifest::Manifest;
use crate::tables::*;

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Info,
    Warn,
    Error,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warn => "warn",
            Severity::Error => "error",
        }
    }
}

/// A place on a stack as a tool gives it.
#[derive(Debug, Clone, Default)]
pub struct FrameAt {
    pub dso: Option<i32>,
    /// Relative to the dso; return addresses already minus one.
    pub rel: Option<i64>,
    /// A name the tool itself gave (text formats); perf.data leaves it to symbolize.
    pub function: Option<i32>,
    pub line: Option<i32>,
    pub inline_depth: i32,
    pub is_kernel: bool,
    pub symbol_rel: Option<i64>,
}

/// What an importer knows of an event when it meets it; counts are filled in as samples arrive.
#[derive(Debug, Clone)]
pub struct NewEvent {
    pub name: String,
    pub mechanism: &'static str,
    pub probe: &'static str,
    pub role: &'static str,
    pub frequency_hz: Option<i64>,
    pub period: Option<i64>,
    pub unit: &'static str,
}

#[derive(Debug, Default)]
struct Loss {
    severity: Option<Severity>,
    count: i64,
    message: String,
    advice: String,
    places: Vec<String>,
}

type FrameKey = (Option<i32>, Option<i64>, Option<i32>, Option<i32>, i32, bool, Option<i64>);

/// Collects what one artifact holds. Rows of tables without interning are pushed into [`Recorder::tables`] directly.
pub struct Recorder {
    /// The artifact's own row; importers fill in what they learn (tool_version, command, clock, unwinding, ...).
    pub artifact: Artifact,
    /// Rows with local ids. `artifact_id` is 0 in all of them.
    pub tables: Tables,
    /// What a manifest says about the other artifacts; applied after the merge.
    pub manifest: Option<Manifest>,
    texts: FxHashMap<Text, ()>,
    dsos: FxHashMap<(Text, Option<Text>), i32>,
    functions: FxHashMap<(Text, Option<i32>, Option<Text>), i32>,
    frames: FxHashMap<FrameKey, i32>,
    stacks: FxHashMap<(i32, i32), i32>,
    /// Whether `frames` and `stacks` have all rows of their tables.
    is_hashed: bool,
    losses: BTreeMap<String, Loss>,
}

impl Recorder {
    pub fn new(artifact: Artifact) -> Recorder {
        Recorder {
            artifact,
            tables: Tables::default(),
            manifest: None,
            texts: FxHashMap::default(),
            dsos: FxHashMap::default(),
            functions: FxHashMap::default(),
            frames: FxHashMap::default(),
            stacks: FxHashMap::default(),
            is_hashed: true,
            losses: BTreeMap::new(),
        }
    }

    /// One shared copy of a text.
    pub fn text(&mut self, value: &str) -> Text {
        if let Some((text, ())) = self.texts.get_key_value(value) {
            return text.clone();
        }
        let text: Text = Arc::from(value);
        self.texts.insert(text.clone(), ());
        text
    }

    /// A dso by path and build-id. `kind` as in the `dsos` table.
    pub fn intern_dso(&mut self, path: &str, build_id: Option<&str>, kind: &str) -> i32 {
        let key = (self.text(path), build_id.map(|id| self.text(id)));
        if let Some(id) = self.dsos.get(&key) {
            return *id;
        }
        let id = self.tables.dsos.len() as i32;
        // The kernel's mark for a replaced file is no part of its name.
        let file = path.strip_suffix(" (deleted)").unwrap_or(path);
        let name = if path.starts_with('[') || path.starts_with("//") { path } else { file.rsplit('/').next().unwrap_or(file) };
        let row = Dso {
            dso_id: id,
            name: self.text(name),
            path: key.0.clone(),
            build_id: key.1.clone(),
            kind: self.text(kind),
            ..Dso::default()
        };
        self.tables.dsos.push(row);
        self.dsos.insert(key, id);
        id
    }

    /// A function that a tool names itself (text formats, heaptrack). The name is demangled already.
    pub fn intern_function(&mut self, name: &str, dso: Option<i32>, file: Option<&str>) -> i32 {
        let key = (self.text(name), dso, file.map(|file| self.text(file)));
        if let Some(id) = self.functions.get(&key) {
            return *id;
        }
        let id = self.tables.functions.len() as i32;
        let dso_name = dso.and_then(|dso| self.tables.dsos.get(dso as usize)).map(|dso| dso.name.clone());
        let function_key = keys::function_key(name, dso_name.as_deref());
        self.tables.functions.push(Function {
            function_id: id,
            name: key.0.clone(),
            dso_id: dso,
            dso: dso_name,
            file: key.2.clone(),
            line: None,
            function_key,
        });
        self.functions.insert(key, id);
        id
    }

    pub fn intern_frame(&mut self, at: &FrameAt) -> i32 {
        if !self.is_hashed {
            self.hash_again();
        }
        let key = (at.dso, at.rel, at.function, at.line, at.inline_depth, at.is_kernel, at.symbol_rel);
        if let Some(id) = self.frames.get(&key) {
            return *id;
        }
        let id = self.push_frame(at);
        self.frames.insert(key, id);
        id
    }

    fn push_frame(&mut self, at: &FrameAt) -> i32 {
        let id = self.tables.frames.len() as i32;
        self.tables.frames.push(Frame {
            frame_id: id,
            dso_id: at.dso,
            rel: at.rel,
            inline_depth: at.inline_depth,
            is_inlined: at.inline_depth > 0,
            is_kernel: at.is_kernel,
            function_id: at.function,
            line: at.line,
            symbol_rel: at.symbol_rel,
            has_frame: None,
        });
        id
    }

    /// After rows were adopted without being hashed.
    fn hash_again(&mut self) {
        let stacks = self.tables.stacks.nodes().zip(0..);
        self.stacks = stacks.map(|((parent, frame), id)| ((parent.unwrap_or(-1), frame), id)).collect();
        let key = |row: &Frame| (row.dso_id, row.rel, row.function_id, row.line, row.inline_depth, row.is_kernel, row.symbol_rel);
        self.frames = self.tables.frames.iter().map(|row| (key(row), row.frame_id)).collect();
        self.is_hashed = true;
    }

    /// The node for `frame` called from `parent`; call it from the root to the leaf.
    pub fn intern_stack(&mut self, parent: Option<i32>, frame: i32) -> i32 {
        if !self.is_hashed {
            self.hash_again();
        }
        let key = (parent.unwrap_or(-1), frame);
        if let Some(id) = self.stacks.get(&key) {
            return *id;
        }
        let id = self.tables.stacks.push(parent, frame);
        self.stacks.insert(key, id);
        id
    }

    /// Takes over stacks that were interned elsewhere, each frame and each node once, parents first. Nodes are (parent,
    /// frame) by their place in the two lists. Gives the id of each node, if that is not its place.
    pub fn adopt_stacks(
        &mut self,
        frames: impl Iterator<Item = FrameAt>,
        nodes: impl Iterator<Item = (Option<i32>, i32)>,
    ) -> Option<Vec<i32>> {
        if self.tables.stacks.is_empty() && self.tables.frames.is_empty() {
            // Nothing to compare with: what is different there is different here.
            self.is_hashed = false;
            frames.for_each(|frame| _ = self.push_frame(&frame));
            self.tables.stacks.reserve(nodes.size_hint().0);
            nodes.for_each(|(parent, frame)| _ = self.tables.stacks.push(parent, frame));
            return None;
        }
        let frames: Vec<i32> = frames.map(|frame| self.intern_frame(&frame)).collect();
        let mut ids: Vec<i32> = Vec::with_capacity(nodes.size_hint().0);
        for (parent, frame) in nodes {
            let parent = parent.and_then(|parent| ids.get(parent as usize).copied());
            let frame = frames.get(frame as usize).copied().unwrap_or(0);
            ids.push(self.intern_stack(parent, frame));
        }
        Some(ids)
    }

    /// A process; the importer decides when a pid means a new one.
    pub fn push_process(&mut self, pid: i32, parent: Option<i32>, name: Option<&str>) -> i32 {
        let id = self.tables.processes.len() as i32;
        let name = name.map(|name| self.text(name));
        self.tables.processes.push(Process { process_id: id, artifact_id: 0, pid, parent_process_id: parent, name, is_target: false });
        id
    }

    pub fn push_thread(&mut self, process: i32, tid: i32, name: Option<&str>) -> i32 {
        let id = self.tables.threads.len() as i32;
        let name = name.map(|name| self.text(name));
        self.tables.threads.push(Thread { thread_id: id, process_id: process, artifact_id: 0, tid, name, is_target: false });
        id
    }

    /// A number for the quality checks; nothing where it has no denominator.
    pub fn note_fact(&mut self, fact: &str, part: i64, whole: i64) {
        if whole > 0 {
            let fact = self.text(fact);
            let row = RecordingFact { artifact_id: 0, fact, part, whole, subject: None, other_artifact_id: None };
            self.tables.recording_facts.push(row);
        }
    }

    pub fn push_loss(&mut self, ts_ns: i64, lost: i64, seen: i64) {
        self.tables.losses.push(LostSecond { artifact_id: 0, ts_ns, lost, seen });
    }

    pub fn push_event(&mut self, event: &NewEvent) -> i32 {
        let id = self.tables.events.len() as i32;
        let row = Event {
            event_id: id,
            artifact_id: 0,
            name: self.text(&event.name),
            mechanism: self.text(event.mechanism),
            probe: self.text(event.probe),
            role: self.text(event.role),
            frequency_hz: event.frequency_hz,
            period: event.period,
            unit: self.text(event.unit),
            running_share: None,
            n: 0,
            total_weight: 0,
            target_n: 0,
            target_weight: 0,
            n_eff: None,
            design_effect: None,
            lost: None,
            excludes: None,
        };
        self.tables.events.push(row);
        id
    }

    /// A run of the program. The artifact's own execution is the first one pushed.
    pub fn push_execution(&mut self, mut execution: Execution) -> i32 {
        let id = self.tables.executions.len() as i32;
        execution.execution_id = id;
        self.artifact.execution_id.get_or_insert(id);
        self.tables.executions.push(execution);
        id
    }

    /// A sample; it is counted in its event. A sum that leaves the range of i64 is clamped and reported.
    pub fn push_sample(&mut self, sample: Sample) {
        if let Some(event) = self.tables.events.get_mut(sample.event_id as usize) {
            event.n += 1;
            event.total_weight = event.total_weight.saturating_add(sample.weight);
            if event.total_weight == i64::MAX {
                self.skip(
                    "weight_overflow",
                    Severity::Error,
                    "the sum of the weights leaves the range of 64 bits",
                    "look for absurd periods in the file",
                    &format!("record={}", sample.record_no),
                );
            }
        }
        self.tables.samples.push(sample);
    }

    /// Counts a loss or doubt. One row per `kind`; the first message and the first three places are kept.
    pub fn skip(&mut self, kind: &str, severity: Severity, message: &str, advice: &str, place: &str) {
        self.skip_many(kind, severity, 1, message, advice, place);
    }

    pub fn skip_many(&mut self, kind: &str, severity: Severity, count: i64, message: &str, advice: &str, place: &str) {
        let loss = self.losses.entry(kind.to_owned()).or_default();
        loss.count = loss.count.saturating_add(count);
        loss.severity = loss.severity.max(Some(severity));
        if loss.message.is_empty() {
            loss.message = message.to_owned();
            loss.advice = advice.to_owned();
        }
        if loss.places.len() < 3 && !place.is_empty() {
            loss.places.push(place.to_owned());
        }
    }

    /// Turns the counted losses into rows. Called once, by the reader of files.
    pub(super) fn finish(mut self) -> Recorder {
        for (kind, loss) in std::mem::take(&mut self.losses) {
            let severity = loss.severity.unwrap_or(Severity::Info);
            if severity > Severity::Info {
                self.artifact.skipped = self.artifact.skipped.saturating_add(loss.count);
            }
            let row = Diagnostic {
                artifact_id: Some(0),
                kind: Arc::from(kind),
                severity: Arc::from(severity.name()),
                count: loss.count,
                message: Arc::from(loss.message),
                advice: Arc::from(loss.advice),
                places: Arc::from(loss.places.join(", ")),
            };
            self.tables.diagnostics.push(row);
        }
        self
    }
}
