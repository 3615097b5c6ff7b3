//! `manifest.json`: what the recorder knew and the artifacts cannot tell.
//!
//! It says which command made each artifact, how much work it was given and how the program runs on its own. Every field
//! is optional and unknown ones are passed over; a field of the wrong type is a counted skip. Paths in it are only
//! compared with the names of artifacts that were read anyway, never opened.
//!
//! The importer stores the typed content in its recorder ([`Recorder::manifest`]); [`apply`] brings it to the tables
//! once all artifacts are merged, since it speaks about the others. A file with `schema` and `costs` alone, as the capture
//! kit's program for measuring them prints it, is one too.

mod apply;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Format, Input, Recorder, Severity, text};
use crate::error::{Error, Result};
use crate::tables::HostFact;

pub use apply::apply;

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "manifest",
    tool: "tripod",
    doc: "which command made which artifact, declared work, bare runs, host",
    record: "written by testdata/record.sh",
    sniff,
    read,
};

/// The newest manifest format this version knows.
const SCHEMA_MAX: i64 = 1;

/// Prefix of the keys of measured costs in `host`.
pub const COST_KEY: &str = "cost.";

/// The typed content of one manifest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Manifest {
    pub argv: Vec<String>,
    pub declared: Declared,
    /// Runs without any tool.
    pub bare: Vec<BareRun>,
    /// Tool -> version.
    pub tools: BTreeMap<String, String>,
    pub artifacts: Vec<Entry>,
}

/// How much work a run was given, by how many threads, in which variant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    pub work: Option<i64>,
    pub threads: Option<i32>,
    pub variant: Option<String>,
}

/// One run without a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BareRun {
    pub wall_ns: Option<i64>,
    pub user_ns: Option<i64>,
    pub system_ns: Option<i64>,
    pub exit_code: Option<i32>,
    pub psi_cpu_share: Option<f64>,
    pub surroundings: Surroundings,
    /// JSON pointer to the run.
    pub pointer: String,
}

/// What the manifest says about one artifact.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    /// Relative to the manifest's directory.
    pub path: String,
    pub command: Option<String>,
    pub tool: Option<String>,
    pub wall_ns: Option<i64>,
    /// Wall time of the same command without the tool.
    pub bare_wall_ns: Option<i64>,
    pub declared: Declared,
    pub psi_cpu_avg10: Option<f64>,
    pub psi_cpu_share: Option<f64>,
    pub surroundings: Surroundings,
    pub sha256: Option<String>,
    /// JSON pointer to the entry.
    pub pointer: String,
}

/// What else was measured around a run: the key of the manifest, as the metric of the `environment` table, and the share.
pub type Surroundings = Vec<(&'static str, f64)>;

/// Key in the manifest, metric of the `environment` table: pressure (PSI some) of the disk and of memory, CPU time that
/// the hypervisor took (/proc/stat), periods in which the cgroup's quota stopped the program (nr_throttled/nr_periods).
const SURROUNDINGS: [(&str, &str); 4] = [
    ("psi_io_share", "psi_io_some"),
    ("psi_memory_share", "psi_memory_some"),
    ("steal_share", "steal"),
    ("throttled_share", "throttled_periods"),
];

/// A manifest and where it lay.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Name of the manifest among the inputs.
    pub path: String,
    pub manifest: Manifest,
}

/// The manifests among the recorders, by name. Call it before the merge, which drops the recorders.
pub fn manifests(recorders: &[Recorder]) -> Vec<Placed> {
    let placed = |recorder: &Recorder| Some(Placed { path: recorder.artifact.path.to_string(), manifest: recorder.manifest.clone()? });
    let mut found: Vec<Placed> = recorders.iter().filter_map(placed).collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

pub fn sniff(head: &[u8]) -> bool {
    let keys = text::top_level_keys(head);
    let has = |name: &str| keys.iter().any(|key| key == name);
    has("schema") && (has("artifacts") || has("bare") || has("argv") || has("costs"))
}

pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let malformed = |place: String, found: String| Error::Malformed {
        path: input.name.into(),
        place,
        expected: "a manifest (a JSON object)".into(),
        found,
        advice: "the recordings are analyzed without it".into(),
    };
    let document: Value = serde_json::from_slice(text::decode(input.bytes).as_ref())
        .map_err(|error| malformed(format!("L={}", error.line()), error.to_string()))?;
    let Value::Object(object) = &document else { return Err(malformed("L=1".into(), "another JSON value".into())) };
    let mut reader = Reader { recorder };
    let root = Fields { object, pointer: String::new() };
    if let Some(schema) = reader.integer(&root, "schema").filter(|schema| *schema > SCHEMA_MAX) {
        let message = format!("the manifest has schema {schema}, known is {SCHEMA_MAX}");
        reader.recorder.skip("manifest_schema", Severity::Warn, &message, "what is known was read; use a newer Tripod", "ptr=/schema");
    }
    let manifest = Manifest {
        argv: reader.argv(&root),
        declared: reader.declared(&root),
        bare: reader.bare(&root),
        tools: reader.tools(&root),
        artifacts: reader.entries(&root),
    };
    reader.costs(&root);
    host(&root, reader.recorder);
    recorder.artifact.records = manifest.artifacts.len() as i64;
    recorder.manifest = Some(manifest);
    Ok(())
}

fn host(root: &Fields<'_>, recorder: &mut Recorder) {
    let Some(facts) = root.object.get("host").and_then(Value::as_object) else { return };
    for (key, value) in facts {
        let value = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        recorder.tables.host.push(HostFact::new(key, &value));
    }
}

/// One JSON object and where it is.
struct Fields<'a> {
    object: &'a Map<String, Value>,
    pointer: String,
}

