//! Both naming conventions, several producers, broken lines. The texts follow what public producers print (a script that
//! writes p50_ns, a Rust writer of `cumulative_us` with a count of one, tracing-subscriber's JSON with `fields`).

use super::*;
use crate::ingest::testing::{kinds, read_bytes, read_text, survives_damage, try_read};

const FIRST: &str = r#"# a comment
{"event":"perf.profile.run_start","scenario":"ingest","rust_version":"1.90.0","argv":["./ingest","--n","40 0"],"threads":2}
{"event":"perf.profile.sample_collected","sample_count":400,"duration_sec":0.2}
{"event":"perf.profile.span_summary","span":"ingest","parent":null,"thread":"main","cumulative_us":200000,"count":1,"p50_us":200000}
{"event":"perf.profile.span_summary","span":"encode","parent":"ingest","cumulative_us":81200,"count":400,"p50_us":190,"p95_us":260.5,"p99_us":300,"p99_9_us":410,"max_us":412,"category":"CPU"}
{"event":"perf.profile.hypothesis_evaluated","name":"encoding dominates","verdict":"rejects","evidence":"40 % of the time"}
{"event":"perf.profile.scaling_law","axis":"batch","sizes":[1,10,100],"p95s_us":[110,480,4100],"verdict":"sublinear"}
{"event":"perf.profile.run_complete","duration_sec":0.25,"artifacts_written":["a","b"]}
"#;

#[test]
fn events_become_rows() {
    let recorder = read_text(read, FIRST);
    let tables = &recorder.tables;
    let [ingest, encode] = &tables.spans[..] else { panic!("{:?}", tables.spans) };
    assert_eq!((ingest.line_no, &*ingest.name, ingest.is_root, ingest.thread_name.as_deref()), (4, "ingest", Some(true), Some("main")));
    // 200,000 us without the 81,200 of its child.
    assert_eq!((ingest.total_ns, ingest.self_ns), (Some(200_000_000), Some(118_800_000)));
    assert_eq!((encode.calls, encode.total_ns, encode.self_ns), (Some(400), Some(81_200_000), Some(81_200_000)));
    assert_eq!((encode.p50_ns, encode.p95_ns, encode.p99_ns), (Some(190_000), Some(260_500), Some(300_000)));
    assert_eq!((encode.p999_ns, encode.max_ns, encode.category.as_deref()), (Some(410_000), Some(412_000), Some("CPU")));
    let stated: Vec<_> = tables.stated_verdicts.iter().map(|row| (&*row.hypothesis, &*row.verdict, row.line_no)).collect();
    assert_eq!(stated, [("encoding dominates", "rejects", 6), ("scaling over batch", "sublinear", 7)]);
    assert_eq!(tables.stated_verdicts[0].evidence.as_deref(), Some("40 % of the time"));
    let points: Vec<_> = tables.scaling_points.iter().map(|row| (row.size, row.value_ns)).collect();
    assert_eq!(points, [(1, 110_000), (10, 480_000), (100, 4_100_000)]);
    let run = &tables.executions[0];
    assert_eq!((run.argv.as_deref(), run.wall_ns, run.threads), (Some("./ingest --n '40 0'"), Some(250_000_000), Some(2)));
    assert_eq!((run.place_of("wall_ns"), run.wrapper.as_ref()), (Some("L=8"), "spans"));
    assert_eq!((recorder.artifact.records, recorder.artifact.skipped), (7, 0));
    assert!(kinds(&recorder).is_empty(), "{:?}", tables.diagnostics);
}

