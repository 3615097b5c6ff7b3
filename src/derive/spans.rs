//! Spans of one name -> their cost, their class, and what their shares are shares of.
//!
//! A span is wall time unless its log says otherwise, and what it names is the author's word for an operation, not a
//! function; where a function of exactly that name was recorded, the row points to it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::classes::fits;
use crate::error::{Error, Result};
use crate::tables::keys::encode;
use crate::tables::{Span, SpanCost, SpanLog, Tables, Text};

/// The `spans` part of queries/symbol_classes.json.
#[derive(Debug, Deserialize)]
struct Patterns {
    spans: Vec<Pattern>,
}

#[derive(Debug, Deserialize)]
struct Pattern {
    class: String,
    /// Each covers one whole word of a name.
    patterns: Vec<String>,
}

/// Fills `span_costs` and `span_logs`.
pub fn sum(tables: &mut Tables) -> Result<()> {
    if tables.spans.is_empty() {
        return Ok(());
    }
    let patterns: Patterns = serde_json::from_str(include_str!("../../queries/symbol_classes.json"))
        .map_err(|error| Error::Request(format!("queries/symbol_classes.json: {error}")))?;
    let mut functions: BTreeMap<&str, i32> = BTreeMap::new();
    for row in &tables.functions {
        functions.entry(&row.name).or_insert(row.function_id);
    }
    let mut logs: BTreeMap<i32, Vec<&Span>> = BTreeMap::new();
    for row in &tables.spans {
        logs.entry(row.artifact_id).or_default().push(row);
    }
    let (mut costs, mut wholes) = (Vec::new(), Vec::new());
    for (artifact, rows) in logs {
        let log = Log::new(artifact, &rows, &patterns);
        let own: Vec<SpanCost> = log.names.iter().map(|(name, rows)| log.cost(name, rows, functions.get(&***name).copied())).collect();
        wholes.push(log.whole(tables, &own));
        costs.extend(own);
    }
    tables.span_costs = costs;
    tables.span_logs = wholes;
    Ok(())
}

/// The spans of one artifact.
struct Log<'a> {
    artifact: i32,
    rows: &'a [&'a Span],
    names: BTreeMap<&'a Text, Vec<&'a Span>>,
    classes: BTreeMap<&'a Text, &'a str>,
    /// (class, name): the span has the class, or runs inside one that has.
    inside: BTreeSet<(&'a str, &'a Text)>,
    children: BTreeMap<&'a Text, Vec<&'a Span>>,
    names_parents: bool,
}

impl<'a> Log<'a> {
    fn new(artifact: i32, rows: &'a [&'a Span], patterns: &'a Patterns) -> Log<'a> {
        let mut names: BTreeMap<&Text, Vec<&Span>> = BTreeMap::new();
        let mut children: BTreeMap<&Text, Vec<&Span>> = BTreeMap::new();
        for row in rows {
            names.entry(&row.name).or_default().push(row);
            if let Some(parent) = row.parent.as_ref().filter(|parent| **parent != row.name) {
                children.entry(parent).or_default().push(row);
            }
        }
        let class_of = |rows: &[&Span]| rows.first().and_then(|row| class(patterns, row));
        let classes: BTreeMap<&Text, &str> = names.iter().filter_map(|(name, rows)| Some((*name, class_of(rows)?))).collect();
        let mut inside: BTreeSet<(&str, &Text)> = classes.iter().map(|(name, class)| (*class, *name)).collect();
        let mut next: Vec<(&str, &Text)> = inside.iter().copied().collect();
        // From each span of a class down; a name is met once per class, so a log whose spans go in circles ends too.
        while let Some((class, name)) = next.pop() {
            for child in children.get(name).into_iter().flatten() {
                if inside.insert((class, &child.name)) {
                    next.push((class, &child.name));
                }
            }
        }
        let names_parents = rows.iter().any(|row| row.is_root.is_some());
        Log { artifact, rows, names, classes, inside, children, names_parents }
    }

