//! Which artifact fills which slot, decided before any value is read.
//!
//! Two slots count as two angles only if mechanism, root artifact, probe and (unless `--lineage probe`) recording tool
//! all differ. In declared order, the first combination with the most mutually orthogonal slots is taken.

use std::collections::{BTreeMap, BTreeSet};

use super::comparable::Comparability;
use super::engine::Engine;
use super::file::{Alternate, Hypothesis, Need, Slot};
use super::score::{Interval, wilson};
use crate::error::Result;
use crate::quality::Effects;
use crate::tables::{Artifact, Tables, Text};

/// More candidates of one alternate than this are not tried: the combinations grow with its cube.
const CANDIDATES_MAX: usize = 16;

/// One way to fill a slot: an alternate, its artifact, and the second inputs it reads.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub alternate: usize,
    pub artifact: i32,
    pub with: Vec<i32>,
    lineage: Lineage,
}

/// What must differ between two angles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Lineage {
    mechanism: String,
    roots: BTreeSet<Text>,
    probes: BTreeSet<String>,
    tools: BTreeSet<Text>,
}

impl Lineage {
    fn orthogonal(&self, other: &Lineage, probe_lineage: bool) -> bool {
        self.mechanism != other.mechanism
            && self.roots.is_disjoint(&other.roots)
            && self.probes.is_disjoint(&other.probes)
            && (probe_lineage || self.tools.is_disjoint(&other.tools))
    }
}

impl Candidate {
    /// The probes behind it, joined.
    pub fn probe(&self) -> String {
        self.lineage.probes.iter().map(String::as_str).collect::<Vec<_>>().join("+")
    }

    /// Tools that recorded both.
    pub fn shared_tools<'a>(&'a self, other: &'a Candidate) -> impl Iterator<Item = &'a Text> {
        self.lineage.tools.intersection(&other.lineage.tools)
    }

    /// The tools behind it, joined.
    pub fn tool(&self) -> String {
        self.lineage.tools.iter().map(Text::as_ref).collect::<Vec<_>>().join("+")
    }
}

/// What fills a slot, and who else could have under the same alternate.
#[derive(Debug, Clone, Default)]
pub struct Assigned {
    pub primary: Option<Candidate>,
    pub cross_checks: Vec<Candidate>,
    /// Why nothing fills it.
    pub reason: Option<String>,
    /// The fallback took the place of this slot.
    pub is_fallback: bool,
}

/// Looks up candidates; the answers to `needs` are kept, many alternates ask the same.
pub struct Assigner<'a> {
    tables: &'a Tables,
    comparability: &'a Comparability,
    effects: &'a Effects,
    probe_lineage: bool,
    known: BTreeMap<Need, Vec<i32>>,
}

