//! What the run says and where it says it stands: evidence rows, hotspots, the wall line, anchors in texts for people.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::open::{Outcome, Problem};
use super::report::{Basis, Part};
use super::store::{Store, int, text};

/// A number that the run shows, and the anchor beside it.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Who says it.
    pub place: String,
    pub value: i64,
    pub anchor: String,
}

/// Anchor -> what stands there.
pub type Opened = BTreeMap<String, Outcome>;

/// Every claim of the evidence table and of the hotspots.
pub fn of_tables(store: &Store) -> Result<Vec<Claim>, String> {
    let mut claims = Vec::new();
    let column = |name: &str| store.texts("evidence", name);
    let (hypothesis, slot, metric, term) = (column("hypothesis")?, column("slot")?, column("metric")?, column("term")?);
    let (anchors, values) = (column("anchor")?, store.ints("evidence", "value")?);
    for row in 0..anchors.len() {
        let cell = |column| text(column, row).unwrap_or("");
        let place = format!("evidence {} {} {}, {}", cell(&hypothesis), cell(&slot), cell(&metric), cell(&term));
        claims.push(Claim { place, value: int(&values, row).unwrap_or(i64::MIN), anchor: cell(&anchors).to_owned() });
    }
    let anchors = store.texts("hotspots", "anchor")?;
    let (ranks, locations) = (store.ints("hotspots", "rank")?, store.texts("hotspots", "location")?);
    let (weights, wholes) = (store.ints("hotspots", "weight")?, store.ints("hotspots", "whole")?);
    for row in 0..anchors.len() {
        // What is too small to be named is shown with the place of its whole.
        let is_rest = text(&locations, row).is_some_and(|location| location.ends_with(" smaller places"));
        let value = int(if is_rest { &wholes } else { &weights }, row).unwrap_or(i64::MIN);
        let place = format!("tables/hotspots.parquet: rank {}", int(&ranks, row).unwrap_or(0));
        claims.push(Claim { place, value, anchor: text(&anchors, row).unwrap_or("").to_owned() });
    }
    Ok(claims)
}

/// The hotspots of summary.json, and its wall line as far as its numbers stand somewhere.
pub fn of_summary(summary: &Json) -> Vec<Claim> {
    let mut claims = Vec::new();
    let anchor = |row: &Json| row.get("evidence").and_then(Json::as_str).unwrap_or("").to_owned();
    let number = |row: &Json, key: &str| row.get(key).and_then(Json::as_i64).unwrap_or(i64::MIN);
    for row in summary.get("hotspots").and_then(Json::as_array).into_iter().flatten() {
        let is_rest = row.get("location").and_then(Json::as_str).is_some_and(|location| location.ends_with(" smaller places"));
        let place = format!("summary.json: hotspot {}", number(row, "rank"));
        claims.push(Claim { place, value: number(row, if is_rest { "whole" } else { "weight" }), anchor: anchor(row) });
    }
    let Some(wall) = summary.get("wall").filter(|wall| wall.get("known") == Some(&Json::Bool(true))) else { return claims };
    claims.push(Claim { place: "summary.json: wall".to_owned(), value: number(wall, "wall_ns"), anchor: anchor(wall) });
    for row in wall_parts(wall) {
        let name = row.get("name").and_then(Json::as_str).unwrap_or("");
        if anchor(row).contains('#') && !is_proportional(name) {
            claims.push(Claim { place: format!("summary.json: wall, {name}"), value: number(row, "ns"), anchor: anchor(row) });
        }
    }
    claims
}

fn wall_parts(wall: &Json) -> impl Iterator<Item = &Json> {
    wall.get("parts").and_then(Json::as_array).into_iter().flatten()
}

/// Parts of the time off the CPU in the proportions of another recording: their anchors name the proportions.
fn is_proportional(name: &str) -> bool {
    name.starts_with("off CPU: ")
}

