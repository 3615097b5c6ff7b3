//! What basic things cost on the recorded machine: rate thresholds are a share of a CPU divided by such a cost.
//!
//! ```text
//!   threshold here = threshold as published * default cost / cost here
//! ```
//!
//! The published number stands in the hypothesis file; with the default cost it is taken as it is, so rounding in the
//! publication (10 % of a CPU at 41 ns are 2.44e6 per second, published are 2.5e6) stays.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::file::Hypothesis;
use super::score::Bound;
use crate::error::{Error, Result};
use crate::ingest::manifest::COST_KEY;
use crate::tables::Tables;

const FILE: &str = include_str!("../../queries/costs.json");

/// The class of queries/costs.json for which the thresholds were published.
const DEFAULT: &str = "default";

/// A cost that differs from the default by more than this factor is taken for a mistake.
const FACTOR_MAX: f64 = 100.0;

/// One cost as it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    pub ns: f64,
    pub default_ns: f64,
    /// Where it comes from: `default`, a class, the file given, or an anchor in an artifact.
    pub source: String,
}

/// All of them by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Costs(BTreeMap<String, Cost>);

#[derive(Debug, Deserialize)]
struct File {
    classes: BTreeMap<String, Class>,
}

#[derive(Debug, Deserialize)]
struct Class {
    costs: BTreeMap<String, Stated>,
}

#[derive(Debug, Deserialize)]
struct Stated {
    ns: f64,
    what: String,
    source: String,
}

fn file() -> Result<File> {
    serde_json::from_str(FILE).map_err(|error| Error::Request(format!("queries/costs.json: {error}")))
}

/// (name, nanoseconds, what it is, source) of the default class, in order of name.
pub fn defaults() -> Result<Vec<(String, f64, String, String)>> {
    let mut file = file()?;
    let class = file.classes.remove(DEFAULT).map(|class| class.costs).unwrap_or_default();
    Ok(class.into_iter().map(|(name, own)| (name, own.ns, own.what, own.source)).collect())
}

/// Whether a metric line may name this cost.
pub fn is_known(name: &str) -> bool {
    defaults().is_ok_and(|all| all.iter().any(|(known, ..)| known == name))
}

impl Costs {
    pub fn of_default_class() -> Result<Costs> {
        let one = |(name, ns, _, _)| (name, Cost { ns, default_ns: ns, source: DEFAULT.to_owned() });
        Ok(Costs(defaults()?.into_iter().map(one).collect()))
    }

    /// What is given wins over what the recorder measured, that over the default.
    pub fn find(tables: &Tables, given: Option<&Given>) -> Result<Costs> {
        let mut costs = Costs::of_default_class()?;
        costs.take_measured(tables);
        if let Some(given) = given {
            costs.take_given(given)?;
        }
        Ok(costs)
    }

    /// The first manifest that states a cost decides; a senseless number leaves the default and says so.
    fn take_measured(&mut self, tables: &Tables) {
        for row in tables.host.iter().rev() {
            let Some(name) = row.key.strip_prefix(COST_KEY) else { continue };
            let Some(cost) = self.0.get_mut(name) else { continue };
            let path = tables.artifacts.iter().find(|artifact| artifact.artifact_id == row.artifact_id).map_or("?", |own| &own.path);
            let place = format!("{path}#ptr=/costs/{name}_ns");
            match row.value.parse::<f64>().ok().filter(|ns| is_sensible(*ns, cost.default_ns)) {
                Some(ns) => *cost = Cost { ns, source: format!("measured: {place}"), ..*cost },
                None => {
                    *cost = Cost { ns: cost.default_ns, source: format!("default ({} ns at {place} is out of range)", row.value), ..*cost }
                }
            }
        }
    }

    fn take_given(&mut self, given: &Given) -> Result<()> {
        for (name, ns) in &given.costs {
            let place = format!("{}: costs/{name}_ns", given.name);
            let Some(cost) = self.0.get_mut(name) else {
                let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
                return Err(Error::Request(format!("{place}: there is no such cost; known are {}", known.join(", "))));
            };
            if !is_sensible(*ns, cost.default_ns) {
                return Err(Error::Request(format!(
                    "{place}: {ns} ns differ from the default of {} ns by more than {FACTOR_MAX} times",
                    cost.default_ns
                )));
            }
            *cost = Cost { ns: *ns, source: format!("given: {}", given.name), ..*cost };
        }
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&Cost> {
        self.0.get(name)
    }

    /// Brings the thresholds that name a cost to this machine.
    pub fn calibrate(&self, hypotheses: &mut [Hypothesis]) {
        let alternates = hypotheses.iter_mut().flat_map(|own| &mut own.slots).flat_map(|slot| &mut slot.alternates);
        for metric in alternates.flat_map(|alternate| &mut alternate.metrics) {
            let Some(cost) = metric.cost.as_deref().and_then(|name| self.get(name)) else { continue };
            let scaled = |bound: Bound| Bound { value: bound.value * (cost.default_ns / cost.ns), ..bound };
            metric.bounds.reject = scaled(metric.bounds.reject);
            metric.bounds.support = scaled(metric.bounds.support);
            metric.bounds.saturate = scaled(metric.bounds.saturate);
            metric.calibrated = Some(cost.clone());
        }
    }
}

fn is_sensible(ns: f64, default_ns: f64) -> bool {
    ns.is_finite() && ns > default_ns / FACTOR_MAX && ns < default_ns * FACTOR_MAX
}

/// `--costs`: a file as the capture kit writes it, or the name of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    name: String,
    costs: BTreeMap<String, f64>,
    /// The file as it was, kept with the queries.
    pub text: String,
}

