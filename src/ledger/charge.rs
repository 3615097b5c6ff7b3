//! Costs, each charged once: special explanations take theirs from general ones, transitively.
//!
//! ```text
//!   R19 (memory grows) --all--> R22 (page faults) --share--> R29 (kernel time)
//!
//!   own(R22)  = cost(R22) - own(what explains R22 and is of the same resource)
//!   left(R29) = cost(R29) - own(R22) - ...; below R29's threshold it is explained and charged nothing
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::{Count, Label};
use crate::rules::file::{Overlap, Status};
use crate::rules::score::Word;
use crate::rules::{Facts, Judged, Site};
use crate::tables::Tables;

/// What a hypothesis owns of its resource, and of the wall clock.
#[derive(Debug, Clone, Default)]
pub struct Charge {
    pub cost_share: Option<f64>,
    pub charged_share: Option<f64>,
    pub wall_share: Option<f64>,
    pub explained_by: Option<String>,
    /// What explains it does so by a veto: it takes no cost, it makes the finding not worth acting on.
    pub is_vetoed: bool,
    /// What special explanations took from it.
    pub taken: Vec<Taken>,
}

/// One amount, by whom, and why so much.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    pub special: String,
    pub how: String,
    pub share: Option<f64>,
}

/// One charge per hypothesis, in the same order.
pub fn charge(tables: &Tables, judged: &[Judged], facts: &Facts) -> Vec<Charge> {
    let mut ledger =
        Ledger { tables, judged, own: BTreeMap::new(), explained: BTreeMap::new(), vetoed: BTreeSet::new(), taken: BTreeMap::new() };
    let ids: Vec<usize> = (0..judged.len()).collect();
    for at in &ids {
        ledger.settle(*at, &mut BTreeSet::new());
    }
    let mut used: BTreeMap<&str, f64> = BTreeMap::new();
    let mut out = Vec::new();
    for at in ids {
        let Some(judged) = judged.get(at) else { continue };
        let explained_by = ledger.explained.get(&at).map(|by| ledger.id(*by).to_owned());
        let cost_share = cost(judged);
        let is_kernel = ledger.is_kernel(at);
        let own = if explained_by.is_some() { 0.0 } else { ledger.own.get(&at).copied().unwrap_or(0.0) };
        let left = used.entry(judged.hypothesis.resource.as_str()).or_insert(1.0);
        let charged = own.min(*left);
        if is_kernel {
            *left -= charged;
        }
        let charged_share = (is_kernel && cost_share.is_some()).then_some(charged);
        let of_wall = |share: f64, resource: &str| match resource {
            "cpu" => facts.get("cpu_share").map(|cpu| share * cpu.min(1.0)),
            "off-cpu" => Some(share),
            _ => None,
        };
        let base = charged_share.or(if explained_by.is_some() { Some(0.0) } else { cost_share });
        let inherited = if is_kernel { ledger.inherited(at) } else { 0.0 };
        let wall_share = match base.and_then(|share| of_wall(share, &judged.hypothesis.resource)) {
            Some(own) => Some(own),
            None if inherited > 0.0 => of_wall(inherited, "cpu"),
            None => None,
        };
        let taken = ledger.taken.remove(&at).unwrap_or_default();
        out.push(Charge { cost_share, charged_share, wall_share, explained_by, is_vetoed: ledger.vetoed.contains(&at), taken });
    }
    out
}

/// The lower bound of the share of its resource that a hypothesis owns: the first cost metric that was read.
pub fn cost(judged: &Judged) -> Option<f64> {
    let read = |supporting: bool| {
        judged.hypothesis.cost.iter().find_map(|cost| {
            let slot = judged.slots.iter().find(|slot| slot.stands_for == cost.slot)?;
            let measured = slot.metric(&cost.metric)?;
            let good = !supporting || measured.verdict.word() == Word::Supports;
            measured.reading.filter(|_| good).map(|reading| reading.lo().clamp(0.0, 1.0))
        })
    };
    read(true).or_else(|| read(false))
}

struct Ledger<'a> {
    tables: &'a Tables,
    judged: &'a [Judged],
    /// What is left of a hypothesis' cost once its special explanations took theirs.
    own: BTreeMap<usize, f64>,
    explained: BTreeMap<usize, usize>,
    vetoed: BTreeSet<usize>,
    taken: BTreeMap<usize, Vec<Taken>>,
}