    fn cost(&self, name: &Text, rows: &[&Span], function_id: Option<i32>) -> SpanCost {
        let key = encode(name);
        let is_recursive = |row: &&Span| row.parent.as_ref() == Some(name);
        let outer: Vec<&Span> = rows.iter().copied().filter(|row| !is_recursive(row)).collect();
        let total_ns = total(&outer);
        let single = match rows {
            [only] => Some(only.line_no),
            _ => None,
        };
        let total_at = match single {
            Some(line) => format!("L={line}"),
            None if outer.len() == rows.len() => format!("sum=spans.total_ns&name={key}"),
            None => format!("sum=span_costs.total_ns&name={key}"),
        };
        let (self_ns, self_at) = match rows.iter().map(|row| row.self_ns).try_fold(0_i64, |sum, own| sum.checked_add(own?)) {
            Some(own) if single.is_some() && total_ns == Some(own) => (Some(own), total_at.clone()),
            Some(own) => (Some(own), format!("sum=spans.self_ns&name={key}")),
            None => match self.without_children(name, total_ns) {
                Some(own) if single.is_some() && total_ns == Some(own) => (Some(own), total_at.clone()),
                own => (own, format!("sum=span_costs.self_ns&name={key}")),
            },
        };
        let class = self.classes.get(name).copied();
        let first = rows.first();
        let clock = first.map_or_else(|| Text::from("wall"), |row| row.clock.clone());
        SpanCost {
            artifact_id: self.artifact,
            name: name.clone(),
            function_id,
            class: class.map(Text::from),
            category: category(first.and_then(|row| row.category.as_deref()), &clock).into(),
            clock,
            summaries: rows.len() as i64,
            calls: rows.iter().try_fold(0_i64, |sum, row| sum.checked_add(row.calls?)),
            total_ns,
            total_at: total_at.into(),
            self_ns,
            self_at: self_at.into(),
            class_ns: class.and_then(|class| self.outermost(class, &outer)),
        }
    }

    fn without_children(&self, name: &Text, total_ns: Option<i64>) -> Option<i64> {
        let children = self.children.get(name).map_or(Some(0), |rows| total(rows));
        let left = total_ns?.checked_sub(children?)?;
        (self.names_parents && left >= 0).then_some(left)
    }

    /// The totals of summaries that did not run inside another span of the class.
    fn outermost(&self, class: &str, rows: &[&Span]) -> Option<i64> {
        let is_inside = |row: &&&Span| row.parent.as_ref().is_some_and(|parent| self.inside.contains(&(class, parent)));
        let outer: Vec<&Span> = rows.iter().filter(|row| !is_inside(row)).copied().collect();
        total(&outer)
    }

    fn whole(&self, tables: &Tables, costs: &[SpanCost]) -> SpanLog {
        let runs: Vec<_> = tables.executions.iter().filter(|row| row.artifact_id == self.artifact && row.wall_ns.is_some()).collect();
        let last_run = self.rows.iter().filter_map(|row| row.log_run).max().unwrap_or(0);
        // A run without a duration would make the shares of its spans too large.
        let is_told = runs.len() as i64 > i64::from(last_run);
        let duration = runs.iter().try_fold(0_i64, |sum, row| sum.checked_add(row.wall_ns?)).filter(|ns| is_told && *ns > 0);
        let roots: Vec<&Span> = self.rows.iter().copied().filter(|row| row.is_root == Some(true)).collect();
        let spanned = total(&roots).filter(|_| !roots.is_empty());
        let duration_at = match runs[..] {
            [only] => only.place_of("wall_ns").unwrap_or("sum=executions.wall_ns").to_owned(),
            _ => "sum=executions.wall_ns".to_owned(),
        };
        let roots_at = match roots[..] {
            [only] => format!("L={}", only.line_no),
            _ => "sum=spans.total_ns&is_root=true".to_owned(),
        };
        let (whole_ns, whole_at) = match (duration, spanned) {
            (Some(duration), spanned) if spanned.is_none_or(|spanned| spanned <= duration) => (Some(duration), duration_at),
            (_, spanned) => (spanned, roots_at),
        };
        let outside_ns = whole_ns.zip(spanned).and_then(|(whole, spanned)| whole.checked_sub(spanned));
        let parents = costs.iter().filter(|cost| self.children.contains_key(&cost.name));
        let own = parents.map(|cost| cost.self_ns).try_fold(0_i64, |sum, own| sum.checked_add(own?));
        let between_ns = outside_ns.zip(own).and_then(|(outside, own)| outside.checked_add(own));
        SpanLog { artifact_id: self.artifact, whole_ns, whole_at: whole_at.into(), outside_ns, between_ns }
    }
}

fn total(rows: &[&Span]) -> Option<i64> {
    rows.iter().try_fold(0_i64, |sum, row| sum.checked_add(row.total_ns?))
}

/// The class of the author's category, else of the name; the first in the file decides.
fn class<'a>(patterns: &'a Patterns, row: &Span) -> Option<&'a str> {
    let of = |text: &str| {
        let words = words(text);
        let own = |pattern: &&Pattern| words.iter().any(|word| pattern.patterns.iter().any(|pattern| fits(pattern, word)));
        patterns.spans.iter().find(own).map(|pattern| pattern.class.as_str())
    };
    row.category.as_deref().and_then(of).or_else(|| of(&row.name))
}