impl Given {
    /// A class of queries/costs.json, else a file with `{"costs": {"page_fault_ns": 1900, ...}}`.
    pub fn read(path: &Path) -> Result<Given> {
        let mut known = file()?;
        if let Some(class) = path.to_str().and_then(|name| known.classes.remove(name)) {
            let name = path.display().to_string();
            let costs = class.costs.into_iter().map(|(name, own)| (name, own.ns)).collect();
            return Ok(Given { name, costs, text: FILE.to_owned() });
        }
        let text = std::fs::read_to_string(path).map_err(|error| Error::Request(format!("--costs {}: {error}", path.display())))?;
        let name = path.file_name().map_or_else(|| "costs".to_owned(), |name| name.to_string_lossy().into_owned());
        Given::parse(name, text)
    }

    fn parse(name: String, text: String) -> Result<Given> {
        let wrong = |place: &str, what: String| Error::Request(format!("--costs {name}: {place}: {what}"));
        let expected = "expected {\"costs\": {\"page_fault_ns\": 1900, ...}}";
        let document: Value = serde_json::from_str(&text).map_err(|error| wrong(&format!("line {}", error.line()), error.to_string()))?;
        let Some(object) = document.get("costs").and_then(Value::as_object) else { return Err(wrong("costs", expected.to_owned())) };
        let mut costs = BTreeMap::new();
        for (key, value) in object {
            let number = value.as_f64().ok_or_else(|| wrong(key, format!("expected nanoseconds, found {value}")))?;
            let Some(cost) = key.strip_suffix("_ns") else { return Err(wrong(key, "expected a name that ends in _ns".to_owned())) };
            costs.insert(cost.to_owned(), number);
        }
        Ok(Given { name, costs, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::HostFact;

    fn support(hypotheses: &[Hypothesis], id: &str, slot: usize, metric: &str) -> f64 {
        let own = hypotheses.iter().find(|own| own.id == id).unwrap();
        own.slots[slot].alternates[0].metric(metric).unwrap().bounds.support.at(1.0)
    }

    /// rules.md: R18 A 2.5e6/s, R22 A 50 000/s, R25 A 10 000/s, R18 C 5 000/s, exactly, and what 10 % (1 %) of a CPU is.
    #[test]
    fn the_default_costs_leave_the_published_numbers() {
        let mut own = crate::rules::hypotheses(&[]).unwrap();
        let before = own.clone();
        Costs::of_default_class().unwrap().calibrate(&mut own);
        for (id, slot, metric, published, share, cost_ns) in [
            ("R18", 0, "allocations_per_cpu_second", 2.5e6, 0.10, 41.0),
            ("R22", 0, "faults_per_cpu_second", 50_000.0, 0.10, 1900.0),
            ("R18", 2, "faults_per_cpu_second", 5_000.0, 0.01, 1900.0),
            ("R25", 0, "calls_per_second", 10_000.0, 0.01, 1000.0),
        ] {
            let value = support(&own, id, slot, metric);
            assert_eq!(value, published, "{id} {metric}");
            assert_eq!(value, support(&before, id, slot, metric));
            // The published number is the share of a CPU over the cost, rounded to one or two digits: within 6 %.
            let exact = share / (cost_ns * 1e-9);
            assert!((published / exact - 1.0).abs() < 0.06, "{id}: {published} against {exact}");
        }
    }

    #[test]
    fn a_cost_twice_as_high_halves_the_threshold() {
        let given = Given::parse("c.json".into(), r#"{"costs": {"page_fault_ns": 3800}}"#.into()).unwrap();
        let mut own = crate::rules::hypotheses(&[]).unwrap();
        let costs = Costs::find(&Tables::default(), Some(&given)).unwrap();
        costs.calibrate(&mut own);
        assert_eq!(support(&own, "R22", 0, "faults_per_cpu_second"), 25_000.0);
        assert_eq!(support(&own, "R18", 0, "allocations_per_cpu_second"), 2.5e6);
        assert_eq!(costs.get("page_fault").unwrap().source, "given: c.json");
    }

    #[test]
    fn measured_costs_count_unless_they_are_senseless() {
        let host = |key: &str, value: &str| HostFact::new(key, value);
        let tables = Tables {
            host: vec![host("cost.page_fault", "950"), host("cost.malloc_pair", "1e-9"), host("cost.soul", "5"), host("cpus", "2")],
            ..Tables::default()
        };
        let costs = Costs::find(&tables, None).unwrap();
        assert_eq!((costs.get("page_fault").unwrap().ns, costs.get("malloc_pair").unwrap().ns), (950.0, 41.0));
        assert!(costs.get("malloc_pair").unwrap().source.contains("out of range"), "{costs:?}");
        assert_eq!(costs.get("system_call").unwrap().source, "default");
    }

    #[test]
    fn a_given_file_is_checked() {
        for (text, message) in [
            ("{", "line 1"),
            ("{}", "expected {\"costs\""),
            (r#"{"costs": {"page_fault_ns": "fast"}}"#, "page_fault_ns: expected nanoseconds"),
            (r#"{"costs": {"page_fault": 5}}"#, "ends in _ns"),
        ] {
            let error = Given::parse("c.json".into(), text.into()).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
        for (text, message) in [
            (r#"{"costs": {"soul_ns": 5}}"#, "known are context_switch, malloc_pair"),
            (r#"{"costs": {"page_fault_ns": 1e9}}"#, "more than 100 times"),
            (r#"{"costs": {"page_fault_ns": 0}}"#, "more than 100 times"),
            (r#"{"costs": {"page_fault_ns": -5}}"#, "more than 100 times"),
        ] {
            let given = Given::parse("c.json".into(), text.into()).unwrap();
            let error = Costs::find(&Tables::default(), Some(&given)).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
        assert!(Given::read(Path::new("default")).is_ok());
    }
}