impl Ledger<'_> {
    fn id(&self, at: usize) -> &str {
        self.judged.get(at).map_or("", |judged| judged.hypothesis.id.as_str())
    }

    fn label(&self, at: usize) -> Label {
        self.judged.get(at).map_or(Label::NotEvaluated, |judged| Count::of(judged).label(judged))
    }

    /// KERNEL, and known to work: a preview takes cost from nobody.
    fn is_kernel(&self, at: usize) -> bool {
        let is_stable = self.judged.get(at).is_some_and(|judged| judged.hypothesis.status == Status::Stable);
        self.label(at) == Label::Kernel && is_stable
    }

    /// The KERNEL hypothesis that makes this one not worth acting on.
    fn veto(&self, at: usize) -> Option<usize> {
        let id = self.id(at);
        let vetoes = |judged: &Judged| judged.hypothesis.vetoes.iter().any(|own| own == id);
        self.judged
            .iter()
            .enumerate()
            .find(|(other, judged)| *other != at && vetoes(judged) && self.is_kernel(*other))
            .map(|(other, _)| other)
    }

    /// KERNEL hypotheses with an edge to this one, and how.
    fn children(&self, at: usize) -> Vec<(usize, Overlap)> {
        let id = self.id(at);
        let mut out = Vec::new();
        for (child, judged) in self.judged.iter().enumerate().filter(|(child, _)| *child != at && self.is_kernel(*child)) {
            out.extend(judged.hypothesis.explains.iter().filter(|edge| edge.hypothesis == id).map(|edge| (child, edge.how.clone())));
        }
        out
    }

    /// Special ones first; `path` guards against edges in a circle.
    fn settle(&mut self, at: usize, path: &mut BTreeSet<usize>) {
        if self.own.contains_key(&at) || !path.insert(at) {
            return;
        }
        let children = self.children(at);
        for (child, _) in &children {
            self.settle(*child, path);
        }
        path.remove(&at);
        let Some(judged) = self.judged.get(at) else { return };
        let cost = cost(judged).unwrap_or(0.0);
        let mut taken: Vec<(usize, f64)> = Vec::new();
        let mut seen = BTreeSet::new();
        for (child, how) in &children {
            match how {
                Overlap::Class(class) => taken.push((*child, cost * self.overlap(judged.agreement_site(), class))),
                Overlap::Share => self.collect(*child, &judged.hypothesis.resource, &mut seen, &mut taken),
                Overlap::All => {}
            }
        }
        let sum: f64 = taken.iter().map(|(_, share)| share).sum();
        let own = (cost - sum).max(0.0);
        self.note(at, &children, &taken);
        let threshold = judged.hypothesis.cost.first().and_then(|cost| judged.hypothesis.cost_threshold(cost)).unwrap_or(0.0);
        let counts = matches!(self.label(at), Label::Kernel | Label::Disputed | Label::Open);
        if let Some(by) = self.veto(at).filter(|_| counts) {
            self.explained.insert(at, by);
            self.vetoed.insert(at);
        } else if let Some((child, _)) = children.iter().find(|(_, how)| *how == Overlap::All).filter(|_| counts) {
            self.explained.insert(at, *child);
        } else if counts
            && sum > 0.0
            && own < threshold
            && let Some((child, _)) = taken.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        {
            self.explained.insert(at, *child);
        }
        self.own.insert(at, own);
    }

    /// Keeps who took what, for the reader.
    fn note(&mut self, at: usize, children: &[(usize, Overlap)], taken: &[(usize, f64)]) {
        let mut rows = Vec::new();
        for (child, share) in taken.iter().filter(|(_, share)| *share > 0.0) {
            let edge = children.iter().find(|(own, how)| own == child && *how != Overlap::All);
            let how = match edge {
                Some((_, Overlap::Class(class))) => format!("class {class}"),
                _ => "share".to_owned(),
            };
            rows.push(Taken { special: self.id(*child).to_owned(), how, share: Some(*share) });
        }
        for (child, _) in children.iter().filter(|(_, how)| *how == Overlap::All) {
            rows.push(Taken { special: self.id(*child).to_owned(), how: "all".to_owned(), share: None });
        }
        self.taken.insert(at, rows);
    }

    /// What a child and everything below it own of this resource, each once.
    fn collect(&self, child: usize, resource: &str, seen: &mut BTreeSet<usize>, taken: &mut Vec<(usize, f64)>) {
        if !seen.insert(child) {
            return;
        }
        if self.judged.get(child).is_some_and(|judged| judged.hypothesis.resource == resource) {
            taken.push((child, self.own.get(&child).copied().unwrap_or(0.0)));
        }
        for (below, how) in self.children(child) {
            if how != Overlap::All || self.judged.get(below).is_some_and(|judged| judged.hypothesis.resource == resource) {
                self.collect(below, resource, seen, taken);
            }
        }
    }

    /// The CPU share of what is a mere consequence of this one.
    fn inherited(&self, at: usize) -> f64 {
        let Some(judged) = self.judged.get(at) else { return 0.0 };
        let whole = judged.hypothesis.explains.iter().filter(|edge| edge.how == Overlap::All);
        whole
            .filter_map(|edge| (0..self.judged.len()).find(|other| self.id(*other) == edge.hypothesis))
            .filter(|other| self.explained.get(other) == Some(&at))
            .map(|other| self.own.get(&other).copied().unwrap_or(0.0))
            .sum::<f64>()
            .min(1.0)
    }

    /// Which part of a function's self weight lies on stacks of a class.
    fn overlap(&self, site: Option<&Site>, class: &str) -> f64 {
        let Some(site) = site else { return 0.0 };
        let events: BTreeSet<i32> = self
            .tables
            .events
            .iter()
            .filter(|event| event.artifact_id == site.artifact && event.role.as_ref() == "cpu")
            .map(|event| event.event_id)
            .collect();
        let classed: BTreeSet<i32> =
            self.tables.stack_classes.iter().filter(|row| row.class.as_ref() == class).map(|row| row.stack_id).collect();
        let leaf = |stack: i32| {
            let frame = self.tables.stacks.frame(stack)?;
            self.tables.frames.get(frame as usize)?.function_id
        };
        let (mut all, mut inside) = (0_i64, 0_i64);
        for row in self.tables.stack_costs.iter().filter(|row| events.contains(&row.event_id) && leaf(row.stack_id) == site.id) {
            all = all.saturating_add(row.self_weight);
            if classed.contains(&row.stack_id) {
                inside = inside.saturating_add(row.self_weight);
            }
        }
        if all > 0 { inside as f64 / all as f64 } else { 0.0 }
    }
}

impl Judged {
    /// The place the hypothesis is about, agreed or suspected.
    pub fn agreement_site(&self) -> Option<&Site> {
        self.agreement.site.as_ref().or(self.agreement.suspected.as_ref()).or_else(|| self.slots.iter().find_map(|slot| slot.site.as_ref()))
    }
}
