//! Places: which one an angle names, and whether two angles name the same.
//!
//! Keys that cross executions are function keys and thread names; never pids, thread ids or addresses.

use std::collections::BTreeSet;

use super::assign::Candidate;
use super::engine::Row;
use super::file::Alternate;
use super::score::Word;
use super::slot::SlotResult;
use crate::quality::Effects;
use crate::tables::{Tables, Text, keys};

/// A place an angle names.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    pub kind: String,
    pub id: Option<i32>,
    pub name: Text,
    /// Means the same in two executions.
    pub key: i64,
    pub part: i64,
    pub whole: i64,
    pub artifact: i32,
    /// False where unwinding may have lost the true caller.
    pub certain: bool,
    /// The check that takes its weight away.
    pub demoted: Option<String>,
}

impl Site {
    /// A place speaks for a run-level quantity only if it holds at least half of it (rules.md 2.5).
    pub fn holds_half(&self) -> bool {
        self.part > 0 && self.part.saturating_mul(2) >= self.whole
    }
}

/// Turns rows into places.
pub struct SiteFinder<'a> {
    pub tables: &'a Tables,
    pub effects: &'a Effects,
}

impl SiteFinder<'_> {
    /// The places a SELECT names for a candidate's artifacts (metric `site`), the largest first, ties by name.
    pub fn of(&self, alternate: &Alternate, candidate: &Candidate, rows: &[Row]) -> Vec<Site> {
        let sources: Vec<i32> = std::iter::once(candidate.artifact).chain(candidate.with.iter().copied()).collect();
        let Some(source) = sources.iter().find(|id| rows.iter().any(|row| row.artifact_id == **id && row.metric == "site")) else {
            return Vec::new();
        };
        let own = rows.iter().filter(|row| row.artifact_id == *source && row.metric == "site");
        let mut out: Vec<Site> = own.filter_map(|row| self.site(row)).filter(|site| site.part > 0).collect();
        for site in &mut out {
            site.demoted = self.effects.location(*source, &alternate.mechanism, self.dso_of(site));
            site.certain &= !self.effects.path(*source, &alternate.mechanism);
        }
        out.sort_by(|a, b| b.part.cmp(&a.part).then_with(|| a.name.cmp(&b.name)));
        out
    }

    fn dso_of(&self, site: &Site) -> Option<&str> {
        let of_function = site.kind == "function";
        let function = self.tables.functions.get(usize::try_from(site.id.filter(|_| of_function)?).ok()?)?;
        function.dso.as_deref()
    }

    /// The place of a row, where it has one.
    pub fn site(&self, row: &Row) -> Option<Site> {
        let id = i32::try_from(row.site_id?).ok()?;
        let (name, key) = match row.site_kind.as_str() {
            "function" | "syscall" => {
                let function = self.tables.functions.get(usize::try_from(id).ok()?).filter(|row| row.function_id == id)?;
                (function.name.clone(), function.function_key)
            }
            "thread" => {
                let thread = self.tables.threads.get(usize::try_from(id).ok()?).filter(|row| row.thread_id == id)?;
                let name = thread.name.clone()?;
                let key = keys::fnv1a(keys::SEED, name.as_bytes()) as i64;
                (name, key)
            }
            _ => return None,
        };
        Some(Site {
            kind: row.site_kind.clone(),
            id: Some(id),
            name,
            key,
            part: row.part.unwrap_or(0),
            whole: row.whole.unwrap_or(0),
            artifact: row.artifact_id,
            certain: row.certain != Some(0),
            demoted: None,
        })
    }
}

/// What the supporting angles say about the place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agreement {
    /// Two angles name it.
    pub site: Option<Site>,
    /// One angle alone names it.
    pub suspected: Option<Site>,
    pub note: Option<String>,
    /// It holds only up to the caller that unwinding lost.
    pub caller_uncertain: bool,
}

/// Looks for two supporting slots that name the same place.
pub fn agree(tables: &Tables, slots: &[SlotResult]) -> Agreement {
    let named: Vec<(char, &Site)> = slots
        .iter()
        .filter(|slot| slot.verdict.word() == Word::Supports)
        .filter_map(|slot| slot.site.as_ref().map(|site| (slot.letter, site)))
        .collect();
    let usable: Vec<(char, &Site)> = named.iter().filter(|(_, site)| site.demoted.is_none()).copied().collect();
    for (at, (a, one)) in usable.iter().enumerate() {
        for (b, other) in &usable[at + 1..] {
            if same(tables, one, other) && (one.certain || other.certain) {
                let site = if one.certain { *one } else { *other };
                return Agreement {
                    site: Some(site.clone()),
                    note: Some(format!("{a} and {b} name {}", site.name)),
                    ..Agreement::default()
                };
            }
        }
    }
    for (at, (a, one)) in usable.iter().enumerate() {
        for (b, other) in &usable[at + 1..] {
            let (certain, uncertain) = match (one.certain, other.certain) {
                (true, false) => (*one, *other),
                (false, true) => (*other, *one),
                _ => continue,
            };
            let left = callers(tables, certain);
            if certain.kind == "function" && left.iter().any(|id| same_function(tables, Some(*id), uncertain.id)) {
                let note =
                    format!("{a} and {b} agree on {} up to the lost caller ({} is what is left of the path)", certain.name, uncertain.name);
                return Agreement { site: Some(certain.clone()), suspected: None, note: Some(note), caller_uncertain: true };
            }
        }
    }
    let suspected = usable.iter().find(|(_, site)| site.certain).or_else(|| usable.first()).or_else(|| named.first());
    let note = suspected.map(|(letter, site)| match (&site.demoted, usable.len()) {
        (Some(reason), _) => format!("only {letter} names {}, {reason}", site.name),
        (None, 0 | 1) => format!("only {letter} names a place"),
        (None, _) => {
            let all: Vec<String> = usable.iter().map(|(letter, site)| format!("{letter} {}", site.name)).collect();
            format!("the angles name different or uncertain places: {}", all.join(", "))
        }
    });
    Agreement { suspected: suspected.map(|(_, site)| (*site).clone()), note, ..Agreement::default() }
}

/// Whether two places are one: by key; functions also by name where a tool (offcputime, bpftrace) prints no dso.
fn same(tables: &Tables, one: &Site, other: &Site) -> bool {
    one.kind == other.kind && (one.key == other.key || one.kind == "function" && same_function(tables, one.id, other.id))
}

fn same_function(tables: &Tables, one: Option<i32>, other: Option<i32>) -> bool {
    let of = |id: Option<i32>| tables.functions.get(usize::try_from(id?).ok()?);
    let (Some(one), Some(other)) = (of(one), of(other)) else { return false };
    let without_dso = one.dso.is_none() || other.dso.is_none();
    one.function_key == other.function_key || without_dso && keys::plain_name(&one.name) == keys::plain_name(&other.name)
}

/// The functions that call this one, in any stack of the run.
fn callers(tables: &Tables, site: &Site) -> BTreeSet<i32> {
    let function_of = |frame: i32| tables.frames.get(usize::try_from(frame).ok()?).and_then(|frame| frame.function_id);
    let ids = 0..tables.functions.len() as i32;
    let is_site: Vec<bool> = ids.map(|id| same_function(tables, Some(id), site.id)).collect();
    let mut out = BTreeSet::new();
    for (parent, frame) in tables.stacks.nodes() {
        if function_of(frame).and_then(|id| is_site.get(id as usize)).copied().unwrap_or(false) {
            out.extend(parent.and_then(|parent| function_of(tables.stacks.frame(parent)?)));
        }
    }
    out
}
