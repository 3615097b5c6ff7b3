//! What nobody recorded is not measured, never rejected.
//!
//! For every slot of every hypothesis: with all artifacts removed that can fill it, it is not measured and N drops by
//! exactly its support. With any single artifact removed no verdict becomes *rejects*, and N rises only where the removed
//! one had filled a slot with rejects or inconclusive. A duplicated artifact changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;

use tripod::{AnalyzeRequest, emit};

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for name in support::scenarios() {
        let (a, b, c) = (name.clone(), name.clone(), name.clone());
        if is_base(&name) {
            trials.push(Trial::ignorable_test(format!("removal::single::{a}"), move || single(&a)));
            trials.push(Trial::ignorable_test(format!("removal::slot::{b}"), move || whole_slots(&b)));
            trials.push(Trial::ignorable_test(format!("removal::duplicate::{c}"), move || duplicate(&c)));
        }
    }
    trials
}

/// (recording, artifact that is removed, hypothesis, why its word changes without it). A line that no longer holds fails, too.
const KNOWN: &[(&str, &str, &str, &str)] = &[
    ("s12-oversubscription", "sched.perf.data.zst", "R39", WAKERS),
    ("s16-mmap-lock", "sched.perf.data.zst", "R39", WAKERS),
    ("s15-network-wait", "perf-stat.json", "R36S", SPREAD),
    ("s23-compress", "perf-stat.json", "R36S", SPREAD),
    ("s8-mmap-churn", "perf-stat.json", "R36S", SPREAD),
    ("s9-scan", "time-v.txt", "R28", "the next bare run is slower, so the traced one no longer counts as distorted (Q21)"),
];
const WAKERS: &str = "B is not trusted where the scheduler's record shows who ends the waits; without that record it is, and rejects";
const SPREAD: &str = "a preview: its interval is the spread of the bare runs, which one run less makes narrower";

/// s0-..., s2b-..., s10-..., but not the partners (s1p-...) and twins (s1r-...).
fn is_base(name: &str) -> bool {
    let head = name.split('-').next().unwrap_or("");
    head.strip_prefix('s').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.ends_with(['p', 'r']))
}

#[derive(Debug, Clone, PartialEq)]
struct SlotState {
    verdict: String,
    artifacts: Vec<String>,
}

/// hypothesis -> slot letter -> state.
type Ledger = BTreeMap<String, BTreeMap<String, SlotState>>;

/// As summary.json has it. In this process, and without the other files: there are two thousand of these.
fn ledger(input: &Path) -> Result<Ledger, Failed> {
    let request = AnalyzeRequest { paths: vec![input.to_path_buf()], symbol_dirs: vec![support::symbols()], ..AnalyzeRequest::default() };
    let run = tripod::analyze(&request)?;
    let emitter = emit::EMITTERS.iter().find(|emitter| emitter.name == "summary.json").ok_or("no summary.json")?;
    let files = (emitter.emit)(&emit::View::new(&run), emit::EmitOptions::default())?;
    let (_, bytes) = files.first().ok_or("no summary.json")?;
    let summary: Value = serde_json::from_slice(bytes)?;
    let mut ledger = Ledger::new();
    for row in summary["hypotheses"].as_array().into_iter().flatten() {
        let id = row["id"].as_str().unwrap_or_default().to_owned();
        let slots = row["slots"].as_object().into_iter().flatten();
        let state = |slot: &Value| SlotState { verdict: slot["verdict"].as_str().unwrap_or_default().to_owned(), artifacts: names(slot) };
        ledger.insert(id, slots.map(|(letter, slot)| (letter.clone(), state(slot))).collect());
    }
    Ok(ledger)
}

