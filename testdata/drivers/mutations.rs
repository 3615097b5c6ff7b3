//! The same recordings, changed (rules.md section 5.1). What must follow stands there too.
//!
//! (a) one artifact deleted and (b) one duplicated are in `removal.rs`. Here: (c) a recording converted and added, (d) an
//! artifact of another scenario in place of its own, (e) few samples, (f) lost records, (g) scaled periods, (h) no build-ids.
//! (e) to (h) change the tables between reading and deriving.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::{Completion, Failed, Trial};
use tripod::derive::{self, TargetChoice};
use tripod::ingest::{self, ImportOptions, Inputs};
use tripod::objects::{Library, Roots};
use tripod::rules::{self, RuleOptions};
use tripod::symbolize;
use tripod::symbolize::Inlined;
use tripod::tables::{Quality, Reading, Sample, Tables};

use crate::support::{self, Outcome};

/// A recording: as it was read, and what was made of it.
struct Case {
    name: String,
    read: Tables,
    judged: Tables,
}

/// What is wrong, one line each.
type Mutation = fn(&Case) -> Result<Vec<String>, Failed>;

const MUTATIONS: [(&str, Mutation); 6] = [
    ("c-converted", converted),
    ("d-swapped", swapped),
    ("e-few-samples", few_samples),
    ("f-lost-records", lost_records),
    ("g-scaled-periods", scaled_periods),
    ("h-no-build-ids", no_build_ids),
];

/// One trial per recording: reading and judging it unchanged is half of the work.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for name in support::scenarios().into_iter().filter(|name| name != "system-wide") {
        trials.push(Trial::ignorable_test(format!("mutations::{name}"), move || check(&name)));
    }
    trials
}

fn check(name: &str) -> Outcome {
    let tables = read(&support::scenario(name), &|_| ())?;
    let case = Case { name: name.to_owned(), judged: judged(tables.clone())?, read: tables };
    let mut wrong = Vec::new();
    for (mutation, differences) in MUTATIONS {
        wrong.extend(differences(&case)?.into_iter().map(|difference| format!("{mutation}: {difference}")));
    }
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}

/// Tables as they are before anything is derived from them, with names unless `change` is to take what names them.
fn read(input: &Path, change: &dyn Fn(&mut Tables)) -> Result<Tables, Failed> {
    let inputs = Inputs::find(&[input.to_path_buf()])?;
    let library = Library::open(&Roots { symbol_dirs: vec![support::symbols()], ..Roots::default() });
    let recorders = ingest::read_all(&inputs, &library, &ImportOptions::default());
    let manifests = ingest::manifest::manifests(&recorders);
    let mut tables = ingest::merge(recorders);
    ingest::manifest::apply(&mut tables, &manifests);
    change(&mut tables);
    symbolize::symbolize(&mut tables, &library);
    Ok(tables)
}

/// Derives and judges.
fn judged(mut tables: Tables) -> Result<Tables, Failed> {
    derive::derive(&mut tables, &Inlined::default(), &TargetChoice::default())?;
    rules::judge(&tables, &RuleOptions::default())?.settle(&mut tables);
    Ok(tables)
}

/// The recording with its tables changed.
fn changed(case: &Case, change: &dyn Fn(&mut Tables)) -> Result<Tables, Failed> {
    let mut tables = case.read.clone();
    change(&mut tables);
    judged(tables)
}

/// (hypothesis, slot) -> the word of the slot.
fn words(tables: &Tables) -> BTreeMap<(String, String), String> {
    let mut out: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for row in tables.readings.iter().filter(|row| matches!(&*row.role, "primary" | "empty")) {
        out.entry((row.hypothesis.to_string(), row.slot.to_string())).or_default().push(&row.verdict);
    }
    let least = |words: Vec<&str>| {
        let order = ["rejects", "not measured", "supports"];
        order.into_iter().find(|word| words.contains(word)).unwrap_or("not measured").to_owned()
    };
    out.into_iter().map(|(slot, words)| (slot, least(words))).collect()
}