#[test]
fn the_other_names_say_the_same() {
    let text = r#"{"type":"span_summary","span_name":"encode","cumulative":81200,"calls":400,"p50":190,"p95":260,"p999":410,"max":412,"unit":"us"}
{"msg":"perf.profile.span_summary","name":"decode","cumulative":"81.2ms","n":"400","p50":"190µs","p99.9":{"value":0.41,"unit":"ms"}}
perf.profile.span_summary {"span":"raw","total_ms":1.5,"count":3.0,"elapsed_ms":9}
{"timestamp":"2026-01-01T00:00:00Z","level":"INFO","fields":{"message":"perf.profile.span_summary","span":"inner","cumulative_micros":7,"count":1},"target":"app","span":{"name":"leaf"},"threadName":"w0"}
{"level":"INFO","fields":{"hypothesis_id":"H3","accepted":false,"detail":{"share":0.02}},"target":"perf.profile.hypothesis_evaluated"}
{"event":"perf.profile.hypothesis_evaluated","name":"x","supports_or_rejects":"supports"}
"#;
    let recorder = read_text(read, text);
    let [encode, decode, raw, inner] = &recorder.tables.spans[..] else { panic!() };
    assert_eq!((encode.total_ns, encode.calls, encode.p50_ns, encode.p999_ns), (Some(81_200_000), Some(400), Some(190_000), Some(410_000)));
    assert_eq!((&*decode.name, decode.total_ns, decode.calls, decode.p50_ns), ("decode", Some(81_200_000), Some(400), Some(190_000)));
    assert_eq!(decode.p999_ns, Some(410_000));
    assert_eq!((raw.total_ns, raw.calls), (Some(1_500_000), Some(3)));
    assert_eq!((&*inner.name, inner.total_ns, inner.thread_name.as_deref()), ("inner", Some(7_000), Some("w0")));
    // No line names a parent, so nothing is known of what a span leaves to others.
    assert!(recorder.tables.spans.iter().all(|row| row.self_ns.is_none() && row.is_root.is_none() && row.clock.as_ref() == "wall"));
    let stated: Vec<_> = recorder.tables.stated_verdicts.iter().map(|row| (&*row.hypothesis, &*row.verdict)).collect();
    assert_eq!(stated, [("H3", "accepted: false"), ("x", "supports")]);
    assert_eq!(recorder.tables.stated_verdicts[0].evidence.as_deref(), Some("{\"share\":0.02}"));
    assert!(kinds(&recorder).is_empty(), "{:?}", recorder.tables.diagnostics);
}

#[test]
fn what_is_not_understood_is_counted() {
    let text = concat!(
        "{\"event\":\"perf.profile.span_summary\",\"span\":\"good\",\"cumulative_us\":5,\"count\":1}\n",
        "{\"event\":\"perf.profile.span_summary\",\"span\":\"a\",\"cumulative_us\":-5,\"count\":-1,\"p50_us\":\"x\",\"max_us\":1e300}\n",
        "{\"event\":\"perf.profile.span_summary\",\"span\":\"b\",\"cumulative_us\":1e400}\n",
        "{\"event\":\"perf.profile.span_summary\",\"span\":\"c\",\"cumulative_us\":NaN}\n",
        "{\"event\":\"perf.profile.span_summary\",\"cumulative_us\":1}\n",
        "{\"event\":\"perf.profile.span_summary\",\"span\":\"d\",\"count\":1,\"count\":2}\n",
        "{\"event\":\"perf.profile.hotspot_fixed\",\"span\":\"d\"}\n",
        "{\"event\":\"request\",\"path\":\"/\"}\n",
        "some text\n",
        "{\"event\":\"perf.profile.scaling_law\",\"sizes\":[1,2],\"p95s_us\":[1]}\n",
        "{\"event\":\"perf.profile.hypothesis_evaluated\",\"name\":\"x\"}\n",
        "{\"event\":\"perf.profile.span_summary\",\"span\":\"e\",\"cumulative\":9223372036854775807}\n",
        "{\"event\":\"perf.profile.span_summa",
    );
    let recorder = read_text(read, text);
    let rows: Vec<_> = recorder.tables.spans.iter().map(|row| (&*row.name, row.total_ns, row.calls)).collect();
    assert_eq!(rows, [("good", Some(5_000), Some(1)), ("a", None, None), ("d", None, Some(2)), ("e", None, None)]);
    let count =
        |kind: &str| recorder.tables.diagnostics.iter().find(|row| &*row.kind == kind).map(|row| (row.count, row.places.to_string()));
    let at = |count, places: &str| Some((count, places.to_owned()));
    assert_eq!(count("profile_log_line"), at(3, "L=3, L=4, L=13"));
    assert_eq!(count("profile_log_value"), at(5, "L=2, L=2, L=2"));
    assert_eq!(count("profile_log_no_name"), at(1, "L=5"));
    assert_eq!(count("profile_log_duplicate_key"), at(1, "L=6"));
    assert_eq!(count("profile_log_event"), at(1, "L=7"));
    assert_eq!(count("profile_log_other"), at(1, "L=8"));
    assert_eq!(count("profile_log_text"), at(1, "L=9"));
    assert_eq!(count("profile_log_series"), at(1, "L=10"));
    assert_eq!(count("profile_log_verdict"), at(1, "L=11"));
}

