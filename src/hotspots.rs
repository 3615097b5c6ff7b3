//! The ranked hotspot table: where the time goes, by share of the wall clock.
//!
//! A row's `wall_share` is the lower bound of its share of a resource times that resource's share of the wall clock, so
//! that a function with 98 % of the CPU samples of a run that was 1 % on CPU does not lead. CPU places come from the
//! samples of one recording (DWARF stacks before frame pointers: the caller of a libc leaf is known), off-CPU places from
//! the waits of one recording (scheduler events before aggregated stacks: they have windows), memory places (peak,
//! leaked) from one heap recording; these have no time cost and follow. Spans of a program that times itself are places of
//! their own. Rows that together stay under one per cent of
//! their resource are summed into one.

mod spans;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::derive::Derived;
use crate::derive::places::{Key, Place, Places};
pub use crate::tables::keys::encode;
use crate::tables::{Artifact, Event, Evidence, Hotspot, Maybe32, StackSite, Tables, Text};
use crate::wall::Shares;

/// Places below this share of their resource are summed into one row.
const SMALL_SHARE: f64 = 0.001;

/// The ranked rows, before they are written into the tables.
#[must_use]
pub struct Ranked(Vec<Row>);

impl Ranked {
    /// Fills `hotspots` and their `evidence`.
    pub fn settle(self, tables: &mut Tables) {
        for (at, mut row) in self.0.into_iter().enumerate() {
            row.hotspot.rank = at as i32 + 1;
            let rank = Text::from(row.hotspot.rank.to_string());
            for (term, value, anchor) in row.terms {
                tables.evidence.push(Evidence {
                    hypothesis: "hotspot".into(),
                    slot: rank.clone(),
                    metric: row.hotspot.metric.clone(),
                    term: term.into(),
                    value,
                    anchor: anchor.into(),
                });
            }
            tables.hotspots.push(row.hotspot);
        }
    }
}

/// Finds and ranks the places.
pub fn rank(tables: &Tables, shares: &Shares, derived: &Derived) -> Ranked {
    let places = Places::new(tables, derived);
    let mut rows = cpu_rows(tables, &places, shares);
    rows.extend(wait_rows(tables, shares));
    rows.extend(memory_rows(tables, &places));
    spans::add(tables, &mut rows);
    let wall = |row: &Row| row.hotspot.wall_share.unwrap_or(-1.0);
    rows.sort_by(|a, b| {
        let by_wall = wall(b).total_cmp(&wall(a));
        by_wall.then(b.hotspot.value_lo.total_cmp(&a.hotspot.value_lo)).then_with(|| a.hotspot.location.cmp(&b.hotspot.location))
    });
    Ranked(rows)
}

/// The site of a stack, as `stack_sites` has it.
fn site_of(tables: &Tables, stack: i32) -> Option<i32> {
    let at = tables.stack_sites.binary_search_by_key(&stack, |row| row.stack_id).ok()?;
    tables.stack_sites.get(at)?.site_function_id
}

/// Weight whose stacks may have lost the true caller: frame pointers through a libc leaf (rules.md finding 2).
struct Doubts<'a> {
    sites: &'a [StackSite],
    artifact: &'a Artifact,
}

impl<'a> Doubts<'a> {
    fn new(tables: &'a Tables, artifact: &'a Artifact) -> Doubts<'a> {
        Doubts { sites: &tables.stack_sites, artifact }
    }

    fn is_certain(&self, stack: i32) -> bool {
        let at = self.sites.binary_search_by_key(&stack, |row| row.stack_id);
        at.ok().and_then(|at| self.sites.get(at)).is_none_or(|row| row.caller_certain)
    }

    /// `weight` if the caller on this stack is in doubt, else 0.
    fn weigh(&self, stack: Option<i32>, weight: i64) -> i64 {
        let by_frame_pointers = matches!(self.artifact.unwinding.as_deref(), Some("fp" | "bpf"));
        if by_frame_pointers && stack.is_some_and(|stack| !self.is_certain(stack)) { weight } else { 0 }
    }
}