fn labels(tables: &Tables) -> BTreeMap<String, String> {
    tables.hypotheses.iter().map(|row| (row.hypothesis.to_string(), row.label.to_string())).collect()
}

fn supports(tables: &Tables) -> BTreeMap<String, i32> {
    tables.hypotheses.iter().map(|row| (row.hypothesis.to_string(), row.supports)).collect()
}

/// (c) Folded stacks made from each perf.data, as `perf script | stackcollapse-perf` writes them, beside the original: no
/// hypothesis gains an angle, and Q36 names the pair.
fn converted(case: &Case) -> Result<Vec<String>, Failed> {
    let (before, named) = (&case.judged, &case.read);
    let dir = support::linked(&support::scenario(&case.name), &|_| true)?;
    let mut written = BTreeSet::new();
    for event in named.events.iter().filter(|event| &*event.role == "cpu") {
        let path = format!("converted-{}.folded", event.event_id);
        let text = folded(named, event.event_id);
        // Fewer than three functions or a hundred samples agree by chance (Q36).
        if event.n >= 100 && leaves(named, event.event_id) >= 3 {
            written.insert(path.clone());
        }
        std::fs::write(dir.path().join(path), text)?;
    }
    let after = judged(read(dir.path(), &|_| ())?)?;
    let mut wrong = Vec::new();
    for (id, was) in supports(before) {
        let is = supports(&after).get(&id).copied().unwrap_or(0);
        if is != was {
            wrong.push(format!("{id}: N was {was}, is {is}"));
        }
    }
    if labels(before) != labels(&after) {
        wrong.push(format!("labels were {:?}, are {:?}", labels(before), labels(&after)));
    }
    for path in written {
        let artifact = after.artifacts.iter().find(|row| *row.path == *path).map(|row| row.artifact_id);
        let told = |row: &&tripod::tables::Quality| &*row.check == "Q36" && &*row.status == "warn";
        let pair = |id: Option<i32>| after.quality.iter().filter(told).any(|row| row.artifact_id == id || row.other_artifact_id == id);
        if artifact.is_none() || !pair(artifact) {
            wrong.push(format!("Q36 does not see that {path} is a copy"));
        }
    }
    Ok(wrong)
}

fn name_of(tables: &Tables, frame: i32) -> &str {
    let function = tables.frames.get(frame as usize).and_then(|frame| tables.functions.get(frame.function_id? as usize));
    function.map_or("[unknown]", |function| &function.name)
}

fn leaves(tables: &Tables, event: i32) -> usize {
    let of_event = tables.samples.iter().filter(|sample| sample.event_id == event);
    let leaf = |sample: &Sample| tables.stacks.row(sample.stack_id.get()?).map(|row| name_of(tables, row.frame_id));
    of_event.filter_map(leaf).collect::<BTreeSet<_>>().len()
}

fn folded(tables: &Tables, event: i32) -> String {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for sample in tables.samples.iter().filter(|sample| sample.event_id == event) {
        let mut names = Vec::new();
        let mut at = sample.stack_id.get();
        while let Some(row) = at.and_then(|id| tables.stacks.row(id)) {
            names.push(name_of(tables, row.frame_id).replace([';', '\n'], ":"));
            at = row.parent_stack_id.get();
        }
        names.push("program".to_owned());
        names.reverse();
        *counts.entry(names.join(";")).or_default() += 1;
    }
    counts.into_iter().map(|(path, count)| format!("{path} {count}\n")).collect()
}

/// How many parts the artifacts are replaced in: with all at once nothing would be left to differ from.
const PARTS: usize = 3;