impl<'a> Assigner<'a> {
    pub fn new(tables: &'a Tables, comparability: &'a Comparability, effects: &'a Effects, probe_lineage: bool) -> Assigner<'a> {
        Assigner { tables, comparability, effects, probe_lineage, known: BTreeMap::new() }
    }

    /// The assignment of slots A, B and C, in that order; the letter says which slot (D where the fallback took over).
    pub fn assign(&mut self, engine: &Engine, hypothesis: &Hypothesis) -> Result<Vec<(char, Assigned)>> {
        let mut options = Vec::new();
        for slot in &hypothesis.slots {
            options.push(self.candidates(engine, slot)?);
        }
        let chosen = self.best(&options);
        let mut out: Vec<(char, Assigned)> = Vec::new();
        for (index, slot) in hypothesis.slots.iter().take(3).enumerate() {
            let assigned = match chosen.get(index).copied().flatten() {
                Some(at) => with_cross_checks(&options[index].candidates, at),
                None => Assigned { reason: Some(options[index].empty_reason()), ..Assigned::default() },
            };
            out.push((slot.letter, assigned));
        }
        if let Some(fallback) = options.get(3) {
            self.fall_back(&mut out, fallback);
        }
        Ok(out)
    }

    /// The fallback fills the first slot that is empty, if it is orthogonal to the others.
    fn fall_back(&self, out: &mut [(char, Assigned)], fallback: &Options) {
        let fits = |candidate: &Candidate| {
            let others = out.iter().filter_map(|(_, assigned)| assigned.primary.as_ref());
            others.into_iter().all(|other| other.lineage.orthogonal(&candidate.lineage, self.probe_lineage))
        };
        let Some(at) = fallback.candidates.iter().position(fits) else { return };
        if let Some((_, assigned)) = out.iter_mut().find(|(_, assigned)| assigned.primary.is_none()) {
            *assigned = Assigned { is_fallback: true, ..with_cross_checks(&fallback.candidates, at) };
        }
    }

    fn candidates(&mut self, engine: &Engine, slot: &Slot) -> Result<Options> {
        let mut options = Options::default();
        for (index, alternate) in slot.alternates.iter().enumerate() {
            let mut artifacts = self.having(engine, &alternate.needs)?;
            options.seen |= !artifacts.is_empty();
            artifacts.retain(|id| self.comparability.standing_of(*id).admitted(alternate.admits));
            options.refused |= options.seen && artifacts.is_empty();
            artifacts.retain(|id| match self.effects.block(*id, alternate) {
                None => true,
                Some(reason) => {
                    options.blocked.get_or_insert(reason);
                    false
                }
            });
            artifacts.sort_by_cached_key(|id| self.rank(*id, alternate));
            artifacts.truncate(CANDIDATES_MAX);
            let mut seconds = Vec::new();
            for need in &alternate.with {
                let mut found = self.having(engine, std::slice::from_ref(need))?;
                found.retain(|id| self.comparability.standing_of(*id).admitted(alternate.admits));
                found.sort_by_cached_key(|id| self.rank(*id, alternate));
                seconds.push(found);
            }
            for artifact in artifacts {
                let with = seconds.iter().filter_map(|found| found.iter().find(|id| **id != artifact)).copied().collect();
                options.candidates.push(self.candidate(index, alternate, artifact, with));
            }
        }
        Ok(options)
    }

    /// Artifacts with rows for every need.
    fn having(&mut self, engine: &Engine, needs: &[Need]) -> Result<Vec<i32>> {
        let mut out: Option<Vec<i32>> = None;
        for need in needs {
            // Where one need is not met the others are not asked: their conditions were tried on empty tables.
            if out.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
            if !self.known.contains_key(need) {
                let found = engine.artifacts_with(&need.table, need.predicate.as_deref())?;
                self.known.insert(need.clone(), found);
            }
            let found = self.known.get(need).cloned().unwrap_or_default();
            out = Some(match out {
                None => found,
                Some(before) => before.into_iter().filter(|id| found.contains(id)).collect(),
            });
        }
        Ok(out.unwrap_or_default())
    }

    fn artifact(&self, id: i32) -> Option<&'a Artifact> {
        self.tables.artifacts.iter().find(|artifact| artifact.artifact_id == id)
    }

    /// Least first: able to decide at all (a matter of how many samples there are, not of what they say), then how
    /// reliably its stacks were unwound, then more samples, then the path.
    fn rank(&self, id: i32, alternate: &Alternate) -> (bool, u8, std::cmp::Reverse<i64>, Text) {
        let Some(artifact) = self.artifact(id) else { return (true, u8::MAX, std::cmp::Reverse(0), Text::from("")) };
        let event = self.tables.events.iter().find(|row| row.artifact_id == id && row.mechanism.as_ref() == alternate.mechanism);
        let n = event.map_or(artifact.records, |row| row.target_n);
        let unwinding = match artifact.unwinding.as_deref() {
            Some("dwarf" | "libunwind") => 0,
            Some("lbr") => 1,
            Some("fp") => 2,
            _ => 3,
        };
        let n_eff = event.and_then(|row| row.n_eff).unwrap_or(n as f64);
        let undecidable = alternate.metrics.iter().any(|metric| {
            let ramp = metric.bounds.at(1.0);
            let too_few = wilson(0.0, n_eff).is_none_or(|(_, hi)| hi > ramp.reject);
            metric.interval == Interval::Wilson && (n < metric.min_n || ramp.more_is_worse() && too_few)
        });
        (undecidable, unwinding, std::cmp::Reverse(n), artifact.path.clone())
    }

