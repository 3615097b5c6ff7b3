//! What has no name: per event and dso the share of the weight, and which file would name it.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::{View, escape};
use crate::derive::Calls;
use crate::tables::{Dso, Event, Tables};

/// How many rows are listed.
pub const ROWS_MAX: usize = 10;

/// The frames of one dso that nothing names, in one event.
pub struct Row<'a> {
    pub event: &'a Event,
    /// `None`: addresses in no mapping.
    pub dso: Option<&'a Dso>,
    /// Weight of the samples whose leaf it is, and of those that have it anywhere on the stack.
    pub own: i64,
    pub total: i64,
    pub samples: i64,
    /// Different addresses without a name, over all events.
    pub addresses: usize,
}

impl Row<'_> {
    pub fn own_share(&self) -> f64 {
        share(self.own, self.event.total_weight)
    }

    pub fn total_share(&self) -> f64 {
        share(self.total, self.event.total_weight)
    }

    /// Name of the dso for people.
    pub fn name(&self) -> &str {
        self.dso.map_or("(no mapping)", |dso| &dso.name)
    }

    /// The file that would name it, and the option that takes it.
    pub fn remedy(&self) -> String {
        let Some(dso) = self.dso else { return "nothing: the recording maps no file there".to_owned() };
        let id = dso.build_id.as_deref();
        let with_id = id.map_or_else(|| "no build-id recorded".to_owned(), |id| format!("build-id {id}"));
        match &*dso.kind {
            "kernel" => format!("kallsyms of that boot (--kallsyms), or vmlinux with {with_id} (--symbol-dir)"),
            "module" => "kallsyms of that boot (--kallsyms)".to_owned(),
            "vdso" => format!("a copy of {} with {with_id}, as `perf archive` takes it (--symbol-dir)", dso.name),
            "bpf" => "nothing: the program left no KSYMBOL record".to_owned(),
            "jit" => jit(dso),
            "anon" | "none" => "nothing: it is part of no file".to_owned(),
            _ => match &dso.symbol_source {
                Some(source) => {
                    format!("debug file or unstripped {} with {with_id} (--symbol-dir); {source} lacks these functions", dso.path)
                }
                None => format!("{} with {with_id} (--symbol-dir, --sysroot)", dso.path),
            },
        }
    }
}

fn jit(dso: &Dso) -> String {
    match dso.path.strip_prefix("/tmp/perf-").and_then(|rest| rest.strip_suffix(".map")) {
        Some(pid) => format!("perf-{pid}.map or jit-{pid}.dump of its runtime (--jit-dir)"),
        None => format!("{}, as `perf inject --jit` wrote it (--symbol-dir)", dso.path),
    }
}