/// (d) Artifacts replaced by those of the same name in another scenario, a third at a time: Q30 refuses each, and no slot
/// uses it.
fn swapped(case: &Case) -> Result<Vec<String>, Failed> {
    let input = support::scenario(&case.name);
    let files = support::walk(&input);
    let names = files.iter().filter_map(|file| file.strip_prefix(&input).ok()).map(|name| name.to_string_lossy().into_owned());
    let is_swapped = |file: &String| file != "manifest.json" && (!file.starts_with("bench") || file.ends_with("01.json"));
    let pairs: Vec<(String, PathBuf)> =
        names.filter(is_swapped).filter_map(|file| foreign(&case.name, &file).map(|other| (file, other))).collect();
    let mut wrong = Vec::new();
    for part in 0..PARTS {
        let own: Vec<&(String, PathBuf)> = pairs.iter().skip(part).step_by(PARTS).collect();
        let dir = support::linked(&input, &|file| !own.iter().any(|(name, _)| name == file))?;
        for (file, other) in &own {
            let to = dir.path().join(file);
            std::fs::create_dir_all(to.parent().expect("has a parent"))?;
            std::fs::copy(other, &to)?;
        }
        let after = judged(read(dir.path(), &|_| ())?)?;
        own.iter().for_each(|(file, other)| wrong.extend(let_in(&after, file, other)));
    }
    Ok(wrong)
}

