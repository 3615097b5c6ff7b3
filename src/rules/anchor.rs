//! Evidence anchors: where a number stands, so that a reader who shares no code with us can open it.
//!
//! A SELECT names the place without the path: `L=8`, `ptr=/results/0/mean`, `sum=samples.weight&class=ALLOC`;
//! `@user_ns+system_ns`: these fields of the artifact's execution, one term each;
//! `rows=benchmarks.wall_ns&threads=4` (or `variant=`, `function=`, `series=` with an id of `scaling`): one term per
//! repetition, since a median stands nowhere in a file;
//! `rows=accounting.value&key=psi_io_some&moment=first,last`: one term per snapshot, since neither does a difference.

use percent_encoding::percent_decode_str;

use crate::derive::scaling;
use crate::hotspots::encode;
use crate::tables::{Accounting, Benchmark, Execution, Tables};

/// The path of an artifact as it stands in an anchor.
pub fn encoded_path(tables: &Tables, artifact: i32) -> String {
    let path = tables.artifacts.iter().find(|row| row.artifact_id == artifact).map_or("", |row| row.path.as_ref());
    encode(path)
}

/// (term, value, anchor) for one number of a row.
pub fn resolve(tables: &Tables, artifact: i32, term: &str, value: i64, spec: &str) -> Vec<(String, i64, String)> {
    let path = encoded_path(tables, artifact);
    if let Some(fields) = spec.strip_prefix('@') {
        let execution = told(tables, artifact, fields, value);
        let several = fields.contains('+');
        let one = |field: &str| {
            let value = execution.and_then(|row| execution_field(row, field))?;
            let name = if several { format!("{term} {field}") } else { term.to_owned() };
            Some((name, value, format!("{path}#{}", place(execution, field))))
        };
        return fields.split('+').filter_map(one).collect();
    }
    if let Some(query) = spec.strip_prefix("rows=benchmarks.wall_ns") {
        let conditions: Vec<(&str, &str)> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let rows = tables.benchmarks.iter().filter(|row| conditions.iter().all(|(key, wanted)| fits(tables, row, key, wanted)));
        return rows
            .enumerate()
            .map(|(at, row)| {
                let pointer = encode(&row.pointer);
                (format!("{term} {}", at + 1), row.wall_ns, format!("{}#ptr={pointer}", encoded_path(tables, row.artifact_id)))
            })
            .collect();
    }
    if let Some(query) = spec.strip_prefix("rows=accounting.value") {
        return snapshots(tables, artifact, term, query);
    }
    // queries cannot encode what they put into a value
    vec![(term.to_owned(), value, format!("{path}#{}", spec.replace(' ', "%20")))]
}

/// One term per number of the kernel's accounting, with the line it stands in.
fn snapshots(tables: &Tables, artifact: i32, term: &str, query: &str) -> Vec<(String, i64, String)> {
    let conditions: Vec<(&str, &str)> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    let fits = |row: &Accounting| {
        conditions.iter().all(|(key, wanted)| {
            let wanted = percent_decode_str(wanted).decode_utf8_lossy();
            match *key {
                "key" => wanted.split(',').any(|key| key == row.key.as_ref()),
                "scope" => row.scope.as_ref() == wanted,
                "moment" => wanted.split(',').any(|at| at == row.moment.as_ref()),
                _ => false,
            }
        })
    };
    let one = |row: &Accounting| {
        let path = encoded_path(tables, row.stands_in.unwrap_or(row.artifact_id));
        (format!("{term} {} {}", row.key, row.moment), row.value, format!("{path}#L={}", row.line_no))
    };
    tables.accounting.iter().filter(|row| row.artifact_id == artifact && fits(row)).map(one).collect()
}

/// The artifact's execution that tells the value; an artifact may tell several (`time -a`, a manifest's bare runs).
fn told<'a>(tables: &'a Tables, artifact: i32, fields: &str, value: i64) -> Option<&'a Execution> {
    let own = || tables.executions.iter().filter(move |row| row.artifact_id == artifact);
    let sum = |row: &Execution| fields.split('+').map(|field| execution_field(row, field)).try_fold(0i64, |sum, one| sum.checked_add(one?));
    own().find(|row| sum(row) == Some(value)).or_else(|| own().next())
}

