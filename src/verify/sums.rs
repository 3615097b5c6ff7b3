//! Sums over the run's tables, for what no small reader can find in the artifact: places and classes of stacks, reasons of
//! waits, roles of threads. Any other table is summed over its own columns.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::anchor::Sum;
use super::places::{Place, Places};
use super::store::{Ints, Store, int, text};

/// The sum, and how many rows it is over.
pub type Total = (i64, i64);

/// The tables, and what is worked out of them once.
pub struct Sums<'a> {
    pub store: &'a Store,
    places: OnceLock<Result<Places, String>>,
    targets: OnceLock<Result<HashSet<i64>, String>>,
}

fn add(total: Total, value: i64) -> Total {
    (total.0.saturating_add(value), total.1 + 1)
}

impl<'a> Sums<'a> {
    pub fn new(store: &'a Store) -> Sums<'a> {
        Sums { store, places: OnceLock::new(), targets: OnceLock::new() }
    }

    fn places(&self) -> Result<&Places, String> {
        self.places.get_or_init(|| Places::read(self.store)).as_ref().map_err(Clone::clone)
    }

    /// Threads of the program under study.
    pub fn targets(&self) -> Result<&HashSet<i64>, String> {
        let read = || {
            let (ids, is_target) = (self.store.ints("threads", "thread_id")?, self.store.ints("threads", "is_target")?);
            Ok((0..ids.len()).filter(|row| int(&is_target, *row) == Some(1)).filter_map(|row| int(&ids, row)).collect())
        };
        self.targets.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// The event that a sum of samples is over: the one named, else the first that samples the CPU.
    pub fn event(&self, artifact: i64, name: Option<&str>) -> Result<Option<i64>, String> {
        let (ids, of) = (self.store.ints("events", "event_id")?, self.store.ints("events", "artifact_id")?);
        let (names, roles) = (self.store.texts("events", "name")?, self.store.texts("events", "role")?);
        let own = (0..ids.len()).filter(|row| int(&of, *row) == Some(artifact));
        let fits = own.filter(|row| match name {
            Some(name) => text(&names, *row) == Some(name),
            None => text(&roles, *row) == Some("cpu"),
        });
        let found: Vec<(bool, i64)> = fits.filter_map(|row| Some((text(&roles, row) != Some("cpu"), int(&ids, row)?))).collect();
        Ok(found.into_iter().min().map(|(_, id)| id))
    }

    /// The sum that an anchor names. `Err` says why it cannot be made.
    pub fn sum(&self, artifact: i64, sum: &Sum) -> Result<Total, String> {
        match sum.table.as_str() {
            "samples" => self.samples(artifact, sum),
            "waits" => self.waits(artifact, sum),
            "thread_states" => self.thread_states(artifact, sum),
            "allocations" => self.allocations(artifact, sum),
            "syscall_events" => self.syscall_events(artifact, sum),
            _ => self.plain(artifact, sum, &[], &|_| true),
        }
    }

    /// Over every row of the artifact, whoever's it is.
    pub fn all_rows(&self, artifact: i64, sum: &Sum) -> Result<Total, String> {
        self.plain(artifact, sum, &[], &|_| true)
    }

    fn samples(&self, artifact: i64, sum: &Sum) -> Result<Total, String> {
        let name = sum.key("event");
        let event = self.event(artifact, name)?.ok_or_else(|| format!("the artifact has no event {}", name.unwrap_or("of the CPU")))?;
        let keys: Vec<(&str, &str)> =
            sum.keys.iter().map(|(key, value)| (key.as_str(), value.as_str())).filter(|(key, _)| *key != "event").collect();
        let fits = place_filter(&keys, name.is_some())?;
        let places = if keys.is_empty() { None } else { Some(self.places()?) };
        let targets = self.targets()?;
        let (events, weights) = (self.store.ints("samples", "event_id")?, column(self.store, "samples", &sum.column)?);
        let (threads, stacks) = (self.store.ints("samples", "thread_id")?, self.store.ints("samples", "stack_id")?);
        let mut total = (0, 0);
        for row in (0..events.len()).filter(|row| int(&events, *row) == Some(event)) {
            if !int(&threads, row).is_some_and(|thread| targets.contains(&thread)) {
                continue;
            }
            let stack = int(&stacks, row);
            if let Some(places) = places
                && !stack.is_some_and(|stack| fits(&places.of(stack)))
            {
                continue;
            }
            total = add(total, int(&weights, row).unwrap_or(0));
        }
        Ok(total)
    }

    fn allocations(&self, artifact: i64, sum: &Sum) -> Result<Total, String> {
        let keys: Vec<(&str, &str)> = sum.keys.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let fits = place_filter(&keys, false)?;
        let places = if keys.is_empty() { None } else { Some(self.places()?) };
        let (of, stacks) = (self.store.ints("allocations", "artifact_id")?, self.store.ints("allocations", "stack_id")?);
        let values = column(self.store, "allocations", &sum.column)?;
        let mut total = (0, 0);
        for row in (0..of.len()).filter(|row| int(&of, *row) == Some(artifact)) {
            let stack = int(&stacks, row);
            let unknown = || sum.key("site") == Some("[unknown]") && keys.len() == 1;
            let is_in = match places {
                None => true,
                Some(places) => stack.map_or_else(unknown, |stack| fits(&places.of(stack))),
            };
            if is_in {
                total = add(total, int(&values, row).unwrap_or(0));
            }
        }
        Ok(total)
    }

    /// `not_fd`: but calls on descriptors of these kinds.
    fn syscall_events(&self, artifact: i64, sum: &Sum) -> Result<Total, String> {
        let kinds = self.store.texts("syscall_events", "fd_kind")?;
        let left_out = sum.list("not_fd").unwrap_or_default();
        self.plain(artifact, sum, &["not_fd"], &|row| text(&kinds, row).is_none_or(|kind| !left_out.contains(&kind)))
    }

    /// Waits of the workers (of all targets where roles are not known); sums by stack have no threads. Preempted time is no
    /// wait.
    fn waits(&self, artifact: i64, sum: &Sum) -> Result<Total, String> {
        let (threads, aggregate) = (self.store.ints("waits", "thread_id")?, self.store.ints("waits", "is_aggregate")?);
        let (reasons, stacks) = (self.store.texts("waits", "reason")?, self.store.ints("waits", "stack_id")?);
        let workers = self.workers(artifact)?;
        let targets = self.targets()?;
        let counted = if workers.is_empty() { targets } else { &workers };
        let wanted = sum.list("reason").unwrap_or_default();
        let places = sum.key("site").map(|_| self.places()).transpose()?;
        let site = sum.key("site").filter(|site| *site != "[unknown]");
        let fits = |row: usize| {
            let reason = text(&reasons, row).unwrap_or("");
            let of_reason = if wanted.is_empty() { reason != "preempted" } else { wanted.contains(&reason) };
            let is_counted = int(&aggregate, row) == Some(1) || int(&threads, row).is_some_and(|thread| counted.contains(&thread));
            let at_site = places.is_none_or(|places| match int(&stacks, row) {
                Some(stack) => places.of(stack).site.as_deref() == site,
                None => site.is_none(),
            });
            of_reason && is_counted && at_site
        };
        self.plain(artifact, sum, &["reason", "site"], &fits)
    }

    fn workers(&self, artifact: i64) -> Result<HashSet<i64>, String> {
        let (of, ids) = (self.store.ints("thread_states", "artifact_id")?, self.store.ints("thread_states", "thread_id")?);
        let roles = self.store.texts("thread_states", "role")?;
        let targets = self.targets()?;
        let workers = (0..of.len()).filter(|row| int(&of, *row) == Some(artifact) && text(&roles, *row) == Some("worker"));
        Ok(workers.filter_map(|row| int(&ids, row)).filter(|thread| targets.contains(thread)).collect())
    }

    fn thread_states(&self, artifact: i64, sum: &Sum) -> Result<Total, String> {
        let (ids, targets) = (self.store.ints("thread_states", "thread_id")?, self.targets()?);
        self.plain(artifact, sum, &[], &|row| int(&ids, row).is_some_and(|thread| targets.contains(&thread)))
    }

    /// Over the artifact's rows whose columns have the keys' values; `known` keys are what `fits` looks at.
    fn plain(&self, artifact: i64, sum: &Sum, known: &[&str], fits: &dyn Fn(usize) -> bool) -> Result<Total, String> {
        let columns = self.store.columns(&sum.table)?;
        if columns.is_empty() {
            return Err(format!("the run has no table {}", sum.table));
        }
        let of = self.store.ints(&sum.table, "artifact_id")?;
        // `calls` of a table whose rows are calls: one each.
        let is_count = sum.column == "calls" && !columns.contains(&sum.column);
        let values = if is_count { Ints::default() } else { column(self.store, &sum.table, &sum.column)? };
        let mut filters = Vec::new();
        for (key, value) in sum.keys.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
            if !columns.contains(key) {
                return Err(format!("sums over {} by {key} are not known here", sum.table));
            }
            let wanted: Vec<&str> = value.split(',').collect();
            filters.push((self.store.texts(&sum.table, key)?, value.as_str(), wanted));
        }
        let mut total = (0, 0);
        for row in (0..of.len()).filter(|row| int(&of, *row) == Some(artifact)) {
            let has = |(column, whole, list): &(super::store::Texts, &str, Vec<&str>)| {
                text(column, row).is_some_and(|value| value == *whole || list.contains(&value))
            };
            if fits(row) && filters.iter().all(has) {
                total = add(total, if is_count { 1 } else { int(&values, row).unwrap_or(0) });
            }
        }
        Ok(total)
    }
}

/// A column that must be there.
fn column(store: &Store, table: &str, name: &str) -> Result<Ints, String> {
    let columns = store.columns(table)?;
    // A run without rows of the table sums to 0.
    if !columns.is_empty() && !columns.iter().any(|column| column == name) {
        return Err(format!("table {table} has no column {name}"));
    }
    store.ints(table, name)
}

type Fits<'a> = Box<dyn Fn(&Place) -> bool + 'a>;

/// The condition on a stack that the keys of an anchor say. A leaf alone is a function's own time, but of a hotspot (which
/// names its event) it is a place without a site.
fn place_filter<'a>(keys: &'a [(&'a str, &'a str)], of_hotspot: bool) -> Result<Fits<'a>, String> {
    const KNOWN: [&str; 11] =
        ["has", "leaf_class", "without", "kernel_leaf", "leaf", "syscall", "class", "kernel", "unknown", "site", "dso"];
    if let Some((key, _)) = keys.iter().find(|(key, _)| !KNOWN.contains(key)) {
        return Err(format!("sums over stacks by {key} are not known here"));
    }
    let is_placed = of_hotspot || keys.iter().any(|(key, _)| *key == "site");
    let what = keys.iter().find(|(key, _)| ["syscall", "class", "kernel", "unknown"].contains(key) || *key == "leaf" && is_placed);
    let is_place = what.is_some();
    let get = move |name: &str| keys.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    Ok(Box::new(move |place: &Place| {
        let classes = get("has").is_none_or(|class| class.split(',').any(|class| place.classes.contains(class)))
            && get("without").is_none_or(|class| !class.split(',').any(|class| place.classes.contains(class)));
        let leaf = match get("leaf").filter(|_| !is_place) {
            // A function's own time: what a sink holds belongs to its caller.
            Some(leaf) => place.leaf.as_deref() == Some(leaf) && !place.leaf_is_sink,
            None => true,
        };
        let own = get("leaf_class").is_none_or(|class| place.leaf_classes.contains(class));
        let kernel = get("kernel_leaf").is_none_or(|wanted| place.leaf_is_kernel == (wanted == "1"));
        let site = match (get("site"), is_place) {
            (Some("[unknown]"), false) => place.site.is_none() || place.site.as_deref() == Some("[unknown]"),
            (site @ Some(_), _) | (site @ None, true) => place.site.as_deref() == site,
            (None, false) => true,
        };
        let dso = get("dso").is_none_or(|dso| place.site_dso.as_deref() == Some(dso));
        let what = what.is_none_or(|(key, value)| place.what.0 == *key && place.what.1 == *value);
        classes && own && leaf && kernel && site && dso && what
    }))
}