fn share(part: i64, whole: i64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

/// (event, dso) -> weight as leaf, weight anywhere, samples.
type Sums = FxHashMap<(i32, i32), (i64, i64, i64)>;

/// Stand for a leaf that has a name, and for addresses in no mapping.
const NAMED: i32 = -2;
const UNMAPPED: i32 = -1;

/// No real stack goes through more dsos without names; those further from the root are then left out.
const MEMBERS_MAX: usize = 64;

fn add(sum: &mut (i64, i64), more: (i64, i64)) {
    *sum = (sum.0.saturating_add(more.0), sum.1.saturating_add(more.1));
}

/// All rows, the largest share first: leaves, then anywhere on the stack.
pub fn rows<'a>(tables: &'a Tables, calls: &Calls) -> Vec<Row<'a>> {
    let sets = Sets::read(calls);
    let mut sums = Sums::default();
    // Samples are sorted by event. Almost all of one event have the same few sets.
    for samples in tables.samples.chunk_by(|a, b| a.event_id == b.event_id) {
        let Some(event) = samples.first().map(|sample| sample.event_id) else { continue };
        let mut weights: FxHashMap<(u32, i32), (i64, i64)> = FxHashMap::default();
        let mut at = (0, NAMED);
        let mut sum = (0_i64, 0_i64);
        for sample in samples {
            let next = sample.stack_id.get().and_then(|id| sets.of.get(calls.path(id) as usize)).copied().unwrap_or((0, NAMED));
            if next != at {
                add(weights.entry(at).or_default(), sum);
                (at, sum) = (next, (0, 0));
            }
            add(&mut sum, (sample.weight, 1));
        }
        add(weights.entry(at).or_default(), sum);
        for ((set, leaf), (weight, n)) in weights {
            for dso in sets.members.get(set as usize).into_iter().flatten() {
                let row = sums.entry((event, *dso)).or_default();
                row.0 = row.0.saturating_add(if leaf == *dso { weight } else { 0 });
                row.1 = row.1.saturating_add(weight);
                row.2 = row.2.saturating_add(n);
            }
        }
    }
    let addresses = addresses(tables);
    let mut rows: Vec<Row<'_>> = sums
        .into_iter()
        .filter_map(|((event, dso), (own, total, samples))| {
            let event = tables.events.iter().find(|row| row.event_id == event)?;
            let count = addresses.get(&dso).copied().unwrap_or(0);
            let dso = usize::try_from(dso).ok().and_then(|dso| tables.dsos.get(dso));
            Some(Row { event, dso, own, total, samples, addresses: count })
        })
        .collect();
    rows.sort_by(|a, b| {
        let by_share = b.own_share().total_cmp(&a.own_share()).then_with(|| b.total_share().total_cmp(&a.total_share()));
        let key = |row: &Row<'_>| (row.event.event_id, row.dso.map_or(-1, |dso| dso.dso_id));
        by_share.then_with(|| key(a).cmp(&key(b)))
    });
    rows
}

/// Different nameless addresses per dso.
fn addresses(tables: &Tables) -> FxHashMap<i32, usize> {
    let nameless = tables.frames.iter().filter(|frame| frame.function_id.is_none());
    let mut places: Vec<(i32, i64)> = nameless.map(|frame| (frame.dso_id.unwrap_or(UNMAPPED), frame.rel.unwrap_or(0))).collect();
    places.sort_unstable();
    places.dedup();
    let mut counts: FxHashMap<i32, usize> = FxHashMap::default();
    for of_dso in places.chunk_by(|a, b| a.0 == b.0) {
        counts.extend(of_dso.first().map(|(dso, _)| (*dso, of_dso.len())));
    }
    counts
}

/// The sets of dsos that have nameless frames on one stack.
struct Sets {
    /// Per path: the set on the way from it to the root, and the dso of its own frame where that has no name.
    of: Vec<(u32, i32)>,
    members: Vec<Vec<i32>>,
}

impl Sets {
    /// Callers come first. There are few different sets: most paths share one.
    fn read(calls: &Calls) -> Sets {
        let mut sets = Sets { of: Vec::with_capacity(calls.steps().len()), members: vec![Vec::new()] };
        let mut larger: FxHashMap<(u32, i32), u32> = FxHashMap::default();
        let mut known: FxHashMap<Vec<i32>, u32> = FxHashMap::from_iter([(Vec::new(), 0)]);
        for step in calls.steps() {
            let kind = calls.kinds().get(step.kind as usize).filter(|kind| kind.function < 0);
            let dso = kind.map(|kind| kind.dso_id().unwrap_or(UNMAPPED));
            let above = sets.of.get(step.caller as usize).map_or(0, |of| of.0);
            let set = match dso {
                None => above,
                Some(dso) => *larger.entry((above, dso)).or_insert_with(|| {
                    let mut members = sets.members.get(above as usize).cloned().unwrap_or_default();
                    if let (Err(at), true) = (members.binary_search(&dso), members.len() < MEMBERS_MAX) {
                        members.insert(at, dso);
                    }
                    *known.entry(members).or_insert_with_key(|members| {
                        sets.members.push(members.clone());
                        (sets.members.len() - 1) as u32
                    })
                }),
            };
            sets.of.push((set, dso.unwrap_or(NAMED)));
        }
        sets
    }
}

