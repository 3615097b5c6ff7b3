//! What the spans of one log are to each other: which are at the root, what is left of one without its children, and
//! which summaries only repeat what a later one says again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Recorder, Severity, text};
use crate::tables::{Span, Text};

/// Fills `is_root` and `self_ns` once all lines are read.
pub fn finish(recorder: &mut Recorder) {
    drop_snapshots(recorder);
    let spans = &mut recorder.tables.spans;
    let names_parents = spans.iter().any(|row| row.parent.is_some() || row.is_root.is_some());
    if !names_parents {
        return;
    }
    let mut summaries: BTreeMap<(Option<i32>, Text), usize> = BTreeMap::new();
    // Sum of the children's totals; `None` where one is absent.
    let mut below: BTreeMap<(Option<i32>, Text), Option<i64>> = BTreeMap::new();
    for row in spans.iter() {
        *summaries.entry((row.log_run, row.name.clone())).or_default() += 1;
        if let Some(parent) = row.parent.clone().filter(|parent| *parent != row.name) {
            let sum = below.entry((row.log_run, parent)).or_insert(Some(0));
            *sum = sum.zip(row.total_ns).and_then(|(sum, own)| sum.checked_add(own));
        }
    }
    for row in spans.iter_mut() {
        let parent = row.parent.clone().map(|parent| (row.log_run, parent));
        row.is_root = Some(parent.is_none_or(|parent| !summaries.contains_key(&parent)));
        let key = (row.log_run, row.name.clone());
        if row.self_ns.is_none() && summaries.get(&key) == Some(&1) {
            let children = below.get(&key).copied().unwrap_or(Some(0));
            // Children that ran beside it may take longer than it did.
            row.self_ns = row.total_ns.zip(children).and_then(|(total, children)| total.checked_sub(children)).filter(|own| *own >= 0);
        }
    }
}

/// The key of what one writer says of one span again and again.
type Series = (Option<i32>, Text, Option<Text>, Option<Text>);

/// Some writers print a running total: each summary of a span holds the ones before it. Three or more, in which calls only
/// grow and totals never shrink, are taken for that, and the last one counts. (Summaries of time windows do not all have
/// more calls than the one before.)
fn drop_snapshots(recorder: &mut Recorder) {
    let mut series: BTreeMap<Series, Vec<usize>> = BTreeMap::new();
    for (at, row) in recorder.tables.spans.iter().enumerate() {
        series.entry((row.log_run, row.name.clone(), row.parent.clone(), row.thread_name.clone())).or_default().push(at);
    }
    let spans = &recorder.tables.spans;
    let grows = |pair: &[usize]| {
        let [Some(one), Some(next)] = [pair.first(), pair.last()].map(|at| at.and_then(|at| spans.get(*at))) else { return false };
        one.calls.zip(next.calls).is_some_and(|(one, next)| one < next)
            && one.total_ns.zip(next.total_ns).is_some_and(|(one, next)| one <= next)
    };
    let is_running = |rows: &&Vec<usize>| rows.len() >= 3 && rows.windows(2).all(grows);
    let superseded: BTreeSet<usize> = series.values().filter(is_running).flat_map(|rows| rows.iter().rev().skip(1).copied()).collect();
    if superseded.is_empty() {
        return;
    }
    let all: Vec<Span> = std::mem::take(&mut recorder.tables.spans);
    for (at, row) in all.into_iter().enumerate() {
        if superseded.contains(&at) {
            let message = "summaries of one span with ever more calls are a running total: the last one counts";
            recorder.skip("profile_log_snapshot", Severity::Info, message, "write one summary per span and run", &text::place(row.line_no));
        } else {
            recorder.tables.spans.push(row);
        }
    }
}
