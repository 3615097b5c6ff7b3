use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::ingest::testing::{kinds, read_bytes, read_text, survives_damage, try_read};
use crate::tables::Tables;

/// Hand-made, format 3; the expected values below were counted by hand.
///
/// main calls f, into which g is inlined; g allocates 16 and 32 bytes, f another 256 bytes that it keeps.
const SMALL: &str = "v 10400 3\nX ./p 1\nI 1000 100\ns 6 /bin/p\ns 4 main\ns 3 p.c\ns 1 f\ns 1 g\n\
    i 10 1 2 3 a\nt 1 0\ni 20 1 5 3 14 4 3 15\nt 2 1\ni 30 1 4 3 1e\nt 3 1\n\
    a 10 2\na 20 2\na 100 3\n+ 0\n+ 1\n- 1\nc a\nR 5\n+ 2\n+ 1\n+ 1\n- 0\n- 1\nc 14\nR 6\n# strings: 5\n# ips: 3\n";

#[test]
fn a_small_recording_counted_by_hand() {
    let recorder = read_text(read, SMALL);
    let tables = &recorder.tables;
    let [g, f] = &tables.allocations[..] else { panic!() };
    // peak: 16 + 256 + 32 + 32 after the fifth allocation
    assert_eq!((g.calls, g.bytes, g.peak_bytes, g.leaked_bytes), (4, 16 + 3 * 32, 16 + 64, 32));
    assert_eq!((f.calls, f.bytes, f.peak_bytes, f.leaked_bytes), (1, 256, 256, 256));
    // `- 1` right after `+ 1`: temporary; `- 0` after `+ 1` is not, `- 1` after a release is not
    assert_eq!((g.temporary_calls, f.temporary_calls, g.line_no), (1, 0, 12));
    assert_eq!(path(tables, g.stack_id), ["main p.c:10", "f p.c:21", "(inlined) g p.c:20"]);
    assert_eq!(path(tables, f.stack_id), ["main p.c:10", "f p.c:30"]);
    let points: Vec<_> = tables.heap_timeline.iter().map(|p| (p.ts_ns, p.live_bytes, p.rss_bytes)).collect();
    assert_eq!(points, [(10_000_000, 16, Some(5 * 4096)), (20_000_000, 256 + 32, Some(6 * 4096))]);
    assert_eq!((tables.events[0].n, tables.events[0].total_weight, tables.events[0].mechanism.as_ref()), (5, 5, "M3"));
    assert_eq!(tables.executions[0].argv.as_deref(), Some("./p 1"));
    assert_eq!(recorder.artifact.tool_version.as_deref(), Some("1.4.0"));
    assert!(kinds(&recorder).is_empty());
}

fn path(tables: &Tables, mut stack: Option<i32>) -> Vec<String> {
    let mut shown = Vec::new();
    while let Some(node) = stack.and_then(|id| tables.stacks.get(id as usize)) {
        let frame = &tables.frames[node.frame_id as usize];
        let name = frame.function_id.map(|id| &tables.functions[id as usize]);
        let inlined = if frame.is_inlined { "(inlined) " } else { "" };
        let file = name.and_then(|f| f.file.clone()).unwrap_or_default();
        shown.push(format!("{inlined}{} {file}:{}", name.map_or("?", |f| &f.name), frame.line.unwrap_or(0)));
        stack = node.parent_stack_id.get();
    }
    shown.reverse();
    shown
}