/// For summary.json.
pub fn json(view: &View<'_>, text: impl Fn(&str) -> String) -> Value {
    let rows = view.unresolved();
    let row = |row: &Row<'_>| {
        json!({
            "dso": text(row.name()), "path": row.dso.map(|dso| text(&dso.path)), "build_id": row.dso.and_then(|dso| dso.build_id.as_deref()),
            "artifact": text(view.path(Some(row.event.artifact_id))), "event": text(&row.event.name),
            "self_weight": row.own, "self_share": row.own_share(), "total_weight": row.total, "total_share": row.total_share(),
            "samples": row.samples, "addresses": row.addresses, "would_resolve": text(&row.remedy()),
        })
    };
    let listed: Vec<Value> = rows.iter().take(ROWS_MAX).map(row).collect();
    json!({"dsos": listed, "left_out": rows.len().saturating_sub(ROWS_MAX)})
}

/// Columns for people: dso, event, file, self, anywhere, what would name it.
pub fn cells(view: &View<'_>, row: &Row<'_>) -> [String; 6] {
    let plain = |text: &str| escape::plain(text).into_owned();
    [
        plain(row.name()),
        plain(&row.event.name),
        plain(view.path(Some(row.event.artifact_id))),
        super::number::share(row.own_share()),
        super::number::share(row.total_share()),
        plain(&row.remedy()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::sample;
    use crate::tables::{Maybe32, Maybe64, Stacks};

    #[test]
    fn weights_without_a_name_are_summed_once_per_sample() {
        let mut run = sample();
        let tables = &mut run.tables;
        let (event, frame) = (tables.events[0].clone(), tables.frames[0].clone());
        let dso = |id: i32, path: &str, kind: &str| Dso {
            dso_id: id,
            name: path.into(),
            path: path.into(),
            build_id: Some("ab12".into()),
            kind: kind.into(),
            ..Dso::default()
        };
        tables.dsos = vec![dso(0, "/bin/a", "user"), dso(1, "/tmp/perf-7.map", "jit")];
        tables.events = vec![Event { event_id: 0, total_weight: 100, ..event }];
        let at = |id: i32, dso: i32, function: Option<i32>| crate::tables::Frame {
            frame_id: id,
            dso_id: Some(dso),
            rel: Some(i64::from(id)),
            function_id: function,
            ..frame.clone()
        };
        tables.frames = vec![at(0, 0, None), at(1, 1, None), at(2, 0, Some(0))];
        // a's nameless frame, twice (recursion); generated code called from it; a's named frame called from that.
        tables.stacks = Stacks::default();
        for (parent, frame) in [(None, 0), (Some(0), 0), (Some(1), 1), (Some(2), 2)] {
            tables.stacks.push(parent, frame);
        }
        let sample = |stack: i32, weight: i64| crate::tables::Sample {
            event_id: 0,
            ts_ns: Maybe64::NONE,
            thread_id: Maybe32::NONE,
            cpu: Maybe32::NONE,
            stack_id: Some(stack).into(),
            weight,
            record_no: 0,
        };
        tables.samples = vec![sample(1, 10), sample(2, 20), sample(3, 30)];
        let rows = rows(&run.tables, &Calls::read(&run.tables));
        let found: Vec<(&str, i64, i64, i64, usize)> =
            rows.iter().map(|row| (row.name(), row.own, row.total, row.samples, row.addresses)).collect();
        assert_eq!(found, [("/tmp/perf-7.map", 20, 50, 2, 1), ("/bin/a", 10, 60, 3, 1)]);
        assert_eq!(rows[1].remedy(), "/bin/a with build-id ab12 (--symbol-dir, --sysroot)");
        assert_eq!(rows[0].remedy(), "perf-7.map or jit-7.dump of its runtime (--jit-dir)");
    }
}
