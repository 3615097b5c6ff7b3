//! Every level of every check, on tables written by hand (cases.txt).

use std::collections::{BTreeMap, BTreeSet};

use super::file::{Check, Measure};
use super::{Allowed, Effects, judge, parse};
use crate::rules::engine::Engine;
use crate::rules::{Comparability, VIEWS, checks, strip_comments, view_name};
use crate::tables::*;

const CASES: &str = include_str!("cases.txt");

struct Case {
    line: usize,
    check: String,
    measure: Option<String>,
    status: String,
    tables: Tables,
}

fn cases() -> Vec<Case> {
    let mut blocks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut open: Option<String> = None;
    let mut out: Vec<Case> = Vec::new();
    for (at, line) in CASES.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('@') {
            open = Some(name.trim_end_matches(':').to_owned());
        } else if !line.starts_with(' ') {
            let (what, status) = line.split_once(" = ").expect(line);
            let (check, measure) = what.split_once(' ').map_or((what, None), |(check, measure)| (check, Some(measure.to_owned())));
            out.push(Case { line: at + 1, check: check.to_owned(), measure, status: status.to_owned(), tables: Tables::default() });
            open = None;
        } else if let Some(block) = &open {
            blocks.entry(block.clone()).or_default().push(line.trim().to_owned());
        } else {
            let case = out.last_mut().expect("a case first");
            match line.trim().strip_prefix('@') {
                Some(block) => blocks[block].iter().for_each(|row| add(&mut case.tables, row)),
                None => add(&mut case.tables, line.trim()),
            }
        }
    }
    out
}

/// `table column=value ... [* times]`.
fn add(tables: &mut Tables, line: &str) {
    let (line, times) = line.split_once(" * ").map_or((line, 1), |(line, times)| (line, times.parse().unwrap()));
    let (name, rest) = line.split_once(' ').unwrap();
    let mut cells: BTreeMap<&str, &str> = BTreeMap::new();
    let mut rest = rest.trim();
    while let Some((key, tail)) = rest.split_once('=') {
        let quoted = tail.strip_prefix('\'').map(|tail| tail.split_once('\'').unwrap());
        let (value, tail) = quoted.unwrap_or_else(|| tail.split_once(' ').unwrap_or((tail, "")));
        cells.insert(key, value);
        rest = tail.trim();
    }
    macro_rules! tables {
        ($($field:ident)*) => {
            match name {
                $( stringify!($field) => (0..times).for_each(|_| tables.$field.push(row(line, &cells))), )*
                other => panic!("table {other}"),
            }
        };
    }
    tables!(artifacts executions host environment diagnostics recording_facts events processes threads dsos mappings functions waits
        thread_states syscalls syscall_events allocations counters benchmarks benchmark_stats stack_costs stack_classes stack_sites);
}

fn row<R: TableRow>(line: &str, cells: &BTreeMap<&str, &str>) -> R {
    let columns = R::columns();
    let unknown = cells.keys().find(|key| !columns.iter().any(|column| column.name == **key));
    assert_eq!(unknown, None, "{line}");
    R::from_values(&mut |name| {
        let column = columns.iter().find(|column| column.name == name).unwrap();
        let standard = match (R::NAME, name) {
            ("artifacts", "status") => "complete",
            ("artifacts", "path") => "file",
            // Joins with classes look at stacks that have some.
            ("stack_costs", "classes") => "1",
            ("artifacts", "root") => cells.get("artifact_id").copied().unwrap_or("0"),
            _ => "",
        };
        match (cells.get(name).copied(), column.column_type) {
            (None, _) if column.nullable && standard.is_empty() => Value::Null,
            (text, ColumnType::Utf8) => Value::Text(text.unwrap_or(standard).into()),
            (text, ColumnType::Bool) => Value::Bool(text == Some("true")),
            (text, ColumnType::Float64) => Value::Float(text.unwrap_or("0").parse().unwrap()),
            (text, _) => Value::Int(text.unwrap_or(if standard.is_empty() { "0" } else { standard }).replace('_', "").parse().unwrap()),
        }
    })
    .unwrap_or_else(|| panic!("{line}"))
}

