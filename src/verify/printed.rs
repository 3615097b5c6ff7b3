//! What people read: the anchors and numbers of hotspot_table.md and the anchors of hypothesis.md.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::anchor;
use super::claims::Opened;
use super::number::Decimal;
use super::report::Part;
use super::store::{Store, int, text};

/// A row of a table for people: its line, from 1, and its cells with their escapes undone.
struct Row {
    line: usize,
    cells: Vec<String>,
}

/// The cells of every row that begins with `|`. Names cannot split a row: a pipe in them is a character reference.
fn rows(text: &str) -> Vec<Row> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(|cell| unescape(cell.trim())).collect()
    };
    text.lines().enumerate().filter(|(_, line)| line.starts_with('|')).map(|(at, line)| Row { line: at + 1, cells: cells(line) }).collect()
}

/// A code span's text, or prose with its character references undone.
fn unescape(cell: &str) -> String {
    if let Some(code) = cell.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
        return code.to_owned();
    }
    let mut out = String::new();
    let mut rest = cell;
    while let Some((before, after)) = rest.split_once("&#") {
        out.push_str(before);
        let character = after.split_once(';').and_then(|(number, tail)| Some((char::from_u32(number.parse().ok()?)?, tail)));
        match character {
            Some((c, tail)) => {
                out.push(c);
                rest = tail;
            }
            None => {
                out.push_str("&#");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Anchors that texts print and that no row of evidence has: each must be opened, too, and belongs to a claim.
pub fn hotspot_table(md: &str, store: &Store, opened: &Opened, part: &mut Part) -> Result<usize, String> {
    let (ranks, anchors) = (store.ints("hotspots", "rank")?, store.texts("hotspots", "anchor")?);
    let (weights, wholes) = (store.ints("hotspots", "weight")?, store.ints("hotspots", "whole")?);
    let mut seen = 0;
    for Row { line, cells } in rows(md) {
        let [rank, _, _, value, _, evidence] = cells.as_slice() else { continue };
        let Ok(rank) = rank.parse::<i64>() else { continue };
        let place = format!("hotspot_table.md:{line}");
        let Some(row) = (0..ranks.len()).find(|row| int(&ranks, *row) == Some(rank)) else {
            part.fail(place, format!("tables/hotspots.parquet has no rank {rank}"));
            continue;
        };
        seen += 1;
        let own = anchor::of_shown(evidence);
        if Some(own.as_str()) != text(&anchors, row) {
            part.fail(&place, format!("has the anchor {own}, the hotspots table {}", text(&anchors, row).unwrap_or("none")));
        }
        let (Some(weight), Some(whole)) = (int(&weights, row), int(&wholes, row)) else { continue };
        share(&place, value, weight, whole, part);
        counts(&place, value, &own, opened, part);
    }
    let listed = ranks.len();
    if seen != listed {
        part.fail("hotspot_table.md", format!("has {seen} rows, the hotspots table {listed}"));
    }
    Ok(seen)
}

/// The share in front: `78.6 % (at least ...`.
fn share(place: &str, value: &str, weight: i64, whole: i64, part: &mut Part) {
    let Some((printed, _)) = value.split_once(" %") else { return };
    // What rounds to nothing is printed as `<0.01`.
    let (Some(printed), true) = (Decimal::parse(printed), whole > 0) else { return };
    let exact = weight as f64 / whole as f64;
    if !printed.rounds(exact, 0.01) {
        part.fail(place, format!("has {} %, {weight} of {whole} is {:.2} %", value.split(' ').next().unwrap_or(""), exact * 100.0));
    }
}

/// `96 of 150 samples`, `11991 waits`: as many as the sum at the anchor is made of.
fn counts(place: &str, value: &str, anchor: &str, opened: &Opened, part: &mut Part) {
    let Some(n) = opened.get(anchor).and_then(|outcome| outcome.as_ref().ok()?.n) else { return };
    let Some(detail) = value.split("; ").nth(1) else { return };
    let mut words = detail.split(' ');
    let (count, next) = (words.next().and_then(|word| word.parse::<i64>().ok()), words.next());
    let what = match next {
        Some("of") => detail.split(' ').nth(3).filter(|what| *what == "samples"),
        Some("waits," | "waits") => Some("waits"),
        _ => None,
    };
    if let (Some(count), Some(what)) = (count, what)
        && count != n
    {
        part.fail(place, format!("has {count} {what}, there are {n}"));
    }
}

/// `Where the wall time went (6.32 s, ANCHOR): 18.4 % on CPU + ...` against summary.json.
pub fn wall_line(md: &str, summary: &Json, part: &mut Part) {
    let line = unescape(md.lines().next().unwrap_or(""));
    let place = "hotspot_table.md:1";
    let Some(wall) = summary.get("wall").filter(|wall| wall.get("known") == Some(&Json::Bool(true))) else { return };
    let parts: Vec<&Json> = wall.get("parts").and_then(Json::as_array).into_iter().flatten().collect();
    if parts.is_empty() {
        return;
    }
    let inner = line.split_once('(').and_then(|(_, rest)| rest.split_once("): "));
    let Some((head, shares)) = inner else {
        part.fail(place, "is no wall line, and summary.json has one");
        return;
    };
    let wall_ns = wall.get("wall_ns").and_then(Json::as_i64).unwrap_or(0);
    let mut words = head.split([' ', ',']);
    let (number, unit) = (words.next().and_then(Decimal::parse), words.next().and_then(unit_ns));
    if !number.zip(unit).is_some_and(|(number, unit)| number.rounds(wall_ns as f64, unit)) {
        part.fail(place, format!("has another wall time than the {wall_ns} ns of summary.json: {}", head.split(',').next().unwrap_or("")));
    }
    let source = head.rsplit(", ").next().unwrap_or("");
    if Some(anchor::of_shown(source).as_str()) != wall.get("evidence").and_then(Json::as_str) {
        part.fail(place, format!("has the anchor {source}, summary.json another one"));
    }
    let printed: Vec<&str> = shares.split(" + ").collect();
    let expected: Vec<String> = parts
        .iter()
        .map(|row| {
            let (share, name) =
                (row.get("per_cent").and_then(Json::as_f64).unwrap_or(-1.0), row.get("name").and_then(Json::as_str).unwrap_or(""));
            format!("{share:.1} % {name}")
        })
        .collect();
    let told = printed.iter().map(|share| share.trim_end_matches(" = 100.0 %"));
    if let Some((own, other)) = told.zip(&expected).find(|(own, other)| own != other) {
        part.fail(place, format!("has {own:?}, summary.json {other:?}"));
    } else if printed.len() != expected.len() {
        part.fail(place, format!("has {} parts, summary.json {}", printed.len(), expected.len()));
    }
}

fn unit_ns(name: &str) -> Option<f64> {
    Some(match name {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        _ => return None,
    })
}

/// Every anchor of the ledger has its row of evidence, under the hypothesis and angle that prints it.
pub fn ledger(md: &str, store: &Store, part: &mut Part) -> Result<usize, String> {
    let (ids, slots) = (store.texts("evidence", "hypothesis")?, store.texts("evidence", "slot")?);
    let anchors = store.texts("evidence", "anchor")?;
    let known: BTreeSet<(&str, &str, &str)> =
        (0..anchors.len()).filter_map(|row| Some((text(&ids, row)?, text(&slots, row)?, text(&anchors, row)?))).collect();
    let artifacts = store.texts("artifacts", "path")?;
    let is_artifact = |path: &str| (0..artifacts.len()).any(|row| text(&artifacts, row) == Some(path));
    let mut id = String::new();
    let mut seen = 0;
    for (at, line) in md.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("## ") {
            id = heading.split(' ').next().unwrap_or("").to_owned();
        }
        let Some(Row { cells, .. }) = rows(line).into_iter().next() else { continue };
        let [angle, _, _, evidence] = cells.as_slice() else { continue };
        let own = anchor::of_shown(evidence);
        // Angles that were not measured have no anchor.
        if !is_artifact(&anchor::parse(&own).path) {
            continue;
        }
        let slot = angle.split(':').next().unwrap_or("").trim();
        seen += 1;
        if !known.contains(&(id.as_str(), slot, own.as_str())) {
            part.fail(format!("hypothesis.md:{}", at + 1), format!("prints {own}, and no row of evidence of {id} {slot} has it"));
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape("`a&#124;b`"), "a&#124;b");
        assert_eq!(unescape("a &#38; b &#x; &#"), "a & b &#x; &#");
        let rows = rows("| 1 | `x` | y |\nno row\n| 2 | z |\n");
        assert_eq!(rows.iter().map(|row| (row.line, row.cells.len())).collect::<Vec<_>>(), [(1, 3), (3, 2)]);
    }

    #[test]
    fn a_printed_share_must_be_the_quotient() {
        let mut part = Part::new("re-read");
        share("t:1", "64.0 % (at least 54.5 %); x", 96, 150, &mut part);
        assert!(part.failures.is_empty());
        share("t:1", "46.0 % (at least 54.5 %); x", 96, 150, &mut part);
        assert_eq!(part.failures[0].what, "has 46.0 %, 96 of 150 is 64.00 %");
    }
}