/// What the row says where most of its weight is in doubt.
fn doubt(in_doubt: i64, weight: i64) -> &'static str {
    if in_doubt.saturating_mul(2) > weight { "; one caller may be missing (frame pointers)" } else { "" }
}

struct Row {
    hotspot: Hotspot,
    terms: Vec<(&'static str, i64, String)>,
}

/// The CPU event the table speaks of: dwarf > lbr > fp unwinding, then more target samples, then lower id.
pub fn primary_cpu_event(tables: &Tables) -> Option<&Event> {
    let quality = |event: &Event| match tables.artifacts.get(event.artifact_id as usize).and_then(|row| row.unwinding.as_deref()) {
        Some("dwarf") => 3,
        Some("lbr") => 2,
        Some("fp") => 1,
        _ => 0,
    };
    let cpu = tables.events.iter().filter(|event| event.role.as_ref() == "cpu" && event.target_n > 0);
    // A DWARF recording of a handful of samples does not beat a large one: 100 is what rules.md Q01 asks for.
    cpu.max_by_key(|event| (event.target_n >= 100, quality(event), event.target_n, -event.event_id))
}

fn cpu_rows(tables: &Tables, places: &Places<'_>, shares: &Shares) -> Vec<Row> {
    let Some(event) = primary_cpu_event(tables) else { return Vec::new() };
    let Some(artifact) = tables.artifacts.get(event.artifact_id as usize) else { return Vec::new() };
    let doubts = Doubts::new(tables, artifact);
    // Stacks through the same functions are one place, and their callers are equally certain.
    let mut by_path: Vec<(i64, i64, i32)> = vec![(0, 0, 0); places.paths()];
    for cost in tables.stack_costs.iter().filter(|cost| cost.event_id == event.event_id) {
        if let Some((weight, n, stack)) = by_path.get_mut(places.path(cost.stack_id) as usize) {
            (*weight, *n, *stack) = (weight.saturating_add(cost.self_weight), n.saturating_add(cost.self_count), cost.stack_id);
        }
    }
    let mut by_key: FxHashMap<Key, Sum> = FxHashMap::default();
    for (path, (weight, n, stack)) in (0..).zip(by_path).filter(|(_, (_, n, _))| *n > 0) {
        add(by_key.entry(places.key_of(path)).or_default(), (weight, n, doubts.weigh(Some(stack), weight)));
    }
    // Functions of one name (in several files, or clones) are one place: that is how its anchor finds it.
    let mut sums: Sums<Place> = Sums::new();
    for (key, sum) in by_key {
        let mut place = places.place(key);
        let function = place.site_function.take();
        let (all, first) = sums.entry(place).or_insert((Sum::default(), function));
        *first = function.min(*first);
        add(all, sum);
    }
    let sums = sums.into_iter().map(|(place, (sum, site_function))| (Place { site_function, ..place }, sum));
    let whole = event.target_weight;
    let n_eff = event.n_eff.unwrap_or(event.target_n as f64);
    let base = format!("{}#sum=samples.weight&event={}", encode(&artifact.path), encode(&event.name));
    let (large, small): (Vec<_>, Vec<_>) = sums.partition(|(_, sum)| sum.0 as f64 >= SMALL_SHARE * whole as f64);
    let mut rows: Vec<Row> = large
        .into_iter()
        .map(|(place, (weight, n, in_doubt))| {
            let (value, value_lo) = (share(weight, whole), wilson_lower(share(weight, whole), n_eff));
            let anchor = format!("{base}{}", place.keys(&encode));
            let detail = format!("{n} of {} samples of {}{}", event.target_n, event.name, doubt(in_doubt, weight));
            let hotspot = Hotspot {
                rank: 0,
                location: place.label().into(),
                function_id: place.site_function,
                metric: "CPU time".into(),
                value,
                value_lo,
                weight,
                whole,
                wall_share: shares.cpu.map(|cpu| cpu * value_lo),
                resource: "cpu".into(),
                category: place.category().into(),
                artifact_id: event.artifact_id,
                anchor: anchor.clone().into(),
                detail: detail.into(),
            };
            Row { hotspot, terms: vec![("part", weight, anchor), ("whole", whole, base.clone())] }
        })
        .collect();
    if !small.is_empty() {
        rows.push(small_row(&small, whole, event, &base));
    }
    rows
}

/// Weight, number, and the weight in doubt.
type Sum = (i64, i64, i64);

/// Sums by place, and the first function that the place's name stands for.
type Sums<K> = BTreeMap<K, (Sum, Option<i32>)>;

fn add(sum: &mut Sum, more: Sum) {
    *sum = (sum.0.saturating_add(more.0), sum.1.saturating_add(more.1), sum.2.saturating_add(more.2));
}

/// One row for what is too small to be named: the table still sums to the whole.
fn small_row(small: &[(Place, Sum)], whole: i64, event: &Event, base: &str) -> Row {
    let weight = small.iter().fold(0_i64, |all, (_, sum)| all.saturating_add(sum.0));
    let n = small.iter().fold(0_i64, |all, (_, sum)| all.saturating_add(sum.1));
    let hotspot = Hotspot {
        rank: 0,
        location: format!("{} smaller places", small.len()).into(),
        function_id: None,
        metric: "CPU time".into(),
        value: share(weight, whole),
        value_lo: 0.0,
        weight,
        whole,
        wall_share: Some(0.0),
        resource: "cpu".into(),
        category: "CPU".into(),
        artifact_id: event.artifact_id,
        anchor: base.to_owned().into(),
        detail: format!("{n} samples, each place under 0.1 %").into(),
    };
    Row { hotspot, terms: vec![("whole", whole, base.to_owned())] }
}

fn share(part: i64, whole: i64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

/// Lower end of the Wilson 95 % interval of a share seen in `n` samples (Wilson 1927).
pub fn wilson_lower(share: f64, n: f64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    if n <= 0.0 {
        return 0.0;
    }
    let z2 = Z * Z;
    let half = Z * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).max(0.0).sqrt();
    ((share + z2 / (2.0 * n) - half) / (1.0 + z2 / n)).clamp(0.0, 1.0)
}

/// The waits the table speaks of: intervals with windows if there are any, else aggregated stacks.
fn wait_rows(tables: &Tables, shares: &Shares) -> Vec<Row> {
    let Some(artifact_id) = shares.waits_from.or_else(|| tables.waits.iter().find(|wait| wait.is_aggregate).map(|wait| wait.artifact_id))
    else {
        return Vec::new();
    };
    let Some(artifact) = tables.artifacts.get(artifact_id as usize) else { return Vec::new() };
    let is_target = |thread: Option<i32>| match thread.and_then(|id| tables.threads.get(id as usize)) {
        Some(row) => row.is_target && shares.counts(row.thread_id),
        None => true,
    };
    let doubts = Doubts::new(tables, artifact);
    let mut by_stack: FxHashMap<(&str, Maybe32), (i64, i64)> = FxHashMap::default();
    for wait in tables.waits.iter().filter(|wait| wait.artifact_id == artifact_id && is_target(wait.thread_id.get())) {
        let (dur_ns, n) = by_stack.entry((wait.reason.as_ref(), wait.stack_id)).or_default();
        (*dur_ns, *n) = (dur_ns.saturating_add(wait.dur_ns), *n + 1);
    }
    let mut sums: Sums<(&str, Option<&Text>)> = Sums::new();
    for ((reason, stack), (dur_ns, n)) in by_stack.into_iter().filter(|((reason, _), _)| !["preempted", "join"].contains(reason)) {
        let site = stack.get().and_then(|stack| site_of(tables, stack));
        let sum = (dur_ns, n, doubts.weigh(stack.get(), dur_ns));
        let name = site.and_then(|id| tables.functions.get(id as usize)).map(|row| &row.name);
        let (all, first) = sums.entry((reason, name)).or_insert((Sum::default(), site));
        *first = site.min(*first);
        add(all, sum);
    }
    let total: i64 = sums.values().map(|(sum, _)| sum.0).fold(0, i64::saturating_add);
    let whole = shares.worker_window_ns.filter(|_| shares.waits_from.is_some()).unwrap_or(total);
    let base = format!("{}#sum=waits.dur_ns", encode(&artifact.path));
    let mut rows = Vec::new();
    for ((reason, site_name), ((weight, n, in_doubt), site)) in sums {
        let value = share(weight, whole);
        if value < SMALL_SHARE {
            continue;
        }
        let anchor = format!("{base}&reason={}&site={}", encode(reason), encode(site_name.map_or("[unknown]", |name| name)));
        let what = format!("waiting: {reason}");
        let hotspot = Hotspot {
            rank: 0,
            location: site_name.map_or_else(|| what.clone(), |name| format!("{name} → {what}")).into(),
            function_id: site,
            metric: if shares.waits_from.is_some() { "off-CPU time of workers" } else { "off-CPU time" }.into(),
            value,
            value_lo: value,
            weight,
            whole,
            wall_share: if shares.waits_from.is_some() { Some(value) } else { shares.off_cpu.map(|off| off * value) },
            resource: "off-cpu".into(),
            category: wait_category(reason).into(),
            artifact_id,
            anchor: anchor.clone().into(),
            detail: format!("{n} waits, {:.3} s of {:.3} s{}", weight as f64 / 1e9, whole as f64 / 1e9, doubt(in_doubt, weight)).into(),
        };
        rows.push(Row { hotspot, terms: vec![("part", weight, anchor)] });
    }
    rows
}

fn wait_category(reason: &str) -> &'static str {
    match reason {
        "fsync" | "disk" | "fault" => "I/O",
        "lock" | "condvar" => "Sync",
        "network" | "accept" | "poll" | "pipe" => "Network",
        _ => "Scheduler",
    }
}