fn rows_of(tables: &Tables, check: &Check, allow: &[&str]) -> Vec<Quality> {
    let all = checks().unwrap();
    let tables = &Tables { wait_pairs: crate::derive::waits::pairs(tables), ..tables.clone() };
    let comparability = Comparability::find(tables);
    let texts: Vec<&str> = VIEWS.iter().map(|(_, text)| *text).chain([check.text.as_str()]).collect();
    let mut engine = Engine::over(tables, &comparability, &texts).unwrap();
    for (file, sql) in VIEWS {
        engine.view(view_name(file), file, strip_comments(sql).trim().trim_end_matches(';'));
    }
    let allow: Vec<String> = allow.iter().map(|id| (*id).to_owned()).collect();
    judge(tables, &engine, std::slice::from_ref(check), &comparability, &Allowed::new(&allow, &all).unwrap()).unwrap()
}

fn name_of(check: &Check, measure: &Measure) -> String {
    measure.name.as_ref().map_or_else(|| check.id.clone(), |name| format!("{} {name}", check.id))
}

/// The worst row of the case's measure.
fn worst_of(case: &Case, rows: &[Quality]) -> Quality {
    let rank = |row: &&Quality| ["block", "demote", "warn", "ok", "not checkable"].iter().position(|own| *own == &*row.status);
    rows.iter().filter(|row| row.measure.as_deref() == case.measure.as_deref()).min_by_key(rank).cloned().expect(&case.check)
}