#[test]
fn formats_one_and_two_have_strings_without_length() {
    for version in ["v 10200", "v 10000 2", "v 10150 1"] {
        let text = SMALL
            .replace("v 10400 3", version)
            .replace("s 6 /bin/p", "s /bin/my p")
            .replace("s 4 ", "s ")
            .replace("s 3 ", "s ")
            .replace("s 1 ", "s ");
        let recorder = read_text(read, &text);
        assert_eq!(recorder.tables.dsos[0].path.as_ref(), "/bin/my p");
        assert_eq!(recorder.tables.allocations[0].calls, 4);
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    let error = |text: &str| try_read(read, text.as_bytes()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error("v 10400 3\nx f /bin/p\nX ./p\n").contains("heaptrack --interpret"));
    assert!(error(&SMALL.replace("+ 0\n", "X ./q\n+ 0\n")).contains("L=18"));
    assert!(error(&SMALL.replace("+ 2\n", "+ 3\n")).contains("L=23"));
    assert!(error(&SMALL.replace("v 10400 3", "v 10900 4")).contains("format 4"));
    assert!(error(&SMALL.replace("v 10400 3", "v 10000")).contains("format 0"));
    assert!(error(&SMALL.replace("s 1 g\n", "").replace("i 20 1 5", "i 20 1 4")).contains("1 definitions of strings"));
}

#[test]
fn torn_lines_are_counted_and_damage_is_survived() {
    let recorder = read_text(read, &SMALL.replace("- 0\n", "- 0- 1 f\n"));
    assert_eq!(kinds(&recorder), ["heaptrack_torn_line"]);
    assert_eq!(recorder.tables.allocations[0].leaked_bytes, 48);
    let cut = read_text(read, &SMALL[..SMALL.find("- 1\nc 14").unwrap() + 2]);
    assert_eq!((kinds(&cut), cut.artifact.status.as_ref()), (vec!["heaptrack_cut"], "truncated"));
    assert_eq!(read_text(read, &SMALL.replace('\n', "\r\n")).tables.allocations, read_text(read, SMALL).tables.allocations);
    survives_damage(read, SMALL.as_bytes());
}

/// What a stack is compared by: its function names, sorted, since heaptrack_print turns the inlined frames of one address
/// round; nameless frames are `?`.
type ByStack = BTreeMap<Vec<String>, i64>;

/// Functions at which heaptrack_print ends a stack, where they are the innermost of their address.
const STOPS: [&str; 3] = ["main", "__libc_start_main", "__static_initialization_and_destruction_0"];
const NEWS: [&str; 2] = ["operator new(unsigned long)", "operator new[](unsigned long)"];

/// As heaptrack_print shows stacks: from the innermost `main` inwards, without `operator new` at the end.
fn ours(tables: &Tables, cost: fn(&Allocation) -> i64) -> ByStack {
    let mut found = ByStack::new();
    for row in tables.allocations.iter().filter(|row| cost(row) != 0) {
        let mut names = Vec::new();
        let mut stack = row.stack_id;
        let (mut is_innermost, mut is_new, mut is_last) = (true, false, false);
        while let Some(node) = stack.and_then(|id| tables.stacks.get(id as usize)) {
            let frame = &tables.frames[node.frame_id as usize];
            let name = frame.function_id.map_or("?", |id| &tables.functions[id as usize].name);
            is_last |= is_innermost && STOPS.contains(&name);
            is_new |= is_innermost && names.is_empty() && NEWS.contains(&name);
            if !is_new {
                names.push(name.to_owned());
            }
            is_innermost = !frame.is_inlined;
            is_new &= frame.is_inlined;
            stack = node.parent_stack_id.get().filter(|_| frame.is_inlined || !is_last);
        }
        names.sort();
        *found.entry(names).or_default() += cost(row);
    }
    found
}

/// `heaptrack_print -F`; `None` where the tool is not installed.
fn theirs(file: &Path, cost: &str, scratch: &Path) -> Option<ByStack> {
    let out = scratch.join(cost);
    let run = Command::new("heaptrack_print")
        .args(["--disable-builtin-suppressions", "--disable-embedded-suppressions", "-p", "0", "-a", "0", "-T", "0", "-t", "0"])
        .args(["--flamegraph-cost-type", cost, "-F"])
        .args([&out, file])
        .output()
        .ok()?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let mut sums = ByStack::new();
    for line in std::fs::read_to_string(&out).unwrap().lines() {
        let (stack, value) = line.rsplit_once(' ').unwrap();
        let mut names: Vec<String> = stack.split(';').filter(|name| !name.is_empty()).map(name_only).collect();
        names.sort();
        let value: i64 = value.parse().unwrap();
        if value != 0 {
            *sums.entry(names).or_insert(0) += value;
        }
    }
    assert!(!sums.is_empty() || cost == "temporary", "{cost} of {}", file.display());
    Some(sums)
}

/// `f(int) (file.c)` -> `f(int)`; an address -> `?`.
fn name_only(printed: &str) -> String {
    let name = match printed.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((name, file)) if !file.contains(['(', ')', ' ']) => name,
        _ => printed,
    };
    if name.starts_with("0x") { "?".into() } else { name.into() }
}

/// What heaptrack_print calls a cost, and ours.
type Cost = (&'static str, fn(&Allocation) -> i64);

/// The sums that heaptrack_print 1.4 gives for the public files (TRUTH.jsonl), and, where the tool is installed, its
/// value for every single stack.
#[test]
fn public_files_agree_with_heaptrack_print() {
    let corpus = Path::new("../shared/corpus");
    let Ok(truth) = std::fs::read_to_string(corpus.join("TRUTH.jsonl")) else { return };
    let mut files: Vec<std::path::PathBuf> =
        std::env::var("HEAPTRACK_FILES").iter().flat_map(|list| list.split(':')).map(Into::into).collect();
    for line in truth.lines().filter(|line| line.contains("\"kind\": \"heaptrack\"")) {
        let truth: serde_json::Value = serde_json::from_str(line).unwrap();
        let file = corpus.join("heaptrack").join(truth["name"].as_str().unwrap());
        let tables = read_bytes(read, &unpacked(&file)).tables;
        let sum = |get: fn(&Allocation) -> i64| tables.allocations.iter().map(get).sum::<i64>();
        let expected = |cost: &str| truth["facts"][format!("flamegraph_{cost}")]["sum"].as_i64().unwrap();
        assert_eq!(sum(|row| row.calls), expected("allocations"), "{}", file.display());
        assert_eq!(sum(|row| row.temporary_calls), expected("temporary"), "{}", file.display());
        assert_eq!(sum(|row| row.peak_bytes), expected("peak"), "{}", file.display());
        files.push(file);
    }
    let scratch = tempfile::tempdir().unwrap();
    for file in files {
        let tables = read_bytes(read, &unpacked(&file)).tables;
        let costs: [Cost; 4] = [
            ("allocations", |row| row.calls),
            ("temporary", |row| row.temporary_calls),
            ("leaked", |row| row.leaked_bytes),
            ("peak", |row| row.peak_bytes),
        ];
        for (name, cost) in costs {
            let Some(theirs) = theirs(&file, name, scratch.path()) else { return };
            let ours = ours(&tables, cost);
            let differ: Vec<_> = ours.iter().filter(|(stack, value)| theirs.get(*stack) != Some(value)).take(3).collect();
            let lost: Vec<_> = theirs.iter().filter(|(stack, _)| !ours.contains_key(*stack)).take(3).collect();
            assert!(differ.is_empty() && lost.is_empty(), "{name} of {}: ours {differ:?}, theirs {lost:?}", file.display());
        }
    }
}

fn unpacked(file: &Path) -> Vec<u8> {
    let bytes = std::fs::read(file).unwrap();
    let mut out = Vec::new();
    if file.extension().is_some_and(|extension| extension == "gz") {
        std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut out).unwrap();
    } else {
        zstd::stream::copy_decode(&bytes[..], &mut out).unwrap();
    }
    out
}