/// `archive.formatRecord` -> archive, format, record.
fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if (!c.is_alphanumeric() || c.is_uppercase() && was_lower) && out.last().is_some_and(|word| !word.is_empty()) {
            out.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = out.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    out.retain(|word| !word.is_empty());
    out
}

/// The hotspot table's category.
fn category(stated: Option<&str>, clock: &str) -> &'static str {
    let stated = stated.map(str::to_lowercase).unwrap_or_default();
    match stated.as_str() {
        "cpu" | "compute" => "CPU",
        "io" | "i/o" | "disk" | "fs" | "file" => "I/O",
        "alloc" | "allocation" | "heap" => "Allocation",
        "lock" | "sync" | "mutex" | "contention" => "Sync",
        "net" | "network" => "Network",
        "memory" | "mem" => "Memory",
        _ if clock == "cpu" => "CPU",
        _ => "Wall",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(line_no: i64, name: &str, parent: Option<&str>, total_ns: i64) -> Span {
        Span {
            artifact_id: 0,
            line_no,
            log_run: Some(0),
            name: name.into(),
            parent: parent.map(Text::from),
            thread_name: None,
            calls: Some(1),
            total_ns: Some(total_ns),
            self_ns: None,
            p50_ns: None,
            p95_ns: None,
            p99_ns: None,
            p999_ns: None,
            max_ns: None,
            is_root: Some(parent.is_none()),
            category: None,
            clock: "wall".into(),
        }
    }

    fn summed(spans: Vec<Span>) -> Tables {
        let mut tables = Tables { spans, ..Tables::default() };
        sum(&mut tables).unwrap();
        tables
    }

    fn cost<'a>(tables: &'a Tables, name: &str) -> &'a SpanCost {
        tables.span_costs.iter().find(|row| &*row.name == name).unwrap()
    }

    #[test]
    fn names_are_words() {
        assert_eq!(words("archive.formatRecord"), ["archive", "format", "record"]);
        assert_eq!(words("SHA256::update_block"), ["sha256", "update", "block"]);
        assert_eq!(words("__"), Vec::<String>::new());
    }

    /// By hand: 100 in run, of which 60 in two windows of format_record, 10 of them in to_json inside it; 25 in flush.
    #[test]
    fn self_time_is_what_the_children_leave() {
        let tables = summed(vec![
            span(1, "run", None, 100),
            span(2, "format_record", Some("run"), 40),
            span(3, "format_record", Some("run"), 20),
            span(4, "fmt_json", Some("format_record"), 10),
            span(5, "flush", Some("run"), 25),
        ]);
        let own = |name: &str| (cost(&tables, name).total_ns, cost(&tables, name).self_ns, cost(&tables, name).class_ns);
        assert_eq!(own("run"), (Some(100), Some(15), None));
        assert_eq!(own("format_record"), (Some(60), Some(50), Some(60)));
        // Inside a span of its class: it counts there.
        assert_eq!(own("fmt_json"), (Some(10), Some(10), Some(0)));
        assert_eq!(cost(&tables, "flush").self_at.as_ref(), "L=5");
        assert_eq!(cost(&tables, "format_record").total_at.as_ref(), "sum=spans.total_ns&name=format_record");
        let log = &tables.span_logs[0];
        assert_eq!((log.whole_ns, log.outside_ns, log.between_ns), (Some(100), Some(0), Some(65)));
        assert_eq!(log.whole_at.as_ref(), "L=1");
    }

    #[test]
    fn circles_recursion_and_children_beside_their_parent() {
        let tables = summed(vec![span(1, "a", Some("b"), 5), span(2, "b", Some("a"), 5), span(3, "hash", Some("hash"), 4)]);
        assert_eq!(tables.span_logs[0].whole_ns, None);
        assert_eq!(cost(&tables, "hash").total_ns, Some(0));
        let tables = summed(vec![span(1, "pool", None, 10), span(2, "job", Some("pool"), 40)]);
        assert_eq!((cost(&tables, "pool").self_ns, cost(&tables, "job").self_ns), (None, Some(40)));
        assert_eq!(tables.span_logs[0].between_ns, None);
    }

    #[test]
    fn a_sum_that_leaves_the_range_is_unknown() {
        let tables = summed(vec![span(1, "a", None, i64::MAX), span(2, "a", None, i64::MAX)]);
        assert_eq!((cost(&tables, "a").total_ns, tables.span_logs[0].whole_ns), (None, None));
    }
}