/// Where a foreign artifact was taken for one of the run's.
fn let_in(after: &Tables, file: &str, other: &Path) -> Vec<String> {
    let Some(artifact) = after.artifacts.iter().find(|row| *row.path == *file) else {
        return vec![format!("{file} is not among the artifacts")];
    };
    let id = Some(artifact.artifact_id);
    if &*artifact.status == "unreadable" {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    if !after.quality.iter().any(|row| &*row.check == "Q30" && &*row.status == "block" && row.artifact_id == id) {
        wrong.push(format!("Q30 lets {} in as {file}", other.display()));
    }
    let used: BTreeSet<&str> = after.readings.iter().filter(|row| row.artifact_id == id).map(|row| &*row.hypothesis).collect();
    if !used.is_empty() {
        wrong.push(format!("{} as {file} is used by {used:?}", other.display()));
    }
    wrong
}

/// The same file of the next scenario whose program is another one.
fn foreign(name: &str, file: &str) -> Option<PathBuf> {
    let all = support::scenarios();
    let at = all.iter().position(|own| own == name)?;
    let others = all.iter().cycle().skip(at + 1).take(all.len() - 1);
    let program = |name: &str| name.split('-').next().unwrap_or("").trim_end_matches(['p', 'r']).to_owned();
    let other = others.filter(|other| program(other) != program(name)).map(|other| support::scenario(other).join(file));
    other.into_iter().find(|path| path.is_file())
}

/// (e) Twenty samples of each CPU event, standing for the same time: what supported may become inconclusive, and nothing
/// that was not rejected before is rejected.
fn few_samples(case: &Case) -> Result<Vec<String>, Failed> {
    let after = changed(case, &|tables| {
        let events: Vec<i32> = tables.events.iter().filter(|event| &*event.role == "cpu").map(|event| event.event_id).collect();
        for event in events {
            subsample(tables, event, 20);
        }
    })?;
    Ok(never_rejects(&case.judged, &after))
}

fn subsample(tables: &mut Tables, event: i32, kept: usize) {
    let (of_event, mut others): (Vec<Sample>, Vec<Sample>) =
        std::mem::take(&mut tables.samples).into_iter().partition(|sample| sample.event_id == event);
    let step = of_event.len().div_ceil(kept).max(1);
    let chosen: Vec<Sample> =
        of_event.iter().step_by(step).map(|sample| Sample { weight: sample.weight.saturating_mul(step as i64), ..*sample }).collect();
    if let Some(row) = tables.events.iter_mut().find(|row| row.event_id == event) {
        row.n = chosen.len() as i64;
        row.total_weight = chosen.iter().map(|sample| sample.weight).sum();
    }
    others.extend(chosen);
    tables.samples = others;
}

fn never_rejects(before: &Tables, after: &Tables) -> Vec<String> {
    let (was, is) = (words(before), words(after));
    let mut wrong = Vec::new();
    for (slot, word) in &is {
        let old = was.get(slot).map_or("not measured", String::as_str);
        if word == "rejects" && old != "rejects" {
            wrong.push(format!("{slot:?} was {old}, is {word}"));
        }
    }
    for (id, label) in labels(before).into_iter().filter(|(_, label)| label == "KERNEL") {
        let rejecting = is.iter().any(|((hypothesis, _), word)| *hypothesis == id && word == "rejects");
        if rejecting {
            wrong.push(format!("{id} was {label} and is rejected by an angle"));
        }
    }
    wrong
}

/// (f) A tenth of every perf event lost: intervals of what was read from them widen, none narrows, no word is gained.
fn lost_records(case: &Case) -> Result<Vec<String>, Failed> {
    let before = &case.judged;
    let after = changed(case, &|tables| {
        for event in tables.events.iter_mut().filter(|event| event.lost.is_some()) {
            // 1 of 10 is 1 for 9 that were seen.
            event.lost = Some(event.n / 9);
        }
    })?;
    let lossy: BTreeSet<i32> =
        after.events.iter().filter(|event| event.lost.is_some_and(|lost| lost > 0)).map(|event| event.artifact_id).collect();
    let mut wrong = Vec::new();
    let mut widened = 0;
    for row in after.readings.iter().filter(|row| &*row.role == "primary") {
        let same = |old: &&Reading| key(old) == key(row) && old.artifact_id == row.artifact_id;
        let Some(old) = before.readings.iter().find(same) else { continue };
        let (Some(was), Some(is)) = (old.lo.zip(old.hi), row.lo.zip(row.hi)) else { continue };
        if is.0 > was.0 + 1e-12 || is.1 < was.1 - 1e-12 {
            wrong.push(format!("{:?}: {was:?} became {is:?}", key(row)));
        }
        let is_wider = is.0 < was.0 || is.1 > was.1;
        let of_lossy = row.artifact_id.is_some_and(|id| lossy.contains(&id));
        widened += usize::from(is_wider);
        // A share of samples always can be more or less; a count of nothing stays nothing.
        if of_lossy && &*row.mechanism.clone().unwrap_or_else(|| Arc::from("")) == "M1" && !is_wider {
            wrong.push(format!("{:?}: {was:?} did not widen", key(row)));
        }
        if row.verdict != old.verdict && &*row.verdict != "not measured" {
            wrong.push(format!("{:?} was {}, is {}", key(row), old.verdict, row.verdict));
        }
    }
    if !lossy.is_empty() && widened == 0 {
        wrong.push("no interval widened".to_owned());
    }
    if !lossy.is_empty() && !after.quality.iter().any(|row| &*row.check == "Q07" && &*row.status == "warn") {
        wrong.push("Q07 does not warn".to_owned());
    }
    Ok(wrong)
}

fn key(row: &Reading) -> (&str, &str, &str) {
    (&row.hypothesis, &row.slot, row.metric.as_deref().unwrap_or(""))
}

/// (g) All periods times seven: the same labels, words, shares and intervals, places and ranks. Only what compares the
/// samples with the clock (Q06) may see it.
fn scaled_periods(case: &Case) -> Result<Vec<String>, Failed> {
    // Q06 holds the sum of the periods against the CPU time of the bare run: what it blocks comes back with longer periods.
    let falls_short = |row: &Quality| &*row.check == "Q06" && row.measure.as_deref() == Some("deficit") && &*row.status == "block";
    if case.judged.quality.iter().any(falls_short) {
        return Ok(Vec::new());
    }
    let after = changed(case, &|tables| {
        let events: BTreeSet<i32> = tables.events.iter().filter(|event| &*event.role == "cpu").map(|event| event.event_id).collect();
        for sample in tables.samples.iter_mut().filter(|sample| events.contains(&sample.event_id)) {
            sample.weight *= 7;
        }
        for event in tables.events.iter_mut().filter(|event| events.contains(&event.event_id)) {
            event.total_weight *= 7;
        }
    })?;
    let shown = |tables: &Tables| {
        let readings: Vec<String> = tables
            .readings
            .iter()
            .map(|row| {
                format!(
                    "{:?} {} {:?} {:?} {:?} {:?} {:?} {:?} {}",
                    key(row),
                    row.role,
                    nine(row.value),
                    nine(row.lo),
                    nine(row.hi),
                    row.n,
                    row.site,
                    nine(row.score),
                    row.verdict
                )
            })
            .collect();
        let hypotheses: Vec<String> = tables
            .hypotheses
            .iter()
            .map(|row| {
                format!(
                    "{} {} {:?} {:?} {:?} {:?}",
                    row.hypothesis,
                    row.label,
                    row.site,
                    row.explained_by,
                    nine(row.cost_share),
                    row.impact
                )
            })
            .collect();
        let quality: Vec<String> = tables
            .quality
            .iter()
            .filter(|row| &*row.check != "Q06")
            .map(|row| format!("{} {:?} {:?} {} {:?}", row.check, row.measure, row.artifact_id, row.status, nine(row.value)))
            .collect();
        [readings, hypotheses, quality].concat()
    };
    let (was, is) = (shown(&case.judged), shown(&after));
    let wrong: Vec<String> = was.iter().zip(&is).filter(|(was, is)| was != is).map(|(was, is)| format!("{was}\n  became {is}")).collect();
    if was.len() != is.len() {
        let missing =
            |from: &[String], of: &[String]| from.iter().filter(|row| !of.contains(row)).cloned().collect::<Vec<_>>().join("\n  ");
        let (gone, new) = (missing(&was, &is), missing(&is, &was));
        return Ok(vec![format!("{} rows became {}\n gone:\n  {gone}\n new:\n  {new}", was.len(), is.len())]);
    }
    Ok(wrong)
}

/// Nine digits: sums of floats round in the last ones.
fn nine(value: Option<f64>) -> Option<String> {
    value.map(|value| format!("{value:.9e}"))
}

/// (h) Without build-ids code is named from files of the same name: no two angles may agree on a place by such names alone.
fn no_build_ids(case: &Case) -> Result<Vec<String>, Failed> {
    let (input, before) = (support::scenario(&case.name), &case.judged);
    let after = judged(read(&input, &|tables| {
        for dso in tables.dsos.iter_mut().filter(|dso| &*dso.kind == "user") {
            dso.build_id = None;
        }
    })?)?;
    let mut wrong = Vec::new();
    // Programs that hold a hundredth of the samples were named by their file name and must be told.
    let told = after.quality.iter().any(|row| &*row.check == "Q18" && &*row.status == "demote");
    let named = after.dsos.iter().any(|dso| &*dso.kind == "user" && dso.symbol_source.is_some());
    if named && !told {
        wrong.push("Q18 does not say that names come from files of unknown builds".to_owned());
    }
    let from_perf: BTreeSet<i32> = after.artifacts.iter().filter(|row| &*row.kind == "perf.data").map(|row| row.artifact_id).collect();
    for row in after.readings.iter().filter(|row| &*row.role == "site" && row.artifact_id.is_some_and(|id| from_perf.contains(&id))) {
        let program = row.site.as_deref().is_some_and(|site| of_program(&after, site));
        // What holds less than a hundredth may lie in a program that does, too: Q18 is silent there.
        let small = row.part.zip(row.whole).is_none_or(|(part, whole)| part.saturating_mul(100) < whole);
        let reason = row.reason.as_deref().unwrap_or("");
        // Of several checks that take a reading away its reason names the first.
        let is_taken = reason.starts_with("demoted by") || reason.starts_with("blocked by");
        if program && !small && !is_taken && !reason.contains("Q18") {
            wrong.push(format!("{:?} names {:?} from {:?} without a word of Q18: {:?}", key(row), row.site, row.artifact_id, row.reason));
        }
    }
    for (id, label) in labels(&after) {
        if label == "KERNEL" && labels(before).get(&id).is_none_or(|was| was != "KERNEL") {
            wrong.push(format!("{id} became KERNEL"));
        }
    }
    Ok(wrong)
}

/// Whether every function of this name lies in a user dso that a file of its name named.
fn of_program(tables: &Tables, name: &str) -> bool {
    let mut of_name = tables.functions.iter().filter(|row| &*row.name == name).peekable();
    of_name.peek().is_some()
        && of_name.all(|row| {
            let dso = row.dso_id.and_then(|id| tables.dsos.get(id as usize));
            dso.is_some_and(|dso| &*dso.kind == "user" && dso.symbol_source.is_some())
        })
}