    fn candidate(&self, index: usize, alternate: &Alternate, artifact: i32, with: Vec<i32>) -> Candidate {
        let mut lineage = Lineage { mechanism: alternate.mechanism.clone(), ..Lineage::default() };
        if alternate.is_of_compiler {
            lineage.roots.insert("compiler".into());
            lineage.tools.insert("compiler".into());
            lineage.probes.insert(alternate.probe.clone());
            return Candidate { alternate: index, artifact, with, lineage };
        }
        for id in std::iter::once(artifact).chain(with.iter().copied()) {
            let Some(row) = self.artifact(id) else { continue };
            lineage.roots.insert(row.root.clone());
            let copies = self.effects.same_recording(id).filter_map(|other| self.artifact(other));
            lineage.roots.extend(copies.map(|other| other.root.clone()));
            lineage.tools.insert(row.tool.clone());
            if alternate.probe == "event" {
                let events =
                    self.tables.events.iter().filter(|event| event.artifact_id == id && event.mechanism.as_ref() == alternate.mechanism);
                lineage.probes.extend(events.map(|event| event.probe.to_string()));
            } else {
                lineage.probes.insert(alternate.probe.clone());
            }
        }
        Candidate { alternate: index, artifact, with, lineage }
    }

    /// Index of the chosen candidate per slot.
    fn best(&self, options: &[Options]) -> Vec<Option<usize>> {
        let mut best: (usize, Vec<Option<usize>>) = (0, vec![None; 3]);
        let choices = |slot: usize| -> Vec<Option<usize>> {
            let count = options.get(slot).map_or(0, |own| own.candidates.len());
            (0..count).map(Some).chain([None]).collect()
        };
        for a in choices(0) {
            for b in choices(1) {
                for c in choices(2) {
                    let picked = [a, b, c];
                    let count = picked.iter().flatten().count();
                    if count > best.0 && self.all_orthogonal(options, &picked) {
                        best = (count, picked.to_vec());
                        if count == 3 {
                            return best.1;
                        }
                    }
                }
            }
        }
        best.1
    }

    fn all_orthogonal(&self, options: &[Options], picked: &[Option<usize>]) -> bool {
        let lineages: Vec<&Lineage> = picked
            .iter()
            .zip(options)
            .filter_map(|(at, own)| at.and_then(|at| own.candidates.get(at)))
            .map(|candidate| &candidate.lineage)
            .collect();
        lineages.iter().enumerate().all(|(at, one)| lineages[at + 1..].iter().all(|other| one.orthogonal(other, self.probe_lineage)))
    }
}

/// All candidates of one slot, best first, and why some artifacts are not among them.
#[derive(Debug, Default)]
struct Options {
    candidates: Vec<Candidate>,
    seen: bool,
    refused: bool,
    blocked: Option<String>,
}

impl Options {
    fn empty_reason(&self) -> String {
        if let Some(blocked) = &self.blocked {
            return blocked.clone();
        }
        if !self.candidates.is_empty() {
            return "no artifact that is orthogonal to the other angles".to_owned();
        }
        if self.refused { "absent: the artifacts there are record another command (Q30)".to_owned() } else { "absent".to_owned() }
    }
}

/// The candidate and the others of its alternate.
fn with_cross_checks(candidates: &[Candidate], at: usize) -> Assigned {
    let primary = candidates.get(at).cloned();
    let alternate = primary.as_ref().map(|own| own.alternate);
    let cross_checks = candidates
        .iter()
        .enumerate()
        .filter(|(index, own)| *index != at && Some(own.alternate) == alternate)
        .map(|(_, own)| own.clone())
        .collect();
    Assigned { primary, cross_checks, reason: None, is_fallback: false }
}
