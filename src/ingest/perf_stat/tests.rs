use super::*;
use crate::ingest::testing::{kinds, read_text, survives_damage};

/// perf 6.1: `perf stat -j -e task-clock,context-switches,page-faults,major-faults,cycles,duration_time,user_time,system_time -- ./p`
const JSON: &str = r#"# started on Sun Nov 29 16:58:21 2026

{"counter-value" : "3.739377", "unit" : "msec", "event" : "task-clock", "event-runtime" : 3739377, "pcnt-running" : 100.00, "metric-value" : 0.127390, "metric-unit" : "CPUs utilized"}
{"counter-value" : "130.000000", "unit" : "", "event" : "context-switches", "event-runtime" : 3739377, "pcnt-running" : 100.00, "metric-value" : 34.765149, "metric-unit" : "K/sec"}
{"counter-value" : "80.000000", "unit" : "", "event" : "page-faults", "event-runtime" : 3739377, "pcnt-running" : 100.00, "metric-value" : 21.393938, "metric-unit" : "K/sec"}
{"counter-value" : "3.000000", "unit" : "", "event" : "major-faults", "event-runtime" : 3739377, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : "/sec"}
{"counter-value" : "<not supported>", "unit" : "", "event" : "cycles", "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}
{"counter-value" : "29353730.000000", "unit" : "ns", "event" : "duration_time", "event-runtime" : 29353730, "pcnt-running" : 100.00, "metric-value" : 7.849899, "metric-unit" : "G/sec"}
{"counter-value" : "<not counted>", "unit" : "ns", "event" : "user_time", "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}
{"counter-value" : "6818000.000000", "unit" : "ns", "event" : "system_time", "event-runtime" : 6818000, "pcnt-running" : 100.00, "metric-value" : 1.823298, "metric-unit" : "G/sec"}
"#;

/// Event, value, unit, running share.
type Row<'a> = (&'a str, Option<i64>, &'a str, Option<f64>);

fn counters(recorder: &Recorder) -> Vec<Row<'_>> {
    recorder.tables.counters.iter().map(|row| (row.event.as_ref(), row.value, row.unit.as_ref(), row.running_share)).collect()
}

#[test]
fn json_lines_tell_counters_and_the_execution() {
    let recorder = read_text(read, JSON);
    let rows = counters(&recorder);
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[0], ("task-clock", Some(3_739_377), "ns", Some(1.0)));
    assert_eq!(rows[4], ("cycles", None, "count", None));
    let statuses: Vec<_> = recorder.tables.counters.iter().map(|row| row.status.as_ref()).collect();
    assert_eq!(statuses[4..7], ["not supported", "counted", "not counted"]);
    let [execution] = &recorder.tables.executions[..] else { panic!() };
    assert_eq!((execution.wall_ns, execution.user_ns, execution.system_ns), (Some(29_353_730), None, Some(6_818_000)));
    assert_eq!((execution.minor_faults, execution.major_faults), (Some(77), Some(3)));
    // Lines counted in the text above; user_time was not counted, minor faults are a difference.
    assert_eq!(execution.places.as_deref(), Some("wall_ns@L=8,system_ns@L=10,major_faults@L=6"));
    survives_damage(read, JSON.as_bytes());
}

/// perf 6.1 `-x,`, `-x;`, `-a -A`, `--per-socket`, `--per-thread`, `-I`, `-r 3`, one line each.
#[test]
fn separated_fields_with_every_prefix() {
    let one = |line: &str| {
        let recorder = read_text(read, line);
        let row = recorder.tables.counters.first().unwrap_or_else(|| panic!("{line}")).clone();
        (row.event.to_string(), row.value, row.scope.to_string(), row.interval_ns)
    };
    assert_eq!(
        one("4.73,msec,task-clock,4728287,100.00,0.179,CPUs utilized"),
        ("task-clock".into(), Some(4_730_000), "process".into(), None)
    );
    assert_eq!(one("3.95;msec;task-clock;3951352;100.00;0.181;CPUs utilized").1, Some(3_950_000));
    assert_eq!(one("<not supported>,,cycles,0,100.00,,").1, None);
    assert_eq!(one("CPU0,102.44,msec,task-clock,102444333,100.00,1.001,CPUs utilized").2, "CPU0");
    assert_eq!(
        one("S0,2,208.86,msec,task-clock,208862296,100.00,2.000,CPUs utilized"),
        ("task-clock".into(), Some(208_860_000), "S0".into(), None)
    );
    assert_eq!(one("sleep-15034,<not counted>,msec,task-clock,0,100.00,,").2, "sleep-15034");
    let row = one("     0.020119695,135,,context-switches,4114278,100.00,32.813,K/sec");
    assert_eq!(row, ("context-switches".into(), Some(135), "process".into(), Some(20_119_695)));
    assert_eq!(one("168,,context-switches,6.71%,3884340,100.00,38.898,K/sec").1, Some(168));
    assert_eq!(one("12,,cycles:u,3884340,33.30,38.898,K/sec").0, "cycles");
    assert_eq!(one("12,,sched:sched_switch,3884340,100.00,,").0, "sched:sched_switch");
}

