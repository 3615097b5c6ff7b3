//! flames/*.svg, through inferno.
//!
//! One picture per question: where CPU time goes, where threads wait, who allocates. Each is drawn from one event or
//! artifact, named below its title, since adding up several would show shares of nothing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use inferno::flamegraph::{self, Options};
use rayon::prelude::*;

use super::flame_tree;
use super::{EmitOptions, OutputFile, View, escape, number};
use crate::error::{Error, Result};
use crate::tables::{Artifact, Event, Maybe32, Wait};

/// Weights beyond this are scaled down: inferno adds them up in 64 bits.
const WHOLE_MAX: i128 = 1 << 52;

/// What goes into one picture.
struct Picture {
    file: &'static str,
    title: String,
    /// Unit of the widths.
    unit: &'static str,
    source: String,
    /// Stack and weight; a stack may come several times.
    weights: Vec<(i32, i64)>,
    /// Stack weights per shown unit.
    divisor: i128,
}

pub fn emit(view: &View<'_>, _options: EmitOptions) -> Result<Vec<OutputFile>> {
    let pictures: [fn(&View<'_>) -> Option<Picture>; 3] = [cpu, off_cpu, alloc];
    let drawn = pictures.par_iter().map(|picture| picture(view).map_or(Ok(None), |picture| draw(view, picture)));
    Ok(drawn.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The event that leads, as in the hotspot table: role cpu, at least 100 samples, unwound by DWARF before LBR before
/// frame pointers, then more samples, then first.
fn primary_cpu_event<'a>(view: &View<'a>) -> Option<&'a Event> {
    let events = view.run.tables.events.iter().filter(|event| &*event.role == "cpu" && event.target_n > 0);
    events.min_by_key(|event| {
        let unwinding = unwinding_rank(view.artifact(Some(event.artifact_id)));
        (event.target_n < 100, unwinding, Reverse(event.target_n), event.event_id)
    })
}

fn unwinding_rank(artifact: Option<&Artifact>) -> usize {
    let unwinding = artifact.and_then(|row| row.unwinding.as_deref()).unwrap_or("none");
    ["dwarf", "lbr", "fp"].iter().position(|known| *known == unwinding).unwrap_or(3)
}

fn cpu(view: &View<'_>) -> Option<Picture> {
    let event = primary_cpu_event(view)?;
    let costs = view.run.tables.stack_costs.iter().filter(|row| row.event_id == event.event_id);
    let weights = costs.map(|row| (row.stack_id, row.self_weight)).collect();
    let (unit, divisor) = if &*event.unit == "ns" { ("us", 1000) } else { ("events", 1) };
    let source = format!("{}, event {}, {} samples", view.path(Some(event.artifact_id)), event.name, number::count(event.target_n));
    Some(Picture { file: "flames/cpu.svg", title: "CPU time".to_owned(), unit, source, weights, divisor })
}

/// Waits of one artifact: the one with the most waits that have a stack.
fn off_cpu(view: &View<'_>) -> Option<Picture> {
    let is_shown = |row: &Wait| row.stack_id.get().is_some() && &*row.reason != "preempted" && row.state.as_deref() != Some("R");
    let threads = &view.run.tables.threads;
    let is_target = |thread: Maybe32| thread.get().and_then(|id| threads.get(id as usize)).is_none_or(|row| row.is_target);
    let mut counts: BTreeMap<i32, i64> = BTreeMap::new();
    for rows in view.run.tables.waits.chunk_by(|a, b| a.artifact_id == b.artifact_id) {
        let (Some(first), n) = (rows.first(), rows.iter().filter(|row| is_shown(row) && is_target(row.thread_id)).count()) else {
            continue;
        };
        *counts.entry(first.artifact_id).or_default() += n as i64;
    }
    counts.retain(|_, count| *count > 0);
    let artifact =
        counts.iter().min_by_key(|(id, count)| (unwinding_rank(view.artifact(Some(**id))), Reverse(**count), **id)).map(|(id, _)| *id)?;
    let rows = view.run.tables.waits.iter().filter(|row| row.artifact_id == artifact && is_shown(row) && is_target(row.thread_id));
    let weights = rows.filter_map(|row| Some((row.stack_id.get()?, row.dur_ns))).collect();
    let source = view.path(Some(artifact)).to_owned();
    Some(Picture { file: "flames/off-cpu.svg", title: "Off-CPU time (waits)".to_owned(), unit: "us", source, weights, divisor: 1000 })
}

/// Allocation calls of one artifact: the one with the most calls.
fn alloc(view: &View<'_>) -> Option<Picture> {
    let mut calls: BTreeMap<i32, i128> = BTreeMap::new();
    for row in &view.run.tables.allocations {
        *calls.entry(row.artifact_id).or_default() += i128::from(row.calls.max(0));
    }
    let artifact = calls.iter().min_by_key(|(id, calls)| (Reverse(**calls), **id)).map(|(id, _)| *id)?;
    let rows = view.run.tables.allocations.iter().filter(|row| row.artifact_id == artifact);
    let weights = rows.filter_map(|row| Some((row.stack_id?, row.calls))).collect();
    let source = view.path(Some(artifact)).to_owned();
    Some(Picture { file: "flames/alloc.svg", title: "Allocation calls".to_owned(), unit: "calls", source, weights, divisor: 1 })
}

fn draw(view: &View<'_>, picture: Picture) -> Result<Option<OutputFile>> {
    let whole: i128 = picture.weights.iter().map(|(_, weight)| i128::from(*weight).max(0)).sum();
    // A picture of little time is drawn in the unit of the weights; one of absurd weights in a coarser one.
    let (unit, divisor) = match picture.unit {
        "us" if whole < 100 * picture.divisor => ("ns", 1),
        unit => (unit, picture.divisor),
    };
    let scale = (whole / divisor / WHOLE_MAX).max(0) + 1;
    let folded = flame_tree::fold(&view.run.tables, view.calls(), &picture.weights, divisor * scale);
    if folded.lines.is_empty() {
        return Ok(None);
    }
    let mut options = Options::default();
    options.title = picture.title;
    options.subtitle = Some(subtitle(&picture.source, unit, scale, folded.cut));
    options.count_name = unit.to_owned();
    options.deterministic = true;
    options.no_sort = true;
    options.min_width = 0.0;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, folded.lines.iter().map(String::as_str), &mut svg)
        .map_err(|error| Error::Request(format!("{}: cannot be drawn: {error}; please report it with the input", picture.file)))?;
    Ok(Some((picture.file.to_owned(), svg)))
}

fn subtitle(source: &str, unit: &str, scale: i128, cut: usize) -> String {
    let mut out = format!("{}; width in {unit}", escape::shorten(&escape::plain(source), 120));
    if scale > 1 {
        out.push_str(&format!(" / {scale}"));
    }
    if cut > 0 {
        out.push_str(&format!("; {cut} branches narrower than 1/4000 left out"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::sample_run;

    /// Checks that tags are balanced, attributes quoted, every `&` a reference, and no raw control character is there.
    fn assert_xml(text: &str) {
        let mut open: Vec<String> = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('<') {
            let (before, tail) = rest.split_at(at);
            assert_text(before);
            if let Some(tail) = tail.strip_prefix("<![CDATA[") {
                rest = &tail[tail.find("]]>").expect("CDATA ends") + 3..];
                continue;
            }
            if let Some(tail) = tail.strip_prefix("<!--") {
                let end = tail.find("--").expect("comment ends");
                assert!(tail[end..].starts_with("-->"), "-- inside a comment");
                rest = &tail[end + 3..];
                continue;
            }
            let end = tail.find('>').expect("tag ends");
            let tag = &tail[1..end];
            rest = &tail[end + 1..];
            if tag.starts_with(['?', '!']) {
                continue;
            }
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split_whitespace().next().unwrap().to_owned());
            }
        }
        assert_text(rest);
        assert!(open.is_empty(), "{open:?}");
    }

    fn assert_text(text: &str) {
        for (at, _) in text.match_indices('&') {
            assert!(text[at..].split_once(';').is_some_and(|(name, _)| name.len() < 8), "{}", &text[at..]);
        }
        assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t' && c != '\r'));
    }

    #[test]
    fn hostile_names_give_well_formed_pictures() {
        let run = sample_run::hostile();
        let files = emit(&View::new(&run), EmitOptions::default()).unwrap();
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["flames/cpu.svg", "flames/off-cpu.svg", "flames/alloc.svg"]);
        for (name, bytes) in &files {
            let text = std::str::from_utf8(bytes).unwrap();
            assert_xml(text);
            assert!(!text.contains("<script>alert"), "{name}");
            assert!(text.contains("width in "), "{name}");
        }
        let again = emit(&View::new(&run), EmitOptions::default()).unwrap();
        assert_eq!(files, again);
    }

    #[test]
    fn the_widest_frame_has_the_weight_counted_by_hand() {
        // sample_run: main <- hostile leaf 900 us, main <- write 99.9 us, main <- tiny 0.1 us (under 1/4000: cut).
        let run = sample_run::hostile();
        let files = emit(&View::new(&run), EmitOptions::default()).unwrap();
        let text = std::str::from_utf8(&files[0].1).unwrap();
        assert!(text.contains("all (1,000 us, 100%)"), "{text}");
        assert!(text.contains("<title>write (100 us, 10.00%)</title>"), "{text}");
        assert!(!text.contains("tiny"));
        assert!(text.contains("1 branches narrower than 1/4000 left out"));
    }
}