/// Peak and leaked bytes by site, the five largest of each that hold a tenth of their resource.
fn memory_rows(tables: &Tables, places: &Places<'_>) -> Vec<Row> {
    let Some(artifact_id) = tables.allocations.first().map(|row| row.artifact_id) else { return Vec::new() };
    let Some(artifact) = tables.artifacts.get(artifact_id as usize) else { return Vec::new() };
    let mut rows = Vec::new();
    for (metric, column) in [("peak heap", "peak_bytes"), ("leaked heap", "leaked_bytes")] {
        let mut sums: BTreeMap<Option<Text>, (i64, Option<i32>)> = BTreeMap::new();
        for row in tables.allocations.iter().filter(|row| row.artifact_id == artifact_id) {
            let place = row.stack_id.map(|stack| places.of(stack));
            let (site, function) = place.map_or((None, None), |place| (place.site, place.site_function));
            let (sum, first) = sums.entry(site).or_insert((0, function));
            *first = function.min(*first);
            *sum = sum.saturating_add(if column == "peak_bytes" { row.peak_bytes } else { row.leaked_bytes });
        }
        let whole: i64 = sums.values().fold(0, |sum, (value, _)| sum.saturating_add(*value));
        let base = format!("{}#sum=allocations.{column}", encode(&artifact.path));
        for (site, (weight, function_id)) in sums {
            if share(weight, whole) < 0.1 {
                continue;
            }
            let name = site.as_deref().unwrap_or("[unknown]");
            let anchor = format!("{base}&site={}", encode(name));
            let hotspot = Hotspot {
                rank: 0,
                location: name.into(),
                function_id,
                metric: metric.into(),
                value: share(weight, whole),
                value_lo: share(weight, whole),
                weight,
                whole,
                wall_share: None,
                resource: "memory".into(),
                category: "Memory".into(),
                artifact_id,
                anchor: anchor.clone().into(),
                detail: format!("{weight} of {whole} bytes").into(),
            };
            rows.push(Row { hotspot, terms: vec![("part", weight, anchor), ("whole", whole, base.clone())] });
        }
    }
    rows
}
