//! Outputs with hostile names, read back as their readers read them.

use super::sample_run::{self, EVIL};
use super::*;

fn rendered(options: EmitOptions) -> Vec<OutputFile> {
    render(&View::new(&sample_run::hostile()), options).unwrap()
}

fn text<'a>(files: &'a [OutputFile], name: &str) -> &'a str {
    std::str::from_utf8(&files.iter().find(|(path, _)| path == name).unwrap_or_else(|| panic!("{name} is missing")).1).unwrap()
}

/// Cells of each table row, as GitHub's Markdown splits them: a pipe always ends a cell unless a backslash precedes it.
fn rows(markdown: &str) -> Vec<Vec<String>> {
    let lines = markdown.lines().filter(|line| line.starts_with('|'));
    lines.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn the_hotspot_table_has_the_wall_line_and_exactly_these_columns() {
    let files = rendered(EmitOptions::default());
    let table = text(&files, "hotspot_table.md");
    let first = table.lines().next().unwrap();
    assert!(first.starts_with("Where the wall time went (3.00 s, bare.txt:L5): 33.4 % "), "{first}");
    assert!(first.ends_with(" = 100.0 %"), "{first}");
    let rows = rows(table);
    assert_eq!(rows[0], ["Rank", "Location", "Metric", "Value", "Category", "Evidence"]);
    assert_eq!(rows.len(), 4, "header, rule, two rows");
    assert!(rows.iter().all(|row| row.len() == 6), "{rows:?}");
    assert_eq!(rows[3][1], "`write`");
    assert!(rows[3][3].starts_with("90.0 % (at least 88.0 %)"), "{}", rows[3][3]);
}

#[test]
fn the_ledger_has_its_columns_order_and_result_lines() {
    let files = rendered(EmitOptions::default());
    let ledger = text(&files, "hypothesis.md");
    assert_eq!(ledger.matches("| Angle | Tool / file | Verdict | Evidence path |").count(), 4);
    let headings: Vec<&str> = ledger.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(headings, ["R25 test.R25", "R27 test.R27", "R18 test.R18", "R01 test.R01", "Stated by the authors of logs"]);
    let results: Vec<&str> = ledger.lines().filter(|line| line.starts_with("Result | ")).collect();
    assert_eq!(results, ["Result | 3/3 -> KERNEL", "Result | 2/3 -> DISPUTED", "Result | 1/3 -> open", "Result | 0/3 -> refuted"]);
    let rows = rows(ledger);
    assert!(rows.iter().all(|row| row.len() == 4), "{rows:?}");
    // Header, rule and three angles for each of four hypotheses, whatever was measured; one verdict that somebody stated.
    assert_eq!(rows.len(), 4 * 5 + 3);
    assert!(rows[2][2].starts_with("supports, score 0.75"), "{rows:?}");
    assert!(ledger.contains("not measured (inconclusive: n=27, 63-92 %)"));
    assert!(ledger.contains("house threshold: measured on S1"));
    assert!(ledger.contains("interval 60.0-64.0 %, n = 1 204"));
    assert!(ledger.contains("```sh\nheaptrack -o out ./prog | cat\n```"));
}

#[test]
fn no_text_output_lets_a_name_out_of_its_cell() {
    for (name, bytes) in rendered(EmitOptions::default()).iter().filter(|(name, _)| name.ends_with(".md")) {
        let text = std::str::from_utf8(bytes).unwrap();
        assert!(!text.contains("<script"), "{name}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{name}");
        let lines: Vec<&str> = text.lines().collect();
        for table in lines.split(|line| !line.starts_with('|')) {
            let widths: std::collections::BTreeSet<usize> = rows(&table.join("\n")).iter().map(Vec::len).collect();
            assert!(widths.len() <= 1, "{name}: rows of {widths:?} cells in\n{}", table.join("\n"));
        }
    }
    let files = rendered(EmitOptions::default());
    assert!(text(&files, "quality.md").contains("quality: 1 ok, 1 warn (Q05 "), "{}", text(&files, "quality.md"));
}

#[test]
fn json_reads_back_and_is_bounded() {
    let files = rendered(EmitOptions::default());
    let summary: serde_json::Value = serde_json::from_str(text(&files, "summary.json")).unwrap();
    let parts = summary["wall"]["parts"].as_array().unwrap();
    let tenths: i64 = parts.iter().map(|part| (part["per_cent"].as_f64().unwrap() * 10.0).round() as i64).sum();
    assert_eq!(tenths, 1000);
    let first = &summary["hypotheses"][0];
    assert_eq!((first["id"].as_str(), first["label"].as_str()), (Some("R25"), Some("KERNEL")));
    assert_eq!(first["slots"]["A"]["verdict"], "supports");
    assert_eq!(first["slots"]["A"]["lo"].as_f64(), Some(0.6));
    assert_eq!(first["slots"]["A"]["evidence"], "strace%20%7C.txt#L=8");
    assert_eq!(summary["hypotheses"][2]["slots"]["B"]["verdict"], "not measured");
    assert_eq!(summary["diagnostics"]["warn"], 7);
    assert_eq!(summary["record_next"]["commands"][0]["command"], "heaptrack -o out ./prog | cat");
    assert!(!summary["hotspots"][0]["location"].as_str().unwrap().contains('\u{202e}'));
    assert!(summary.get("timings").is_none());
    let timed = rendered(EmitOptions { timings: true });
    let timed: serde_json::Value = serde_json::from_str(text(&timed, "summary.json")).unwrap();
    assert_eq!(timed["timings"][0]["cpu_ms"], 20);
    let print: serde_json::Value = serde_json::from_str(text(&files, "fingerprint.json")).unwrap();
    assert_eq!(print["artifacts"].as_array().unwrap().len(), 2);
    assert_eq!(print["run_id"].as_str().unwrap().len(), 64);

    let mut many = sample_run::hostile();
    for _ in 0..9 {
        let copy = many.tables.hotspots.clone();
        many.tables.hotspots.extend(copy);
        let copy = many.tables.diagnostics.clone();
        many.tables.diagnostics.extend(copy);
    }
    many.target = EVIL.repeat(10_000);
    let files = render(&View::new(&many), EmitOptions::default()).unwrap();
    assert!(text(&files, "summary.json").len() < 100_000);
}

#[test]
fn no_path_leaves_the_run_directory() {
    for (name, _) in rendered(EmitOptions::default()) {
        assert!(!name.split('/').any(|part| part.is_empty() || part == ".." || part == "."), "{name}");
    }
}

#[test]
fn an_empty_run_still_prints() {
    let files = render(&View::new(&Run::default()), EmitOptions::default()).unwrap();
    let table = text(&files, "hotspot_table.md");
    assert!(table.starts_with("Where the wall time went: unknown (no artifact tells it)\n"), "{table}");
    assert!(table.contains("No artifact gave a place"));
    serde_json::from_str::<serde_json::Value>(text(&files, "summary.json")).unwrap();
}