#[test]
fn every_level_of_every_check_is_reached_as_counted_by_hand() {
    let checks = checks().unwrap();
    let mut reached: BTreeSet<(String, String)> = BTreeSet::new();
    let mut wrong = Vec::new();
    for case in cases() {
        let check = checks.iter().find(|check| check.id == case.check).expect(&case.check);
        let row = worst_of(&case, &rows_of(&case.tables, check, &[]));
        if *row.status != *case.status {
            wrong.push(format!("cases.txt line {}: {} is {}, not {}: {}", case.line, case.check, row.status, case.status, row.message));
        }
        let measure = check.measures.iter().find(|own| own.name == case.measure).unwrap();
        let level = row.value.and_then(|value| measure.levels.iter().rev().find(|level| level.holds(value)));
        let level = level.map_or_else(|| row.status.to_string(), |level| format!("{level:?}"));
        reached.insert((name_of(check, measure), level));
    }
    for (check, measure) in checks.iter().flat_map(|check| check.measures.iter().map(move |measure| (check, measure))) {
        let name = name_of(check, measure);
        let levels = measure.levels.iter().map(|level| format!("{level:?}"));
        for level in levels.chain(["ok".to_owned()]) {
            if !reached.contains(&(name.clone(), level.clone())) {
                wrong.push(format!("no case of {name} for {level}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// With nothing recorded nothing is checkable, least of all ok.
#[test]
fn without_recordings_nothing_is_ok() {
    for check in checks().unwrap() {
        for row in rows_of(&Tables::default(), &check, &[]) {
            assert_eq!((&*row.status, &*row.effect), ("not checkable", "none"), "{} {:?}", row.check, row.measure);
        }
    }
}

#[test]
fn there_are_37_checks_and_each_says_where_its_levels_come_from() {
    let checks = checks().unwrap();
    let ids: Vec<&str> = checks.iter().map(|check| check.id.as_str()).collect();
    let expected: Vec<String> = (1..=37).map(|no| format!("Q{no:02}")).collect();
    assert_eq!(ids, expected);
    assert!(
        checks.iter().flat_map(|check| &check.measures).all(|measure| !measure.levels.is_empty() && measure.source.contains("rules.md"))
    );
}

#[test]
fn a_silenced_check_is_listed_and_has_no_effect() {
    let checks = checks().unwrap();
    let case = cases().into_iter().find(|case| case.check == "Q01" && case.status == "demote").unwrap();
    let check = checks.iter().find(|check| check.id == "Q01").unwrap();
    let loud = worst_of(&case, &rows_of(&case.tables, check, &[]));
    let silent = &rows_of(&case.tables, check, &["Q01"])[0];
    assert_eq!((&*loud.status, &*loud.effect), ("demote", "demote:M1:share,demote:M1:leaf"));
    assert_eq!((&*silent.status, &*silent.effect), ("silenced", "none"));
    assert!(silent.message.contains("demote without --allow Q01"));
    assert!(Allowed::new(&["Q99".to_owned()], &checks).unwrap_err().to_string().contains("Q99"));
}

#[test]
fn effects_say_what_they_take() {
    let alternate = |sql: &str| {
        let text = include_str!("../../queries/hypotheses/R29_sys_kernel_time.sql");
        let hypothesis = crate::rules::parse::hypothesis("R29.sql", text).unwrap();
        let own = hypothesis.slots.iter().flat_map(|slot| &slot.alternates).next().unwrap().clone();
        crate::rules::file::Alternate { mechanism: "M1".to_owned(), probe: "cputime".to_owned(), sql: sql.to_owned(), ..own }
    };
    let plain = alternate("SELECT 1");
    let of = |effect: &str, value: f64| {
        let text = CASES.lines().next().unwrap_or_default();
        let row = Quality {
            check: "Q00".into(),
            name: "".into(),
            artifact_id: Some(1),
            status: "warn".into(),
            effect: effect.into(),
            value: Some(value),
            message: text.into(),
            advice: "".into(),
            measure: None,
            part: None,
            whole: None,
            limits: None,
            source: None,
            short: None,
            subject: Some("libx.so".into()),
            other_artifact_id: Some(7),
        };
        Effects::of(&[row], vec!["FAULT".to_owned()])
    };
    use crate::rules::file::Basis;
    assert!(of("block:M1", 0.0).block(1, &plain).is_some() && of("block:M1", 0.0).block(2, &plain).is_none());
    assert!(of("block:*", 0.0).block(1, &plain).is_some() && of("block:M4", 0.0).block(1, &plain).is_none());
    assert!(of("block:M1:cputime", 0.0).block(1, &plain).is_some() && of("block:M1:clock", 0.0).block(1, &plain).is_none());
    assert!(of("demote:M1:time", 0.0).demotion(1, &plain, Basis::Time).is_some());
    assert!(of("demote:M1:time", 0.0).demotion(1, &plain, Basis::Count).is_none());
    assert!(of("demote:M1:kernel", 0.0).demotion(1, &plain, Basis::Share).is_none());
    assert!(of("demote:M1:kernel", 0.0).demotion(1, &alternate("FROM kernel_costs"), Basis::Share).is_some());
    assert!(of("demote:M1:kernel_names", 0.0).demotion(1, &alternate("FROM kernel_costs"), Basis::Share).is_none());
    assert!(of("demote:M1:kernel_names", 0.0).demotion(1, &alternate("class = 'FAULT'"), Basis::Share).is_some());
    assert!(of("demote:M1:dso", 0.0).location(1, "M1", Some("libx.so")).is_some());
    assert!(of("demote:M1:dso", 0.0).location(1, "M1", Some("p")).is_none());
    assert!(of("demote:M1:path", 0.0).path(1, "M1") && of("demote:M1:path", 0.0).location(1, "M1", None).is_none());
    assert!((of("widen_root:M1", 0.75).widening(1, &plain, Basis::Count) - 0.5).abs() < 1e-9);
    assert!((of("lost:*", 0.1).lost(1, "M5") - 0.1).abs() < 1e-9 && of("lost:*", 0.1).lost(2, "M5") == 0.0);
    assert_eq!(of("one_root:*", 1.0).same_recording(1).collect::<Vec<_>>(), [7]);
    assert!(of("no_zero:M1", 0.0).no_zero(1, "M1").is_some() && !of("no_zero:M1", 0.0).touched(1, "M1"));
}

#[test]
fn what_a_file_says_wrong_is_told() {
    let good = "-- id: Q99\n-- name: n\n-- advice: a\n-- level: warn above 1 effect none\n-- message: m\n-- short: s\n-- unchecked: u\n\
                -- source: house: h\nSELECT artifact_id AS artifact_id, n AS part, n AS whole FROM cpu_events\n";
    parse("Q99.sql", good).unwrap();
    for (from, to, why) in [
        ("effect none", "effect demote:M77", "M77"),
        ("effect none", "effect explode:M1", "explode"),
        ("warn above 1", "warn over 1", "above or below"),
        ("warn above 1", "alarm above 1", "warn"),
        ("above 1 ", "above much ", "number"),
        ("house: h", "somewhere", "source"),
        ("-- short: s\n", "", "short"),
        ("-- id: Q99", "-- id: Q99\n-- colour: red", "colour"),
    ] {
        let error = parse("Q99.sql", &good.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(why), "{to}: {error}");
    }
}