/// The artifacts behind a slot, primary and second inputs.
fn names(slot: &Value) -> Vec<String> {
    let many = slot["artifacts"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let one = slot["artifact"].as_str();
    let mut names: Vec<String> = many.chain(one).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

fn supports(slots: &BTreeMap<String, SlotState>) -> usize {
    slots.values().filter(|slot| slot.verdict == "supports").count()
}

fn artifacts_of(input: &Path) -> Vec<String> {
    let files = support::walk(input);
    let names = files.iter().filter_map(|file| file.strip_prefix(input).ok()).map(|name| name.to_string_lossy().into_owned());
    // Ten files of one benchmark are one recording in ten pieces: one of them stands for all.
    names.filter(|name| name != "manifest.json" && (!name.starts_with("bench") || name.ends_with("01.json"))).collect()
}

fn single(name: &str) -> Outcome {
    let input = support::scenario(name);
    let before = ledger(&input)?;
    let mut wrong = Vec::new();
    for removed in artifacts_of(&input) {
        let dir = support::linked(&input, &|file| file != removed)?;
        let after = ledger(dir.path())?;
        for (id, slots) in &after {
            let Some(old) = before.get(id) else { continue };
            for (letter, slot) in slots {
                let was = old.get(letter).map(|slot| slot.verdict.as_str());
                let same_artifact = old.get(letter).is_some_and(|was| was.artifacts == slot.artifacts);
                if slot.verdict == "rejects" && was != Some("rejects") && same_artifact {
                    wrong.push((removed.clone(), id.clone(), format!("without {removed}: {id} {letter} became rejects (was {was:?})")));
                }
            }
            let excused = old.values().any(|slot| slot.artifacts.contains(&removed) && slot.verdict != "supports");
            if supports(slots) > supports(old) && !excused {
                let message = format!("without {removed}: {id} rose from {} to {}", supports(old), supports(slots));
                wrong.push((removed.clone(), id.clone(), message));
            }
        }
    }
    let known: Vec<_> = KNOWN.iter().filter(|(recording, ..)| *recording == name).collect();
    let is_known = |removed: &str, id: &str| known.iter().any(|(_, artifact, hypothesis, _)| *artifact == removed && *hypothesis == id);
    let gone =
        known.iter().filter(|(_, artifact, hypothesis, _)| !wrong.iter().any(|(removed, id, _)| removed == artifact && id == hypothesis));
    let gone: Vec<String> =
        gone.map(|(_, artifact, hypothesis, _)| format!("{hypothesis} without {artifact} is listed as known, and holds")).collect();
    let new = wrong.iter().filter(|(removed, id, _)| !is_known(removed, id)).map(|(_, _, message)| message.clone());
    verdict(new.chain(gone).collect())
}

fn whole_slots(name: &str) -> Outcome {
    let input = support::scenario(name);
    let before = ledger(&input)?;
    let mut wrong = Vec::new();
    for (id, slots) in &before {
        for (letter, slot) in slots.iter().filter(|(_, slot)| slot.verdict == "supports") {
            let mut removed: BTreeSet<String> = BTreeSet::new();
            let mut now = slot.clone();
            let mut after = before.clone();
            // Removing what fills it lets the next alternate in; go on until nothing does.
            for _ in 0..30 {
                if now.artifacts.is_empty() {
                    break;
                }
                removed.extend(now.artifacts.iter().cloned());
                let dir = support::linked(&input, &|file| !removed.contains(file))?;
                after = ledger(dir.path())?;
                now = after
                    .get(id)
                    .and_then(|slots| slots.get(letter))
                    .cloned()
                    .unwrap_or_else(|| SlotState { verdict: String::new(), artifacts: Vec::new() });
            }
            let others = |ledger: &Ledger| {
                ledger
                    .get(id)
                    .map_or(0, |slots| slots.iter().filter(|(other, slot)| *other != letter && slot.verdict == "supports").count())
            };
            if now.verdict != "not measured" {
                wrong.push(format!("{id} {letter}: {:?} although {removed:?} are gone", now.verdict));
            }
            if others(&after) > others(&before) {
                wrong.push(format!("{id} {letter}: the other slots rose when {removed:?} went"));
            }
        }
    }
    verdict(wrong)
}

fn duplicate(name: &str) -> Outcome {
    let input = support::scenario(name);
    let before = ledger(&input)?;
    let dir = support::linked(&input, &|_| true)?;
    for file in artifacts_of(&input) {
        std::fs::copy(input.join(&file), dir.path().join(format!("zz-copy-{}", file.replace('/', "-"))))?;
    }
    let after = ledger(dir.path())?;
    if before == after { Ok(Completion::Completed) } else { Err(format!("before {before:?}\nafter {after:?}").into()) }
}

fn verdict(wrong: Vec<String>) -> Outcome {
    if wrong.is_empty() { Ok(Completion::Completed) } else { Err(wrong.join("\n").into()) }
}