/// The anchors of those.
pub fn proportions(summary: &Json) -> Vec<String> {
    let parts = summary.get("wall").into_iter().flat_map(wall_parts);
    let own = parts.filter(|row| row.get("name").and_then(Json::as_str).is_some_and(is_proportional));
    own.filter_map(|row| Some(row.get("evidence")?.as_str()?.to_owned())).collect()
}

/// The parts of the wall line sum to it, those without a place being what the others leave, and each is printed with its
/// share.
pub fn wall(summary: &Json, opened: &Opened, part: &mut Part) {
    let Some(wall) = summary.get("wall").filter(|wall| wall.get("known") == Some(&Json::Bool(true))) else { return };
    let Some(whole) = wall.get("wall_ns").and_then(Json::as_i64).filter(|whole| *whole > 0) else { return };
    let ns = |row: &Json| row.get("ns").and_then(Json::as_i64).unwrap_or(i64::MIN);
    let name = |row: &Json| row.get("name").and_then(Json::as_str).unwrap_or("").to_owned();
    let sum: i128 = wall_parts(wall).map(|row| i128::from(ns(row))).sum();
    // Shares that are proportions are cut to whole nanoseconds.
    let slack = wall_parts(wall).count() as i128;
    if sum < i128::from(whole) - slack {
        part.fail("summary.json: wall", format!("its parts sum to {sum} ns, it is {whole} ns"));
    }
    for row in wall_parts(wall) {
        let printed = row.get("per_cent").and_then(Json::as_f64).unwrap_or(-1.0);
        let exact = ns(row) as f64 / sum.max(i128::from(whole)) as f64 * 100.0;
        if (printed - exact).abs() > 0.11 {
            part.fail(format!("summary.json: wall, {}", name(row)), format!("{printed} % is printed, it is {exact:.2} %"));
        }
    }
    let (off, fixed): (Vec<&Json>, Vec<&Json>) = wall_parts(wall).partition(|row| is_proportional(&name(row)));
    let rest = whole - fixed.iter().filter(|row| row.get("evidence").is_some_and(|anchor| anchor != "")).map(|row| ns(row)).sum::<i64>();
    let weight = |row: &Json| {
        let found = opened.get(row.get("evidence")?.as_str()?)?.as_ref().ok()?;
        found.values.first().copied()
    };
    // Parts of 0 ns are not listed; they take nothing from the proportions.
    let total: i128 = off.iter().filter_map(|row| weight(row)).map(i128::from).sum();
    for row in off {
        let Some(weight) = weight(row).filter(|_| total > 0) else {
            part.fail(format!("summary.json: wall, {}", name(row)), "nothing stands where its proportion should");
            continue;
        };
        let gives = i128::from(rest) * i128::from(weight) / total;
        // The parts that are not listed had less than a nanosecond each.
        if (gives - i128::from(ns(row))).abs() > 1_000 {
            part.fail(format!("summary.json: wall, {}", name(row)), format!("has {} ns, by its proportion it is {gives} ns", ns(row)));
        }
    }
}

/// Compares a claim with what stands there; gives the basis where it holds.
pub fn holds(claim: &Claim, opened: &Opened, part: &mut Part) -> Option<Basis> {
    let place = || format!("{}: {}", claim.place, claim.anchor);
    match opened.get(&claim.anchor) {
        Some(Ok(found)) if found.values.contains(&claim.value) => Some(found.basis),
        Some(Ok(found)) => {
            let gives: Vec<String> = found.values.iter().take(3).map(i64::to_string).collect();
            part.fail(place(), format!("has {}, the {} {} {}", claim.value, found.basis.name(), verb(found.basis), gives.join(" or ")));
            None
        }
        Some(Err(Problem::Absent(what))) => {
            part.fail(place(), format!("has {}, but {what}", claim.value));
            None
        }
        Some(Err(Problem::Unchecked(reason))) => {
            part.not_checked(reason.clone(), &place());
            None
        }
        None => {
            part.not_checked("the anchor was not opened", &place());
            None
        }
    }
}

fn verb(basis: Basis) -> &'static str {
    match basis {
        Basis::File => "gives",
        Basis::Tables => "give",
    }
}