impl Fields<'_> {
    fn get(&self, key: &str) -> Option<&Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// The objects of an array field.
    fn objects(&self, key: &str) -> Vec<Fields<'_>> {
        let items = self.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let at = |n: usize| format!("{}/{key}/{n}", self.pointer);
        items.iter().enumerate().filter_map(|(n, item)| Some(Fields { object: item.as_object()?, pointer: at(n) })).collect()
    }
}

/// Takes typed values out of JSON; what has another type is counted and left out.
struct Reader<'a> {
    recorder: &'a mut Recorder,
}

impl Reader<'_> {
    fn typed<T>(&mut self, fields: &Fields<'_>, key: &str, what: &str, get: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = fields.get(key)?;
        let typed = get(value);
        if typed.is_none() {
            let place = format!("ptr={}/{key}", fields.pointer);
            self.recorder.skip("manifest_field", Severity::Warn, &format!("{key} is no {what}"), "the field is left out", &place);
        }
        typed
    }

    fn text(&mut self, fields: &Fields<'_>, key: &str) -> Option<String> {
        self.typed(fields, key, "text", |value| value.as_str().map(str::to_owned))
    }

    fn integer(&mut self, fields: &Fields<'_>, key: &str) -> Option<i64> {
        self.typed(fields, key, "whole number", |value| value.as_i64().or_else(|| value.as_str()?.parse().ok()))
    }

    fn int32(&mut self, fields: &Fields<'_>, key: &str) -> Option<i32> {
        self.integer(fields, key).and_then(|value| i32::try_from(value).ok())
    }

    fn number(&mut self, fields: &Fields<'_>, key: &str) -> Option<f64> {
        self.typed(fields, key, "number", Value::as_f64).filter(|value| value.is_finite())
    }

    fn surroundings(&mut self, fields: &Fields<'_>) -> Surroundings {
        let share = |value: &Value| value.as_f64().filter(|share| (0.0..=1.0).contains(share));
        let stated = SURROUNDINGS.iter().filter_map(|(key, metric)| Some((*metric, self.typed(fields, key, "share from 0 to 1", share)?)));
        stated.collect()
    }

    fn seconds(&mut self, fields: &Fields<'_>, key: &str) -> Option<i64> {
        self.typed(fields, key, "time in seconds", |value| text::ns_from_f64(value.as_f64()?))
    }

    fn declared(&mut self, fields: &Fields<'_>) -> Declared {
        Declared { work: self.integer(fields, "work"), threads: self.int32(fields, "threads"), variant: self.text(fields, "variant") }
    }

    fn argv(&mut self, root: &Fields<'_>) -> Vec<String> {
        let words = |value: &Value| value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect();
        self.typed(root, "argv", "list of texts", words).unwrap_or_default()
    }

    fn tools(&mut self, root: &Fields<'_>) -> BTreeMap<String, String> {
        let tools = root.get("tools").and_then(Value::as_object);
        tools.into_iter().flatten().filter_map(|(tool, version)| Some((tool.clone(), version.as_str()?.to_owned()))).collect()
    }

    /// What basic things cost on that machine, in nanoseconds: facts of the host, as `cost.page_fault`.
    fn costs(&mut self, root: &Fields<'_>) {
        let Some(object) = root.get("costs").and_then(Value::as_object) else { return };
        let costs = Fields { object, pointer: "/costs".into() };
        for key in object.keys() {
            let Some(name) = key.strip_suffix("_ns") else { continue };
            let Some(ns) = self.number(&costs, key).filter(|ns| *ns > 0.0) else { continue };
            let fact = HostFact::new(&format!("{COST_KEY}{name}"), &ns.to_string());
            self.recorder.tables.host.push(fact);
        }
    }

    fn bare(&mut self, root: &Fields<'_>) -> Vec<BareRun> {
        let Some(object) = root.get("bare").and_then(Value::as_object) else { return Vec::new() };
        let bare = Fields { object, pointer: "/bare".into() };
        let exit_code = self.int32(&bare, "exit_code");
        let runs: Vec<BareRun> = bare
            .objects("runs")
            .iter()
            .map(|run| BareRun {
                wall_ns: self.seconds(run, "wall_s"),
                user_ns: self.seconds(run, "user_s"),
                system_ns: self.seconds(run, "sys_s"),
                exit_code: self.int32(run, "exit_code").or(exit_code),
                psi_cpu_share: self.number(run, "psi_cpu_share"),
                surroundings: self.surroundings(run),
                pointer: run.pointer.clone(),
            })
            .collect();
        if runs.is_empty() {
            let wall_ns = self.seconds(&bare, "wall_s");
            return vec![BareRun { wall_ns, exit_code, pointer: bare.pointer, ..BareRun::default() }];
        }
        runs
    }

    fn entries(&mut self, root: &Fields<'_>) -> Vec<Entry> {
        let mut entries = Vec::new();
        for fields in root.objects("artifacts") {
            let Some(path) = self.text(&fields, "path") else { continue };
            entries.push(Entry {
                path,
                command: self.text(&fields, "command"),
                tool: self.text(&fields, "tool"),
                wall_ns: self.seconds(&fields, "wall_s"),
                bare_wall_ns: self.seconds(&fields, "bare_wall_s"),
                declared: self.declared(&fields),
                psi_cpu_avg10: self.number(&fields, "psi_cpu_avg10"),
                psi_cpu_share: self.number(&fields, "psi_cpu_share"),
                surroundings: self.surroundings(&fields),
                sha256: self.text(&fields, "sha256"),
                pointer: fields.pointer.clone(),
            });
        }
        entries
    }
}

#[cfg(test)]
mod tests;