/// The field reports' own examples: decimal commas with `,` and with `;` as separator (apache/mesos 391, gz/autoperf 1).
#[test]
fn decimal_commas_are_understood() {
    let recorder = read_text(read, "6376827291,,cycles,2011741096,33,30\n3,95,msec,task-clock,3951352,100,00,0,181,CPUs utilized\n");
    assert_eq!(
        counters(&recorder),
        [("cycles", Some(6_376_827_291), "count", Some(0.333)), ("task-clock", Some(3_950_000), "ns", Some(1.0))]
    );
    let recorder = read_text(read, "3,95;msec;task-clock;3951352;100,00;0,181;CPUs utilized\n");
    assert_eq!(counters(&recorder), [("task-clock", Some(3_950_000), "ns", Some(1.0))]);
    let recorder = read_text(read, "     0,020119695,4,11,msec,task-clock,4114278,100,00,0,206,CPUs utilized\n");
    assert_eq!(recorder.tables.counters[0].interval_ns, Some(20_119_695));
    assert_eq!(recorder.tables.counters[0].value, Some(4_110_000));
}

#[test]
fn means_and_intervals_make_no_execution() {
    let recorder = read_text(read, "21664642,ns,duration_time,7.63%,21664642,100.00,5.016,G/sec\n");
    assert!(recorder.tables.executions.is_empty());
    assert_eq!(kinds(&recorder), ["perf_stat_mean"]);
    assert!(read_text(read, "     0.5,21664642,ns,duration_time,21664642,100.00,5.016,G/sec\n").tables.executions.is_empty());
}

#[test]
fn the_table_for_people() {
    let report = "\n Performance counter stats for './p 300 l':\n\n         60,243.87 msec task-clock                #    1.000 CPUs utilized          \n   \
        <not supported>      cycles                                                      \n       152,032,757      branch-misses             #    0.15% of all branches          (66.71%)\n\n      \
        60.248690210 seconds time elapsed\n\n      60.047068000 seconds user\n       0.003609000 seconds sys\n\n";
    let recorder = read_text(read, report);
    assert_eq!(
        counters(&recorder)[..3],
        [
            ("task-clock", Some(60_243_870_000), "ns", None),
            ("cycles", None, "count", None),
            ("branch-misses", Some(152_032_757), "count", Some(0.6671))
        ]
    );
    let [execution] = &recorder.tables.executions[..] else { panic!() };
    assert_eq!(execution.argv.as_deref(), Some("./p 300 l"));
    assert_eq!((execution.wall_ns, execution.user_ns, execution.system_ns), (Some(60_248_690_210), Some(60_047_068_000), Some(3_609_000)));
}

#[test]
fn other_text_is_left_alone() {
    assert!(!sniff(b"a;b;c 12\nd;e 3\n"));
    assert!(!sniff(b"time,value,unit\n1,2,ms\n"));
    assert!(!sniff(b"{\"event\": 1}\n"));
}

/// `perf stat -M` as perf 6.1 writes it on a machine with topdown counters (tools/perf/util/stat-display.c): the metric
/// beside its event, and further ones on lines of their own.
#[test]
fn metrics_in_percent_are_kept() {
    let metrics = |text: &str| {
        let recorder = read_text(read, text);
        let rows: Vec<_> = recorder.tables.counters.iter().filter(|row| &*row.unit == "millionths").cloned().collect();
        assert_eq!(recorder.tables.counters.len() - rows.len(), 1, "one event: {text}");
        rows.into_iter().map(|row| (row.event.to_string(), row.value, row.running_share)).collect::<Vec<_>>()
    };
    let json = r#"{"counter-value" : "1000.000000", "unit" : "", "event" : "topdown-be-bound", "event-runtime" : 5, "pcnt-running" : 83.00, "metric-value" : "23.400000", "metric-unit" : "%  tma_backend_bound"}
{"metric-value" : "12.100000", "metric-unit" : "%  tma_memory_bound"}
"#;
    let wanted = [("tma_backend_bound".to_owned(), Some(234_000), Some(0.83)), ("tma_memory_bound".to_owned(), Some(121_000), None)];
    assert_eq!(metrics(json), wanted);
    assert_eq!(metrics("1000,,topdown-be-bound,5,83.00,23.4,%  tma_backend_bound\n"), wanted[..1]);
    let table = " Performance counter stats for './p':\n\n     1,000      topdown-be-bound    #     23.4 %  tma_backend_bound      (83.00%)\n                                   #     12.1 %  tma_memory_bound\n";
    assert_eq!(metrics(table), wanted);
    // A remark is no metric.
    assert_eq!(metrics("9,,branch-misses,5,100.00,0.15,of all branches\n"), []);
}
