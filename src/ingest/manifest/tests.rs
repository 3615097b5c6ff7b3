use super::*;
use crate::ingest::merge;
use crate::ingest::testing::{kinds, read_text, survives_damage};
use crate::tables::Tables;

/// As testdata/record.sh writes it, shortened.
const MANIFEST: &str = r#"{"schema": 1, "scenario": "s1", "argv": ["/bin/s1", "unbuffered", "6000000"], "cwd": ".", "work": 6000000, "threads": null, "variant": "unbuffered",
 "bare": {"wall_s": 5.25, "exit_code": 0, "runs": [{"wall_s": 5.25, "user_s": 1.5, "sys_s": 3.5, "psi_cpu_share": 0.125, "steal_share": 0.0625, "throttled_share": 7}, {"wall_s": 5.5, "user_s": 1.5, "sys_s": 3.75}]},
 "host": {"kernel_release": "6.18", "cpus": 2, "nothing": null}, "tools": {"strace": "strace -- version 6.1"},
 "artifacts": [
  {"path": "strace-c.txt", "command": "strace -f -c -o strace-c.txt /bin/s1 unbuffered 600000", "tool": "strace", "wall_s": 12.5, "work": 600000, "threads": null, "variant": "unbuffered", "psi_cpu_avg10": 1.5, "psi_cpu_share": 0.25, "psi_io_share": 0.5, "sha256": "aa"},
  {"path": "rss.tsv", "command": "/bin/s1 unbuffered 6000000 >/dev/null & pid=$!; sample $pid > rss.tsv; wait", "tool": "smaps_rollup", "work": 6000000, "variant": "unbuffered"},
  {"path": "gone.txt", "work": "many"}
 ]}"#;

fn named(path: &str, tool: &str, kind: &str) -> Recorder {
    let mut recorder = Recorder::new(crate::ingest::files::blank(path));
    recorder.artifact.tool = tool.into();
    recorder.artifact.kind = kind.into();
    recorder
}

fn applied() -> Tables {
    let mut own = read_text(read, MANIFEST);
    own.artifact.path = "dir/manifest.json".into();
    let mut summary = named("dir/strace-c.txt", "strace", "strace-summary");
    summary.tables.syscalls.push(crate::tables::Syscall {
        artifact_id: 0,
        thread_id: None,
        name: "write".into(),
        calls: 1,
        errors: None,
        total_ns: Some(1),
        clock: "unknown".into(),
        line_no: 3,
    });
    let recorders =
        vec![own, named("dir/rss.tsv.zst", "procfs", "memory-series"), summary, named("strace-c.txt", "strace", "strace-summary")];
    let placed = manifests(&recorders);
    let mut tables = merge(recorders);
    apply(&mut tables, &placed);
    tables
}

#[test]
fn bare_runs_become_executions() {
    let tables = applied();
    let bare: Vec<_> = tables.executions.iter().filter(|row| row.wrapper.as_ref() == "bare").collect();
    assert_eq!(bare.len(), 2);
    assert_eq!((bare[0].wall_ns, bare[0].user_ns, bare[0].system_ns), (Some(5_250_000_000), Some(1_500_000_000), Some(3_500_000_000)));
    assert_eq!(
        (bare[1].place_of("wall_ns"), bare[1].place_of("user_ns")),
        (Some("ptr=/bare/runs/1/wall_s"), Some("ptr=/bare/runs/1/user_s"))
    );
    assert_eq!((bare[0].signature.as_deref(), bare[0].work, bare[0].exit_code), (Some("/bin/s1"), Some(6_000_000), Some(0)));
}

#[test]
fn an_entry_reaches_its_artifact_only() {
    let tables = applied();
    let [_, rss, summary, stranger] = &tables.artifacts[..] else { panic!() };
    assert_eq!((summary.wall_ns, summary.psi_cpu_share, summary.follows_children), (Some(12_500_000_000), Some(0.25), Some(true)));
    assert_eq!((summary.call_clock.as_deref(), summary.clock_source.as_deref()), (Some("system"), Some("manifest")));
    assert_eq!(tables.syscalls[0].clock.as_ref(), "system");
    assert_eq!(summary.tool_version.as_deref(), Some("strace -- version 6.1"));
    let execution = tables.executions.iter().find(|row| Some(row.execution_id) == summary.execution_id).unwrap();
    assert_eq!((execution.wrapper.as_ref(), execution.argv.as_deref()), ("strace", Some("/bin/s1 unbuffered 600000")));
    assert_eq!((execution.signature.as_deref(), execution.wall_ns), (Some("/bin/s1"), Some(12_500_000_000)));
    let execution = tables.executions.iter().find(|row| Some(row.execution_id) == rss.execution_id).unwrap();
    assert_eq!(execution.argv.as_deref(), Some("/bin/s1 unbuffered 6000000"));
    assert_eq!((stranger.command.as_deref(), stranger.execution_id), (None, None));
    let found: Vec<_> = tables.diagnostics.iter().map(|row| row.kind.as_ref()).collect();
    assert_eq!(found, ["manifest_field", "manifest_sha256_differs", "manifest_artifact_absent"]);
    // throttled_share is no share, so it is left out.
    let readings: Vec<_> = tables.environment.iter().map(|row| (row.metric.as_ref(), row.value)).collect();
    let expected = [("psi_cpu_some", 0.125), ("steal", 0.0625), ("psi_cpu_some", 0.25), ("psi_cpu_avg10", 0.015), ("psi_io_some", 0.5)];
    assert_eq!(readings, expected);
    assert_eq!(
        tables.host.iter().map(|row| (row.key.as_ref(), row.value.as_ref())).collect::<Vec<_>>(),
        [("kernel_release", "6.18"), ("cpus", "2")]
    );
}

#[test]
fn wrong_types_are_counted_and_damage_is_survived() {
    let recorder = read_text(read, r#"{"schema": 7, "argv": [1], "bare": {"wall_s": "x"}, "artifacts": [{"path": 3}, 4]}"#);
    assert_eq!(kinds(&recorder), ["manifest_field", "manifest_schema"]);
    assert_eq!(recorder.tables.diagnostics[0].count, 3);
    survives_damage(read, MANIFEST.as_bytes());
}

/// As costs.c of the capture kit prints it.
#[test]
fn measured_costs_become_facts_of_the_host() {
    let text = r#"{"schema": 1, "costs": {"page_fault_ns": 2034.1, "malloc_pair_ns": 55.4, "soul_ns": "x", "negative_ns": -1}}"#;
    assert!(sniff(text.as_bytes()));
    let recorder = read_text(read, text);
    let facts: Vec<_> = recorder.tables.host.iter().map(|row| (row.key.as_ref(), row.value.as_ref())).collect();
    assert_eq!(facts, [("cost.page_fault", "2034.1"), ("cost.malloc_pair", "55.4")]);
    assert_eq!(kinds(&recorder), ["manifest_field"]);
}

#[test]
fn other_json_is_not_claimed() {
    assert!(sniff(MANIFEST.as_bytes()));
    assert!(!sniff(br#"{"meta": {"schema": 1, "argv": []}}"#));
    assert!(!sniff(br#"[{"schema": 1, "argv": []}]"#));
}
