use super::*;
use crate::ingest::testing::{kinds, read_text, survives_damage, try_read};
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
    while let Some(node) = stack.and_then(|id| tables.stacks.row(id)) {
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