fn fits(tables: &Tables, row: &Benchmark, key: &str, wanted: &str) -> bool {
    let wanted = percent_decode_str(wanted).decode_utf8_lossy();
    match key {
        "variant" => row.variant.as_deref().unwrap_or("none") == wanted,
        "function" => row.function.as_deref() == Some(&*wanted),
        "series" => tables.scaling.iter().any(|series| series.series_id.to_string() == wanted && scaling::is_of(series, row)),
        "threads" => row.threads.is_some_and(|threads| threads.to_string() == wanted),
        _ => false,
    }
}

/// The place of the field where the importer noted it, else a sum that `verify` repeats.
fn place(execution: Option<&Execution>, field: &str) -> String {
    match execution.and_then(|row| row.place_of(field)) {
        Some(noted) => match noted.split_once('=') {
            Some(("ptr", pointer)) => format!("ptr={}", encode(pointer)),
            _ => noted.to_owned(),
        },
        None => format!("sum=executions.{field}"),
    }
}

fn execution_field(row: &Execution, field: &str) -> Option<i64> {
    match field {
        "wall_ns" => row.wall_ns,
        "user_ns" => row.user_ns,
        "system_ns" => row.system_ns,
        "max_rss_bytes" => row.max_rss_bytes,
        "minor_faults" => row.minor_faults,
        "major_faults" => row.major_faults,
        "voluntary_switches" => row.voluntary_switches,
        "involuntary_switches" => row.involuntary_switches,
        "work" => row.work,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Artifact;

    /// Two reports in one file, as `time -a` writes them.
    fn tables() -> Tables {
        let mut tables = Tables::default();
        let artifact: Artifact = crate::emit::sample().tables.artifacts[0].clone();
        tables.artifacts.push(Artifact { artifact_id: 3, path: "a b/time.txt".into(), ..artifact });
        for (user_ns, line) in [(10, 2), (30, 25)] {
            let mut row = Execution { artifact_id: 3, user_ns: Some(user_ns), system_ns: Some(5), ..Execution::under("bare") };
            row.note_place("user_ns", &format!("L={line}"));
            tables.executions.push(row);
        }
        tables
    }

    #[test]
    fn a_difference_stands_in_two_lines() {
        let mut tables = tables();
        let row = |key: &str, value, at: &str, line_no| Accounting {
            artifact_id: 3,
            scope: "system".into(),
            key: key.into(),
            value,
            unit: "ns".into(),
            moment: at.into(),
            stands_in: None,
            line_no,
        };
        tables.accounting = vec![row("a", 10, "first", 2), row("b", 11, "last", 3), row("a", 30, "last", 9)];
        let terms = resolve(&tables, 3, "part", 20, "rows=accounting.value&key=a&scope=system&moment=first,last");
        let expected = [("part a first", 10, "a%20b/time.txt#L=2"), ("part a last", 30, "a%20b/time.txt#L=9")];
        let found: Vec<(&str, i64, &str)> = terms.iter().map(|(name, value, anchor)| (name.as_str(), *value, anchor.as_str())).collect();
        assert_eq!(found, expected);
        let terms = resolve(&tables, 3, "part", 7, "sum=histograms.least&key=disk vda&operation=flush,sync write");
        assert_eq!(terms[0].2, "a%20b/time.txt#sum=histograms.least&key=disk%20vda&operation=flush,sync%20write");
    }

    #[test]
    fn names_cannot_end_a_part_early() {
        assert_eq!(encode("a b/c#d&e=f%"), "a%20b/c%23d%26e%3Df%25");
        assert_eq!(encode("operator=(x)"), "operator%3D%28x%29");
    }

    #[test]
    fn a_value_stands_in_the_line_of_its_own_report() {
        let tables = tables();
        assert_eq!(resolve(&tables, 3, "part", 30, "@user_ns"), [("part".into(), 30, "a%20b/time.txt#L=25".into())]);
        let terms = resolve(&tables, 3, "whole", 35, "@user_ns+system_ns");
        let anchors: Vec<(&str, &str)> = terms.iter().map(|(name, _, anchor)| (name.as_str(), anchor.as_str())).collect();
        let expected = [("whole user_ns", "a%20b/time.txt#L=25"), ("whole system_ns", "a%20b/time.txt#sum=executions.system_ns")];
        assert_eq!(anchors, expected);
    }
}