#[test]
fn a_number_without_a_unit_is_microseconds_and_says_so() {
    let recorder = read_text(read, "{\"event\":\"perf.profile.span_summary\",\"span\":\"a\",\"cumulative\":12.5}\n");
    assert_eq!(recorder.tables.spans[0].total_ns, Some(12_500));
    assert_eq!(kinds(&recorder), ["profile_log_unit"]);
    assert_eq!(recorder.artifact.skipped, 0);
}

#[test]
fn a_running_total_counts_once_and_windows_add_up() {
    let line = |count: i64, us: i64| {
        format!("{{\"event\":\"perf.profile.span_summary\",\"span\":\"a\",\"count\":{count},\"cumulative_us\":{us}}}\n")
    };
    let running = read_text(read, &[line(1, 10), line(2, 25), line(5, 60)].concat());
    assert_eq!(running.tables.spans.iter().map(|row| row.line_no).collect::<Vec<_>>(), [3]);
    assert_eq!(kinds(&running), ["profile_log_snapshot"]);
    let windows = read_text(read, &[line(4, 10), line(4, 25), line(5, 60)].concat());
    assert_eq!(windows.tables.spans.len(), 3);
}

#[test]
fn runs_are_apart() {
    let run = "{\"event\":\"perf.profile.run_start\"}\n{\"event\":\"perf.profile.span_summary\",\"span\":\"a\",\"parent\":\"b\",\"cumulative_us\":1}\n{\"event\":\"perf.profile.run_complete\",\"duration_sec\":1}\n";
    let recorder = read_text(read, &run.repeat(3));
    assert_eq!(recorder.tables.spans.iter().map(|row| row.log_run).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
    assert_eq!(recorder.tables.executions.len(), 3);
}

#[test]
fn only_its_lines_are_claimed() {
    assert!(sniff(FIRST.as_bytes()));
    assert!(sniff(b"\n{\"event\":\"perf.profile.span_summary\",\"span\":\"cut"));
    assert!(sniff(b"noise\n{\"fields\":{\"message\":\"span_summary\",\"span\":\"x\"}}\n"));
    // Other programs have runs too.
    assert!(!sniff(b"{\"event\":\"run_start\"}\n{\"event\":\"run_complete\"}\n"));
    assert!(!sniff(b"let x = \"perf.profile.span_summary\";\n"));
    assert!(!sniff(b"{\"schema\": 1, \"argv\": []}"));
    assert!(!sniff(b""));
    assert!(try_read(read, b"{\"event\":\"perf.profile.span_summary\",\"span\":\"cut").is_err());
}

#[test]
fn lines_without_end_and_other_bytes_do_no_harm() {
    let mut long = FIRST.as_bytes().to_vec();
    long.extend(std::iter::repeat_n(b'[', 3 << 20));
    long.push(b'\n');
    long.extend_from_slice(b"{\"event\":\"perf.profile.span_summary\",\"span\":\"\xff\xfe|<b>\",\"cumulative_us\":1}\n");
    long.extend_from_slice(&[b"{\"a\":".repeat(100_000), b"\n".to_vec()].concat());
    let recorder = read_bytes(read, &long);
    assert_eq!(kinds(&recorder), ["profile_log_line", "profile_log_long_line"]);
    assert_eq!(&*recorder.tables.spans.last().unwrap().name, "\u{fffd}\u{fffd}|<b>");
    survives_damage(read, FIRST.as_bytes());
}
